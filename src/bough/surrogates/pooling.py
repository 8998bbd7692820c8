"""Which data teach a leaf its hyperparameters, and how much each part counts (Assael et al. 2014, sec. 3.2).

A leaf of five points cannot say much about length-scales. Its hyperparameters θ therefore maximise (or
are sampled from) a weighted pseudo-likelihood along the path ρ from the leaf up to the root (eq. 8),

    log p(y | θ) ≈ w_0 log p(y_leaf | θ) + Σ_i w_i log p(y_(ρ_i ∖ ρ_{i−1}) | θ),   w_i = w_0 / (1 + i),

where each ancestor adds only the rows that its child on the path does not hold. The paper has
w_0 = 2 (eq. 9, whose index i is the step along the path: leaf 2, parent 1, grandparent 2/3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from bough.gp.kernels.base import Kernel
from bough.gp.kernels.stationary import LONGEST, SHORTEST
from bough.gp.likelihood import Data
from bough.gp.params import Param, bounds, log_prior, prior_median
from bough.gp.priors import LogNormal
from bough.gp.solvers import factor_lower
from bough.points import BoolArray, FloatArray, IntArray
from bough.space.tree import Tree

__all__ = ["Hyper", "Part", "PseudoLikelihood", "ancestors", "group_depths", "pool"]

LOG_2PI = float(np.log(2 * np.pi))

OUTSIDE = Param("lengthscale outside", 1, LogNormal(float(np.log(0.5)), 1.0), SHORTEST, LONGEST)
"""The one length-scale of all columns that a leaf itself does not have."""


@dataclass(frozen=True, eq=False)
class Part:
    """One factor of the pseudo-likelihood: its exponent and its rows."""

    weight: float
    rows: IntArray


def pool(path: Sequence[IntArray], first: float) -> list[Part]:
    """The factors of a leaf from the nested rows of (leaf, parent, ..., root); first: the leaf's weight.

    An ancestor that holds no more rows than its child is no step of the path.
    """
    parts = [Part(first, path[0])]
    inner = path[0]
    for outer in path[1:]:
        added = np.setdiff1d(outer, inner)
        if len(added):
            parts.append(Part(first / (1 + len(parts)), added))
            inner = outer
    return parts


def group_depths(tree: Tree) -> IntArray:
    """(groups,) length of the longest chain of groups above each one; every group follows its parents."""
    depths: list[int] = []
    for group in tree.groups:
        depths.append(1 + max(depths[parent] for parent in group.parents) if group.parents else 0)
    return np.array(depths, dtype=np.intp)


def ancestors(on: BoolArray, signature: BoolArray, depths: IntArray) -> list[IntArray]:
    """Rows of the known tree's nodes above (and with) one activation signature, from the inside out.

    on: (n, groups) activity of all rows. The node at depth k holds the rows that agree with the
    signature (groups,) in all groups down to that depth; at depth 0 that is every row.
    """
    agree = on == signature
    return [
        np.flatnonzero(agree[:, depths <= depth].all(axis=1)) for depth in range(int(depths.max()), -1, -1)
    ]


@dataclass(frozen=True, eq=False)
class Hyper:
    """What the hyperparameters of a leaf are: theta = (mean, then the logarithms of ``params``).

    The covariance is one for the whole space; a leaf learns those entries of its theta that concern
    the leaf's own columns.

    params: of those entries, of the noise variance, and ``OUTSIDE`` if there are other columns. The
            mean's prior is N(0, 1): targets are standardised.
    places: where each entry of the kernel's theta is found in (theta, 0).
    noise:  where the log noise variance is found in theta.
    """

    params: tuple[Param, ...]
    places: IntArray
    noise: int

    @cached_property
    def start(self) -> FloatArray:
        """theta at the median of its prior."""
        return np.concatenate([[0.0], prior_median(self.params)])

    def kernel_theta(self, theta: FloatArray) -> FloatArray:
        """The kernel's theta that a leaf's theta stands for."""
        return np.append(theta, 0.0)[self.places]


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """Eq. 10 of the paper: the log density from which a leaf's hyperparameters are sampled.

    Parts are disjoint, and rows of different signatures are independent. So all factors together
    are one Gaussian with a block-diagonal covariance, in which the terms of each row,
    −½ (L⁻¹y)_i² − log L_ii − ½ log 2π, count with the weight of its part.
    """

    hyper: Hyper
    kernel: Kernel
    parts: Sequence[Part]
    data: Data

    @cached_property
    def _rows(self) -> tuple[Data, FloatArray, BoolArray]:
        """The rows of all parts, their weights (n,), and which pairs (n, n) are in one block."""
        rows = np.concatenate([part.rows for part in self.parts])
        sizes = [len(part.rows) for part in self.parts]
        weights = np.repeat([part.weight for part in self.parts], sizes)
        of_part = np.repeat(np.arange(len(self.parts)), sizes)
        data = Data(self.data.points.take(rows), self.data.y[rows], self.data.noise[rows])
        on = data.points.on
        together = (of_part[:, None] == of_part) & (on[:, None, :] == on).all(axis=2)
        return data, weights, together

    @cached_property
    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        return bounds(self.hyper.params)

    def __call__(self, theta: FloatArray) -> float:
        """log p(theta | y), up to a constant; -inf out of bounds."""
        mean, logs = theta[0], theta[1:]
        low, high = self._bounds
        if (logs < low).any() or (logs > high).any():
            return -np.inf
        data, weights, together = self._rows
        matrix, _ = self.kernel(self.hyper.kernel_theta(theta), data.points, data.points)
        noisy = matrix * together
        np.einsum("ii->i", noisy)[:] += data.variances(theta[self.hyper.noise])
        lower = factor_lower(noisy)
        white, _ = lapack.dtrtrs(lower, data.y - mean, lower=1)
        terms = 0.5 * white**2 + np.log(np.diag(lower)) + 0.5 * LOG_2PI
        return float(log_prior(self.hyper.params, logs)[0] - 0.5 * mean**2 - weights @ terms)
