"""A random forest as surrogate, like SMAC's (Hutter, Hoos & Leyton-Brown 2011), on scikit-learn's trees.

Each tree is grown on a bootstrap sample. A leaf B of tree b holds the mean m_b(x) and the variance
v_b(x) of its rows, and the law of total variance over trees and leaves gives

    mean(x) = avg_b m_b(x),   var(x) = avg_b [v_b(x) + m_b(x)²] − mean(x)².

Trees read features, not columns. Inactive values become −1, outside the unit cube, so one split separates
inactive from active. A nominal column becomes one indicator per option (all zero while inactive). The mean is
piecewise constant, so its gradient is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bough.gp.likelihood import Data
from bough.gp.posterior import Posterior
from bough.points import FloatArray, IntArray, Layout, Points

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree

__all__ = ["Forest", "ForestPosterior", "features"]

INACTIVE = -1.0
SMALLEST_VARIANCE = 1e-10


def features(layout: Layout, points: Points) -> NDArray[np.float32]:
    """(n, features) the input of the trees, in the precision in which scikit-learn compares."""
    active = layout.active(points.on)
    ordered = ~layout.nominal
    parts = [np.where(active, points.x, INACTIVE)[:, ordered]]
    for column in np.flatnonzero(layout.nominal):
        levels = layout.levels[column]
        option = np.where(active[:, column], np.floor(points.x[:, column] * levels), -1)
        parts.append(option[:, None] == np.arange(levels))
    return np.ascontiguousarray(np.hstack(parts), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Forest:
    """The surrogate of ``forest``. theta is the seed of the bootstrap.

    trees: how many to grow.
    """

    layout: Layout
    trees: int = 10

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """Draw the seed. A forest ignores reported noise and earlier fits."""
        return np.array([float(rng.integers(2**31))])

    def posterior(self, theta: FloatArray, data: Data) -> tuple[ForestPosterior]:
        """The forest of the data, grown with the seed ``theta``."""
        from sklearn.tree import DecisionTreeRegressor

        # scikit-learn's forest grows the same trees, but takes ten times as long to set up as to grow.
        rng, n = np.random.default_rng(int(theta[0])), len(data.y)
        seen = features(self.layout, data.points)
        trees = []
        for _ in range(self.trees):
            rows = rng.integers(n, size=n)
            tree = DecisionTreeRegressor(max_features=1.0, random_state=int(rng.integers(2**31)))
            trees.append(tree.fit(seen[rows], data.y[rows], check_input=False).tree_)
        return (ForestPosterior(self, theta, data, tuple(trees)),)


@dataclass(frozen=True, eq=False)
class ForestPosterior(Posterior):
    """A grown forest and the data it was grown on.

    It reports no noise, because the variance in a leaf may be noise or structure. So the incumbent is the
    best observation, as in SMAC.
    """

    surrogate: Forest
    theta: FloatArray
    data: Data
    trees: tuple[Tree, ...]

    @cached_property
    def _tables(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """The nodes of all trees in one array: where each tree begins, the mean and variance of each node."""
        begin = np.cumsum([0] + [tree.node_count for tree in self.trees[:-1]])
        return (
            begin,
            np.concatenate([tree.value[:, 0, 0] for tree in self.trees]),
            np.concatenate([tree.impurity for tree in self.trees]),
        )

    def _nodes(self, points: Points) -> IntArray:
        """(trees, n) the leaf of each tree into which each point falls, as an index into ``_tables``."""
        seen = features(self.surrogate.layout, points)
        return np.asarray(self._tables[0][:, None] + np.stack([tree.apply(seen) for tree in self.trees]))

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        _, means, variances = self._tables
        nodes = self._nodes(points)
        mean = means[nodes].mean(axis=0)
        spread = ((means[nodes] - mean) ** 2).mean(axis=0)
        return mean, np.sqrt(np.maximum(variances[nodes].mean(axis=0) + spread, SMALLEST_VARIANCE))

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The gradients are zero almost everywhere: use local search, not gradient ascent."""
        mean, sd = self.predict(points)
        flat = np.zeros(points.x.shape)
        return mean, sd, flat, flat

    def condition(self, points: Points, y: FloatArray) -> ForestPosterior:
        """The forest of all rows, grown again from the same seed."""
        both = Points.concat([self.data.points, points])
        values = np.concatenate([self.data.y, y])
        return self.surrogate.posterior(self.theta, Data(both, values, np.full(len(values), np.nan)))[0]

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        """Independent normal draws: a forest says nothing about covariance."""
        mean, sd = self.predict(points)
        return mean + sd * rng.standard_normal((n, len(points)))
