"""A small regression ensemble: extremely randomised trees (Geurts, Ernst & Wehenkel 2006) in NumPy.

The figure ``importance`` uses it, and ``slice`` and ``contour`` do if the study's method has no model.
Figures must work without scikit-learn, an extra, so its forest cannot be used here.

Each tree is fitted to four fifths of the trials and tested on the others. A node draws one threshold
per feature between the smallest and the largest value there, and uses the split that reduces the
squared error most. Features include whether a parameter is active (see ``surrogates.forest.features``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bough.points import FloatArray, IntArray, Layout, Points

__all__ = ["Ensemble", "fit_ensemble"]

TREES, MIN_LEAF_ROWS, MAX_TREE_ROWS = 32, 2, 800

Features = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _Tree:
    """A grown tree, one entry per node.

    feature: which feature is compared, -1 in a leaf. child: the node for values up to the threshold;
    the one for larger values follows it. value: mean of the training values.
    """

    feature: IntArray
    threshold: FloatArray
    child: IntArray
    value: FloatArray

    def __call__(self, seen: Features) -> FloatArray:
        """(n,) the value of the leaf that each row falls into."""
        node = np.zeros(len(seen), dtype=np.intp)
        rows = np.arange(len(seen))
        while len(rows):
            rows = rows[self.feature[node[rows]] >= 0]
            at = node[rows]
            node[rows] = self.child[at] + (seen[rows, self.feature[at]] > self.threshold[at])
        return self.value[node]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Many trees. skill: the share of held-out variance they explain (0 or less = none; NaN = unknown).

    exponent: values are 2**exponent times those of the trees, so no square overflows.
    """

    layout: Layout
    trees: tuple[_Tree, ...]
    skill: float
    exponent: int

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean of the trees at points, and their standard deviation."""
        seen = _features(self.layout, points)
        each = np.stack([tree(seen) for tree in self.trees])
        return np.ldexp(each.mean(axis=0), self.exponent), np.ldexp(each.std(axis=0), self.exponent)


def fit_ensemble(layout: Layout, points: Points, y: FloatArray, rng: np.random.Generator) -> Ensemble:
    """Grow the trees on points and their values y (n,), at least one."""
    seen = _features(layout, points)
    exponent = int(np.frexp(np.abs(y).max())[1])
    y = np.ldexp(y, -exponent)
    size = max(1, min(len(y) * 4 // 5, MAX_TREE_ROWS))
    trees = []
    total, votes = np.zeros(len(y)), np.zeros(len(y))
    for _ in range(TREES):
        order = rng.permutation(len(y))
        trees.append(_grow(seen[order[:size]], y[order[:size]], rng))
        others = order[size : size + MAX_TREE_ROWS]
        total[others] += trees[-1](seen[others])
        votes[others] += 1
    judged = votes > 0
    skill = np.nan
    if judged.any() and np.var(y[judged]) > 0:
        skill = 1 - float(np.mean((total[judged] / votes[judged] - y[judged]) ** 2) / np.var(y[judged]))
    return Ensemble(layout, tuple(trees), skill, exponent)


def _features(layout: Layout, points: Points) -> Features:
    from bough.surrogates.forest import features  # loads SciPy, which many figures do not need

    return features(layout, points)


def _grow(seen: Features, y: FloatArray, rng: np.random.Generator) -> _Tree:
    feature, threshold, child, value = [-1], [0.0], [0], [float(y.mean())]
    waiting = [(0, np.arange(len(y)))]
    while waiting:
        node, rows = waiting.pop()
        split = _split(seen[rows], y[rows], rng)
        if split is None:
            continue
        feature[node], threshold[node] = split
        child[node] = len(value)
        upper = seen[rows, feature[node]] > threshold[node]
        for side in (rows[~upper], rows[upper]):
            waiting.append((len(value), side))
            feature.append(-1)
            threshold.append(0.0)
            child.append(0)
            value.append(float(y[side].mean()))
    return _Tree(np.array(feature), np.array(threshold), np.array(child), np.array(value))


def _split(seen: Features, y: FloatArray, rng: np.random.Generator) -> tuple[int, float] | None:
    """The best of one random threshold per feature: (feature, threshold), or None if nothing is gained."""
    if len(y) < 2 * MIN_LEAF_ROWS or np.ptp(y) == 0:
        return None
    low, high = seen.min(axis=0), seen.max(axis=0)
    drawn = (low + rng.random(len(low)) * (high - low)).astype(np.float32)
    drawn = np.minimum(drawn, np.nextafter(high, low))  # so rounding never leaves the upper side empty
    upper = seen > drawn
    count = upper.sum(axis=0)
    centred = y - y.mean()
    total = centred @ upper
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = total**2 * (1 / count + 1 / (len(y) - count))  # reduction of the squared error
    gain = np.where(np.minimum(count, len(y) - count) >= MIN_LEAF_ROWS, gain, -1.0)
    best = int(np.argmax(gain))
    return (best, float(drawn[best])) if gain[best] > 0 else None
