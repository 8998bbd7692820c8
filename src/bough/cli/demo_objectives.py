"""``bough demo --objectives``: classifiers that read digits well, and those that take little memory."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bough.cli.digits import error_and_size, load_digits
from bough.cli.options import progress_of
from bough.cli.style import bold
from bough.cli.text import config_text, number, table

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["GOALS", "STUDY", "demonstrate_objectives"]

STUDY = "demo-objectives"
GOALS = {
    "objectives": {"error": "minimize", "log10_kilobytes": "minimize"},
    "reference": {"error": 0.1},  # a classifier that misreads more is of no use, however small
}


def demonstrate_objectives(study: Study, trials: int, folder: Path, progress: str | None) -> bool:
    """Run the search and print the front; False if it was interrupted."""
    features, labels = load_digits()
    click.echo(
        f"Which classifiers read {len(labels)} handwritten digits well, and which take little memory?\n"
        f"One search of {trials} trials for two objectives: the error rate in 3-fold cross-validation, and\n"
        "the logarithm of the size of the fitted classifier, in kilobytes when pickled. An error above 10 %\n"
        "is of no use, which the study knows from its reference point.\n"
    )
    already = study.status().finished
    after = f", continuing after {already} trials (--fresh starts again)" if already else ""
    click.echo(f"{study.method.name} search{after}")
    with contextlib.suppress(KeyboardInterrupt):  # all results are kept
        study.run(
            partial(error_and_size, features=features, labels=labels), trials, progress=progress_of(progress)
        )
    if study.status().finished < trials:
        return False
    _conclude(study, folder)
    return True


def _conclude(study: Study, folder: Path) -> None:
    from bough.plot.html_report import report

    rows = []
    for trial in study.front:
        options = {name: value for name, value in trial.config.items() if name != "classifier"}
        rows.append(
            (
                f"{trial.measures['error']:.2%}",
                number(trial.measures["kilobytes"]),
                str(trial.config["classifier"]),
                config_text(options),
                f"trial {trial.number}",
            )
        )
    click.echo(f"\n{bold('The front')}  no other trial is both better and smaller than one of these")
    click.echo(table(("error", "kB", "classifier", "parameters", "found in"), rows, right="rr"))
    page = report(study, folder / "objectives.html")
    click.echo(f"\n{bold('Report')}  {page}   (open it in a browser)")
    click.echo(f"{bold('Next')}    bough show {study.name} --storage sqlite:///{folder}/demo.db")
