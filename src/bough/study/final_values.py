"""The final value that a trial which was stopped early would have reached, and how uncertain it is.

With the curves of finished trials that reached the same step s, each with a final value y_i,

    ŷ = last reported value + m,   m = median_i (y_i − curve_i(s)),
    noise = 1.48 median_i |y_i − curve_i(s) − m|.

Curves of the same branch serve where there are enough of them: a boosting round and an epoch are different
things. Here, everything minimises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bough.study.curves import Curve

__all__ = ["MIN_CURVES", "TrialCurve", "predicted_final"]

MIN_CURVES = 3
"""With fewer curves, a median says little."""

MAD_TO_SD = 1.4826
"""Standard deviation of a normal variable over its median absolute deviation."""

LEAST_NOISE_SHARE = 0.01
"""The noise of a prediction is at least this share of the range of all final values."""

FEW_CURVES_SHARE = 0.25
"""And at least this share of the predicted change, where a branch has fewer than ``MIN_CURVES`` curves."""


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

    @property
    def last_step(self) -> int:
        """The last step; -1 without a report."""
        if not self.curve.steps:
            return -1
        return self.curve.steps[-1] if self.upto is None else min(self.upto, self.curve.steps[-1])

    def at(self, step: int) -> float:
        """The value at a step that the trial has reached."""
        value = self.curve.at(step)
        return self.sign * (self.curve.values[0] if value is None else value)

    def best(self) -> float:
        """The best value so far."""
        values = self.curve.values[: self.curve.place(self.last_step)]
        return self.sign * (min(values) if self.sign > 0 else max(values))


def predicted_final(trial: TrialCurve, finished: Sequence[TrialCurve]) -> tuple[float, float] | None:
    """Predicted final value of a trial and its standard deviation; None if no finished one got as far.

    The prediction is never better than the best of ``finished``: the trial was not worth finishing.
    """
    step = trial.last_step
    changes: dict[bytes, list[float]] = {}  # from this step to the end, by branch
    for other in finished:
        if other.final is not None and other.last_step >= step:
            changes.setdefault(other.branch, []).append(other.final - other.at(step))
    if step < 0 or not changes:
        return None
    finals = [other.final for other in finished if other.final is not None]
    spread = max(finals) - min(finals)
    own = changes.get(trial.branch, [])
    centre = median(own or [change for branch in changes.values() for change in branch])
    noise = _noise(own, centre, list(changes.values()), spread)
    least = LEAST_NOISE_SHARE * spread or abs(LEAST_NOISE_SHARE * centre) or 1e-12
    return max(trial.at(step) + centre, min(finals)), max(noise, least)


def _noise(own: list[float], centre: float, branches: list[list[float]], spread: float) -> float:
    """The standard deviation of a change; that of other branches where the own one has too few curves.

    spread: the range of all final values, for when nothing else is known.
    """
    if len(own) >= MIN_CURVES:
        return MAD_TO_SD * median(abs(change - centre) for change in own)
    if not own:  # the branches differ, too
        pooled = [change for branch in branches for change in branch]
        return max(MAD_TO_SD * median(abs(change - centre) for change in pooled), spread)
    several = [branch for branch in branches if len(branch) >= MIN_CURVES]
    if not several:
        return spread
    residuals = [abs(change - median(branch)) for branch in several for change in branch]
    return max(MAD_TO_SD * median(residuals), FEW_CURVES_SHARE * abs(centre))
