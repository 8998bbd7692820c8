"""Hyperparameters: named, positive, and always handled as their logarithm.

``theta`` is one flat vector: the logarithms of all hyperparameters of a model, in the order of its
``params``. Bounds and priors belong to a ``Param``, so each kernel states what is plausible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bough.gp.priors import LogNormal, Pooled, Prior
from bough.points import FloatArray, IntArray

__all__ = ["JointPrior", "Param", "bounds", "clip", "log_prior", "prior_draw", "prior_median", "total_size"]


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
    return JointPrior(tuple(params)).log_density(theta)


@dataclass(frozen=True)
class JointPrior:
    """The prior of all of theta: independent entries, except those of a pool.

    Keep the object if it is evaluated often: it finds entries with equal priors once, and evaluates them
    together.
    """

    params: tuple[Param, ...]

    @cached_property
    def _entries(self) -> list[tuple[Prior, IntArray]]:
        owner = np.repeat(np.arange(len(self.params)), [param.size for param in self.params])
        found: dict[Prior, list[int]] = {}
        for entry, param in enumerate(owner):
            found.setdefault(self.params[param].prior, []).append(entry)
        return [
            (prior, np.array(entries))
            for prior, entries in found.items()
            if not isinstance(prior, (Pooled, LogNormal))
        ]

    @cached_property
    def _normal(self) -> tuple[IntArray, FloatArray, FloatArray, float]:
        """The entries that are normal, with their means and sds, and the constant of their log density."""
        priors = [param.prior for param in self.params for _ in range(param.size)]
        normal = [(entry, prior) for entry, prior in enumerate(priors) if isinstance(prior, LogNormal)]
        entries, means, sds = [i for i, _ in normal], [p.mean for _, p in normal], [p.sd for _, p in normal]
        constant = -float(np.log(sds).sum()) - 0.5 * len(sds) * math.log(2 * math.pi)
        return np.array(entries, dtype=np.intp), np.array(means), np.array(sds), constant

    @cached_property
    def _pools(self) -> list[tuple[Pooled, IntArray, FloatArray]]:
        """Each pool (of one name and widths), the positions of its entries in theta, and their means."""
        found: dict[Pooled, list[tuple[int, float]]] = {}
        entry = 0
        for param in self.params:
            if isinstance(param.prior, Pooled):
                members = found.setdefault(replace(param.prior, mean=0.0), [])
                members += [(entry + i, param.prior.mean) for i in range(param.size)]
            entry += param.size
        return [
            (pool, np.array([e for e, _ in members]), np.array([mean for _, mean in members]))
            for pool, members in found.items()
            if members
        ]

    def log_density(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """log p(theta), up to a constant, and its gradient (p,)."""
        normal, means, sds, value = self._normal
        gradient, z = np.empty_like(theta), (theta[normal] - means) / sds
        value -= 0.5 * float(z @ z)
        gradient[normal] = -z / sds
        for prior, entries in self._entries:
            density, gradient[entries] = prior.log_density(theta[entries])
            value += float(density.sum())
        for pool, entries, means in self._pools:
            joint, gradient[entries] = pool.joint(theta[entries] - means)
            value += joint
        return value, gradient
