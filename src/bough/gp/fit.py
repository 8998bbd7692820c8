"""Hyperparameters by maximum a posteriori: L-BFGS-B from several starts, analytic gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize

from bough.gp.likelihood import Data, Model, log_posterior
from bough.gp.params import Param, bounds, clip, prior_draw, prior_median
from bough.points import FloatArray

__all__ = ["fit_map", "maximise"]

ENOUGH = 1e-4
"""Relative gain of log density in one step at which the search ends: about a hundredth of a nat."""


def fit_map(
    model: Model,
    data: Data,
    rng: np.random.Generator,
    *,
    start: FloatArray | None = None,
    draws: int = 1,
    iterations: int = 50,
) -> FloatArray:
    """theta (p,) that maximises log p(y | theta) + log p(theta); without data, the prior's median."""
    if len(data.y) == 0:
        return prior_median(model.params)
    ordered = data.sorted()
    return maximise(
        lambda theta: log_posterior(model, theta, ordered),
        model.params,
        rng,
        start=start,
        draws=draws,
        iterations=iterations,
    )


def maximise(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    params: Sequence[Param],
    rng: np.random.Generator,
    *,
    start: FloatArray | None = None,
    draws: int = 1,
    iterations: int = 50,
) -> FloatArray:
    """theta (p,) within its bounds where ``objective`` (value and gradient) is largest.

    Without ``start`` (theta of an earlier fit) the search runs from the prior's median and from
    ``draws`` draws of the prior. With it, it runs once: from ``start`` or the median, whichever is better.
    """
    median = prior_median(params)
    if len(median) == 0:
        return median
    if start is not None:
        starts = [max(clip(params, start), median, key=lambda theta: objective(theta)[0])]
    else:
        starts = [median, *(prior_draw(params, rng) for _ in range(draws))]

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective(theta)
        return -value, -gradient

    box = optimize.Bounds(*bounds(params))
    options = {"maxiter": iterations, "ftol": ENOUGH}
    runs = [
        optimize.minimize(loss, x, jac=True, method="L-BFGS-B", bounds=box, options=options) for x in starts
    ]
    best = min(runs, key=lambda run: float(run.fun))
    return clip(params, np.asarray(best.x))
