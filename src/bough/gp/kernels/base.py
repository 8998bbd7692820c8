"""Covariances are values: kernels, the pullback of their gradients, and how they combine.

A kernel is a small frozen dataclass. Calling it on ``theta`` and two ``Points`` gives the
covariance matrix and a ``Pullback``, which turns a weight W = ∂loss/∂K into the gradients of the
loss with respect to theta and to both inputs. Sums join pullbacks, products multiply them, and so
every covariance in this package is a short expression.

How to write a kernel
---------------------
Subclass ``Kernel`` as a frozen dataclass and give it

* ``params``: a tuple of ``Param``; ``theta`` holds their logarithms in that order;
* ``__call__(theta, a, b) -> (K (n, m), Pullback)``: read ``a.x`` only in columns that are active
  (``On`` or ``Imputed`` around the kernel sees to that); compute nothing for the gradient until
  the pullback is called; ``a is b`` holds when the matrix is a Gram matrix. The pullback may keep
  K, so callers never write into it (they use ``add_to`` to accumulate);
* ``diag(theta, a) -> (diagonal (n,), DiagPullback)``;
* where it saves time, ``add_to`` (only a part of the matrix is touched), ``toward`` (the second points are
  read once for many first ones) and ``add_a`` of the pullbacks.

Gradients of inputs are arrays (n, columns) as wide as ``a.x``, zero in columns the kernel does not
read and in nominal ones. Put the kernel in ``tests/gp/kernel_list.py``: that checks all of this.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bough.gp.kernels.rows import block, rows_of, scatter
from bough.gp.params import Param, total_size
from bough.gp.priors import LogNormal, Prior
from bough.points import FloatArray, IntArray, Points

__all__ = [
    "Correlation",
    "DiagPullback",
    "Fixed",
    "Kernel",
    "On",
    "Product",
    "Pullback",
    "Scale",
    "Sum",
    "Tied",
    "Toward",
]

VARIANCE_PRIOR = LogNormal(0.0, 1.0)
"""Default prior of a variance, for standardised targets."""

Adder = Callable[[FloatArray, FloatArray], None]
"""(out (n, columns), W) -> nothing: ``out`` is added to."""


@dataclass(frozen=True, slots=True)
class Pullback:
    """Gradients of a loss L from W = ∂L/∂K (n, m). All three are linear in W.

    theta: W -> ∂L/∂theta (p,);  a: W -> ∂L/∂a.x (n, columns);  b: W -> ∂L/∂b.x (m, columns).
    a and b are treated as different variables even where they are the same object.
    add_a: (out, W) -> nothing, a(W) added to out (n, columns); for kernels that touch only some of its
    rows, so that a sum of many adds up in one array.
    """

    theta: Callable[[FloatArray], FloatArray]
    a: Callable[[FloatArray], FloatArray]
    b: Callable[[FloatArray], FloatArray]
    add_a: Adder | None = None

    def __call__(self, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.theta(w), self.a(w), self.b(w)


@dataclass(frozen=True, slots=True)
class DiagPullback:
    """The same for the diagonal k(a_i, a_i), from w = ∂L/∂diag (n,)."""

    theta: Callable[[FloatArray], FloatArray]
    a: Callable[[FloatArray], FloatArray]
    add_a: Adder | None = None


Toward = Callable[[Points], tuple[FloatArray, Pullback]]
"""Covariances of any points a with some b: what a kernel gives for (a, b)."""


class Kernel(ABC):
    """A covariance function with its hyperparameters. See the module docstring."""

    @property
    @abstractmethod
    def params(self) -> tuple[Param, ...]:
        """The hyperparameters, in the order of theta."""

    @abstractmethod
    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        """The covariance k(a, b) (n, m) at hyperparameters exp(theta), and its pullback."""

    @abstractmethod
    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        """The variances k(a_i, a_i) (n,), and their pullback."""

    def add_to(self, out: FloatArray, theta: FloatArray, a: Points, b: Points) -> Pullback:
        """Add k(a, b) to ``out``. Kernels that touch only a part of the matrix do less work here."""
        k, pull = self(theta, a, b)
        out += k
        return pull

    def toward(self, theta: FloatArray, b: Points) -> Toward:
        """k(·, b). Kernels that need long to read ``b`` do it once here, for many a."""
        return lambda a: self(theta, a, b)

    def __add__(self, other: Kernel) -> Kernel:
        return Sum((*_terms(self), *_terms(other)))

    def __mul__(self, other: Kernel) -> Kernel:
        return Product(self, other)


class Correlation(Kernel):
    """A kernel with k(x, x) = 1 for every x and theta."""

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        return np.ones(len(a)), DiagPullback(
            theta=lambda w: np.zeros(len(theta)), a=lambda w: np.zeros(a.x.shape)
        )


def _terms(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


@dataclass(frozen=True)
class Sum(Kernel):
    """k = Σ_t k_t; zero where there are no terms."""

    terms: tuple[Kernel, ...]

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return tuple(param for term in self.terms for param in term.params)

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """Where the theta of each term stands."""
        ends = np.cumsum([0] + [total_size(term.params) for term in self.terms])
        return tuple(slice(int(i), int(j)) for i, j in pairwise(ends))

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        out = np.zeros((len(a), len(b)))
        return out, self.add_to(out, theta, a, b)

    def add_to(self, out: FloatArray, theta: FloatArray, a: Points, b: Points) -> Pullback:
        pulls = [term.add_to(out, theta[part], a, b) for term, part in zip(self.terms, self.parts)]
        return Pullback(
            theta=lambda w: np.concatenate([np.empty(0), *(pull.theta(w) for pull in pulls)]),
            a=lambda w: _total(pulls, w, a),
            b=lambda w: sum((pull.b(w) for pull in pulls), np.zeros(b.x.shape)),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        found = [term.diag(theta[part], a) for term, part in zip(self.terms, self.parts)]
        return sum((k for k, _ in found), np.zeros(len(a))), DiagPullback(
            theta=lambda w: np.concatenate([np.empty(0), *(pull.theta(w) for _, pull in found)]),
            a=lambda w: _total([pull for _, pull in found], w, a),
        )


def _total(pulls: Sequence[Pullback | DiagPullback], w: FloatArray, a: Points) -> FloatArray:
    """The sum of the gradients by a."""
    out = np.zeros(a.x.shape)
    for pull in pulls:
        if pull.add_a is not None:
            pull.add_a(out, w)
        else:
            out += pull.a(w)
    return out


@dataclass(frozen=True)
class Product(Kernel):
    """k = k_left · k_right, elementwise."""

    left: Kernel
    right: Kernel

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return self.left.params + self.right.params

    @cached_property
    def _split(self) -> int:
        return total_size(self.left.params)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        left, pull_left = self.left(theta[: self._split], a, b)
        right, pull_right = self.right(theta[self._split :], a, b)
        return left * right, Pullback(
            theta=lambda w: np.concatenate([pull_left.theta(w * right), pull_right.theta(w * left)]),
            a=lambda w: pull_left.a(w * right) + pull_right.a(w * left),
            b=lambda w: pull_left.b(w * right) + pull_right.b(w * left),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        left, pull_left = self.left.diag(theta[: self._split], a)
        right, pull_right = self.right.diag(theta[self._split :], a)
        return left * right, DiagPullback(
            theta=lambda w: np.concatenate([pull_left.theta(w * right), pull_right.theta(w * left)]),
            a=lambda w: pull_left.a(w * right) + pull_right.a(w * left),
        )


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
class On(Kernel):
    """k_inner where ``group`` is active in both points, zero elsewhere.

    The delta kernel δ_v of Ma & Blaschko 2020 (Alg. 1) times k_inner. Only active rows are
    evaluated, so what stands under the inactive columns is never read, two points that are both
    inactive have no covariance from here, and a term costs n_v² rather than n².
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
            return _zero_pullback(len(theta), a, b)
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

        def add_a(gradient: FloatArray, w: FloatArray) -> None:
            gradient[rows] += pull.a(w[where])

        return Pullback(
            theta=lambda w: pull.theta(w[where]),
            a=lambda w: scatter(pull.a(w[where]), rows, a.x.shape),
            b=lambda w: scatter(pull.b(w[where]), cols, b.x.shape),
            add_a=add_a,
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        rows = rows_of(a.on[:, self.group])
        k, pull = self.inner.diag(theta, a.take(rows))
        out = np.zeros(len(a))
        out[rows] = k

        def add_a(gradient: FloatArray, w: FloatArray) -> None:
            gradient[rows] += pull.a(w[rows])

        return out, DiagPullback(
            theta=lambda w: pull.theta(w[rows]),
            a=lambda w: scatter(pull.a(w[rows]), rows, a.x.shape),
            add_a=add_a,
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


def _zero_pullback(size: int, a: Points, b: Points) -> Pullback:
    """Of a covariance that vanishes, whatever theta (of the given size)."""
    return Pullback(
        theta=lambda w: np.zeros(size),
        a=lambda w: np.zeros(a.x.shape),
        b=lambda w: np.zeros(b.x.shape),
        add_a=lambda out, w: None,
    )


def _dot(w: FloatArray, k: FloatArray) -> float:
    """Σ_ij w_ij k_ij without a temporary."""
    return float(np.einsum("ij,ij->", w, k))
