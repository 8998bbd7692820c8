"""Results of several objectives and under limits: the front, its hypervolume, and the closest trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.acquisition.hypervolume import hypervolume, inferred_reference, non_dominated
from bough.errors import StudyError
from bough.points import FloatArray
from bough.study.goals import Goals, parse_goals
from bough.trial import Trial

__all__ = ["closest", "front_of", "hypervolume_of"]


def front_of(goals: Goals, trials: Sequence[Trial]) -> list[Trial]:
    """The feasible trials that no other one dominates, the best of the first objective first."""
    feasible = [trial for trial in trials if trial.feasible]
    values = _outcomes(goals, feasible)
    rows = np.flatnonzero(non_dominated(values))
    return [feasible[row] for row in rows[np.lexsort(values[rows].T[::-1])]]


def hypervolume_of(goals: Goals, trials: Sequence[Trial], reference: Mapping[str, float] | None) -> float:
    """The volume between the front and the reference point, in the product of the objectives' units.

    reference: a value for each objective. One that is left out is taken from the goals, else inferred.
    """
    given = {**dict(goals.reference), **dict(parse_goals(goals.names, (), reference).reference)}
    values = _outcomes(goals, [trial for trial in trials if trial.feasible])
    if not len(values):
        return 0.0
    inferred = inferred_reference(values)
    point = [
        sign * given[name] if name in given else inferred[column]
        for column, (name, sign) in enumerate(zip(goals.names, goals.signs))
    ]
    return hypervolume(values, np.array(point))


def closest(goals: Goals, trials: Sequence[Trial], study: str) -> StudyError:
    """What to say where no trial is feasible: which one came closest, and what it violates.

    Slacks are compared in units of their median over all trials, so each limit counts alike.
    """
    done = [trial for trial in trials if trial.state == "done" and trial.retracted is None]
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
