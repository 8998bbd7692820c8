"""``bough completion``: a script that lets a shell complete bough's commands, options and study names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a completion script for a shell.

    \b
    Examples:
      eval "$(bough completion bash)"                  in ~/.bashrc
      eval "$(bough completion zsh)"                   in ~/.zshrc
      bough completion fish > ~/.config/fish/completions/bough.fish
    """
    from bough.cli.main import bough

    kind = get_completion_class(shell)
    assert kind is not None  # click supports the three shells of the option
    click.echo(kind(bough, {}, "bough", "_BOUGH_COMPLETE").source())
