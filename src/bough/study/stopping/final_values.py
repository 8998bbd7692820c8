"""Predicts the final value that a trial stopped early would have reached, and how uncertain it is.

From the curves of finished trials that reached the same step s, each with a final value y_i,

    ŷ = v + median_i (y_i − curve_i(s)),      v the last reported value,
    noise² = sd_i (y_i − curve_i(s))² + (0.3 |v − median_i curve_i(s)|)² + (0.01 (max_i y_i − min_i y_i))².

The second term is needed because stopped trials lie far from finished ones, so they may change more or less.
On curves of lcbench the noise without it was three times too small. The medians use only curves of the same
branch if there are any, and the sd if there are three: a boosting round and an epoch are not comparable. The
sd is the robust one if that is larger. In this module all objectives are minimised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, stdev

from bough.study.stopping.curves import Curve
from bough.trial import Trial

__all__ = ["MIN_CURVES", "TrialCurve", "predicted_final", "predicted_loser"]

MIN_CURVES = 3
"""Curves that a test or a standard deviation needs; a median of fewer says little."""

MAD_TO_SD = 1.4826
"""The standard deviation of a normal variable divided by its median absolute deviation."""

FAR_SHARE = 0.3
"""The share of the distance from finished trials that is added to the noise."""

FEW_SHARE = 0.25
"""The sd of a change is at least this share of it where a branch has fewer than ``MIN_CURVES`` curves."""

LEAST_SHARE = 0.01
"""The share of the range of final values that is always added to the noise, so it is never zero."""


@dataclass(frozen=True)
class TrialCurve:
    """The curve of a trial as the rules see it: its branch, and its final value if it is done.

    sign: 1 where the study minimises, -1 where it maximises. upto: steps after this one do not count.
    """

    branch: bytes
    curve: Curve
    sign: float
    final: float | None = None
    upto: int | None = None

    @staticmethod
    def of(trial: Trial, curve: Curve, sign: float, branch: bytes = b"") -> TrialCurve:
        """The curve of a trial; ``final`` is its value times ``sign``, so it is minimised."""
        return TrialCurve(branch, curve, sign, None if trial.value is None else sign * trial.value)

    @property
    def result(self) -> float:
        """The final value; infinite for a trial that is not done."""
        return math.inf if self.final is None else self.final

    @property
    def last_step(self) -> int:
        """The last step; -1 without a report."""
        if not self.curve.steps:
            return -1
        return self.curve.steps[-1] if self.upto is None else min(self.upto, self.curve.steps[-1])

    def covers(self, step: int) -> bool:
        """Whether the trial has reported at this step or before, and has reached it."""
        return step <= self.last_step and self.curve.place(step) > 0

    def at(self, step: int) -> float:
        """The value at a step that the trial covers: its last report up to there."""
        value = self.curve.at(step)
        assert value is not None
        return self.sign * value

    def best(self) -> float:
        """The best value so far."""
        values = self.curve.values[: self.curve.place(self.last_step)]
        return self.sign * (min(values) if self.sign > 0 else max(values))


def predicted_final(trial: TrialCurve, finished: Sequence[TrialCurve]) -> tuple[float, float] | None:
    """The predicted final value and its standard deviation; None if no finished trial covers this step."""
    step = trial.last_step
    reached = [other for other in finished if other.final is not None and other.covers(step)]
    if step < 0 or not reached:
        return None
    changes: dict[bytes, list[float]] = {}
    for other in reached:
        changes.setdefault(other.branch, []).append(other.result - other.at(step))
    own = changes.get(trial.branch, [])
    change = median(own or [each for branch in changes.values() for each in branch])
    finals = [other.result for other in finished if other.final is not None]
    value, spread = trial.at(step), max(finals) - min(finals)
    peers = [other.at(step) for other in reached if not own or other.branch == trial.branch]
    noise = math.hypot(
        _sd_of_change(own, list(changes.values()), spread),
        FAR_SHARE * abs(value - median(peers)),
        LEAST_SHARE * spread or LEAST_SHARE * abs(change) or 1e-12,
    )
    return value + change, noise


def predicted_loser(trial: TrialCurve, finished: Sequence[TrialCurve]) -> tuple[float, float] | None:
    """``predicted_final`` of a stopped trial, never better than the best of ``finished``.

    The trial was not worth finishing. Only a single objective is cut off: a trial that is stopped for one
    measure may well have the best value of another one.
    """
    found = predicted_final(trial, finished)
    if found is None:
        return None
    return max(found[0], min(other.result for other in finished)), found[1]


def _sd_of_change(own: list[float], branches: list[list[float]], spread: float) -> float:
    """The standard deviation of a change, taken from other branches if this one has too few curves.

    spread: the range of all final values, used if nothing else is known.
    """
    if len(own) >= MIN_CURVES:
        return _spread(own)
    several = [_spread(branch) for branch in branches if len(branch) >= MIN_CURVES]
    if not own or not several:
        return spread
    return max(median(several), FEW_SHARE * abs(median(own)))


def _spread(values: list[float]) -> float:
    """The standard deviation, or the robust one if it is larger."""
    centre = median(values)
    return max(stdev(values), MAD_TO_SD * median(abs(value - centre) for value in values))
