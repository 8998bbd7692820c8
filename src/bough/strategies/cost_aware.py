"""Improvement per cost, where a study has a budget: cheap trials first, any trial at the end.

A second Gaussian process models the logarithm of what trials cost. The criterion becomes

    log EI(x) - a log(c(x) + L / N) + r log P(cost of x <= L),    a = L / budget,

with c the cost and L what is left of the budget: expected improvement per cost, cooled (EI-cool, Lee et al.
2020, arXiv 2003.10870). Improvement per cost alone stays with cheap trials to the end and misses an optimum
that is expensive; as a falls to 0, cost counts less and less.

Three details are ours. Trials with an unexpectedly high cost ruin a budget, so c is a cautious estimate: k
standard deviations above the predicted log cost. If costs differ by orders of magnitude, the budget would pay
for hundreds of the cheapest trials, more than a study benefits from. So below a share 1/N of L, being cheaper
has no value. And a trial that costs more than L finishes too late; r > 1, because it also takes L from other
trials. The unit of costs does not matter.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion, Expected
from bough.acquisition.functions import Acquisition, Price
from bough.history import History
from bough.points import Points
from bough.strategies.context import ConditionedModel
from bough.strategies.history_model import HistoryModel

__all__ = ["cost_model", "cost_weights", "predicted_cost"]

USEFUL_TRIALS = 50.0
"""N above: how many further trials are worth saving for."""

RISK_EXPONENT = 10.0
"""r above. Exploiting trials value uncertain gains little; with 1 they would accept any cost at the end."""

CAUTION_SDS = 2.0
"""k above: how far the cautious estimate lies above the predicted log cost."""

MIN_COSTS = 3
"""Trials with a known cost that the cost model needs: fewer say too little about other trials."""


def cost_model(model: HistoryModel | None, history: History) -> ConditionedModel | None:
    """The model of log cost given the trials whose cost is known; None without a budget or such trials.

    model: its surrogate is fitted to log costs.
    """
    spending = history.spending
    if model is None or spending is None:
        return None
    known = np.flatnonzero(spending.costs > 0)
    if len(known) < MIN_COSTS:
        return None
    points, log_costs = history.done.take(known), np.log(spending.costs[known])
    return model.model(history.of_results(points, log_costs, history.done_numbers[known]))


def cost_weights(model: HistoryModel | None, history: History) -> list[Criterion]:
    """The amount by which cost lowers the log gain; empty if costs are unknown or all the same."""
    fitted, spending = cost_model(model, history), history.spending
    if fitted is None or spending is None or spending.left == 0 or not np.ptp(fitted.z):
        return []
    offset, unit = _scale(fitted)
    log_left = float(np.log(spending.left))
    price = Price(
        cooling=spending.share_left,
        risk=RISK_EXPONENT,
        caution=CAUTION_SDS,
        log_floor=-float(np.log(USEFUL_TRIALS)),
        unit=unit,
        offset=offset - log_left,
    )
    most = [(log_left - offset) / unit] * len(fitted.posteriors)
    return [Expected(fitted.posteriors, most, Acquisition(price, log=True))]


def predicted_cost(model: HistoryModel | None, history: History, point: Points) -> dict[str, float]:
    """The expected cost of a point, as an entry of an explanation; empty where cost does not count."""
    fitted = cost_model(model, history)
    if fitted is None:
        return {}
    mean = np.mean([posterior.predict(point)[0] for posterior in fitted.posteriors], axis=0)
    log_cost, _ = fitted.transform.inverse(mean, np.zeros(1))
    return {"cost": float(np.exp(log_cost[0]))}


def _scale(model: ConditionedModel) -> tuple[float, float]:
    """The log cost at 0 on the model's scale, and the log cost per unit; the transform is linear."""
    ends, _ = model.transform.inverse(np.array([0.0, 1.0]), np.zeros(2))
    return float(ends[0]), float(ends[1] - ends[0])
