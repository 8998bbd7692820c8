"""Stationary covariances of some columns, each with a length-scale per column (ARD).

Subclasses of ``Stationary`` (SE, Matérn-3/2, Matérn-5/2) are functions of the squared distance

    r² = Σ_d ((x_d − x'_d) / ℓ_d)²  +  Σ_c [x_c ≠ x'_c] / ℓ_c²      (c: nominal columns, Hamming)

As functions of r² their slopes are finite everywhere, so gradients stay finite where points coincide. The
Laplace kernel is exp(−Σ_d |x_d − x'_d| / ℓ_d); Hamming is its form for categories. Squared distances and
their gradients are matrix products. Hamming and absolute distances have no such form; they are computed for
a few rows at a time, without a large (n, m, d) array.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from bough.gp.kernels.base import Correlation, DiagPullback, Kernel, Pullback
from bough.gp.params import LogNormal, Param, Prior
from bough.points import FloatArray, Points

__all__ = ["SE", "Constant", "Hamming", "Laplace", "Matern32", "Matern52", "Stationary"]

Columns = tuple[int, ...]
Slope = Callable[[], FloatArray]
Between = Callable[[FloatArray, FloatArray], FloatArray]
"""The distance between two values of a column, elementwise."""

Profile = tuple[FloatArray, Slope, *tuple[Slope, ...]]
"""k(s) (n, m) and, on demand, its derivatives in new arrays: dk/d(s²), then one by each shape value."""

SHORTEST, LONGEST = 0.02, 50.0
"""Bounds of a length-scale in the unit cube: with shorter ones, points tell nothing about each other."""

OFFSET_PRIOR = LogNormal(0.0, 1.0)


def _lengthscales(dimension: int, prior: Prior | None) -> Param:
    return Param("lengthscale", dimension, prior or default_lengthscale(dimension), SHORTEST, LONGEST)


def default_lengthscale(dimension: int) -> LogNormal:
    """The prior of ℓ that keeps typical distances near 1 as the dimension grows: median 0.5·√d."""
    return LogNormal(float(np.log(0.5) + 0.5 * np.log(max(dimension, 1))), 1.0)


def matern52(s2: FloatArray) -> tuple[FloatArray, Slope]:
    """k = (1 + s + s²/3) e^{−s}, s = √5 r;  dk/d(s²) = −(1/6) (1 + s) e^{−s}."""
    k, rise = s2, np.empty_like(s2)  # rise: (1 + s) e^{−s}
    for rows in _strips(*s2.shape):
        s, part = np.sqrt(s2[rows], out=rise[rows]), k[rows]
        decay = np.exp(-s)
        s += 1.0
        s *= decay
        decay *= 1.0 / 3.0
        part *= decay
        part += s
    return k, lambda: (-1.0 / 6.0) * rise


def _strips(height: int, width: int) -> Iterator[slice]:
    """Slices of rows that are small enough for the cache while several operations pass over them."""
    portion = 1 + 32768 // max(width, 1)
    return (slice(i, i + portion) for i in range(0, height, portion))


def _weighted_sum(between: Between, a: FloatArray, b: FloatArray, weights: FloatArray) -> FloatArray:
    """Σ_c w_c between(a_ic, b_jc) (n, m), for a (n, c) and b (m, c)."""
    out = np.zeros((len(a), len(b)))
    for rows in _strips(len(a), b.size):
        out[rows] = between(a[rows, None], b) @ weights
    return out


def _sums(between: Between, a: FloatArray, b: FloatArray, g: FloatArray) -> FloatArray:
    """(c,) Σ_ij G_ij between(a_ic, b_jc), for a (n, c), b (m, c) and G (n, m)."""
    parts = [np.tensordot(g[rows], between(a[rows, None], b), 2) for rows in _strips(len(a), b.size)]
    return np.asarray(np.sum([np.zeros(a.shape[1]), *parts], axis=0))


def _hamming(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray(x != y, dtype=float)


def _absolute(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.abs(x - y)


@dataclass(frozen=True)
class Stationary(Correlation):
    """A function of the squared distance over ``columns`` (differences) and ``nominal`` ones (Hamming).

    A subclass defines ``profile``, and optionally ``unit`` and ``shape``. Without any column k = 1.

    unit: the profile sees s² = unit² r².
    shape: hyperparameters of the profile besides the length-scales.
    theta: log ℓ of ``columns``, then of ``nominal``, then of ``shape``.
    """

    columns: Columns
    nominal: Columns = ()
    prior: Prior | None = None
    unit: ClassVar[float] = 1.0
    shape: ClassVar[tuple[Param, ...]] = ()

    @abstractmethod
    def profile(self, s2: FloatArray, values: FloatArray) -> Profile:
        """k as a function of s² (n, m), which it may overwrite; k(0) = 1. values: of ``shape``."""

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (_lengthscales(len(self.columns) + len(self.nominal), self.prior), *self.shape)

    @cached_property
    def _index(self) -> list[int]:
        return list(self.columns)

    def _scaled(self, points: Points, inverse: FloatArray) -> FloatArray:
        # Centred at 0.5, because squared distances by matrix product cancel less near the origin.
        z = points.x[:, self._index]
        z -= 0.5
        z *= inverse
        return z

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        split = len(self.columns), len(self.columns) + len(self.nominal)
        inverse, values = self.unit * np.exp(-theta[: split[1]]), np.exp(theta[split[1] :])
        numeric, weights = inverse[: split[0]], inverse[split[0] :] ** 2
        za = self._scaled(a, numeric)
        zb = za if a is b else self._scaled(b, numeric)
        s2 = squared_distances(za, zb)
        left, right = a.x[:, list(self.nominal)], b.x[:, list(self.nominal)]
        if self.nominal:
            s2 += _weighted_sum(_hamming, left, right, weights)
        k, slope, *by_values = self.profile(s2, values)
        if len(by_values) != len(values):
            raise TypeError(
                f"{type(self).__name__}.profile must return k, its slope and one derivative for each of the "
                f"{len(values)} values of shape, but has {len(by_values)} of these"
            )

        def pull_theta(w: FloatArray) -> FloatArray:
            # ∂s²/∂log ℓ_d = −2 (z_d − z'_d)²
            g = slope()
            g *= w
            squares = sum_of_squares(g, za, zb)
            hamming = weights * _sums(_hamming, left, right, g)
            by_shape = [value * float(np.vdot(by(), w)) for value, by in zip(values, by_values, strict=True)]
            return np.concatenate([-2.0 * squares, -2.0 * hamming, by_shape])

        def pull_input(g: FloatArray, z: FloatArray, other: FloatArray, points: Points) -> FloatArray:
            # ∂s²/∂x_id = 2 unit (z_id − z'_jd) / ℓ_d
            out = np.zeros(points.x.shape)
            out[:, self._index] = 2.0 * numeric * sum_of_differences(g, z, other)
            return out

        return k, Pullback(
            theta=pull_theta,
            a=lambda w: pull_input(slope() * w, za, zb, a),
            b=lambda w: pull_input((slope() * w).T, zb, za, b),
        )


class SE(Stationary):
    """Squared exponential, exp(−r²/2)."""

    unit = math.sqrt(0.5)

    def profile(self, s2: FloatArray, values: FloatArray) -> tuple[FloatArray, Slope]:
        k = np.exp(np.negative(s2, out=s2), out=s2)
        return k, lambda: -k


class Matern32(Stationary):
    """Matérn-3/2, (1 + √3 r) exp(−√3 r): with s = √3 r, dk/d(s²) = −½ e^{−s}."""

    unit = math.sqrt(3.0)

    def profile(self, s2: FloatArray, values: FloatArray) -> tuple[FloatArray, Slope]:
        s = np.sqrt(s2, out=s2)
        decay = np.exp(-s)
        s += 1.0
        s *= decay
        return s, lambda: -0.5 * decay


class Matern52(Stationary):
    """Matérn-5/2, (1 + √5 r + 5r²/3) exp(−√5 r)."""

    unit = math.sqrt(5.0)

    def profile(self, s2: FloatArray, values: FloatArray) -> tuple[FloatArray, Slope]:
        return matern52(s2)


@dataclass(frozen=True)
class Laplace(Correlation):
    """exp(−Σ_d |x_d − x'_d| / ℓ_d − Σ_c [x_c ≠ x'_c] / ℓ_c): L1 exponential (Lévesque 2017, sec. 3).

    Not differentiable where a coordinate coincides; the gradient there is set to zero.
    """

    columns: Columns
    nominal: Columns = ()
    prior: Prior | None = None

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (_lengthscales(len(self.columns) + len(self.nominal), self.prior),)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        inverse = np.exp(-theta)
        numbers = a.x[:, list(self.columns)], b.x[:, list(self.columns)]
        categories = a.x[:, list(self.nominal)], b.x[:, list(self.nominal)]
        k = _weighted_sum(_absolute, *numbers, -inverse[: len(self.columns)])
        k += _weighted_sum(_hamming, *categories, -inverse[len(self.columns) :])
        np.exp(k, out=k)

        def pull_theta(w: FloatArray) -> FloatArray:
            g = w * k
            sums = [_sums(_absolute, *numbers, g), _sums(_hamming, *categories, g)]
            return np.asarray(inverse * np.concatenate(sums))

        def pull_input(w: FloatArray, points: Points, axis: int) -> FloatArray:
            g = w * k
            out = np.zeros(points.x.shape)
            for weight, c in zip(inverse, self.columns):
                side = np.sign(a.x[:, c, None] - b.x[None, :, c])
                slope = weight * np.einsum("ij,ij->i" if axis == 1 else "ij,ij->j", g, side)
                out[:, c] = -slope if axis == 1 else slope
            return out

        return k, Pullback(theta=pull_theta, a=lambda w: pull_input(w, a, 1), b=lambda w: pull_input(w, b, 0))


def Hamming(columns: Columns, prior: Prior | None = None) -> Laplace:
    """exp(−Σ_c [x_c ≠ x'_c] / ℓ_c) over categories: a product of exchangeable covariances."""
    return Laplace((), columns, prior)


@dataclass(frozen=True)
class Constant(Kernel):
    """A random offset shared by all points: k = v."""

    prior: Prior = OFFSET_PRIOR

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (Param("offset", 1, self.prior, 1e-4, 1e4),)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        out = np.zeros((len(a), len(b)))
        return out, self.add_to(out, theta, a, b)

    def add_to(self, out: FloatArray, theta: FloatArray, a: Points, b: Points) -> Pullback:
        offset = math.exp(theta[0])
        out += offset
        return Pullback(
            theta=lambda w: np.array([offset * w.sum()]),
            a=lambda w: np.zeros(a.x.shape),
            b=lambda w: np.zeros(b.x.shape),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        offset = np.exp(theta[0])
        return np.full(len(a), offset), DiagPullback(
            theta=lambda w: np.array([offset * w.sum()]), a=lambda w: np.zeros(a.x.shape)
        )


def squared_distances(za: FloatArray, zb: FloatArray) -> FloatArray:
    """|z_i − z'_j|² = |z_i|² + |z'_j|² − 2 z_i·z'_j (n, m), never negative."""
    length_a = np.einsum("id,id->i", za, za)
    length_b = length_a if za is zb else np.einsum("id,id->i", zb, zb)
    s2: FloatArray = za @ (-2.0 * zb).T
    s2 += length_a[:, None]
    s2 += length_b
    np.maximum(s2, 0.0, out=s2)
    return s2


def sum_of_squares(g: FloatArray, za: FloatArray, zb: FloatArray) -> FloatArray:
    """(d,) Σ_ij G_ij (z_i − z'_j)² = Σ_i [(G z'²)_i − 2 z_i (G z')_i + z_i² (G 1)_i].

    One product with [z'², z', 1] gives all three.
    """
    d = zb.shape[1]
    right = np.empty((len(zb), 2 * d + 1))
    np.multiply(zb, zb, out=right[:, :d])
    right[:, d:-1] = zb
    right[:, -1] = 1.0
    product = g @ right
    square, line, total = product[:, :d], product[:, d:-1], product[:, -1:]
    square += za * (za * total - 2.0 * line)
    return np.asarray(square.sum(axis=0))


def sum_of_differences(g: FloatArray, za: FloatArray, zb: FloatArray) -> FloatArray:
    """(n, d) Σ_j G_ij (z_i − z'_j) for each row i of z."""
    return np.asarray(g.sum(axis=1)[:, None] * za - g @ zb)
