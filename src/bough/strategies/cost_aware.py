"""Improvement per cost, where a study has a budget: cheap trials first, any trial at the end.

A second Gaussian process models the logarithm of what trials cost. The criterion becomes

    log EI(x) - a log c(x),    a = (budget - spent) / budget,

with c the predicted cost: expected improvement per cost, cooled (EI-cool, Lee et al. 2020, arXiv 2003.10870).
Improvement per cost alone stays with cheap trials to the end and misses an optimum that is expensive; as a
falls to 0, cost counts less and less. Costs enter by their logarithm, so their unit does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.history import History
from bough.points import FloatArray, Points

if TYPE_CHECKING:
    from bough.strategies.decisions import ConditionedModel
    from bough.strategies.model_based import ModelBased

__all__ = ["CooledCost", "cost_model", "cost_weights", "predicted_cost"]

MIN_COSTS = 3
"""Fewer trials with a known cost say too little about the others."""


@dataclass(frozen=True, eq=False)
class CooledCost:
    """The criterion -share log c(x), up to a constant."""

    model: ConditionedModel
    share: float

    def __call__(self, points: Points) -> FloatArray:
        return self.with_gradient(points)[0]

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        factor = -self.share * _log_cost_per_unit(self.model) / len(self.model.posteriors)
        value, slope = np.zeros(len(points)), np.zeros(points.x.shape)
        for posterior in self.model.posteriors:
            mean, _, by_point, _ = posterior.predict_grad(points)
            value += factor * mean
            slope += factor * by_point
        return value, slope


def cost_model(model: ModelBased | None, history: History) -> ConditionedModel | None:
    """The model of log cost given the trials whose cost is known; None without a budget or such trials.

    model: a method whose surrogate is fitted to log costs.
    """
    spending = history.spending
    if model is None or spending is None:
        return None
    known = np.flatnonzero(spending.costs > 0)
    if len(known) < MIN_COSTS:
        return None
    nothing = history.pending.take([])
    return model.model(
        replace(
            history,
            done=history.done.take(known),
            y=np.log(spending.costs[known]),
            noise=np.full(len(known), np.nan),
            done_numbers=history.done_numbers[known],
            pending=nothing,
            pending_numbers=history.pending_numbers[:0],
            outcomes=None,
            stopped=None,
            sources=(),  # results of earlier studies say nothing about cost
        )
    )


def cost_weights(model: ModelBased | None, history: History) -> list[Criterion]:
    """What is added to the logarithm of a gain where cost counts."""
    fitted = cost_model(model, history)
    if fitted is None or history.spending is None or history.spending.share_left == 0:
        return []
    return [CooledCost(fitted, history.spending.share_left)]


def predicted_cost(model: ModelBased | None, history: History, point: Points) -> dict[str, float]:
    """What a point is expected to cost, as an entry of an explanation; empty where cost does not count."""
    fitted = cost_model(model, history)
    if fitted is None:
        return {}
    mean = np.mean([posterior.predict(point)[0] for posterior in fitted.posteriors], axis=0)
    log_cost, _ = fitted.transform.inverse(mean, np.zeros(1))
    return {"cost": float(np.exp(log_cost[0]))}


def _log_cost_per_unit(model: ConditionedModel) -> float:
    """How much log cost one unit of the model's scale is; its transform is linear."""
    ends, _ = model.transform.inverse(np.array([0.0, 1.0]), np.zeros(2))
    return float(ends[1] - ends[0])
