"""Hyperparameters: named, positive, and always handled as their logarithm.

``theta`` is one flat vector: the logarithms of all hyperparameters of a model, in the order of its
``params``. Bounds and priors belong to a ``Param``, so that a kernel says itself what is plausible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.gp.priors import Prior
from bough.points import FloatArray

__all__ = ["Param", "bounds", "clip", "log_prior", "prior_draw", "prior_median", "total_size"]


@dataclass(frozen=True)
class Param:
    """``size`` positive hyperparameters of one name that share a prior and bounds.

    prior: density of the value; evaluated as a density of theta = log(value).
    low, high: bounds of the value (not of its logarithm).
    """

    name: str
    size: int
    prior: Prior
    low: float
    high: float


def total_size(params: Sequence[Param]) -> int:
    """Length of theta."""
    return sum(param.size for param in params)


def bounds(params: Sequence[Param]) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds of theta, each (p,)."""
    sizes = [param.size for param in params]
    low = np.log([param.low for param in params])
    high = np.log([param.high for param in params])
    return np.repeat(low, sizes), np.repeat(high, sizes)


def clip(params: Sequence[Param], theta: FloatArray) -> FloatArray:
    """``theta`` moved inside its bounds."""
    return np.clip(theta, *bounds(params))


def prior_median(params: Sequence[Param]) -> FloatArray:
    """theta with every hyperparameter at the median of its prior, inside its bounds."""
    medians = [np.full(param.size, param.prior.median) for param in params]
    return clip(params, np.concatenate([np.empty(0), *medians]))


def prior_draw(params: Sequence[Param], rng: np.random.Generator) -> FloatArray:
    """theta drawn from the prior, inside its bounds."""
    draws = [param.prior.draw(rng, param.size) for param in params]
    return clip(params, np.concatenate([np.empty(0), *draws]))


def log_prior(params: Sequence[Param], theta: FloatArray) -> tuple[float, FloatArray]:
    """log p(theta), up to a constant, and its gradient (p,)."""
    value, gradient, start = 0.0, np.empty_like(theta), 0
    for param in params:
        part = slice(start, start + param.size)
        density, slope = param.prior.log_density(theta[part])
        value += float(density.sum())
        gradient[part] = slope
        start += param.size
    return value, gradient
