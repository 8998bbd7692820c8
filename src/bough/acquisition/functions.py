"""Acquisition functions: pure functions of (mean, sd, best), with derivatives.

The objective is minimised, and a larger score is better. Each function maps arrays ``mean`` and ``sd`` of
shape (n,) and an incumbent ``best`` (a scalar, or anything that broadcasts) to three (n,) arrays: the
score and its derivatives with respect to mean and sd.

Everywhere z = (best - mean) / sd: by how many standard deviations the mean beats the incumbent. Jenatton et
al. (2017) print its negative; with that sign the score would rise with the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from bough.points import FloatArray

__all__ = [
    "LOG_EI",
    "LOG_PI",
    "LOG_SD",
    "Acquisition",
    "Price",
    "Score",
    "average",
    "lcb",
    "log_ei",
    "log_pi",
    "log_sum_exp",
    "lower_bound",
]

Score = tuple[FloatArray, FloatArray, FloatArray]
"""(score, its derivative by the mean, its derivative by the sd), each (n,)."""

SD_FLOOR = 1e-12
"""Smaller standard deviations are raised to this, so tried points without noise have a finite score."""

HALF_LOG_TWO_PI = 0.5 * np.log(2.0 * np.pi)
SQRT_HALF = np.sqrt(0.5)
SQRT_HALF_PI = np.sqrt(0.5 * np.pi)
SERIES_BELOW_Z = -50.0
"""Below this z, 1 - |z| Mills(|z|) loses more to cancellation than five terms of its series to truncation."""


@dataclass(frozen=True)
class Acquisition:
    """A scoring function (mean, sd, best) -> Score.

    log: whether scores are logarithms. Then averages over posteriors are taken of their exponentials.
    sd_share: factor of the standard deviations; less than 1 exploits more.
    """

    score: Callable[[FloatArray, FloatArray, float], Score]
    log: bool
    sd_share: float = 1.0

    def __call__(self, mean: FloatArray, sd: FloatArray, best: float) -> Score:
        value, by_mean, by_sd = self.score(mean, self.sd_share * sd, best)
        return value, by_mean, self.sd_share * by_sd


def log_ei(mean: FloatArray, sd: FloatArray, best: float | FloatArray) -> Score:
    """Logarithm of the expected improvement (Mockus 1978), finite and with exact derivatives at any z.

    EI = E[(best - f)+] = sd h(z) with h(z) = phi(z) + z Phi(z), h'(z) = Phi(z), h(z) - z h'(z) = phi(z). So
    log EI = log sd + log h(z),  d/dmean = -(Phi / h) / sd,  d/dsd = (phi / h) / sd
    (Ament et al. 2023, arXiv:2310.20708).
    """
    sd = np.maximum(sd, SD_FLOOR)
    z = (best - mean) / sd
    log_h, mass_by_h, density_by_h = _log_improvement(z)
    return np.log(sd) + log_h, -mass_by_h / sd, density_by_h / sd


def log_pi(mean: FloatArray, sd: FloatArray, best: float | FloatArray) -> Score:
    """Logarithm of the probability of improvement Phi(z) (Kushner 1964).

    d/dz log Phi(z) = phi(z) / Phi(z) = 1 / Mills(-z); the overflow of erfcx for large z is the right limit 0.
    """
    sd = np.maximum(sd, SD_FLOOR)
    z = (best - mean) / sd
    with np.errstate(over="ignore"):
        slope = 1.0 / (SQRT_HALF_PI * erfcx(-SQRT_HALF * z)) / sd
    return log_ndtr(z), -slope, -z * slope


def lower_bound(mean: FloatArray, sd: FloatArray, best: float | FloatArray, kappa: float = 2.0) -> Score:
    """Negated lower confidence bound kappa sd - mean (GP-UCB, Srinivas et al. 2010); ignores ``best``."""
    return kappa * sd - mean, np.full_like(mean, -1.0), np.full_like(sd, kappa)


def log_sd(mean: FloatArray, sd: FloatArray, best: float | FloatArray) -> Score:
    """Logarithm of the standard deviation, for pure exploration; ignores ``mean`` and ``best``."""
    sd = np.maximum(sd, SD_FLOOR)
    return np.log(sd), np.zeros_like(mean), 1.0 / sd


@dataclass(frozen=True)
class Price:
    """The amount by which cost lowers the logarithm of a trial's gain (``strategies.cost_aware`` says why).

    The log cost of a trial is normal with mean m and standard deviation s. With L the budget that is left and
    c a cautious estimate of the cost, log c = m + k s:

        -a log(c / L + 1 / N) + r log P(cost <= L)

    Fields are in the order of ``price_t`` in ``core/src/model.h``.
    cooling, risk, caution: a, r and k above. log_floor: -log N.
    unit, offset: the log of cost / L is offset + unit z, where a model predicts z.
    """

    cooling: float
    risk: float
    caution: float
    log_floor: float
    unit: float
    offset: float

    def __call__(self, mean: FloatArray, sd: FloatArray, most: float | FloatArray) -> Score:
        """most: log L on the model's scale."""
        log_share = self.offset + self.unit * (mean + self.caution * sd)
        floored = np.logaddexp(log_share, self.log_floor)
        slope = -self.cooling * self.unit * np.exp(log_share - floored)
        in_time, by_mean, by_sd = log_pi(mean, sd, most)
        return (
            self.risk * in_time - self.cooling * floored,
            self.risk * by_mean + slope,
            self.risk * by_sd + slope * self.caution,
        )


LOG_EI = Acquisition(log_ei, log=True)
LOG_PI = Acquisition(log_pi, log=True)
LOG_SD = Acquisition(log_sd, log=True)


def lcb(kappa: float = 2.0) -> Acquisition:
    """The lower confidence bound at ``kappa`` standard deviations, as an acquisition."""
    return Acquisition(partial(lower_bound, kappa=kappa), log=False)


def _log_improvement(z: FloatArray) -> Score:
    """(log h, Phi / h, phi / h) of h(z) = phi(z) + z Phi(z), without underflow or cancellation.

    Above z = -1 the plain formula is exact enough. Below, with t = -z and Mills's ratio
    m(t) = Phi(-t) / phi(t) = sqrt(pi/2) erfcx(t / sqrt 2), all three follow from one well-scaled number
    r = h / phi = 1 - t m(t):  log h = log phi + log r,  Phi / h = m / r,  phi / h = 1 / r.
    For t > 50, r = t^-2 (1 - 3 t^-2 + 15 t^-4 - 105 t^-6 + 945 t^-8 - ...).
    """
    near = z > -1.0
    upper = np.where(near, z, 0.0)
    density, mass = np.exp(-0.5 * upper * upper - HALF_LOG_TWO_PI), ndtr(upper)
    h = density + upper * mass

    t = np.where(near, 1.0, -z)
    mills = SQRT_HALF_PI * erfcx(SQRT_HALF * t)
    u = 1.0 / (t * t)
    series = u * (1.0 - u * (3.0 - u * (15.0 - u * (105.0 - 945.0 * u))))
    r = np.where(z < SERIES_BELOW_Z, series, 1.0 - t * mills)
    return (
        np.where(near, np.log(h), np.log(r) - 0.5 * t * t - HALF_LOG_TWO_PI),
        np.where(near, mass / h, mills / r),
        np.where(near, density / h, 1.0 / r),
    )


def average(each: Sequence[FloatArray], log: bool) -> tuple[FloatArray, FloatArray]:
    """The average (n,) of scores under several posteriors, and its derivative (members, n) by each score.

    log: the scores are logarithms, and the average is over their exponentials.
    """
    scores = np.stack(each)
    if len(scores) == 1:
        return scores[0], np.ones_like(scores)
    if log:
        shifted = scores - np.log(len(scores))
        value = log_sum_exp(shifted)
        return value, np.exp(shifted - value)
    return scores.mean(axis=0), np.full_like(scores, 1.0 / len(scores))


def log_sum_exp(terms: FloatArray) -> FloatArray:
    """log of the sum of exp(terms) over the first axis, without overflow."""
    top = terms.max(axis=0)
    return np.asarray(top + np.log(np.sum(np.exp(terms - top), axis=0)))
