"""Priors of positive hyperparameters, written as densities of theta = log(value).

If the value v has density p(v), theta has density p(v)·v. So every ``log_density`` includes the Jacobian term
+theta, and MAP and slice sampling over theta agree with the prior stated for v. All are vectorised and return
the log density and its derivative with respect to theta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bough.points import FloatArray

__all__ = ["Horseshoe", "LogNormal", "Pooled", "Prior", "SquareOf"]

_LOG_2PI = math.log(2 * math.pi)


class Prior(Protocol):
    """A density of one positive hyperparameter."""

    @property
    def median(self) -> float:
        """theta at the median of the prior."""
        ...

    def log_density(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Elementwise log p(theta) and d log p / d theta."""
        ...

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """(size,) independent draws of theta."""
        ...


@dataclass(frozen=True)
class LogNormal:
    """log v ~ N(mean, sd²): theta itself is normal."""

    mean: float
    sd: float

    @property
    def median(self) -> float:
        return self.mean

    def log_density(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        z = (theta - self.mean) / self.sd
        return -0.5 * z * z - (math.log(self.sd) + 0.5 * _LOG_2PI), z / -self.sd

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return rng.normal(self.mean, self.sd, size)


@dataclass(frozen=True)
class Horseshoe:
    """v ~ horseshoe(scale) on v > 0: v | t ~ half-N(0, t²), t ~ half-Cauchy(scale).

    The density has no closed form; like Spearmint and its successors we use the tight bound
    p(v) ∝ log(1 + 3 (scale / v)²) (Carvalho, Polson & Scott 2010, theorem 1). It has a spike at
    zero, so the hyperparameter needs a lower bound: for noise, the noise floor.
    """

    scale: float

    @property
    def median(self) -> float:
        # The product of a half-normal and a half-Cauchy variable has median 0.58675 (numerically).
        return float(np.log(self.scale) + np.log(0.58675))

    def log_density(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = 3 * np.exp(2 * (np.log(self.scale) - theta))
        log_term = np.log1p(ratio)
        slope = -2 * ratio / ((1 + ratio) * log_term)
        return np.log(log_term) + theta, slope + 1

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        local = np.abs(rng.standard_cauchy(size))
        return np.log(self.scale * local * np.abs(rng.standard_normal(size)) + 1e-300)


@dataclass(frozen=True)
class SquareOf:
    """v = w² with w ~ prior: for a variance whose standard deviation has the prior."""

    prior: Prior

    @property
    def median(self) -> float:
        return 2 * self.prior.median

    def log_density(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, slope = self.prior.log_density(0.5 * theta)
        return value - np.log(2.0), 0.5 * slope

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return 2 * self.prior.draw(rng, size)


@dataclass(frozen=True)
class Pooled:
    """log v_i = mean_i + c + e_i: c ~ N(0, common²) is shared by all of ``pool``, e_i ~ N(0, own²) is not.

    For hyperparameters of similar but unknown size: learning one of them informs the others. A single one is
    N(mean, own² + common²); ``joint`` is the density of several, with c integrated out.
    """

    pool: str
    mean: float
    own: float
    common: float

    @property
    def median(self) -> float:
        return self.mean

    @property
    def alone(self) -> LogNormal:
        return LogNormal(self.mean, math.hypot(self.own, self.common))

    def log_density(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.alone.log_density(theta)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return self.alone.draw(rng, size)

    def joint(self, gap: FloatArray) -> tuple[float, FloatArray]:
        """log density of a pool's theta − mean (k,), and its gradient (k,).

        N(0, own² I + common² 11ᵀ), inverted by Sherman & Morrison.
        """
        k = len(gap)
        whole = self.own**2 + k * self.common**2
        slope = (gap - self.common**2 / whole * gap.sum()) / -(self.own**2)
        log_det = 2 * (k - 1) * math.log(self.own) + math.log(whole)
        return 0.5 * float(gap @ slope) - 0.5 * (log_det + k * _LOG_2PI), slope
