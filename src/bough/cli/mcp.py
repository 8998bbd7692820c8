"""``bough mcp``: gives an AI assistant tools for studies, over the Model Context Protocol."""

from __future__ import annotations

import click

from bough.cli.options import existing, storage_option

__all__ = ["mcp"]


@click.command()
@storage_option
@click.option("--write", is_flag=True, help="Let the assistant ask for trials and tell results.")
def mcp(storage: str, write: bool) -> None:
    """Let an AI assistant read studies (MCP).

    The assistant speaks the Model Context Protocol. It starts this command and talks to it on standard
    input and output. It may read studies, best, front, branches, trials and explain. With --write it may
    also ask, tell and fail.

    \b
    Examples:
      bough mcp --storage sqlite:///bough.db
      bough mcp --write
    """
    from bough.integrations.mcp import make_server

    make_server(existing(storage), write=write).run("stdio")
