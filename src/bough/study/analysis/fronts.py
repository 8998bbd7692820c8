"""Results with several objectives or with limits: the front, its hypervolume, and the closest trial."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.acquisition.hypervolume import hypervolume, inferred_reference, non_dominated
from bough.errors import StudyError
from bough.points import FloatArray
from bough.study.goals import Goals, parse_goals
from bough.trial import Trial

__all__ = ["closest", "front_of", "hypervolume_course", "hypervolume_of", "reference_of"]


def front_of(goals: Goals, trials: Sequence[Trial]) -> list[Trial]:
    """The feasible trials that no other one dominates, the best of the first objective first.

    Without objectives, all feasible trials.
    """
    feasible = [trial for trial in trials if trial.feasible]
    if not goals.objectives:
        return feasible
    values = _outcomes(goals, feasible)
    rows = np.flatnonzero(non_dominated(values))
    return [feasible[row] for row in rows[np.lexsort(values[rows].T[::-1])]]


_huge = np.errstate(over="ignore", invalid="ignore")  # values near the largest float have an infinite volume


@_huge
def hypervolume_of(
    goals: Goals, trials: Sequence[Trial], reference: Mapping[str, float] | None = None
) -> float:
    """The volume between the front and the reference point, in the product of the objectives' units.

    reference: a value for each objective. A missing value is taken from the goals, or else inferred.
    """
    point = reference_of(goals, trials, reference)
    values = _outcomes(goals, [trial for trial in trials if trial.feasible])
    if not len(values):
        return 0.0
    return _volume(values, np.array(goals.signs) * np.array(list(point.values())))


def _volume(front: FloatArray, point: FloatArray) -> float:
    found = hypervolume(front, point)
    return math.inf if math.isnan(found) else found


@_huge
def hypervolume_course(goals: Goals, trials: Sequence[Trial]) -> FloatArray:
    """(n,) the hypervolume after each of the n finished trials, all from the same reference point."""
    done = [trial for trial in trials if trial.state == "done"]
    course = np.zeros(len(done))
    if not any(trial.feasible for trial in done):
        return course
    point = np.array(goals.signs) * np.array(list(reference_of(goals, done).values()))
    front = np.empty((0, len(goals.names)))
    for row, trial in enumerate(done):
        course[row] = course[row - 1] if row else 0.0
        if not trial.feasible:
            continue
        value = np.array(goals.outcomes(trial))
        if np.all(value < point) and not np.any(np.all(front <= value, axis=1)):
            front = np.vstack([front[~np.all(value <= front, axis=1)], value])
            course[row] = _volume(front, point)
    return course


@_huge
def reference_of(
    goals: Goals, trials: Sequence[Trial], reference: Mapping[str, float] | None = None
) -> dict[str, float]:
    """The reference point by objective, in the user's directions; see ``hypervolume_of``.

    While no trial is feasible, objectives without a given value are missing.
    """
    if not goals.objectives:
        raise StudyError("a study without objectives has no hypervolume")
    given = {**dict(goals.reference), **dict(parse_goals(goals.names, (), reference).reference)}
    values = _outcomes(goals, [trial for trial in trials if trial.feasible])
    if not len(values):
        return {name: given[name] for name in goals.names if name in given}
    inferred = dict(zip(goals.names, np.array(goals.signs) * inferred_reference(values)))
    return {name: float(given.get(name, inferred[name])) for name in goals.names}


def closest(goals: Goals, trials: Sequence[Trial], study: str) -> StudyError:
    """The error if no trial is feasible: it names the closest trial and the limits that this trial violates.

    With a fidelity, the error may be that no trial reached the highest one.

    Slacks are divided by their median over all trials, so all limits have equal weight.
    """
    done = [trial for trial in trials if trial.state == "done" and trial.retracted is None]
    if goals.fidelity is not None and all(trial.partial for trial in done):
        name, full = goals.fidelity
        highest = max(trial.config[name] for trial in done)
        return StudyError(
            f"study {study!r} has no result at {name}={full:g} yet, the highest fidelity: only up to "
            f"{highest:g}"
        )
    done = [trial for trial in done if not trial.partial]
    slacks = np.maximum(np.array([goals.slacks(trial) for trial in done]), 0.0)
    typical = np.array([np.median(column[column > 0]) if np.any(column > 0) else 1.0 for column in slacks.T])
    trial = done[int(np.argmin((slacks / typical).sum(axis=1)))]
    measured = ", ".join(
        f"{limit.name} is {goals.measured(trial, limit.name):.6g}, not {limit.sign} {limit.bound:g}"
        for limit in goals.limits
        if str(limit) in trial.violated
    )
    return StudyError(
        f"study {study!r} has no trial that meets its constraints yet; "
        f"trial {trial.number} is closest: {measured}"
    )


def _outcomes(goals: Goals, trials: Sequence[Trial]) -> FloatArray:
    rows: list[Any] = [goals.outcomes(trial) for trial in trials]
    return np.array(rows, dtype=float).reshape(len(trials), len(goals.objectives))
