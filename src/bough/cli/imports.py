"""``bough import``: a study from a file that ``bough export`` or ``export_study`` wrote."""

from __future__ import annotations

from pathlib import Path

import click

from bough.cli.options import storage_option
from bough.errors import StudyError

__all__ = ["import_"]


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@storage_option
@click.option("--name", help="Name of the new study; otherwise its name in the file.")
@click.option(
    "--space",
    type=click.Path(path_type=Path),
    help="Space file, for the .jsonl files of version 0.1, which lack it; they need --name too.",
)
def import_(file: Path, storage: str, name: str | None, space: Path | None) -> None:
    """Create a study from an exported FILE.

    The FILE is one that 'bough export' wrote as .jsonl. Space, method, seed and all trials come with it. A
    trial that was running waits to be handed out again.

    \b
    Examples:
      bough export my-study -o my-study.jsonl
      bough import my-study.jsonl --storage postgresql://me@server/bough
      bough import my-study.jsonl --name a-copy
    """
    from bough.cli.text import counted
    from bough.space import Space
    from bough.study import import_study

    try:
        study = import_study(file, storage, name, None if space is None else Space.load(space))
    except StudyError as error:
        if "exists" not in str(error):
            raise
        raise StudyError(f"{error}: --name NAME imports it under another name") from None
    click.echo(f"imported {study.name!r} with {counted(len(study.trials), 'trial')}", err=True)
