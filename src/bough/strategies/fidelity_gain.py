"""Which configuration is evaluated next and at which rung, in a study with a fidelity and a budget.

A configuration may be evaluated at the highest rung at once, or first at a lower one and at the highest only
if it is still worth it. Either way is worth its expected gain divided by its expected cost:

    at once:            EI / c_top
    first at rung r:    the L with  L = E[EI' ; EI' > L c_top] / (c_r + c_top P(EI' > L c_top)).

EI is the expected improvement at the highest rung, EI' the same once the result at rung r is known, and c the
cost. L is the index of Weitzman 1979 ("Optimal search for the best alternative") for one inspection. The
result at rung r moves the prediction at the highest one by a normal variable with standard deviation
|cov(f_r, f_top)| / sqrt(var f_r + noise²). A new configuration and those that wait at lower rungs compete by
this number, cooled like every cost (``strategies.cost_aware``). It replaces the criterion of Jenatton et al.
2017, sec. 5, which as printed always chooses the lowest fidelity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from bough.acquisition.functions import log_ei
from bough.gp.posterior import SMALLEST_VARIANCE, GPPosterior
from bough.history import History
from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.context import ConditionedModel
from bough.strategies.cost_aware import MIN_COSTS, cost_model
from bough.strategies.fidelity_history import at_fidelity
from bough.strategies.model_based import ModelBased, mixture_moments

__all__ = ["Contest", "next_evaluation", "weighs_rungs"]

MIN_FULL = 3
"""With fewer results at the highest rung, a model knows too little about the differences between rungs."""

MAX_WAITING = 40
"""Largest number of waiting configurations that compete: those with the best predictions."""

STEPS = 8
"""Iterations for L. Each is a step of Newton's method from below, and changes little after the fourth."""

NORMAL = ndtri((np.arange(21) + 0.5) / 21)
"""Equally likely values of a standard normal variable."""


@dataclass(frozen=True, eq=False)
class Contest:
    """The configurations that compete for the next evaluation; the last one is new.

    points: (n,) at the highest fidelity. reached: (n,) the rung of the last result, -1 for the new one.
    column: the column of the fidelity. rungs: the positions of all rungs there.
    """

    points: Points
    reached: IntArray
    column: int
    rungs: Sequence[float]

    def at_rungs(self, points: Points) -> Points:
        """The points at the lowest rung, then all of them at the next one, and so on."""
        return Points.concat([at_fidelity(points, (self.column, position)) for position in self.rungs])


def weighs_rungs(strategy: Strategy, history: History) -> bool:
    """Whether the study has a budget and known costs, and the method a model that compares rungs."""
    spending = history.spending
    return (
        isinstance(strategy, ModelBased)
        and strategy.can_learn
        and strategy.cost_model is not None
        and spending is not None
        and int(np.sum(spending.costs > 0)) >= MIN_COSTS
        and int(np.sum(~history.is_lower)) >= MIN_FULL
        and history.outcomes is None
        and not history.sources
    )


def next_evaluation(strategy: Strategy, space: Space, history: History, contest: Contest) -> tuple[int, int]:
    """The row of the configuration to evaluate, and the rung; only for methods that weigh rungs."""
    assert isinstance(strategy, ModelBased)
    costs = cost_model(strategy.cost_model, history)
    assert costs is not None
    nothing = history.pending.take([])
    model = strategy.model(replace(history, pending=nothing, pending_numbers=history.pending_numbers[:0]))
    if strategy.initial.next(space, history) is not None:
        rows = [len(contest.points) - 1]
    else:
        rows = _promising(model, contest)
    contest = replace(contest, points=contest.points.take(rows), reached=contest.reached[rows])
    counted = np.flatnonzero(space.legal(history.done))  # of the current space, at the highest fidelity
    if not len(counted):
        counted = np.flatnonzero(~history.is_lower)
    gains = _gains(model, history, counted, contest, _cost_shares(costs, contest))
    for weight in strategy.weights(space, history, model):
        gains += weight(contest.points)[:, None]
    gains[contest.reached[:, None] >= np.arange(len(contest.rungs))] = -np.inf
    row, rung = np.unravel_index(np.argmax(gains), gains.shape)
    return rows[int(row)], int(rung)


def _promising(model: ConditionedModel, contest: Contest) -> list[int]:
    """The rows of the waiting configurations with the best predictions, and of the new one."""
    mean, _ = mixture_moments(model.posteriors, contest.points)
    best = np.argsort(mean[:-1], kind="stable")[:MAX_WAITING]
    return [*np.sort(best).tolist(), len(mean) - 1]


def _cost_shares(costs: ConditionedModel, contest: Contest) -> FloatArray:
    """(n, rungs) the predicted cost at each rung, relative to the cost at the highest one."""
    mean, sd = mixture_moments(costs.posteriors, contest.at_rungs(contest.points))
    log_cost = costs.transform.inverse(mean, 0.0 * sd)[0].reshape(len(contest.rungs), -1).T
    return np.asarray(np.exp(np.minimum(log_cost - log_cost[:, -1:], 0.0)))


def _gains(
    model: ConditionedModel, history: History, counted: IntArray, contest: Contest, shares: FloatArray
) -> FloatArray:
    """(n, rungs) the logarithm of the gain over results that count, per cost and in units of c_top."""
    found = []
    for posterior in model.posteriors:
        assert isinstance(posterior, GPPosterior)
        best = posterior.incumbent(history.done.take(counted), model.z[counted])
        found.append(_gains_under(posterior, best, contest, shares))
    return np.asarray(np.logaddexp.reduce(found, axis=0) - np.log(len(found)))


def _gains_under(posterior: GPPosterior, best: float, contest: Contest, shares: FloatArray) -> FloatArray:
    n, rungs = shares.shape
    means, joint = posterior.joint(contest.at_rungs(contest.points))
    mean = means.reshape(rungs, n)[-1]
    covariance = np.einsum("risi->irs", joint.reshape(rungs, n, rungs, n))  # (n, rungs, rungs)
    variance = np.maximum(np.einsum("irr->ir", covariance), SMALLEST_VARIANCE)
    sd = np.sqrt(variance[:, -1])
    gains = np.empty((n, rungs))
    gains[:, -1] = log_ei(mean, sd, best)[0]
    for rung in range(rungs - 1):
        told = np.sqrt(variance[:, rung] + posterior.observation_noise**2)
        moved = np.minimum(np.abs(covariance[:, rung, -1]) / told, sd)
        left = np.sqrt(sd**2 - moved**2)
        after = mean[:, None] + moved[:, None] * NORMAL
        logs = log_ei(after.ravel(), np.repeat(left, len(NORMAL)), best)[0].reshape(n, -1)
        peak = logs.max(axis=1)
        gains[:, rung] = peak + np.log(_index(np.exp(logs - peak[:, None]), shares[:, rung]))
    return gains


def _index(improvement: FloatArray, cost: FloatArray) -> FloatArray:
    """(n,) L of the module's docstring, for c_top = 1; improvement: (n, q) equally likely values of EI'."""
    index: FloatArray = improvement.mean(axis=1) / (cost + 1.0)
    for _ in range(STEPS):
        goes_on = improvement >= index[:, None]
        index = (improvement * goes_on).mean(axis=1) / (cost + goes_on.mean(axis=1))
    return index
