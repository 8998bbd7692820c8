"""A random forest as surrogate, like SMAC's (Hutter, Hoos & Leyton-Brown 2011), on scikit-learn's trees.

Each tree is grown on a bootstrap sample. A leaf B of tree b holds the mean m_b(x) and the variance
v_b(x) of its rows, and the law of total variance over trees and leaves gives

    mean(x) = avg_b m_b(x),   var(x) = avg_b [v_b(x) + m_b(x)²] − mean(x)².

Trees read features, not columns: inactive values are imputed by −1, outside the unit cube, so
that one split tells inactive from active, and a nominal column becomes one indicator per option
(all zero while inactive). The mean is piecewise constant: there is no gradient to follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bough.points import FloatArray, IntArray, Layout, Points
from bough.surrogates.base import Fit

if TYPE_CHECKING:
    from sklearn.tree._tree import Tree

__all__ = ["Forest", "ForestPosterior", "features"]

INACTIVE = -1.0
LEAST_VARIANCE = 1e-10


def features(layout: Layout, points: Points) -> NDArray[np.float32]:
    """(n, features) what the trees see, in the precision in which scikit-learn compares."""
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
    """The surrogate of ``forest``; theta is the seed of the bootstrap, its only hidden choice.

    trees: their number. split: fewest rows of a node that is split. leaf: fewest rows of a leaf.
    share: of the features, drawn anew at every split.
    """

    layout: Layout
    trees: int = 10
    split: int = 2
    leaf: int = 1
    share: float = 1.0

    def fit(
        self,
        points: Points,
        y: FloatArray,
        noise: FloatArray,
        rng: np.random.Generator,
        start: FloatArray | None = None,
    ) -> Fit:
        """Grow the trees; a forest neither learns from told noise nor from an earlier fit."""
        theta = np.array([float(rng.integers(2**31))])
        return Fit(self.posterior(theta, points, y, noise), theta)

    def posterior(
        self, theta: FloatArray, points: Points, y: FloatArray, noise: FloatArray
    ) -> tuple[ForestPosterior]:
        """The forest of the data, grown with the seed ``theta``."""
        from sklearn.tree import DecisionTreeRegressor

        # Its forest grows the same trees, but takes ten times as long to set them up as to grow them.
        rng = np.random.default_rng(int(theta[0]))
        seen = features(self.layout, points)
        trees, drawn = [], []
        for _ in range(self.trees):
            rows = rng.integers(len(y), size=len(y))
            tree = DecisionTreeRegressor(
                min_samples_split=self.split,
                min_samples_leaf=self.leaf,
                max_features=self.share,
                random_state=int(rng.integers(2**31)),
            )
            trees.append(tree.fit(seen[rows], y[rows], check_input=False).tree_)
            drawn.append(rows)
        return (ForestPosterior(self, theta, points, y, tuple(trees), np.stack(drawn)),)


@dataclass(frozen=True, eq=False)
class ForestPosterior:
    """A grown forest and the data it was grown on. drawn: (trees, n) the rows of each tree's sample."""

    surrogate: Forest
    theta: FloatArray
    points: Points
    y: FloatArray
    trees: tuple[Tree, ...]
    drawn: IntArray

    @property
    def noisy(self) -> bool:
        """The variance in a leaf may be noise or structure; SMAC takes the best observation at its word."""
        return False

    @cached_property
    def _tables(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Nodes of all trees in one row: where each tree begins, and the mean and variance of each node."""
        begin = np.cumsum([0] + [tree.node_count for tree in self.trees[:-1]])
        return (
            begin,
            np.concatenate([tree.value[:, 0, 0] for tree in self.trees]),
            np.concatenate([tree.impurity for tree in self.trees]),
        )

    def _nodes(self, points: Points) -> IntArray:
        """(trees, n) the leaf of each tree into which each point falls, as a place in ``_tables``."""
        seen = features(self.surrogate.layout, points)
        return np.asarray(self._tables[0][:, None] + np.stack([tree.apply(seen) for tree in self.trees]))

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        _, means, variances = self._tables
        nodes = self._nodes(points)
        mean = means[nodes].mean(axis=0)
        spread = ((means[nodes] - mean) ** 2).mean(axis=0)
        return mean, np.sqrt(np.maximum(variances[nodes].mean(axis=0) + spread, LEAST_VARIANCE))

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The gradients are zero almost everywhere: for local search, not for climbing."""
        mean, sd = self.predict(points)
        flat = np.zeros(points.x.shape)
        return mean, sd, flat, flat

    def condition(self, points: Points, y: FloatArray, noise: FloatArray | None = None) -> ForestPosterior:
        """The forest of all rows, grown anew from the same seed."""
        both = Points.concat([self.points, points])
        values = np.concatenate([self.y, y])
        return self.surrogate.posterior(self.theta, both, values, np.full(len(values), np.nan))[0]

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        """Independent normal draws: a forest says nothing about covariance."""
        mean, sd = self.predict(points)
        return mean + sd * rng.standard_normal((n, len(points)))

    def innovations(self) -> FloatArray:
        """Zeros: a forest has no hyperparameters that a surprise would call into question."""
        return np.zeros(len(self.y))

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Each row by the trees whose bootstrap sample missed it; by all, where none did."""
        _, means, variances = self._tables
        nodes = self._nodes(self.points)
        missed = np.ones(nodes.shape, dtype=bool)
        np.put_along_axis(missed, self.drawn, False, axis=1)
        missed[:, ~missed.any(axis=0)] = True
        share = missed / missed.sum(axis=0)
        mean = (share * means[nodes]).sum(axis=0)
        variance = (share * (variances[nodes] + (means[nodes] - mean) ** 2)).sum(axis=0)
        return mean, np.sqrt(np.maximum(variance, LEAST_VARIANCE))
