"""``bough report``: a study as one self-contained HTML file, or as PDF."""

from __future__ import annotations

from pathlib import Path

import click

from bough.cli.options import open_named, storage_option, study_argument
from bough.errors import StudyError
from bough.integrations.names import file_name
from bough.suffixes import REPORTS, format_of

__all__ = ["report"]


@click.command()
@study_argument
@storage_option
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="File to write; .pdf is a PDF, everything else HTML.  [default: STUDY.html]",
)
@click.option(
    "--against", multiple=True, metavar="STUDY", help="Another study to compare with; may be repeated."
)
@click.option("--measure", metavar="NAME", help="What figures show.  [default: the first objective]")
def report(
    study: str | None, storage: str, output: Path | None, against: tuple[str, ...], measure: str | None
) -> None:
    """Write a report on a study: one HTML file with all figures. Without STUDY, on the latest one.

    A PDF is the same page as Chrome or Chromium prints it.

    \b
    Examples:
      bough report
      bough report my-study -o report.html --against my-baseline
      bough report my-study -o report.pdf --measure memory
    """
    if output is not None:
        try:
            format_of(output, REPORTS, ".html or .pdf; 'bough export' writes tables", others=True)
        except StudyError as error:
            raise click.UsageError(str(error), click.get_current_context()) from None
    from bough.plot.html_report import report as write

    opened = open_named(study, storage)
    others = [open_named(name, storage) for name in against]
    target = output or Path(file_name(opened.name, "_.-") + ".html")
    click.echo(f"wrote {write(opened, target, against=others, measure=measure)}", err=True)
