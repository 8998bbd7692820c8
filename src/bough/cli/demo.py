"""``bough demo``: choose and tune a real classifier, with nothing to configure."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bough.cli.demo_objectives import GOALS, STUDY, demonstrate_objectives
from bough.cli.digits import digits_space, error_rate, load_digits
from bough.cli.options import method_of, method_option, progress_of, progress_option
from bough.cli.style import bold
from bough.cli.text import branch_tree, config_text, table
from bough.errors import StorageError
from bough.plot.snapshot import StudySnapshot

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["demo"]

INTERRUPTED = 130

VALUE_ONLY: Mapping[str, Any] = {}
"""The goals of the plain demo: one value to minimise."""


@click.command()
@click.option(
    "--trials", "-n", type=click.IntRange(5), default=40, show_default=True, help="Trials of each search."
)
@method_option
@click.option("--seed", type=int, default=2, show_default=True, help="Random seed.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("bough-demo"),
    show_default=True,
    help="Folder for the results.",
)
@click.option("--fresh", is_flag=True, help="Delete an earlier demo in that folder instead of continuing it.")
@click.option("--anew", is_flag=True, hidden=True)  # the name of --fresh in version 0.1
@click.option("--objectives", is_flag=True, help="Show two objectives: the error and the size in memory.")
@progress_option
def demo(
    trials: int,
    method: str,
    seed: int,
    folder: Path,
    fresh: bool,
    anew: bool,
    objectives: bool,
    progress: str | None,
) -> int:
    """See bough choose and tune a classifier.

    The task: which of nine classifiers reads handwritten digits best, and with which parameters? The result
    is compared with random search. Takes a minute or two. A second run continues where the first one ended;
    --fresh starts again.

    \b
    Examples:
      bough demo
      bough demo --trials 80                 continue the same study
      bough demo --fresh --method tpe        another method, from the start
      bough demo --objectives                two objectives, and the front of the best compromises
    """
    folder.mkdir(parents=True, exist_ok=True)
    storage = f"sqlite:///{folder}/demo.db"
    if objectives:
        study = _open(STUDY, storage, method, seed, fresh or anew, GOALS)
        if demonstrate_objectives(study, trials, folder, progress):
            return 0
        click.echo(f"\ninterrupted: all results are kept in {folder}; the same command continues")
        return INTERRUPTED
    features, labels = load_digits()
    click.echo(
        f"Which of nine classifiers reads {len(labels)} handwritten digits best, with which parameters?\n"
        f"Two searches of {trials} trials each; the value is the error rate in 3-fold cross-validation.\n"
    )
    objective = partial(error_rate, features=features, labels=labels)
    found: list[Study] = []
    for name, how in (("demo", method), ("demo-random", "random")):
        study = _open(name, storage, how, seed, fresh or anew)
        already = study.status().finished
        after = f", continuing after {already} trials (--fresh starts again)" if already else ""
        click.echo(f"{study.method.name} search{after}")
        with contextlib.suppress(KeyboardInterrupt):  # all results are kept
            study.run(objective, trials, progress=progress_of(progress))
        if study.status().finished < trials:
            click.echo(f"\ninterrupted: all results are kept in {folder}; 'bough demo' continues")
            return INTERRUPTED
        found.append(study)
    _conclude(found[0], found[1], folder, storage)
    return 0


def _open(
    name: str, storage: str, method: str, seed: int, fresh: bool, goals: Mapping[str, Any] = VALUE_ONLY
) -> Study:
    """The demo's study of that name: the stored one, or a new one."""
    from bough.study import Study, delete_study, open_study, studies

    try:
        known = {record.name for record in studies(storage)}
    except StorageError:  # there is no file yet
        known = set()
    if name in known and fresh:
        delete_study(name, storage)
    elif name in known:
        return open_study(name, storage)
    return Study(digits_space(), name=name, storage=storage, method=method_of(method), seed=seed, **goals)


def _conclude(study: Study, random: Study, folder: Path, storage: str) -> None:
    from bough.plot.html_report import report

    best = study.best
    snapshot = StudySnapshot.of(study)
    options = {name: value for name, value in best.config.items() if name != "classifier"}
    click.echo(f"\n{bold('The winner')}  {best.config['classifier']}  {config_text(options)}")
    click.echo(f"            {best.value:.2%} of the digits misread  (trial {best.number})")
    click.echo(f"\n{bold('Where the trials went')}\n{branch_tree(snapshot)}")
    rows = [
        (
            one.method.name,
            f"{one.best.value:.2%}",
            str(one.best.config["classifier"]),
            f"trial {one.best.number}",
        )
        for one in (study, random)
    ]
    click.echo(f"\n{bold('Against random search')}")
    click.echo(table(("method", "error", "classifier", "found in"), rows, right="lr"))
    page = report(study, folder / "report.html", against=[random])
    click.echo(f"\n{bold('Report')}  {page}   (open it in a browser)")
    more = 2 * study.status().finished
    click.echo(
        f"{bold('Next')}    {f'bough show demo --storage {storage}':<54}  the study in the terminal\n"
        f"        {f'bough demo --trials {more}':<54}  continue the search\n"
        f"        {'bough run --help':<54}  tune your own program"
    )
