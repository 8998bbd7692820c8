"""Hyperparameters by maximum a posteriori: L-BFGS-B from several starts, analytic gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize

from bough.gp.likelihood import Data, GPModel, log_posterior
from bough.gp.params import Param, bounds, prior_draw, prior_median
from bough.points import FloatArray

__all__ = ["fit_map", "maximise"]

GAIN_TOLERANCE = 1e-4
"""The search ends when a step raises the log density by less than this fraction: about 0.01 nats."""

MAX_ITERATIONS = 50


def fit_map(
    model: GPModel, data: Data, rng: np.random.Generator, start: FloatArray | None = None
) -> FloatArray:
    """theta (p,) that maximises log p(y | theta) + log p(theta); without data, the prior's median."""
    if len(data.y) == 0:
        return prior_median(model.params)
    ordered = data.sorted()
    return maximise(lambda theta: log_posterior(model, theta, ordered), model.params, rng, start=start)


def maximise(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    params: Sequence[Param],
    rng: np.random.Generator,
    *,
    start: FloatArray | None = None,
) -> FloatArray:
    """theta (p,) within its bounds where ``objective`` (value and gradient) is largest.

    start: theta of an earlier fit. Then the search runs once, from ``start`` or the prior's median, whichever
    is better. Without it, the search runs from the median and from one draw of the prior.
    """
    median, (low, high) = prior_median(params), bounds(params)
    if len(median) == 0:
        return median
    known: dict[bytes, tuple[float, FloatArray]] = {}  # the search begins where values are known
    if start is not None:
        either = [np.clip(start, low, high), median]
        known = {theta.tobytes(): objective(theta) for theta in either}
        starts = [max(either, key=lambda theta: known[theta.tobytes()][0])]
    else:
        starts = [median, prior_draw(params, rng)]

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = known.get(theta.tobytes()) or objective(theta)
        return -value, -gradient

    box = optimize.Bounds(low, high)
    options = {"maxiter": MAX_ITERATIONS, "ftol": GAIN_TOLERANCE}
    runs = [
        optimize.minimize(loss, x, jac=True, method="L-BFGS-B", bounds=box, options=options) for x in starts
    ]
    best = min(runs, key=lambda run: float(run.fun))
    theta: FloatArray = best.x
    return np.clip(theta, low, high)
