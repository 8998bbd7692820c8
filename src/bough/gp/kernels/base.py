"""The base of the kernel algebra: kernels, pullbacks of their gradients, and sums and products of kernels.

A kernel is a small frozen dataclass. Calling it on ``theta`` and two ``Points`` returns the covariance
matrix and a ``Pullback``, which turns a weight W = ∂loss/∂K into the gradients of the loss by theta and by
both inputs. Sums join pullbacks and products multiply them, so a covariance is a short expression.

How to write a kernel
---------------------
A function of a weighted distance is a ``stationary.Stationary`` with a ``profile``. For any other, subclass
``Kernel`` as a frozen dataclass and give it

* ``params``: a tuple of ``Param``; ``theta`` holds the logarithms of their values in that order;
* ``__call__(theta, a, b) -> (K (n, m), Pullback)``: read ``a.x`` only in columns that are active
  (``WhereActive`` or ``Imputed`` around the kernel ensures that); compute nothing for the gradient until the
  pullback is called; ``a is b`` holds for a Gram matrix. The pullback may keep K, so callers never write
  into it;
* ``diag(theta, a) -> (diagonal (n,), DiagPullback)``, or subclass ``Correlation`` if k(x, x) = 1;
* if it saves time, ``add_to`` (touch only a part of the matrix) and ``toward`` (read the second points once
  for many first ones).

Gradients by inputs are arrays (n, columns) as wide as ``a.x``, zero in columns the kernel does not read and
in nominal ones. ``tests/gp/kernel_list.py`` lists all kernels; the tests check all of this for each entry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bough.gp.params import Param, total_size
from bough.points import FloatArray, Points

__all__ = ["Correlation", "DiagPullback", "Kernel", "Product", "Pullback", "Sum", "Toward", "zero_pullback"]


@dataclass(frozen=True, slots=True)
class Pullback:
    """Gradients of a loss L from W = ∂L/∂K (n, m). All three are linear in W.

    theta: W -> ∂L/∂theta (p,);  a: W -> ∂L/∂a.x (n, columns);  b: W -> ∂L/∂b.x (m, columns).
    a and b count as different variables even if they are the same object.
    """

    theta: Callable[[FloatArray], FloatArray]
    a: Callable[[FloatArray], FloatArray]
    b: Callable[[FloatArray], FloatArray]

    def __call__(self, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.theta(w), self.a(w), self.b(w)


def zero_pullback(size: int, a: Points, b: Points) -> Pullback:
    """The pullback of a covariance whose gradients are all zero; size: the length of theta."""
    return Pullback(
        theta=lambda w: np.zeros(size),
        a=lambda w: np.zeros(a.x.shape),
        b=lambda w: np.zeros(b.x.shape),
    )


@dataclass(frozen=True, slots=True)
class DiagPullback:
    """The same for the diagonal k(a_i, a_i), from w = ∂L/∂diag (n,)."""

    theta: Callable[[FloatArray], FloatArray]
    a: Callable[[FloatArray], FloatArray]


Toward = Callable[[Points], tuple[FloatArray, Pullback]]
"""A kernel with fixed b: maps any a to what the kernel returns for (a, b)."""


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
        """Add k(a, b) to ``out``. Override this to save time where only a part of the matrix changes."""
        k, pull = self(theta, a, b)
        out += k
        return pull

    def toward(self, theta: FloatArray, b: Points) -> Toward:
        """k(·, b). A kernel that is slow to read ``b`` overrides this to do it once for many a."""
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
    """k = Σ_t k_t; zero without terms."""

    terms: tuple[Kernel, ...]

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return tuple(param for term in self.terms for param in term.params)

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """The slice of theta that belongs to each term."""
        ends = np.cumsum([0] + [total_size(term.params) for term in self.terms])
        return tuple(slice(int(i), int(j)) for i, j in pairwise(ends))

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        out = np.zeros((len(a), len(b)))
        return out, self.add_to(out, theta, a, b)

    def add_to(self, out: FloatArray, theta: FloatArray, a: Points, b: Points) -> Pullback:
        pulls = [term.add_to(out, theta[part], a, b) for term, part in zip(self.terms, self.parts)]
        return Pullback(
            theta=lambda w: np.concatenate([np.empty(0), *(pull.theta(w) for pull in pulls)]),
            a=lambda w: sum((pull.a(w) for pull in pulls), np.zeros(a.x.shape)),
            b=lambda w: sum((pull.b(w) for pull in pulls), np.zeros(b.x.shape)),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        found = [term.diag(theta[part], a) for term, part in zip(self.terms, self.parts)]
        return sum((k for k, _ in found), np.zeros(len(a))), DiagPullback(
            theta=lambda w: np.concatenate([np.empty(0), *(pull.theta(w) for _, pull in found)]),
            a=lambda w: sum((pull.a(w) for _, pull in found), np.zeros(a.x.shape)),
        )


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
