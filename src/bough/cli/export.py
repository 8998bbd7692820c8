"""``bough export``: a study as a file of JSON lines that ``bough import`` reads, or its trials as CSV."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bough.cli.options import open_named, storage_option, study_argument
from bough.cli.style import write_any_text
from bough.errors import StudyError
from bough.suffixes import EXPORTS, format_of
from bough.whole_file import write_file

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["export"]

ADVICE = (
    ".csv (a table, for spreadsheets too) or .jsonl (the whole study), or say --format csv or --format jsonl"
)


@click.command()
@study_argument
@storage_option
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="File to write.  [default: standard output]"
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["csv", "jsonl"]),
    help="Format of the output.  [default: by the file's suffix; csv without one]",
)
def export(study: str | None, storage: str, output: Path | None, format_: str | None) -> None:
    """Export a study. Without STUDY, the latest one.

    A .jsonl file holds the whole study, and 'bough import' reads it: the first line is the study with its
    space, every other line a trial. A .csv file is a table with a row per trial. Inactive parameters are
    empty cells. Text that a spreadsheet would run as a formula gets an apostrophe in front.

    \b
    Examples:
      bough export my-study -o trials.csv
      bough export my-study -o my-study.jsonl
      bough export my-study --format jsonl | jq 'select(.config) | .config'
    """
    format_ = format_ or _format_of(output)
    opened = open_named(study, storage)
    lines = _csv(opened) if format_ == "csv" else _json_lines(opened)
    if output is None:
        write_any_text("utf-8")  # as in a file
        sys.stdout.writelines(lines)
        return
    write_file(output, lines)
    click.echo(f"wrote {output}", err=True)


def _format_of(output: Path | None) -> str:
    try:
        return (output and format_of(output, EXPORTS, ADVICE)) or "csv"
    except StudyError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None


def _json_lines(study: Study) -> Iterator[str]:
    from bough.study import study_lines

    return study_lines(study)


def _csv(study: Study) -> Iterator[str]:
    from bough.study.formats.table_export import csv_lines  # loads NumPy, which --help does not need

    return csv_lines(study.space, study.trials, feasible=bool(study.goals.limits))
