"""``bough export``: the trials of a study as CSV or JSON lines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from bough.cli.options import open_named, storage_option, study_argument

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["export", "write_csv", "write_json_lines"]


@click.command()
@study_argument
@storage_option
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="File to write; otherwise standard output."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["csv", "jsonl"]),
    help="Otherwise by the file's suffix; csv if none.",
)
def export(study: str | None, storage: str, output: Path | None, format_: str | None) -> None:
    """Export the trials of a study, one row each. Without STUDY, of the latest one.

    In CSV a parameter that is not active in a trial is an empty cell, and text that a spreadsheet would
    take for a formula is preceded by an apostrophe.

    \b
    Examples:
      bough export my-study -o trials.csv
      bough export my-study -o study.jsonl
    """
    opened = open_named(study, storage)
    if format_ is None:
        format_ = "jsonl" if output is not None and output.suffix in (".jsonl", ".ndjson", ".json") else "csv"
    write = write_csv if format_ == "csv" else write_json_lines
    if output is None:
        return write(opened, sys.stdout)
    with output.open("w", encoding="utf-8", newline="") as file:
        write(opened, file)
    click.echo(f"wrote {output}", err=True)
    return None


def write_json_lines(study: Study, file: TextIO) -> None:
    """The study, then one JSON object per trial; ``bough import`` and ``import_study`` read it."""
    from bough.study import study_lines

    file.writelines(study_lines(study))


def write_csv(study: Study, file: TextIO) -> None:
    """One row per trial, one column per parameter name."""
    from bough.study.tables import csv_lines  # loads NumPy, which a mere --help does not need

    file.writelines(csv_lines(study.space, study.trials))
