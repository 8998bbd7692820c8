"""``bough run``: tune any program in any language."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bough.cli.command import Command, logs_of, shared_variables
from bough.cli.goals import front_data, front_text, goal_options, goals_of, no_feasible_trial
from bough.cli.instances import instances_option, race, read_instances
from bough.cli.options import (
    as_json,
    json_option,
    method_of,
    method_option,
    progress_of,
    progress_option,
    storage_option,
)
from bough.cli.placeholders import Unit, check_command, example_configs, fill
from bough.cli.style import printable
from bough.cli.text import config_text, counted
from bough.errors import StudyError
from bough.study.running.orphans import Guardian

if TYPE_CHECKING:
    from bough.space import Space
    from bough.study import Study
    from bough.study.trial_index import Status

__all__ = ["run"]

NO_RESULT, INTERRUPTED = 1, 130

SHOWN_FRONT = 20
"""The number of trials of a front that are printed at the end of a run."""


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("space", type=click.Path(path_type=Path), metavar="SPACE")
@click.option(
    "--trials", "-n", type=click.IntRange(1), help="Total number of finished trials, earlier runs included."
)
@click.option(
    "--workers", "-w", type=click.IntRange(1), default=1, show_default=True, help="Programs to run at once."
)
@storage_option
@click.option("--name", help="Name of the study.  [default: the name of the space file]")
@method_option
@click.option("--seed", type=click.IntRange(0), help="Random seed, for a reproducible search.")
@click.option(
    "--stopping",
    type=click.Choice(["median", "asha", "none"]),
    help="Rule that stops trials early by their reports; median unless the study has another one.",
)
@instances_option
@click.option(
    "--learn-from",
    multiple=True,
    metavar="STUDY",
    help="Earlier study to learn from: an exported file, or a name in the storage; may be repeated.",
)
@click.option("--maximize", is_flag=True, help="Look for the largest value instead of the smallest.")
@goal_options
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), help="Seconds after which no new trial starts."
)
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    help='Total cost after which no trial starts: the "cost" of results, or seconds if none has one.',
)
@click.option("--until", type=click.Choice(["settled"]), help="End when the model expects no further gain.")
@click.option(
    "--trial-timeout",
    type=click.FloatRange(0, min_open=True),
    help="Seconds after which a trial is stopped and fails.",
)
@click.option(
    "--logs", type=click.Path(path_type=Path), help="Folder for the output of trials.  [default: NAME.logs]"
)
@progress_option
@click.option("--quiet", "-q", is_flag=True, help="The same as --progress none.")
@click.option("--dry-run", is_flag=True, help="Print three commands that could be run, and run nothing.")
@json_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def run(
    space: Path,
    trials: int | None,
    workers: int,
    storage: str,
    name: str | None,
    method: str,
    seed: int | None,
    stopping: str | None,
    instances: str | None,
    learn_from: tuple[str, ...],
    maximize: bool,
    objective: tuple[str, ...],
    constraint: tuple[str, ...],
    reference: tuple[str, ...],
    timeout: float | None,
    budget: float | None,
    until: str | None,
    trial_timeout: float | None,
    logs: Path | None,
    progress: str | None,
    quiet: bool,
    dry_run: bool,
    json_: bool,
    command: tuple[str, ...],
) -> int:
    """Tune a program over the SPACE of a JSON or YAML file.

    The program gets its parameters by {name} placeholders in its arguments, as a JSON file named by
    {config}, and in the environment (BOUGH_PARAM_NAME, BOUGH_CONFIG). Where a parameter is inactive, the
    argument with its placeholder is left out, together with a flag of the same name right before it, as in
    --rate {rate}. Arguments in brackets, such as [ -r {rate} ], are left out together.

    The result is the last number, or the last JSON object with a "value", that the program prints or writes
    to the file named by {result}. With --objective or --constraint it is a JSON object that has their names,
    such as {"error": 0.1, "memory": 400}; other numbers in it are kept, too. The trial fails if the program
    ends with an error, prints no result or takes too long. Nothing goes through a shell.

    A program may print lines such as {"step": 3, "value": 0.25} while it runs. If they show that it is not
    worth finishing, it and its children get SIGTERM, and five seconds later SIGKILL.

    If the space has a fidelity, {resumes} and BOUGH_RESUMES name the trial that ran the same parameters at a
    lower fidelity. If there is none, the argument is left out.

    With --instances the program runs on one instance after another, in an order that the seed shuffles, and
    the value is the mean. A trial that loses against the best one by a paired test is stopped.

    The same command again continues the study. Ctrl-C keeps all results.

    \b
    Examples:
      bough run space.yaml --trials 50 -- python train.py --rate {rate} --depth {depth}
      bough run space.json -n 200 -w 4 --trial-timeout 600 --maximize -- ./simulate {config}
      bough run space.yaml -n 60 --objective error --objective speed:maximize
        --constraint "memory <= 512" -- ./train {config}
      bough run space.yaml -n 40 --instances files.txt -- ./solve --restart {restart} {instance}
      bough run space.yaml --dry-run -- ./simulate [ -r {rate} ] {config}
      bough run space.yaml -n 50 -- sh -c 'echo "$BOUGH_PARAM_X * 2" | bc'
    """
    from bough.space import Space
    from bough.study import Study
    from bough.study.running.executors import thread_limits
    from bough.study.running.run_options import check_run
    from bough.study.stopping.races import check_no_race, race_order

    if not space.exists() and shutil.which(str(space)):
        raise click.UsageError(
            f"there is no file {space}, only a program: the space comes first, bough run SPACE -- {space}",
            click.get_current_context(),
        )
    wanted = Space.load(space)
    raced = None if instances is None else read_instances(instances)
    units = check_command(command, wanted, raced is not None)
    wanted.sample(1, 0)  # SpaceError if no configuration is allowed
    if dry_run:
        return _print_examples(units, wanted, seed, raced)
    limits: dict[str, Any] = {"trials": trials, "timeout": timeout, "budget": budget, "until": until}
    if set(limits.values()) == {None} and wanted.size == float("inf"):
        raise click.UsageError(
            "say when to end: --trials N, --timeout SECONDS, --budget COST or --until settled",
            click.get_current_context(),
        )
    goals = goals_of(objective, constraint, reference, maximize)
    given = dict(
        name=space.stem if name is None else name,
        method=method_of(method),
        seed=seed,
        stopping=stopping,
        **goals,
    )
    rehearsal = Study(wanted, **given)  # a mistake is found here, before anything is stored
    check_run(rehearsal, **limits, trial_timeout=trial_timeout)
    if raced is not None:
        race_order(rehearsal, raced)
    study = Study(wanted, storage=storage, learn_from=learn_from, **given)
    if raced is None:
        check_no_race(study)
    else:
        raced = race_order(study, raced)
    _warn_about_variables(wanted)
    done = study.status().finished
    if trials is not None and done >= trials:
        has = f"study {study.name!r} has {counted(done, 'trial')} already"
        click.echo(f"bough: {has}: nothing to run, as --trials is the total number", err=True)
    folder = logs or logs_of(study)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        with Guardian() as guardian:
            unset, threads = shared_variables(wanted), thread_limits(workers)
            program = Command(units, study, folder, guardian, trial_timeout, unset, threads)
            evaluate = program if raced is None else partial(race, program, raced)
            shown = progress_of("none" if quiet else progress)
            interrupted = _run_until_interrupted(study, program, evaluate, workers, shown, limits)
    except StudyError as error:
        if not study.status().failed:  # it could not begin
            raise
        click.echo(f"bough: {printable(str(error))}; the output of each is in {folder}", err=True)
        return NO_RESULT
    complete = not interrupted or _complete(study, trials, timeout, time.monotonic() - began)
    return _conclude(study, json_, complete, folder)


def _run_until_interrupted(
    study: Study, program: Command, evaluate: Any, workers: int, progress: Any, limits: dict[str, Any]
) -> bool:
    """Run the study; returns whether Ctrl-C ended it. All results are kept."""
    from bough.study import run_trials

    with ThreadPoolExecutor(workers) as executor:  # threads suffice: each only waits for its program
        try:
            run_trials(study, evaluate, executor=executor, progress=progress, **limits)
        except KeyboardInterrupt:
            return True
        finally:
            program.stop()
    return False


def _print_examples(
    units: Sequence[Unit], space: Space, seed: int | None, instances: Sequence[str] | None
) -> int:
    """Print the text of ``--dry-run``: commands for configs on different branches, ready to copy."""
    for number, config in enumerate(example_configs(space, 3, seed)):
        files = {"config": "config.json", "result": "result.txt", "trial": str(number)}
        files |= {"instance": instances[number % len(instances)]} if instances else {}
        line = shlex.join(fill(units, config, files))
        if not any(name in config for unit in units for name in unit.names):
            line += f"  # config: {json.dumps(config)}"
        click.echo(printable(line))
    return 0


def _warn_about_variables(space: Space) -> None:
    for variable in sorted(shared_variables(space)):
        click.echo(
            f"bough: several parameters would share {variable}, so it is not set: "
            "use {name} placeholders or {config}",
            err=True,
        )


def _complete(study: Study, trials: int | None, timeout: float | None, seconds: float) -> bool:
    """Whether the run reached its limit and was not interrupted."""
    if trials is not None and study.status().finished >= trials:
        return True
    if timeout is not None and seconds >= timeout:
        return True
    return len(study.trials) >= study.space.size


def _conclude(study: Study, json_: bool, complete: bool, logs: Path) -> int:
    status = study.status()
    if not complete:
        click.echo("bough: the same command continues the study", err=True)
    if status.done and (status.best is not None or study.front):
        _print_result(study, status, json_)
        return 0 if complete else INTERRUPTED
    if complete and status.done:
        click.echo(f"bough: {printable(no_feasible_trial(study))}", err=True)
    elif complete:
        click.echo(f"bough: no trial gave a result; the output of each is in {logs}", err=True)
    return NO_RESULT if complete else INTERRUPTED


def _print_result(study: Study, status: Status, json_: bool) -> None:
    failed = f", {status.stopped} stopped" if status.stopped else ""
    failed += f", {status.failed} failed" if status.failed else ""
    if status.best is None or not study.goals.objectives:
        if json_:
            as_json({"study": study.name, **front_data(study)})
        else:
            click.echo(f"{counted(status.finished, 'trial')}{failed}; {front_text(study, SHOWN_FRONT)}")
        return
    best = status.best
    if json_:
        measures = {} if study.goals.is_plain else {"measures": best.measures}
        data = {"study": study.name, "number": best.number, "value": best.value, **measures}
        as_json({**data, "config": best.config})
    else:
        click.echo(
            f"best of {counted(status.finished, 'trial')}{failed}: {best.value!r}  (trial {best.number})"
        )
        click.echo(f"  {config_text(best.config)}")
