"""Which data a leaf learns its hyperparameters from, and with which weights (Assael et al. 2014, sec. 3.2).

Five points cannot identify length-scales. The hyperparameters θ of a leaf therefore maximise (or
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

from bough.gp.kernels.stationary import LONGEST, SHORTEST, default_lengthscale
from bough.gp.params import JointPrior, LogNormal, Param
from bough.points import BoolArray, FloatArray, IntArray

__all__ = ["Hyper", "Part", "Target", "ancestors", "pool"]

OUTSIDE = Param("lengthscale outside", 1, default_lengthscale(1), SHORTEST, LONGEST)
"""The length-scale that is shared by all columns that a leaf itself does not have."""


@dataclass(frozen=True, eq=False)
class Part:
    """One factor of the pseudo-likelihood: its exponent and its rows."""

    weight: float
    rows: IntArray


def pool(path: Sequence[IntArray], first: float) -> list[Part]:
    """The factors of a leaf from the nested rows of (leaf, parent, ..., root); first: the leaf's weight.

    An ancestor that has no more rows than its child is skipped.
    """
    parts = [Part(first, path[0])]
    inner = path[0]
    for outer in path[1:]:
        added = np.setdiff1d(outer, inner)
        if len(added):
            parts.append(Part(first / (1 + len(parts)), added))
            inner = outer
    return parts


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
    """The hyperparameters of a leaf: theta = (mean, then the logarithms of ``params``).

    The whole space has one covariance; a leaf learns only the entries of its theta that concern the
    leaf's own columns.

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
        return np.concatenate([[0.0], JointPrior(self.params).median])

    @cached_property
    def log_normal(self) -> tuple[FloatArray, FloatArray]:
        """(p - 1,) means and standard deviations of the priors of ``params``, which are all log-normal."""
        found = [
            (param.prior.mean, param.prior.sd)
            for param in self.params
            if isinstance(param.prior, LogNormal)
            for _ in range(param.size)
        ]
        means, sds = np.transpose(found)
        return means, sds

    def kernel_theta(self, theta: FloatArray) -> FloatArray:
        """The kernel's theta that a leaf's theta stands for."""
        return np.append(theta, 0.0)[self.places]


@dataclass(frozen=True, eq=False)
class Target:
    """The hyperparameters of a leaf, and the rows from which they are learned.

    Their density (eq. 10 of the paper) is the prior times the likelihood of each part to the power of its
    weight; in a part rows of different signatures are independent. ``pooled_density`` computes it.
    """

    hyper: Hyper
    parts: Sequence[Part]
