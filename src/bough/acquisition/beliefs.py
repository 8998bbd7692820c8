"""Beliefs as weights of a criterion, and as distributions to draw from.

A belief is a density q on the unit interval. A tenth of it is uniform, so it never excludes a value. The rest
is a normal distribution truncated to the interval, whose central 80 % is the likely range, or the given
weights of options. As in πBO (Hvarfner et al. 2022, arXiv 2204.11051), improvement is multiplied by the
density to a power that falls with the number of trials. Here that is a sum over active columns,

    log w(x) = sum_c exponent_c [log q_c(x_c) − log max q_c].

Dividing by the maximum matters in a space that branches: it makes a belief a factor of at most 1. With plain
densities, a branch with ten believed parameters would be favoured over one without beliefs by the product of
ten peaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from bough.points import BoolArray, FloatArray, Layout, Points
from bough.space.beliefs import Belief
from bough.space.parameters import Categorical, Domain

__all__ = ["BeliefWeight", "Density", "OptionDensity", "RangeDensity", "density"]

UNIFORM_SHARE = 0.1
CENTRAL_SDS = 1.2815515655446004
"""A normal distribution has 80 % of its mass within this many standard deviations."""

SMALLEST_SD = 1e-9
"""Smallest sd of a density on the unit interval: closer positions may be equal after rounding."""

LIKELY_HEIGHT = 0.5
"""A value counts as believed where the density has at least this share of its maximum."""


@dataclass(frozen=True)
class RangeDensity:
    """The density of a number with the likely range centre ± CENTRAL_SDS sd, in the unit interval."""

    centre: float
    sd: float

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return float(ndtr(-self.centre / self.sd)), float(ndtr((1.0 - self.centre) / self.sd))

    def _normal(self, unit: FloatArray) -> FloatArray:
        z = (unit - self.centre) / self.sd
        low, high = self._ends
        peak = (1.0 - UNIFORM_SHARE) / (np.sqrt(2.0 * np.pi) * self.sd * (high - low))
        return np.asarray(peak * np.exp(-0.5 * z * z))

    def log_height(self, unit: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n,) log q − log max q, and its derivative."""
        normal = self._normal(unit)
        total = normal + UNIFORM_SHARE
        highest = self._normal(np.array([self.centre]))[0] + UNIFORM_SHARE
        return np.log(total / highest), -normal * (unit - self.centre) / (self.sd**2 * total)

    def quantile(self, share: FloatArray) -> FloatArray:
        """(n,) values whose density is q, if ``share`` is uniform in [0, 1)."""
        low, high = self._ends
        inner = np.minimum(share / (1.0 - UNIFORM_SHARE), 1.0)
        normal = self.centre + self.sd * ndtri(low + inner * (high - low))
        uniform = (share - (1.0 - UNIFORM_SHARE)) / UNIFORM_SHARE
        return np.asarray(np.clip(np.where(inner < 1.0, normal, uniform), 0.0, 1.0))


@dataclass(frozen=True)
class OptionDensity:
    """The probabilities of options, in the order of the parameter."""

    probability: tuple[float, ...]

    @cached_property
    def _log_heights(self) -> FloatArray:
        table = np.array(self.probability)
        return np.asarray(np.log(table / table.max()))

    def log_height(self, unit: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n,) log q − log max q, and its derivative, which is zero."""
        levels = len(self.probability)
        option = np.clip(np.floor(unit * levels), 0, levels - 1).astype(np.intp)
        return self._log_heights[option], np.zeros(len(unit))

    def quantile(self, share: FloatArray) -> FloatArray:
        """(n,) positions of options that are drawn with their probability, if ``share`` is uniform."""
        levels = len(self.probability)
        option = np.searchsorted(np.cumsum(self.probability), share, side="right")
        return np.asarray((np.minimum(option, levels - 1) + 0.5) / levels)


Density = RangeDensity | OptionDensity


def density(domain: Domain, belief: Belief) -> Density:
    """The density of a belief on the unit interval of its parameter."""
    pairs = [each for each in belief.likely if isinstance(each, tuple)]
    if isinstance(domain, Categorical):
        weight = np.zeros(domain.levels)
        weight[domain.ranks([option for option, _ in pairs]).astype(np.intp)] = [w for _, w in pairs]
        probability = (1.0 - UNIFORM_SHARE) * weight / weight.sum() + UNIFORM_SHARE / domain.levels
        return OptionDensity(tuple(probability.tolist()))
    half_cell = 0.0 if domain.kind == "real" else 0.5
    ranks = domain.ranks(list(belief.likely)) + np.array([-half_cell, half_cell])
    low, high = np.clip(domain.position(ranks), 0.0, 1.0)
    sd = max(float((high - low) / (2 * CENTRAL_SDS)), SMALLEST_SD)
    return RangeDensity(float((low + high) / 2), sd)


@dataclass(frozen=True, eq=False)
class BeliefWeight:
    """The criterion of the module's docstring.

    columns, densities, exponents: of the beliefs, in the same order.
    """

    layout: Layout
    columns: Sequence[int]
    densities: Sequence[Density]
    exponents: Sequence[float]

    def __call__(self, points: Points) -> FloatArray:
        return self.with_gradient(points)[0]

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """(n,) log w and its (n, columns) gradient, zero under inactive and nominal columns."""
        value, gradient = np.zeros(len(points)), np.zeros(points.x.shape)
        active = self.layout.active(points.on)
        for column, believed, exponent in zip(self.columns, self.densities, self.exponents, strict=True):
            rows = np.flatnonzero(active[:, column])
            height, slope = believed.log_height(points.x[rows, column])
            value[rows] += exponent * height
            gradient[rows, column] = exponent * slope
        return value, gradient


def is_likely(believed: Density, unit: FloatArray) -> BoolArray:
    """(n,) whether each value is likely under a belief."""
    return np.asarray(believed.log_height(unit)[0] >= np.log(LIKELY_HEIGHT))
