"""Kernels around another kernel: scaled, where a group is active, with fixed or shared hyperparameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.kernels.base import DiagPullback, Kernel, Pullback, zero_pullback
from bough.gp.kernels.rows import block, rows_of, scatter
from bough.gp.params import LogNormal, Param, Prior, total_size
from bough.points import FloatArray, IntArray, Points

__all__ = ["Fixed", "Scale", "Tied", "WhereActive"]

VARIANCE_PRIOR = LogNormal(0.0, 1.0)
"""Default prior of a variance, for standardised values."""


@dataclass(frozen=True)
class Scale(Kernel):
    """k = s · k_inner with a learned variance s, the first entry of theta."""

    inner: Kernel
    prior: Prior = VARIANCE_PRIOR

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (Param("variance", 1, self.prior, 1e-4, 1e4), *self.inner.params)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        variance = math.exp(theta[0])
        inner, pull = self.inner(theta[1:], a, b)
        k = variance * inner
        return k, Pullback(
            # d/dlog s: Σ W∘K. The inner pullback is linear in W, so s may multiply its result.
            theta=lambda w: np.concatenate([[_dot(w, k)], variance * pull.theta(w)]),
            a=lambda w: variance * pull.a(w),
            b=lambda w: variance * pull.b(w),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        variance = np.exp(theta[0])
        inner, pull = self.inner.diag(theta[1:], a)
        k = variance * inner
        return k, DiagPullback(
            theta=lambda w: np.concatenate([[w @ k], variance * pull.theta(w)]),
            a=lambda w: variance * pull.a(w),
        )


@dataclass(frozen=True)
class WhereActive(Kernel):
    """k_inner where ``group`` is active in both points, zero elsewhere.

    The delta kernel δ_v of Ma & Blaschko 2020 (Alg. 1) times k_inner. Only active rows are evaluated: values
    of inactive columns are never read, and a term costs n_v² rather than n². A point in which the group is
    inactive gets no covariance from this term.
    """

    group: int
    inner: Kernel

    @property
    def params(self) -> tuple[Param, ...]:
        return self.inner.params

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        out = np.zeros((len(a), len(b)))
        return out, self.add_to(out, theta, a, b)

    def add_to(self, out: FloatArray, theta: FloatArray, a: Points, b: Points) -> Pullback:
        active_a, active_b = a.on[:, self.group], b.on[:, self.group]
        if not (active_a.any() and active_b.any()):
            return zero_pullback(len(theta), a, b)
        rows = rows_of(active_a)
        cols = rows if a is b else rows_of(active_b)
        some_a = a.take(rows)
        some_b = some_a if a is b else b.take(cols)
        where = block(rows, cols)
        if isinstance(rows, slice) and isinstance(cols, slice):
            pull = self.inner.add_to(out[where], theta, some_a, some_b)
        else:
            k, pull = self.inner(theta, some_a, some_b)
            out[where] += k
        return Pullback(
            theta=lambda w: pull.theta(w[where]),
            a=lambda w: scatter(pull.a(w[where]), rows, a.x.shape),
            b=lambda w: scatter(pull.b(w[where]), cols, b.x.shape),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        rows = rows_of(a.on[:, self.group])
        k, pull = self.inner.diag(theta, a.take(rows))
        return scatter(k, rows, (len(a),)), DiagPullback(
            theta=lambda w: pull.theta(w[rows]), a=lambda w: scatter(pull.a(w[rows]), rows, a.x.shape)
        )


@dataclass(frozen=True)
class Fixed(Kernel):
    """k_inner with every entry of its theta held at ``value``."""

    inner: Kernel
    value: float = 0.0

    @property
    def params(self) -> tuple[Param, ...]:
        return ()

    @cached_property
    def _theta(self) -> FloatArray:
        return np.full(total_size(self.inner.params), self.value)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        k, pull = self.inner(self._theta, a, b)
        return k, Pullback(theta=lambda w: np.empty(0), a=pull.a, b=pull.b)

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        k, pull = self.inner.diag(self._theta, a)
        return k, DiagPullback(theta=lambda w: np.empty(0), a=pull.a)


@dataclass(frozen=True)
class Tied(Kernel):
    """k_inner with shared hyperparameters: entry i of its theta is entry ``entries[i]`` of the new theta.

    ``Tied(Matern52((0, 1)), (0, 0), (length,))`` has one length-scale for both columns. Around a sum,
    ``Tied`` shares hyperparameters between its terms.
    """

    inner: Kernel
    entries: tuple[int, ...]
    shared: tuple[Param, ...]

    @property
    def params(self) -> tuple[Param, ...]:
        return self.shared

    @cached_property
    def _index(self) -> IntArray:
        return np.array(self.entries, dtype=np.intp)

    def _gather(self, gradient: FloatArray) -> FloatArray:
        """∂L/∂theta from the gradient by the inner theta: entries that are shared add up."""
        return np.asarray(np.bincount(self._index, gradient, total_size(self.shared)), dtype=float)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        k, pull = self.inner(theta[self._index], a, b)
        return k, Pullback(theta=lambda w: self._gather(pull.theta(w)), a=pull.a, b=pull.b)

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        k, pull = self.inner.diag(theta[self._index], a)
        return k, DiagPullback(theta=lambda w: self._gather(pull.theta(w)), a=pull.a)


def _dot(w: FloatArray, k: FloatArray) -> float:
    """Σ_ij w_ij k_ij without a temporary."""
    return float(np.einsum("ij,ij->", w, k))
