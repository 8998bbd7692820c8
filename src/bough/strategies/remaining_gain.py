"""The gain that is left, and whether a search has settled.

A search has settled when even the best candidate is expected to improve the incumbent by no more than
NEGLIGIBLE_GAIN_SDS standard deviations of all observations (expected improvement as a stopping rule: Nguyen
et al. 2017, PMLR 77), and no branch may still reach a better value by the bound of ``branch_exploration``. A
run waits for several such answers in a row, because a single one is often an accident of the fit. Under noise
a gain counts only as far as one trial can show it (``log_augmented_ei``); otherwise the uncertainty around
the incumbent would keep a search going for hundreds of trials. Such a gain may be largest away from the
largest expected improvement, so random points are candidates, too. Where trials may fail, a gain counts times
the probability of success; otherwise a region that always fails would never settle.

``possible`` is the regret bound of Makarova et al. 2022 ("Automatic termination for hyperparameter
optimization"): the lowest upper confidence bound of the tried points minus the lowest lower bound of all
points. It is only reported, and does not stop a run: while much of the space is unexplored, it stays large.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Expected
from bough.acquisition.functions import lcb
from bough.acquisition.maximise.paths import search_paths
from bough.points import Points
from bough.strategies.base import RemainingGain
from bough.strategies.branch_exploration import other_branches, promising
from bough.strategies.context import ProposalContext
from bough.strategies.decisions import random_candidates

__all__ = ["remaining_gain"]

NEGLIGIBLE_GAIN_SDS = 0.01
BOUND_SDS = 2.0
SEARCH_STARTS = 8
RANDOM_POINTS = 1000


def remaining_gain(context: ProposalContext, rng: np.random.Generator) -> RemainingGain:
    """The remaining gain by a model that is conditioned on the finished trials."""
    model, space = context.model, context.space
    none = context.avoid.take([])
    gain = context.expected_gain
    best = search_paths(space, gain, near=context.near, avoid=none, rng=rng, starts=SEARCH_STARTS)
    candidates = Points.concat([best, random_candidates(context, RANDOM_POINTS, rng)])
    log_gain = float(context.improvement(candidates).max(initial=-np.inf))
    low = Expected(model.posteriors, model.best, lcb(BOUND_SDS))
    lowest = search_paths(space, low, near=context.near, avoid=none, rng=rng, starts=SEARCH_STARTS)
    counted = context.done.take(context.level < np.inf)
    moments = [posterior.predict(counted) for posterior in model.posteriors]
    upper = float(np.mean([np.min(mean + BOUND_SDS * sd) for mean, sd in moments]))
    lower = -float(low(lowest)[0]) if len(lowest) else upper
    incumbent = float(np.mean(model.best))
    marks = np.array([incumbent, incumbent - np.exp(log_gain), upper, min(lower, upper)])
    at = model.transform.inverse(marks, np.zeros(4))[0].tolist()
    settled = log_gain <= np.log(NEGLIGIBLE_GAIN_SDS)
    if settled:
        settled = promising(context, other_branches(context)) is None
    largest = float(np.finfo(float).max)  # the difference of values at both ends of the range overflows
    return RemainingGain(min(at[0] - at[1], largest), min(at[2] - at[3], largest), bool(settled))
