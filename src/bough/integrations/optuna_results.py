"""The results of Optuna's trials: objectives, constraints, and predicted values of pruned trials.

An infinite value counts as the worst or best finite one. A pruned trial counts with its predicted final
value, like a stopped trial of bough (``study.stopping.final_values``); without any report it is a failure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from bough.points import BoolArray, FloatArray
from bough.study.stopping.curves import Curve
from bough.study.stopping.final_values import TrialCurve, predicted_loser

if TYPE_CHECKING:
    from optuna.study import Study

__all__ = ["OptunaGoals", "Results", "constraints_of", "results_of", "slacks_of"]


@dataclass(frozen=True)
class OptunaGoals:
    """The goals of an Optuna study: a name and a sign (-1: maximised) per objective, and its constraints."""

    names: tuple[str, ...]
    signs: tuple[float, ...]
    constraints: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether there is one objective, and no constraint."""
        return len(self.signs) == 1 and not self.constraints

    @staticmethod
    def of(study: Study, trials: Sequence[FrozenTrial]) -> OptunaGoals:
        """The study's objectives, and the constraints that any of the trials has."""
        signs = tuple(-1.0 if each == StudyDirection.MAXIMIZE else 1.0 for each in study.directions)
        named = getattr(study, "metric_names", None)  # a bracket of Hyperband has none
        names = named or [f"value {i}" if len(signs) > 1 else "value" for i in range(len(signs))]
        seen = dict.fromkeys(name for trial in trials for name in constraints_of(trial))
        return OptunaGoals(tuple(names), signs, tuple(seen))


@dataclass(frozen=True, eq=False)
class Results:
    """The results of n trials.

    values: (n, objectives), to be minimised. noise: (n,), NaN if unknown. slacks: (n, constraints), at most 0
    if the constraint is met. done, failed: (n,), both False for a pruned trial without a prediction yet.
    """

    values: FloatArray
    noise: FloatArray
    slacks: FloatArray
    done: BoolArray
    failed: BoolArray


def constraints_of(trial: FrozenTrial) -> dict[str, float]:
    """The constraints of a trial, each met if at most 0; Optuna stores them in one of two forms."""
    found = {str(i): float(value) for i, value in enumerate(trial.system_attrs.get("constraints") or ())}
    prefix = "constraints:"
    for key, value in trial.system_attrs.items():
        if key.startswith(prefix):
            found[key.removeprefix(prefix)] = float(value)
    return found


def slacks_of(trials: Sequence[FrozenTrial], constraints: Sequence[str]) -> FloatArray:
    """The constraints of n trials, (n, constraints); NaN if an incomplete trial lacks one.

    If a completed trial lacks a constraint, it counts as violated by as much as in the worst trial.
    """
    slacks = np.full((len(trials), len(constraints)), np.nan)
    for row, trial in enumerate(trials):
        given = constraints_of(trial)
        slacks[row] = [given.get(name, math.nan) for name in constraints]
    slacks = _clipped(slacks, [-1.0, 1.0])  # an infinite one keeps its sign
    whole = np.array([trial.state == TrialState.COMPLETE for trial in trials], dtype=bool)
    worst = np.max(slacks, axis=0, initial=1.0, where=np.isfinite(slacks))
    slacks[whole] = np.where(np.isnan(slacks[whole]), worst, slacks[whole])
    return slacks


def results_of(trials: Sequence[FrozenTrial], goals: OptunaGoals, branches: Sequence[bytes]) -> Results:
    """The results of the trials; ``branches`` has the branch of each.

    In a study with constraints, a pruned trial without its constraints is ignored.
    """
    n, signs = len(trials), np.array(goals.signs)
    values, noise = np.full((n, len(signs)), np.nan), np.full(n, np.nan)
    done = np.array([trial.state == TrialState.COMPLETE for trial in trials], dtype=bool)
    for row, trial in enumerate(trials):
        if done[row]:
            values[row] = signs * np.array(trial.values, dtype=float)
    values, slacks = _clipped(values), slacks_of(trials, goals.constraints)
    if len(signs) == 1:
        curves = [_curve(t, b, signs[0], y) for t, b, y in zip(trials, branches, values[:, 0].tolist())]
        finished = [curve for curve in curves if curve.final is not None and curve.last_step >= 0]
        for row, trial in enumerate(trials):
            if trial.state == TrialState.PRUNED and not np.isnan(slacks[row]).any():
                predicted = predicted_loser(curves[row], finished)
                if predicted is not None:
                    values[row, 0], noise[row] = predicted
                    done[row] = True
    failed = np.array([_has_failed(trial) for trial in trials], dtype=bool)
    return Results(values, noise, slacks, done, failed)


def _has_failed(trial: FrozenTrial) -> bool:
    """Whether a trial failed, or was pruned before any report: then its objective did not want the config."""
    if trial.state == TrialState.PRUNED:
        return not any(map(math.isfinite, trial.intermediate_values.values()))
    return trial.state == TrialState.FAIL


def _clipped(numbers: FloatArray, others: Sequence[float] = ()) -> FloatArray:
    """Every column with its infinities clipped to the range of its finite numbers and of ``others``."""
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    clipped: FloatArray = numbers.copy()
    for column in range(numbers.shape[1]):
        seen = np.append(finite[~np.isnan(finite[:, column]), column], others)
        low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 0.0)
        clipped[:, column] = np.clip(numbers[:, column], low, high)  # NaN stays NaN
    return clipped


def _curve(trial: FrozenTrial, branch: bytes, sign: float, final: float) -> TrialCurve:
    reports = [(step, v) for step, v in sorted(trial.intermediate_values.items()) if math.isfinite(v)]
    curve = Curve(0, [step for step, _ in reports], [value for _, value in reports])
    return TrialCurve(branch, curve, sign, None if math.isnan(final) else final)
