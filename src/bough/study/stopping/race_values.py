"""The statistics of a race over instances: how to compare trials that ran on only some of them.

Step i of a curve is the i-th instance in the order of the race. The value of configuration c there is
modelled as

    y_ci = f_c + d_i + e_ci,      Σ_i d_i = 0,

with an effect d_i of the instance that all configurations share. The effects are estimated from the trials
that ran on all instances, where f_c is a plain mean: d_i = mean_c (y_ci − f_c). So a trial that saw only k
of N instances has f_c = mean_i (y_ci − d_i). As an estimate of the mean over fresh instances of the same
kind, its standard error is sd(e) √(1/k + (1/k − 1/N)/m). The second term is the error of the effects, which
are means over m trials; it cancels over all instances.

A challenger is dropped by a paired t-test against the incumbent on the instances that both have seen, which
is how irace compares means (López-Ibáñez et al. 2016; racing by tests is F-race, Birattari et al. 2002).
The decision is about the difference over all N instances, so the standard error of the mean difference over k
instances has the correction for a finite population (Cochran 1977, sec. 2.6):

    t = mean(gaps) / (sd(gaps) √(1/k − 1/N)),      chance = P(T_{k−1} < −t).

The challenger is dropped once its chance of being ahead over all instances is below 10 %. It is tested after
every instance from the fifth on, without a correction for repeated tests: they also drop challengers that are
only as good as the incumbent, which is no loss. In this module all objectives are minimised.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from bough.points import FloatArray
from bough.storage import Amendment
from bough.study.stopping.final_values import LEAST_SHARE, TrialCurve

__all__ = [
    "KIND", "adjusted_mean", "chance_to_win", "first_test", "instances_of", "is_complete",
    "predicted_in_race", "seen_by",
]  # fmt: skip

KIND = "instances"
"""The kind of the amendment that stores the instances."""

LEAST_CHANCE = 0.1
"""A challenger with a smaller chance of beating the incumbent over all instances is dropped.

On the sorter of ``benchmarks.races`` (seeds 10 to 16) this took a sixth fewer runs than 0.05, and the quality
on fresh instances was no worse.
"""

FIRST_TEST = 5
"""The number of instances before the first test, as in irace."""

FEWEST_INSTANCES = 3
"""The least number of instances before the first test of a short race, such as one over five folds."""


def instances_of(amendments: Sequence[Amendment]) -> list[Any]:
    """The instances that a study races over, in the order of the race; empty if it does not race."""
    return next((list(each.body["instances"]) for each in amendments if each.kind == KIND), [])


def first_test(count: int) -> int:
    """After how many of ``count`` instances a challenger is tested first."""
    return max(FEWEST_INSTANCES, min(FIRST_TEST, count // 2))


def is_complete(trial: TrialCurve, count: int) -> bool:
    """Whether a trial ran on all instances."""
    steps = trial.curve.steps
    return len(steps) == count and steps[0] == 1 and steps[-1] == count


def seen_by(trial: TrialCurve, count: int) -> tuple[list[int], FloatArray]:
    """The positions, from 0 on, of the instances that a trial ran on, and its values there."""
    pairs = [(step - 1, value) for step, value in trial.curve.pairs() if 1 <= step <= count]
    return [place for place, _ in pairs], trial.sign * np.array([value for _, value in pairs], np.float64)


def chance_to_win(challenger: TrialCurve, incumbent: TrialCurve, count: int) -> float:
    """The probability that a challenger is ahead of the incumbent over all instances.

    It is 1 before the first test. incumbent: a trial that ran on all instances.
    """
    from scipy.special import stdtr  # only races need SciPy here

    places, values = seen_by(challenger, count)
    seen = len(places)
    if not first_test(count) <= seen < count:
        return 1.0
    gaps = values - seen_by(incumbent, count)[1][places]
    mean, deviation = float(gaps.mean()), float(gaps.std(ddof=1))
    if deviation <= 1e-12 * abs(mean) or deviation == 0.0:  # the same difference everywhere
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(seen - 1, -mean / (deviation * sqrt(1 / seen - 1 / count))))


def adjusted_mean(
    trial: TrialCurve, finished: Sequence[TrialCurve], count: int
) -> tuple[float, float] | None:
    """The mean of a trial with the effects of its instances removed, and its standard error.

    finished: other trials that ran on all instances; None without any, or if the trial saw fewer than two.
    """
    complete = [other for other in finished if is_complete(other, count)]
    places, values = seen_by(trial, count)
    if not complete or len(places) < 2:
        return None
    table = np.array([seen_by(other, count)[1] for other in complete])
    effects = (table - table.mean(axis=1, keepdims=True)).mean(axis=0)
    own, seen, m = values - effects[places], len(places), len(complete)
    variance = float(own.var(ddof=1)) / (1 + 1 / m)  # of e: own also has the error of the effects
    return float(own.mean()), sqrt(variance * (1 / seen + (1 / seen - 1 / count) / m))


def predicted_in_race(
    trial: TrialCurve, finished: Sequence[TrialCurve], count: int
) -> tuple[float, float] | None:
    """The predicted value over all instances of a dropped trial, and its standard deviation.

    The prediction is never better than the best of ``finished``: the trial lost against one of them.
    """
    found = adjusted_mean(trial, finished, count)
    finals = [other.final for other in finished if other.final is not None]
    if found is None or not finals:
        return None
    least = LEAST_SHARE * (max(finals) - min(finals)) or 1e-12
    return max(found[0], min(finals)), max(found[1], least)
