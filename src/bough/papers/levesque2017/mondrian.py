"""Mondrian features: random nested partitions whose cells give a covariance (Balog et al. 2016).

A Mondrian process cuts a box at random times: a box with side lengths s_d waits Exp(Σ_d s_d), is
then cut across dimension d with probability s_d / Σ s, at a uniform place, and both halves continue
independently until the lifetime is over. Two points are in one cell with probability
exp(−Σ_d |x_d − x'_d|) for lifetime 1. The share of T partitions in which they fall together,

    k(x, x') = 1/T Σ_t [cell_t(x) = cell_t(x')]   →   exp(−Σ_d |x_d − x'_d| / ℓ_d)   as T grows,

is a random-feature form of the Laplace kernel (Lévesque et al. 2017, sec. 4.B). Sides are 1/ℓ_d.

The partitions are never stored. The cuts of a box are a hash of its place in the tree of boxes, so a
point finds its cell by walking down, and any point, seen or new, finds the same partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bough.gp.kernels import Correlation, Pullback
from bough.gp.kernels.base import zero_pullback
from bough.gp.kernels.stationary import default_lengthscale
from bough.gp.params import Param, Prior
from bough.points import FloatArray, Points

__all__ = ["Mondrian"]

Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class Mondrian(Correlation):
    """The kernel of ``trees`` Mondrian partitions over ``columns`` and one-hot ``nominal`` columns.

    nominal: (column, levels); half a unit per indicator, so two different options are 1/ℓ apart. One more
    indicator stands for no option, the value of an inactive category (``Imputed``).
    theta: log ℓ of columns, then of nominal ones. The covariance is piecewise constant in theta and
    in x, so its gradients are zero: use slice sampling, and searches without gradients.
    """

    columns: tuple[int, ...]
    nominal: tuple[tuple[int, int], ...] = ()
    trees: int = 50
    prior: Prior | None = None

    @cached_property
    def params(self) -> tuple[Param, ...]:
        count = len(self.columns) + len(self.nominal)
        return (Param("lengthscale", count, self.prior or default_lengthscale(count), 0.05, 50.0),)

    def cells(self, theta: FloatArray, a: Points) -> Keys:
        """(n, trees) a key of the cell of each point in each partition."""
        inverse = np.exp(-theta)
        wide = len(self.columns)
        indicators = [
            np.eye(levels + 1)[np.minimum(np.floor(a.x[:, column] * levels), levels).astype(int)]
            for column, levels in self.nominal
        ]
        x = np.hstack([a.x[:, list(self.columns)], *indicators])
        halves = [np.full(levels + 1, 0.5 * s) for (_, levels), s in zip(self.nominal, inverse[wide:])]
        side = np.concatenate([inverse[:wide], *halves])
        trees = np.random.default_rng(0).integers(0, 2**64, self.trees, dtype=np.uint64)
        return _walk(x * side, side, trees)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        left = self.cells(theta, a)
        right = left if a is b else self.cells(theta, b)
        k = np.zeros((len(a), len(b)))
        for tree in range(self.trees):
            k += left[:, tree, None] == right[None, :, tree]
        k /= self.trees
        return k, zero_pullback(len(theta), a, b)


def _walk(x: FloatArray, side: FloatArray, trees: Keys) -> Keys:
    """(n, trees) keys of the cells of x (n, d) in the box [0, side] after lifetime 1."""
    n, d = x.shape
    keys = np.tile(trees, n)  # one walker for each point and tree
    x = np.repeat(x, len(trees), axis=0)
    low, high = np.zeros_like(x), np.tile(side, (len(x), 1))
    left = np.ones(len(x))  # time that is left
    walking = np.arange(len(x)) if d else np.arange(0)
    while len(walking):
        sides = high[walking] - low[walking]
        total = sides.sum(axis=1)
        key = keys[walking]
        left[walking] += np.log(_uniform(key, 1)) / total
        alive = left[walking] > 0
        walking, sides, total, key = walking[alive], sides[alive], total[alive], key[alive]
        dim = (np.cumsum(sides, axis=1) < (_uniform(key, 2) * total)[:, None]).sum(axis=1)
        dim = np.minimum(dim, d - 1)
        cut = low[walking, dim] + _uniform(key, 3) * sides[np.arange(len(dim)), dim]
        above = x[walking, dim] > cut
        high[walking[~above], dim[~above]] = cut[~above]
        low[walking[above], dim[above]] = cut[above]
        keys[walking] = _hash(key ^ np.where(above, np.uint64(0xB5), np.uint64(0x4A)))
    return keys.reshape(n, len(trees))


def _hash(key: Keys) -> Keys:
    """A mixing bijection of 64 bits (the finaliser of SplitMix64, Steele et al. 2014)."""
    key = key + np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(key ^ (key >> np.uint64(31)))


def _uniform(key: Keys, stream: int) -> FloatArray:
    """Numbers inside (0, 1), one per key and stream."""
    bits = _hash(key + np.uint64(stream * 0xD1342543DE82EF95 % 2**64)) >> np.uint64(11)
    return np.asarray((bits.astype(float) + 0.5) * 2.0**-53)
