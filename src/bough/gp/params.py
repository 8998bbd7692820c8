"""Hyperparameters and their priors. They are named, positive, and always handled as their logarithm.

``theta`` is one flat vector: the logarithms of all hyperparameters of a model, in the order of its
``params``. Bounds and priors belong to a ``Param``, so each kernel states what is plausible.

Priors are densities of theta = log(value). If the value v has density p(v), theta has density p(v)·v. So
every ``log_density`` includes the Jacobian term +theta, and MAP and slice sampling over theta agree with the
prior stated for v.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from bough.points import FloatArray, IntArray

__all__ = [
    "Horseshoe",
    "JointPrior",
    "LogNormal",
    "Param",
    "Pooled",
    "Prior",
    "SquareOf",
    "total_size",
]

_LOG_2PI = math.log(2 * math.pi)


class Prior(Protocol):
    """A density of one positive hyperparameter; all methods are vectorised."""

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


@dataclass(frozen=True)
class JointPrior:
    """The prior of all of theta: independent entries, except those of a pool.

    Keep the object if it is evaluated often: it finds entries with equal priors once, and evaluates them
    together.
    """

    params: tuple[Param, ...]

    @cached_property
    def _priors(self) -> list[Prior]:
        """The prior of each entry of theta."""
        return [param.prior for param in self.params for _ in range(param.size)]

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of theta, each (p,)."""
        sizes = [param.size for param in self.params]
        low = np.log([param.low for param in self.params])
        high = np.log([param.high for param in self.params])
        return np.repeat(low, sizes), np.repeat(high, sizes)

    @cached_property
    def median(self) -> FloatArray:
        """theta with every hyperparameter at the median of its prior, inside its bounds."""
        return np.asarray(np.clip([prior.median for prior in self._priors], *self.bounds))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """theta drawn from the prior, inside its bounds."""
        draws = [param.prior.draw(rng, param.size) for param in self.params]
        theta: FloatArray = np.concatenate([np.empty(0), *draws])
        return np.clip(theta, *self.bounds)

    @cached_property
    def variances(self) -> FloatArray:
        """(p,) the variance of each entry; 1 where it is not normal."""
        return np.array([p.sd**2 if isinstance(p, LogNormal) else 1.0 for p in self._priors])

    @cached_property
    def _others(self) -> list[tuple[Prior, IntArray]]:
        """The priors that are neither normal nor pools, each with the positions of its entries in theta."""
        found: dict[Prior, list[int]] = {}
        for entry, prior in enumerate(self._priors):
            if not isinstance(prior, (Pooled, LogNormal)):
                found.setdefault(prior, []).append(entry)
        return [(prior, np.array(entries)) for prior, entries in found.items()]

    @cached_property
    def _normal(self) -> tuple[IntArray, FloatArray, FloatArray, float]:
        """The entries that are normal, with their means and sds, and the constant of their log density."""
        normal = [(entry, prior) for entry, prior in enumerate(self._priors) if isinstance(prior, LogNormal)]
        entries, means, sds = [i for i, _ in normal], [p.mean for _, p in normal], [p.sd for _, p in normal]
        constant = -float(np.log(sds).sum()) - 0.5 * len(sds) * _LOG_2PI
        return np.array(entries, dtype=np.intp), np.array(means), np.array(sds), constant

    @cached_property
    def _pools(self) -> list[tuple[Pooled, IntArray, FloatArray]]:
        """Each pool (of one name and widths), the positions of its entries in theta, and their means."""
        found: dict[Pooled, list[tuple[int, float]]] = {}
        for entry, prior in enumerate(self._priors):
            if isinstance(prior, Pooled):
                found.setdefault(replace(prior, mean=0.0), []).append((entry, prior.mean))
        return [
            (pool, np.array([e for e, _ in members]), np.array([mean for _, mean in members]))
            for pool, members in found.items()
        ]

    def log_density(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """log p(theta), up to a constant, and its gradient (p,)."""
        normal, means, sds, value = self._normal
        gradient, z = np.empty_like(theta), (theta[normal] - means) / sds
        value -= 0.5 * float(z @ z)
        gradient[normal] = -z / sds
        for prior, entries in self._others:
            density, gradient[entries] = prior.log_density(theta[entries])
            value += float(density.sum())
        for pool, entries, means in self._pools:
            joint, gradient[entries] = pool.joint(theta[entries] - means)
            value += joint
        return value, gradient
