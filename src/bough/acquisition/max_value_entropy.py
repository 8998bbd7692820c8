"""Max-value entropy search: what a trial reveals about the smallest value (Wang & Jegelka 2017, eq. 6).

The value f(x) is Gaussian with mean mu and standard deviation sd. Knowing that no value is below y* cuts its
density off there. With gamma = (mu - y*) / sd, the entropy falls by

    H[f(x)] - H[f(x) | f(x) >= y*] = gamma phi(gamma) / (2 Phi(gamma)) - log Phi(gamma),

averaged over draws of the smallest value y*. The paper maximises; signs here are those of minimisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erfcx, log_ndtr

from bough.acquisition.functions import SD_FLOOR, SQRT_HALF, SQRT_HALF_PI
from bough.points import FloatArray, Points

if TYPE_CHECKING:
    from bough.gp.posterior import Posterior

__all__ = ["MaxValueEntropy", "entropy_gain", "sampled_minima"]

SMALLEST_GAIN = 1e-300
"""Smaller gains are raised to this, so their logarithm stays finite."""


def entropy_gain(
    mean: FloatArray, sd: FloatArray, minimum: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The decrease of the entropy (k, n) for moments (n,) and minima (k,), and its slopes by mean and sd.

    With r = phi / Phi, r' = -gamma r - r^2, so d/dgamma = -r (1 + gamma^2 + gamma r) / 2.
    """
    sd = np.maximum(sd, SD_FLOOR)
    gamma = (mean - minimum[:, None]) / sd
    with np.errstate(over="ignore"):  # erfcx overflows far above the minimum, where r is zero
        r = 1.0 / (SQRT_HALF_PI * erfcx(-SQRT_HALF * gamma))
    slope = -0.5 * r * (1.0 + gamma * gamma + gamma * r)
    return 0.5 * gamma * r - log_ndtr(gamma), slope / sd, -slope * gamma / sd


def sampled_minima(
    posteriors: Sequence[Posterior],
    best: Sequence[float],
    candidates: Points,
    draws: int,
    rng: np.random.Generator,
) -> list[FloatArray]:
    """(draws,) smallest values under each posterior, by joint draws over candidates; none above ``best``."""
    return [
        np.minimum(posterior.sample(candidates, draws, rng).min(axis=1), incumbent)
        for posterior, incumbent in zip(posteriors, best, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class MaxValueEntropy:
    """A criterion: the logarithm of the entropy gain, averaged over posteriors and draws of the minimum."""

    posteriors: Sequence[Posterior]
    minima: Sequence[FloatArray]

    def __call__(self, points: Points) -> FloatArray:
        gains = [
            entropy_gain(*posterior.predict(points), minimum)[0].mean(axis=0)
            for posterior, minimum in zip(self.posteriors, self.minima, strict=True)
        ]
        return np.asarray(np.log(np.maximum(np.mean(gains, axis=0), SMALLEST_GAIN)))

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        total, slope = np.zeros(len(points)), np.zeros(points.x.shape)
        for posterior, minimum in zip(self.posteriors, self.minima, strict=True):
            mean, sd, mean_slope, sd_slope = posterior.predict_grad(points)
            gain, by_mean, by_sd = (part.mean(axis=0) for part in entropy_gain(mean, sd, minimum))
            total += gain
            slope += by_mean[:, None] * mean_slope + by_sd[:, None] * sd_slope
        total = np.maximum(total, SMALLEST_GAIN)
        return np.log(total / len(self.posteriors)), slope / total[:, None]
