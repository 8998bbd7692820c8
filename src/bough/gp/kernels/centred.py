"""A feature map for numbers and categories: distances between features are in units of the length-scales.

A number is one feature. A category with m options becomes m indicators divided by √2, so two different
options have distance 1 (Hamming). Features are centred, and those of an inactive column are all zero: the
middle of a range, the centroid of the options.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bough.gp.kernels.mapped import FeatureMap, FeaturePullback
from bough.gp.kernels.stationary import LONGEST, SHORTEST, default_lengthscale
from bough.gp.params import LogNormal, Param
from bough.points import BoolArray, FloatArray, IntArray, Layout, Points

__all__ = ["Centred"]

ALONE = default_lengthscale(1)
"""The default prior of a length-scale in a group of one column."""


class _Table(NamedTuple):
    """For each feature (size,): its column, its group, and how it is computed from x."""

    column: IntArray
    group: IntArray
    indicator: BoolArray
    origin: FloatArray
    """Position of an indicator's option in its column; for a number the middle, 0.5."""
    share: FloatArray
    """Mean of an indicator over all options: one over their number."""
    factor: FloatArray


@dataclass(frozen=True, eq=False)
class Centred(FeatureMap):
    """The features of all columns of a layout. theta: log ℓ of each column.

    unit: a common factor of all features.
    lengthscale: the prior of ℓ in a group of one column. In a group of d columns it is √d times as long, so
    typical distances stay the same.
    """

    layout: Layout
    unit: float = 1.0
    lengthscale: LogNormal = ALONE

    @cached_property
    def params(self) -> tuple[Param, ...]:
        size = np.bincount(self.layout.group, minlength=self.layout.groups)
        means = self.lengthscale.mean + 0.5 * np.log(size[self.layout.group])
        priors = [replace(self.lengthscale, mean=float(mean)) for mean in means]
        return tuple(Param("lengthscale", 1, prior, SHORTEST, LONGEST) for prior in priors)

    @property
    def size(self) -> int:
        return len(self.table.column)

    @cached_property
    def table(self) -> _Table:
        layout = self.layout
        counts = np.where(layout.nominal, layout.levels, 1)  # features of each column
        column = np.repeat(np.arange(layout.columns), counts)
        option = np.arange(len(column)) - np.repeat(np.cumsum(counts) - counts, counts)
        indicator, levels = layout.nominal[column], np.maximum(layout.levels[column], 1)
        return _Table(
            column=column,
            group=layout.group[column],
            indicator=indicator,
            origin=np.where(indicator, (option + 0.5) / levels, 0.5),
            share=1.0 / levels,
            factor=np.where(indicator, math.sqrt(0.5), 1.0),
        )

    def values(self, theta: FloatArray, points: Points) -> FloatArray:
        """(n, size) the features."""
        table = self.table
        z = points.x[:, table.column] - table.origin
        if table.indicator.any():
            z = np.where(table.indicator, (np.abs(z) < 1e-9) - table.share, z)
        z *= table.factor
        z = np.where(points.on[:, table.group], z, 0.0)
        z *= self.inverse(theta)
        return z

    def inverse(self, theta: FloatArray) -> FloatArray:
        """(size,) unit/ℓ for the column of each feature."""
        return np.asarray(self.unit * np.exp(-theta)[self.table.column])

    def pull_x(self, theta: FloatArray, points: Points, w: FloatArray) -> FloatArray:
        """∂L/∂x (n, columns) from W = ∂L/∂Φ (n, size); zero in nominal and inactive columns."""
        slope = w * self.inverse(theta)
        numeric = np.flatnonzero(~self.table.indicator)
        gradient = np.zeros(points.x.shape)
        gradient[:, self.table.column[numeric]] = slope[:, numeric]
        return np.where(self.layout.active(points.on), gradient, 0.0)

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        features = self.values(theta, a)

        def pull_theta(w: FloatArray) -> FloatArray:
            # Φ is proportional to 1/ℓ: ∂Φ/∂log ℓ = −Φ.
            by_feature = np.einsum("nf,nf->f", w, features)
            return np.asarray(-np.bincount(self.table.column, by_feature, self.layout.columns), dtype=float)

        return features, FeaturePullback(pull_theta, lambda w: self.pull_x(theta, a, w))
