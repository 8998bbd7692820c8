"""``bough show``: a study in the terminal, branch by branch, or one trial; ``bough best``: its best trial."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from bough.cli.goals import front_data, front_text, no_feasible_trial
from bough.cli.options import as_json, json_option, open_named, storage_option, study_argument
from bough.cli.style import bold, printable, struck
from bough.cli.text import branch_tree, config_text, number, table, value_text
from bough.errors import StudyError, TrialError
from bough.plot.snapshot import StudySnapshot
from bough.study.analysis.recommend import is_noisy
from bough.study.running.progress import sparkline
from bough.trial import Config, Trial

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["best", "show"]


@click.command()
@study_argument
@storage_option
@click.option(
    "--trials",
    "-n",
    "count",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="How many of the best trials to list.",
)
@click.option("--trial", "-t", "chosen", type=int, metavar="NUMBER", help="Show this trial in full instead.")
@json_option
def show(study: str | None, storage: str, count: int, chosen: int | None, json_: bool) -> None:
    """Show a study, branch by branch.

    Prints the number of trials and the best value of each branch, then the best trials. Without STUDY, the
    latest one. --trial shows one trial: its config and value, or its error with the traceback or the
    command.

    \b
    Examples:
      bough show
      bough show my-study --storage sqlite:///results.db -n 20
      bough show my-study --trial 7
      bough show my-study --json | jq '.trials[] | select(.state == "failed")'
    """
    opened = open_named(study, storage)
    if chosen is not None:
        return _show_trial(_trial(opened, chosen), json_)
    if json_:
        return as_json(
            {
                "name": opened.name,
                "direction": opened.direction,
                **({} if opened.record.goals is None else {"goals": json.loads(opened.record.goals)}),
                "method": {"name": opened.method.name, "options": dict(opened.method.options)},
                "seed": opened.seed,
                "space": opened.space.to_dict(),
                "trials": [_as_data(trial) for trial in opened.trials],
            }
        )
    return _show_study(opened, count)


def _show_study(study: Study, count: int) -> None:
    snapshot = StudySnapshot.of(study)
    states = {"done": len(snapshot.done)}
    states |= {
        s: sum(t.state == s for t in snapshot.trials) for s in ("stopped", "failed", "running", "queued")
    }
    valued = sum(t.state == "done" and t.retracted is None for t in snapshot.trials)
    states |= {"retracted": len(snapshot.retracted), "at a lower fidelity": valued - len(snapshot.done)}
    states["of an earlier space"] = len(snapshot.earlier)
    counts = ", ".join(f"{n} {state}" for state, n in states.items() if n) or "no trials yet"
    click.echo(f"{bold(snapshot.name)}: {study.goals.heading}, method {study.method.name}, {counts}\n")
    click.echo(branch_tree(snapshot))
    if len(study.goals.objectives) > 1:
        click.echo("\n" + front_text(study, count))
    elif snapshot.done:
        measured = [name for name in study.goals.needed if name not in study.goals.names[:1]]
        marked = ["feasible"] if study.goals.limits else []
        rows = [
            (
                str(trial.number),
                number(trial.value),
                *(number(trial.measures[name]) for name in measured),
                *("yes" if trial.feasible else "no" for _ in marked),
                config_text(trial.config),
            )
            for trial in map(snapshot.done.__getitem__, snapshot.ranking[:count])
        ]
        head = ("trial", study.goals.value_name, *measured, *marked, "config")
        click.echo("\n" + table(head, rows, right="rr" + "r" * len(measured)))
        if not any(trial.feasible for trial in snapshot.done):
            click.echo(printable(no_feasible_trial(study)))
    else:
        click.echo("\nno trial has a value yet")
    for trial in snapshot.retracted:
        told = f"trial {trial.number}: {'no value' if trial.value is None else number(trial.value)}"
        click.echo(f"\n{struck(told)} retracted: {printable(trial.retracted or '')}")
    if snapshot.failed:
        last = snapshot.failed[-1]
        click.echo(f"\nlast failure, trial {last.number}: {printable(last.error or '')}")
        click.echo(f"  'bough show {snapshot.name} --trial {last.number}' shows all of it")


def _trial(study: Study, number: int) -> Trial:
    trials = study.trials
    if not 0 <= number < len(trials):
        there = f"its trials are 0 to {len(trials) - 1}" if trials else "it has no trials yet"
        raise TrialError(f"study {study.name!r} has no trial {number}: {there}")
    return trials[number]


def _as_data(trial: Trial) -> dict[str, Any]:
    """A trial as data for ``--json``, without the service's request ids."""
    return {
        name: value for name, value in asdict(trial).items() if name not in ("request", "holder", "violated")
    }


def _curve(trial: Trial) -> str:
    """The reports of a trial in one line: the first and the last value, and a sparkline between them."""
    (first, start), (last, end) = trial.curve[0], trial.curve[-1]
    course = sparkline([value for _, value in trial.curve], 20)
    return f"step {first}: {number(start)}  {course}  step {last}: {number(end)}"


def _show_trial(trial: Trial, json_: bool) -> None:
    if json_:
        return as_json(_as_data(trial))
    attempt = f", attempt {trial.attempt}" if trial.attempt > 1 else ""
    click.echo(f"{bold(f'trial {trial.number}')}: {trial.state}{attempt}{_times(trial)}")
    facts = {"value": trial.value, "noise": trial.noise, "cost": trial.cost, **trial.measures, **trial.notes}
    given = {name: fact for name, fact in facts.items() if fact is not None}
    if given:
        click.echo(_lines(given))
    if trial.retracted is not None:
        click.echo(f"{bold('retracted')}\n  {printable(trial.retracted)}")
    if trial.corrected is not None:
        before = "no value" if trial.value_before is None else struck(str(trial.value_before))
        click.echo(f"{bold('corrected')}\n  {printable(trial.corrected)} (told: {before})")
    if trial.curve:
        click.echo(f"{bold('curve')}\n  {_curve(trial)}")
    if trial.violated:
        click.echo(f"violates {', '.join(trial.violated)}")
    click.echo(f"{bold('config')}\n{_lines(trial.config)}")
    if trial.error:
        click.echo(f"{bold('error')}\n  {printable(trial.error)}")
    if trial.traceback:
        click.echo(f"{bold('traceback')}\n{printable(trial.traceback.rstrip())}")
    return None


def _times(trial: Trial) -> str:
    if trial.started is None:
        return ""
    began = datetime.fromtimestamp(trial.started).strftime("%Y-%m-%d %H:%M:%S")
    lasted = f", took {trial.finished - trial.started:.1f} s" if trial.finished is not None else ""
    return f", started {began}{lasted}"


def _lines(config: Config) -> str:
    """One line per parameter, with all digits."""
    width = max(map(len, config), default=0)
    return "\n".join(
        f"  {printable(name):<{width}}  {value if isinstance(value, float) else value_text(value)}"
        for name, value in config.items()
    )


@click.command()
@study_argument
@storage_option
@json_option
def best(study: str | None, storage: str, json_: bool) -> None:
    """Print the best configuration of a study.

    With several objectives, print the front. If values are noisy, also say which trial the model recommends.
    Without STUDY, the latest study is meant.

    \b
    Examples:
      bough best
      bough best my-study --json > best.json
    """
    opened = open_named(study, storage)
    several = len(opened.goals.objectives) > 1
    if several and not opened.front:
        raise StudyError(no_feasible_trial(opened))
    if several or (not opened.goals.objectives and opened.front):
        as_json(front_data(opened)) if json_ else click.echo(front_text(opened))
        return
    trial = opened.best
    choice = opened.recommend() if opened.has_model and is_noisy(opened.current_trials) else None
    if json_:
        told = {"number": trial.number, "value": trial.value, "noise": trial.noise, "config": trial.config}
        if choice is not None:
            by_model = {"number": choice.trial.number, "mean": choice.mean, "interval": choice.interval}
            told["recommended"] = by_model
        as_json(told)
        return
    click.echo(f"value  {json.dumps(trial.value)}   (trial {trial.number} of study {opened.name!r})")
    click.echo(_lines(trial.config))
    if choice is not None:
        low, high = map(number, choice.interval)
        click.echo(
            f"Values are noisy. The model recommends trial {choice.trial.number} and expects "
            f"{number(choice.mean)}, with 95 % probability between {low} and {high}."
        )
