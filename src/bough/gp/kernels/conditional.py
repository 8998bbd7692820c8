"""Covariances that depend on which groups are active.

``SameSignature`` is the conditional kernel of Lévesque et al. 2017 (sec. 4): only points with the same active
groups are compared. ``Imputed`` reads inactive columns as the middle of their range, as the paper does for
joint kernels. Categories have no middle: an inactive one counts as an extra option, equally far from all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.kernels.base import DiagPullback, Kernel, Pullback
from bough.gp.kernels.rows import Rows, block, contiguous
from bough.gp.params import Param
from bough.points import BoolArray, FloatArray, Points, rows_by_signature

__all__ = ["Imputed", "SameSignature"]

MIDDLE = 0.5
"""The value that stands in for an inactive column (Lévesque 2017, sec. 4.2: the default value)."""

NO_OPTION = 2.0
"""The value that stands in for an inactive category. Positions of options lie between 0 and 1."""


@dataclass(frozen=True)
class Imputed(Kernel):
    """k_inner with inactive columns read as 0.5, and inactive categories as an option that no point has.

    group: for each column of the points, the group that activates it (``Layout.group``).
    nominal: the columns of categories.
    """

    inner: Kernel
    group: tuple[int, ...]
    nominal: tuple[int, ...] = ()

    @cached_property
    def _default(self) -> FloatArray:
        """(columns,) the value of each column where it is inactive."""
        values = np.full(len(self.group), MIDDLE)
        values[list(self.nominal)] = NO_OPTION
        return values

    @property
    def params(self) -> tuple[Param, ...]:
        return self.inner.params

    def _fill(self, points: Points) -> tuple[Points, BoolArray]:
        active = points.on[:, list(self.group)]
        return Points(np.where(active, points.x, self._default), points.on), active

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        full_a, active_a = self._fill(a)
        full_b, active_b = (full_a, active_a) if a is b else self._fill(b)
        k, pull = self.inner(theta, full_a, full_b)
        return k, Pullback(
            theta=pull.theta,
            a=lambda w: np.where(active_a, pull.a(w), 0.0),
            b=lambda w: np.where(active_b, pull.b(w), 0.0),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        full, active = self._fill(a)
        k, pull = self.inner.diag(theta, full)
        return k, DiagPullback(theta=pull.theta, a=lambda w: np.where(active, pull.a(w), 0.0))


@dataclass(frozen=True)
class SameSignature(Kernel):
    """k_inner between points with equal activation signature, zero between all others.

    Lévesque 2017, eq. (8), compares conditions only where they are active. Equal active conditions mean equal
    activity, so comparing signatures is enough. Blocks are evaluated one by one, at a cost of Σ_p n_p².
    ``k_inner`` must not read inactive columns: wrap it in ``Imputed``.
    """

    inner: Kernel

    @property
    def params(self) -> tuple[Param, ...]:
        return self.inner.params

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        out = np.zeros((len(a), len(b)))
        return out, self.add_to(out, theta, a, b)

    def add_to(self, out: FloatArray, theta: FloatArray, a: Points, b: Points) -> Pullback:
        parts: list[tuple[Rows, Rows, Pullback]] = []
        for rows, cols in _common_blocks(a, b):
            some_a = a.take(rows)
            k, pull = self.inner(theta, some_a, some_a if a is b else b.take(cols))
            out[block(rows, cols)] += k
            parts.append((rows, cols, pull))

        def pull_theta(w: FloatArray) -> FloatArray:
            total = np.zeros(len(theta))
            for rows, cols, pull in parts:
                total += pull.theta(w[block(rows, cols)])
            return total

        def pull_a(w: FloatArray) -> FloatArray:
            gradient = np.zeros(a.x.shape)
            for rows, cols, pull in parts:
                gradient[rows] = pull.a(w[block(rows, cols)])
            return gradient

        def pull_b(w: FloatArray) -> FloatArray:
            gradient = np.zeros(b.x.shape)
            for rows, cols, pull in parts:
                gradient[cols] = pull.b(w[block(rows, cols)])
            return gradient

        return Pullback(theta=pull_theta, a=pull_a, b=pull_b)

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        return self.inner.diag(theta, a)


def _common_blocks(a: Points, b: Points) -> list[tuple[Rows, Rows]]:
    """Rows of a and of b for each signature that occurs in both."""
    rows = rows_by_signature(a.on)
    cols = rows if a is b else rows_by_signature(b.on)
    return [(contiguous(rows[key]), contiguous(cols[key])) for key in rows if key in cols]
