"""Hyperparameters around their mode: a cubature rule for the posterior of the hyperparameters.

Laplace's approximation says that they are nearly normal, with the mode m and the inverse of the precision
P = −∂² log p(θ | y) / ∂θ². The third-degree spherical-radial rule (Arasaratnam & Haykin 2009, IEEE Trans.
Automat. Contr. 54) has equal weights on the points

    m ± √p P^(−1/2) u_j,   j = 1 … p,

with any orthonormal directions u_j. Their mean is m, and their covariance is P⁻¹. We draw the directions at
random and keep the first few: the mean is still m, and the covariance P⁻¹ on average over the draw. A
length-scale about which the data say little varies as its prior does; the others hardly move. P^(−1/2) is the
symmetric root: with any other one, rounding in P could move the points far.
"""

from __future__ import annotations

import math

import numpy as np

from bough.gp.likelihood import Data, GPModel, log_posterior_on
from bough.points import FloatArray

__all__ = ["kernel_precision", "points_around"]

STEP = 1e-2
"""Step of the differences of gradients, in log hyperparameters."""

MOST_ROWS = 128
"""Observations by which the precision is computed: that takes a gradient per hyperparameter."""


def points_around(
    model: GPModel, mode: FloatArray, data: Data, count: int, rng: np.random.Generator
) -> FloatArray:
    """(count, p) points of the rule; ``count`` is even.

    The noise variance stays at its mode: with much more noise, a member would not know how good the incumbent
    is. Points outside the bounds of the hyperparameters are moved to the bounds.
    """
    sd = np.sqrt(model.prior.variances[:-1])
    low, high = model.prior.bounds
    size, pairs = len(sd), count // 2
    # In units of the prior's sd, no direction is less certain than the prior.
    certainty, axes = np.linalg.eigh(kernel_precision(model, mode, data) * np.multiply.outer(sd, sd))
    square, _ = np.linalg.qr(rng.standard_normal((size, size)))
    directions = np.resize(square, (pairs, size))  # more pairs than hyperparameters repeat some
    steps = math.sqrt(size) * ((directions @ axes) / np.sqrt(np.maximum(certainty, 1.0))) @ axes.T * sd
    points = np.tile(mode, (count, 1))
    points[:, :-1] += np.concatenate([steps, -steps])
    return np.clip(points, low, high)


def kernel_precision(model: GPModel, theta: FloatArray, data: Data) -> FloatArray:
    """(p − 1, p − 1) the negative Hessian of log p(theta | y) by the hyperparameters of the kernel.

    With many observations it is that of MOST_ROWS of them, spread evenly, with the likelihood counted as
    often as there are others.
    """
    size, count = len(theta) - 1, len(data.y)
    prior = np.diag(1.0 / model.prior.variances[:-1])
    if count == 0:
        return prior
    seen = min(count, MOST_ROWS)
    some = data.take(np.linspace(0, count - 1, seen).astype(np.intp))
    density = log_posterior_on(model, some.sorted())
    here = density(theta)[1]()[:-1]
    steps = STEP * np.eye(size, size + 1)
    slopes = np.array([(density(theta + step)[1]()[:-1] - here) / STEP for step in steps])
    return np.asarray(prior + count / seen * (-0.5 * (slopes + slopes.T) - prior))
