"""``bough demo``: choose and tune a real classifier, with nothing to configure."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bough.cli.digits import digits_space, error_and_size, error_rate, load_digits
from bough.cli.options import method_of, method_option, progress_of, progress_option
from bough.cli.style import bold
from bough.cli.text import branch_tree, config_text, number, table
from bough.errors import StorageError, StudyError
from bough.plot.snapshot import StudySnapshot
from bough.trial import Config

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["demo"]

INTERRUPTED = 130

TASK = """\
Which of nine classifiers reads {digits} handwritten digits best, with which parameters?
Two searches of {trials} trials each; the value is the error rate in 3-fold cross-validation.
"""
TWO_OBJECTIVES_TASK = """\
Which classifiers read {digits} handwritten digits well, and which take little memory?
One search of {trials} trials for two objectives: the error rate in 3-fold cross-validation, and
the logarithm of the size of the fitted classifier, in kilobytes when pickled. Classifiers with an
error above 10 % do not count: the reference point of the study says so.
"""
TWO_OBJECTIVES: dict[str, Any] = {
    "objectives": {"error": "minimize", "log10_kilobytes": "minimize"},
    "reference": {"error": 0.1},  # a classifier with a larger error is useless, even if it is small
}


@click.command()
@click.option(
    "--trials", "-n", type=click.IntRange(5), default=40, show_default=True, help="Trials of each search."
)
@method_option
@click.option("--seed", type=click.IntRange(0), default=2, show_default=True, help="Random seed.")
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
    features, labels = load_digits()
    click.echo((TWO_OBJECTIVES_TASK if objectives else TASK).format(digits=len(labels), trials=trials))
    searches = {"demo-objectives": method} if objectives else {"demo": method, "demo-random": "random"}
    objective = partial(error_and_size if objectives else error_rate, features=features, labels=labels)
    goals = TWO_OBJECTIVES if objectives else {}
    found: list[Study] = []
    for name, how in searches.items():
        study = _open(name, storage, how, seed, fresh or anew, goals)
        found.append(study)
        if not _search(study, objective, trials, progress):
            command = "the same command" if objectives else "'bough demo'"
            click.echo(f"\nthe results are in {folder}; {command} continues")
            return INTERRUPTED
    if objectives:
        _conclude_front(found[0], folder, storage)
    else:
        _conclude(found[0], found[1], folder, storage)
    return 0


def _open(name: str, storage: str, method: str, seed: int, fresh: bool, goals: dict[str, Any]) -> Study:
    """The demo's study of that name: the stored one, or a new one."""
    from bough.study import Study, delete_study, open_study, studies

    try:
        known = {record.name for record in studies(storage)}
    except StorageError:  # there is no file yet
        known = set()
    if name in known and fresh:
        delete_study(name, storage)
    elif name in known:
        opened = open_study(name, storage)
        source = click.get_current_context().get_parameter_source
        for option, wanted, has in (("method", method, opened.method.name), ("seed", seed, opened.seed)):
            if wanted != has and source(option) is not ParameterSource.DEFAULT:
                raise StudyError(
                    f"--{option} {wanted}: the demo was begun with {option} {has}; --fresh starts again"
                )
        return opened
    return Study(digits_space(), name=name, storage=storage, method=method_of(method), seed=seed, **goals)


def _search(study: Study, objective: Callable[[Config], Any], trials: int, progress: str | None) -> bool:
    """Run a study, or continue it; False if it was interrupted."""
    already = study.status().finished
    after = f", continuing after {already} trials (--fresh starts again)" if already else ""
    click.echo(f"{study.method.name} search{after}")
    with contextlib.suppress(KeyboardInterrupt):  # all results are kept
        study.run(objective, trials, progress=progress_of(progress))
    return study.status().finished >= trials


def _conclude(study: Study, random: Study, folder: Path, storage: str) -> None:
    from bough.plot.html_report import report

    best = study.best
    click.echo(f"\n{bold('The winner')}  {best.config['classifier']}  {_options(best.config)}")
    click.echo(f"            {best.value:.2%} of the digits misread  (trial {best.number})")
    click.echo(f"\n{bold('Where the trials went')}\n{branch_tree(StudySnapshot.of(study))}")
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


def _conclude_front(study: Study, folder: Path, storage: str) -> None:
    from bough.plot.html_report import report

    rows = [
        (
            f"{trial.measures['error']:.2%}",
            number(trial.measures["kilobytes"]),
            str(trial.config["classifier"]),
            _options(trial.config),
            f"trial {trial.number}",
        )
        for trial in study.front
    ]
    click.echo(f"\n{bold('The front')}  no other trial is both better and smaller than one of these")
    click.echo(table(("error", "kB", "classifier", "parameters", "found in"), rows, right="rr"))
    page = report(study, folder / "objectives.html")
    click.echo(f"\n{bold('Report')}  {page}   (open it in a browser)")
    click.echo(f"{bold('Next')}    bough show {study.name} --storage {storage}")


def _options(config: Config) -> str:
    return config_text({name: value for name, value in config.items() if name != "classifier"})
