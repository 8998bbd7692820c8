"""``bough methods``: every search method in one line."""

from __future__ import annotations

import shutil
import textwrap

import click

from bough.cli.options import as_json, json_option
from bough.cli.style import bold

__all__ = ["methods"]


@click.command()
@json_option
def methods(json_: bool) -> None:
    """List the search methods.

    \b
    Examples:
      bough methods
      bough run space.yaml --trials 50 --method tpe -- ./train {config}
    """
    from bough.registry import methods as all_methods

    known = all_methods()
    if json_:
        return as_json(known)
    width = max(map(len, known)) + 2
    room = min(shutil.get_terminal_size((100, 24)).columns, 110) - width
    for name, line in known.items():
        first, *more = textwrap.wrap(line, max(room, 30)) or [""]
        click.echo(bold(f"{name:<{width}}") + first)
        for rest in more:
            click.echo(" " * width + rest)
    return None
