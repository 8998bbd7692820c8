"""Every column as features whose differences are distances, divided by the column's length-scale.

A number is itself. A category with m options is its m indicators over √2, so two different options have
distance 1 (Hamming). Features are centred, and those of an inactive column are all zero: the middle of a
range, the centroid of the options.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.kernels.mapped import FeatureMap, FeaturePullback
from bough.gp.kernels.stationary import LONGEST, SHORTEST, default_lengthscale
from bough.gp.params import Param
from bough.points import BoolArray, FloatArray, IntArray, Layout, Points

__all__ = ["Centred"]


@dataclass(frozen=True, eq=False)
class Centred(FeatureMap):
    """The features of all columns of a layout. theta: log ℓ of each column.

    unit: a common factor of all features.
    """

    layout: Layout
    unit: float = 1.0

    @cached_property
    def params(self) -> tuple[Param, ...]:
        # As for every kernel: typical distances within a group stay alike as it gets more columns.
        size = np.bincount(self.layout.group, minlength=self.layout.groups)
        return tuple(
            Param("lengthscale", 1, default_lengthscale(int(size[group])), SHORTEST, LONGEST)
            for group in self.layout.group
        )

    @property
    def size(self) -> int:
        return len(self.column)

    @cached_property
    def column(self) -> IntArray:
        """(size,) the column of each feature."""
        return np.repeat(np.arange(self.layout.columns), self._counts)

    @cached_property
    def group(self) -> IntArray:
        """(size,) the group of each feature."""
        return self.layout.group[self.column]

    @cached_property
    def _counts(self) -> IntArray:
        """(columns,) how many features each column has."""
        return np.where(self.layout.nominal, self.layout.levels, 1)

    @cached_property
    def _indicator(self) -> BoolArray:
        return self.layout.nominal[self.column]

    @cached_property
    def _share(self) -> FloatArray:
        """(size,) the mean of an indicator over the options: one over their number."""
        return 1.0 / np.maximum(self.layout.levels[self.column], 1)

    @cached_property
    def _origin(self) -> FloatArray:
        """(size,) the position of an indicator's option in its column; of a number the middle, 0.5."""
        first = np.repeat(np.cumsum(self._counts) - self._counts, self._counts)
        option = np.arange(self.size) - first
        levels = np.maximum(self.layout.levels[self.column], 1)
        return np.where(self._indicator, (option + 0.5) / levels, 0.5)

    @cached_property
    def _factor(self) -> FloatArray:
        return np.where(self._indicator, math.sqrt(0.5), 1.0)

    @cached_property
    def _numeric(self) -> IntArray:
        return np.flatnonzero(~self._indicator)

    def inverse(self, theta: FloatArray) -> FloatArray:
        """(size,) what the difference of two numbers is multiplied with: unit/ℓ."""
        return np.asarray(self.unit * np.exp(-theta)[self.column])

    def values(self, theta: FloatArray, points: Points) -> FloatArray:
        """(n, size) the features."""
        z = points.x[:, self.column] - self._origin
        if self._indicator.any():
            z = np.where(self._indicator, (np.abs(z) < 1e-9) - self._share, z)
        z *= self._factor
        z = np.where(points.on[:, self.group], z, 0.0)
        z *= self.inverse(theta)
        return z

    def pull_x(self, theta: FloatArray, points: Points, w: FloatArray) -> FloatArray:
        """∂L/∂x (n, columns) from W = ∂L/∂Φ (n, size); zero in nominal and inactive columns."""
        slope = w * self.inverse(theta)
        gradient = np.zeros(points.x.shape)
        gradient[:, self.column[self._numeric]] = slope[:, self._numeric]
        return np.where(self.layout.active(points.on), gradient, 0.0)

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        features = self.values(theta, a)

        def pull_theta(w: FloatArray) -> FloatArray:
            # Φ is proportional to 1/ℓ: ∂Φ/∂log ℓ = −Φ.
            by_feature = np.einsum("nf,nf->f", w, features)
            return np.asarray(-np.bincount(self.column, by_feature, self.layout.columns), dtype=float)

        return features, FeaturePullback(pull_theta, lambda w: self.pull_x(theta, a, w))
