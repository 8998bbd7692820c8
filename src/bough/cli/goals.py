"""Objectives and constraints on the command line: their options, and the front as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bough.cli.text import config_text, counted, number, table

if TYPE_CHECKING:
    from bough.study import Study

__all__ = ["front_data", "front_text", "goal_options", "goals_of", "no_feasible_trial"]

F = TypeVar("F", bound=Callable[..., Any])


def goal_options(command: F) -> F:
    """``--objective``, ``--constraint`` and ``--reference``, each of which may be repeated."""
    for option in (
        click.option(
            "--reference",
            multiple=True,
            metavar="NAME=NUMBER",
            help="Worst acceptable value of an objective; may be repeated.",
        ),
        click.option(
            "--constraint", multiple=True, metavar="LIMIT", help="Such as 'memory <= 512'; may be repeated."
        ),
        click.option(
            "--objective",
            multiple=True,
            metavar="NAME[:DIRECTION]",
            help="Such as error or accuracy:maximize; may be repeated.  [default direction: minimize]",
        ),
    ):
        command = option(command)
    return command


def goals_of(
    objective: Sequence[str], constraint: Sequence[str], reference: Sequence[str], maximize: bool
) -> dict[str, Any]:
    """The goals as arguments of ``Study``."""
    from bough.study.goals import objective_of_text, reference_of_text  # loads what --help does not need

    if objective and maximize:
        raise _usage("--maximize is for a single result: write --objective NAME:maximize")
    objectives: dict[str, str] = {}
    for name, direction in map(objective_of_text, objective):
        if name in objectives:
            raise _usage(f"--objective names {name!r} twice")
        objectives[name] = direction
    return {
        "objectives": objectives or None,
        "constraints": list(constraint),
        "reference": dict(map(reference_of_text, reference)) or None,
        "direction": "maximize" if maximize else "minimize",
    }


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context())


def front_text(study: Study, count: int | None = None) -> str:
    """The front as a table, the best of the first objective first, and its hypervolume."""
    front = study.front
    if not front:
        return "no trial is on the front yet"
    names = study.goals.needed
    shown = front if count is None else front[:count]
    rows = [
        (
            str(trial.number),
            *(number(study.goals.measured(trial, name)) for name in names),
            config_text(trial.config),
        )
        for trial in shown
    ]
    left = len(front) - len(shown)
    more = f"\n{left} more on the front: -n {len(front)} shows them" if left else ""
    done = sum(trial.state == "done" for trial in study.trials)
    lines = [
        f"front: {len(front)} of {counted(done, 'trial')}",
        table(("trial", *names, "config"), rows, right="r" * (1 + len(names))) + more,
    ]
    if study.goals.objectives:
        point = ", ".join(f"{name} = {number(value)}" for name, value in study.reference().items())
        lines.append(f"hypervolume {number(study.hypervolume())} from {point}")
    return "\n".join(lines)


def front_data(study: Study) -> dict[str, Any]:
    """The front as data for ``--json``."""
    return {
        "front": [
            {"number": trial.number, "measures": trial.measures, "config": trial.config}
            for trial in study.front
        ],
        **({"hypervolume": study.hypervolume()} if study.goals.objectives else {}),
    }


def no_feasible_trial(study: Study) -> str:
    """Which trial came closest to meeting the constraints, and what it violates."""
    from bough.study.analysis.fronts import closest  # loads NumPy, which --help does not need

    current = study.current_trials
    if not any(trial.state == "done" and trial.retracted is None for trial in current):
        failed = [trial for trial in current if trial.state == "failed"]
        why = f": the last one failed, {failed[-1].error}" if failed else ""
        return f"study {study.name!r} has no trial with a value in its space yet{why}"
    return str(closest(study.goals, current, study.name))
