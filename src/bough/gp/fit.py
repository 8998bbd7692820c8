"""Hyperparameters by maximum a posteriori: L-BFGS-B from several starts, or warm from an earlier fit.

A study fits its model again whenever the data have grown by a few per cent. By then the mode has moved
little, and the curvature around it hardly at all. A quasi-Newton search that starts from both (``fit_warm``)
needs half as many evaluations as L-BFGS-B from the mode alone.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

import numpy as np
from scipy import optimize

from bough.gp.likelihood import Data, GPModel, Gradient, LogPosterior, log_posterior, log_posterior_on
from bough.gp.params import JointPrior
from bough.points import FloatArray

__all__ = ["fit_map", "fit_warm", "maximise"]

GAIN_TOLERANCE = 1e-4
"""The search ends when a step raises the log density by less than this fraction: about 0.01 nats."""

MAX_STEPS = 50
MAX_SHORTENINGS = 12

LONGEST_STEP = 1.0
"""Largest change of a log hyperparameter in one step: the value changes at most by a factor of e."""

PRIOR_SHARE = 0.1
"""Without earlier curvature, the first inverse Hessian is this share of the prior's variances."""

FORGOTTEN_SHARE = 0.05
"""Share of that first matrix mixed into an earlier one, so no direction becomes too short to search."""

ARMIJO_SHARE = 1e-4
"""Share of the gain predicted by the gradient that a step must deliver to be accepted."""


def fit_map(
    model: GPModel, data: Data, rng: np.random.Generator, start: FloatArray | None = None
) -> FloatArray:
    """theta (p,) that maximises log p(y | theta) + log p(theta); without data, the prior's median."""
    if len(data.y) == 0:
        return model.prior.median
    ordered = data.sorted()
    return maximise(lambda theta: log_posterior(model, theta, ordered), model.prior, rng, start=start)


def maximise(
    objective: Callable[[FloatArray], tuple[float, FloatArray]],
    prior: JointPrior,
    rng: np.random.Generator,
    *,
    start: FloatArray | None = None,
) -> FloatArray:
    """theta (p,) within its bounds where ``objective`` (value and gradient) is largest.

    start: theta of an earlier fit. Then the search runs once, from ``start`` or the prior's median, whichever
    is better. Without it, the search runs from the median and from one draw of the prior.
    """
    median, (low, high) = prior.median, prior.bounds
    if len(median) == 0:
        return median
    known: dict[bytes, tuple[float, FloatArray]] = {}  # reused by the search
    if start is not None:
        either = [np.clip(start, low, high), median]
        known = {theta.tobytes(): objective(theta) for theta in either}
        starts = [max(either, key=lambda theta: known[theta.tobytes()][0])]
    else:
        starts = [median, prior.draw(rng)]

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = known.get(theta.tobytes()) or objective(theta)
        return -value, -gradient

    box = optimize.Bounds(low, high)
    options = {"maxiter": MAX_STEPS, "ftol": GAIN_TOLERANCE}
    runs = [
        optimize.minimize(loss, x, jac=True, method="L-BFGS-B", bounds=box, options=options) for x in starts
    ]
    best = min(runs, key=lambda run: float(run.fun))
    theta: FloatArray = best.x
    return np.clip(theta, low, high)


def fit_warm(
    model: GPModel, data: Data, rng: np.random.Generator, start: FloatArray | None = None
) -> FloatArray:
    """(1 + p, p) the mode of log p(theta | y), then the inverse Hessian of the search that found it.

    start: the result of an earlier fit. The prior's median is tried too, because no data have misled it.
    """
    median, (low, high) = model.prior.median, model.prior.bounds
    fresh = PRIOR_SHARE * np.diag(model.prior.variances)
    if len(data.y) == 0:
        return np.vstack([median, fresh])
    density = log_posterior_on(model, data.sorted())
    if start is None:
        found = [_climb(density, each, fresh, low, high) for each in (median, model.prior.draw(rng))]
        return max(found, key=itemgetter(0))[1]
    theta, inverse = np.clip(start[0], low, high), start[1:] + FORGOTTEN_SHARE * (fresh - start[1:])
    known = density(theta)
    if density(median)[0] > known[0]:
        return _climb(density, median, fresh, low, high)[1]
    return _climb(density, theta, inverse, low, high, known)[1]


def _climb(
    density: LogPosterior,
    theta: FloatArray,
    inverse: FloatArray,
    low: FloatArray,
    high: FloatArray,
    known: tuple[float, Gradient] | None = None,
) -> tuple[float, FloatArray]:
    """The maximum that a search from theta finds, and (1 + p, p) as ``fit_warm`` returns it.

    known: the density at theta.
    Projected BFGS: entries that the gradient pushes against a bound stay there, and steps end at bounds.
    """
    first = inverse
    value, gradient = known or density(theta)
    slope = gradient()
    for _ in range(MAX_STEPS):
        free = ~(((theta <= low) & (slope <= 0.0)) | ((theta >= high) & (slope >= 0.0)))
        uphill = np.where(free, slope, 0.0)
        direction = np.where(free, inverse @ uphill, 0.0)
        if not direction @ uphill > 0.0:
            inverse = first
            direction = np.where(free, inverse @ uphill, 0.0)
        # The quadratic model predicts a gain of half the slope along its step.
        if not 0.5 * (direction @ uphill) > GAIN_TOLERANCE * max(abs(value), 1.0):
            break
        length = min(1.0, LONGEST_STEP / float(np.abs(direction).max()))
        for _ in range(MAX_SHORTENINGS):
            step = np.clip(theta + length * direction, low, high) - theta
            promised = float(slope @ step)
            there, gradient = density(theta + step)
            gain = there - value
            if gain >= ARMIJO_SHARE * promised:
                break
            length *= _shorten(promised, gain)
        else:
            break
        slope_there = gradient()
        inverse = _updated(inverse, step, np.where(free, slope - slope_there, 0.0))
        theta, value, slope = theta + step, there, slope_there
        if gain < GAIN_TOLERANCE * max(abs(value), 1.0):
            break
    return value, np.vstack([np.clip(theta, low, high), inverse])


def _updated(inverse: FloatArray, step: FloatArray, bend: FloatArray) -> FloatArray:
    """BFGS update (Nocedal & Wright, eq. 6.17); skipped without positive curvature."""
    curvature = float(step @ bend)
    if not curvature > 1e-10 * np.sqrt(float(step @ step) * float(bend @ bend)):
        return inverse
    rho, moved = 1.0 / curvature, inverse @ bend
    half = np.multiply.outer(step, 0.5 * rho * (1.0 + rho * float(bend @ moved)) * step - rho * moved)
    return inverse + half + half.T


def _shorten(promised: float, gain: float) -> float:
    """Factor to the top of the parabola through value, slope and trial value, within [0.1, 0.5]."""
    drop = promised - gain
    return min(max(0.5 * promised / drop, 0.1), 0.5) if np.isfinite(drop) and drop else 0.1
