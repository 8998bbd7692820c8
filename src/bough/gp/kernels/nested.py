"""The covariance of ``auto``: a level per branch, a function per group, and interactions of all columns.

    k(x, x') = o Σ_{g ≠ root} δ_g  +  s Σ_g δ_g M(r_g)  +  j M(r / φ)

δ_g is 1 where group g is active in both points, else 0. M is Matérn-5/2. The first sum gives every branch a
level (Ma & Blaschko 2020 with offsets). The second adds a function of each group (their additive tree). The
third term lets all columns interact (the imputed joint kernel of Lévesque et al. 2017).

All terms share the length-scales: r_g² = Σ_{c in g} d_c² / ℓ_c², and r² = Σ_c d_c² / ℓ_c² over all columns. φ
accounts for the many small distances that add up in r. So there are four hyperparameters besides the
length-scales, however many branches there are, and a dozen observations can identify them.
``centred.Centred`` defines the distances d_c.

``Nested.expression`` writes this formula in the kernel algebra. ``Nested`` itself is the same covariance,
fused: it reads each point once. The compiled core computes it from the arrays that the functions at the end
of this file make (``tests/gp/test_core.py`` compares the two).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from bough.gp.core import compiled_core
from bough.gp.kernels.base import DiagPullback, Kernel, Pullback, Sum, Toward
from bough.gp.kernels.centred import Centred
from bough.gp.kernels.mapped import Mapped
from bough.gp.kernels.rows import Rows, block, rows_of
from bough.gp.kernels.stationary import (
    Constant,
    Matern52,
    Slope,
    matern52,
    squared_distances,
    sum_of_differences,
    sum_of_squares,
)
from bough.gp.kernels.wrappers import Fixed, Scale, Tied, WhereActive
from bough.gp.params import LogNormal, Param
from bough.points import FloatArray, IntArray, Layout, Points

__all__ = ["Nested", "core_model", "core_points"]

SCALES = 4
"""Entries of theta before the length-scales: o, s, j, φ."""


@dataclass(frozen=True, eq=False)
class Nested(Kernel):
    """See the module's docstring. theta: log of o, s, j, φ, then of ℓ of every column.

    implied: nominal switches whose options each have a group. The group's level models its option, so only
    the interactions read these switches.
    levels, groups, interactions, stretch: priors of o, s, j and φ.
    lengthscale: the prior of ℓ in a group of one column (see ``Centred``).
    """

    layout: Layout
    implied: frozenset[int]
    levels: LogNormal
    groups: LogNormal
    interactions: LogNormal
    stretch: LogNormal
    lengthscale: LogNormal

    @cached_property
    def expression(self) -> Kernel:
        """The same covariance in the kernel algebra, with the same theta: the definition, but slower."""
        every = tuple(range(self.centred.size))
        levels = Sum(tuple(WhereActive(group, Fixed(Constant())) for group in range(1, self.layout.groups)))
        functions = Sum(
            tuple(WhereActive(group, Fixed(Matern52(tuple(own.tolist())))) for group, own in self.group_terms)
        )
        interactions = Tied(Matern52(every), (0,) * len(every), (self.params[3],))
        terms = Scale(levels) + Scale(functions) + Scale(interactions)
        order = (*range(SCALES, SCALES + self.layout.columns), *range(SCALES))
        return Tied(Mapped(Centred(self.layout), terms), order, self.params)

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (
            Param("levels", 1, self.levels, 1e-4, 1e2),
            Param("groups", 1, self.groups, 1e-4, 1e2),
            Param("interactions", 1, self.interactions, 1e-4, 1e2),
            Param("stretch", 1, self.stretch, 0.5, 5.0),
            *self.centred.params,
        )

    @cached_property
    def centred(self) -> Centred:
        return Centred(self.layout, Matern52.unit, self.lengthscale)

    @cached_property
    def group_terms(self) -> list[tuple[int, IntArray]]:
        """The groups that have a function, each with the features that it depends on."""
        shown = ~np.isin(self.centred.table.column, list(self.implied))
        found = (
            (g, np.flatnonzero(shown & (self.centred.table.group == g))) for g in range(self.layout.groups)
        )
        return [(group, features) for group, features in found if len(features)]

    @cached_property
    def core_shape(self) -> tuple[Any, ...]:
        """The description of the space for the compiled core: the arguments of ``read_shape``."""
        column = self.centred.table.column
        terms = [(group, np.unique(column[features])) for group, features in self.group_terms]
        # The core lists the columns of each term together. It needs C's int (np.intc), which np.int32 is not
        # on Windows.
        listed = np.concatenate([np.empty(0, dtype=np.intp), *(own for _, own in terms)])
        column = np.concatenate([listed, np.setdiff1d(np.arange(self.layout.columns), listed)])
        return (
            self.layout.columns,
            self.layout.groups,
            len(terms),
            column.astype(np.intc),
            self.layout.group[column].astype(np.intc),
            np.where(self.layout.nominal, self.layout.levels, 0)[column].astype(np.intc),
            np.cumsum([0, *(len(own) for _, own in terms)], dtype=np.intc),
            np.array([group for group, _ in terms], dtype=np.intc),
        )

    @cached_property
    def _terms(self) -> IntArray:
        return np.array([group for group, _ in self.group_terms], dtype=np.intp)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        if (core := compiled_core()) is not None:
            return _compiled(core, self, theta, a, b)
        out = np.zeros((len(a), len(b)))
        return out, self.add_to(out, theta, a, b)

    def toward(self, theta: FloatArray, b: Points) -> Toward:
        if (core := compiled_core()) is not None:
            return lambda a: _compiled(core, self, theta, a, b)
        right = self._side(theta, b)

        def cross(a: Points) -> tuple[FloatArray, Pullback]:
            out = np.zeros((len(a), len(b)))
            return out, self._add(out, theta, self._side(theta, a), right)

        return cross

    def add_to(self, out: FloatArray, theta: FloatArray, a: Points, b: Points) -> Pullback:
        if (core := compiled_core()) is not None:
            matrix, pull = _compiled(core, self, theta, a, b)
            out += matrix
            return pull
        left = self._side(theta, a)
        return self._add(out, theta, left, left if a is b else self._side(theta, b))

    def _side(self, theta: FloatArray, points: Points) -> _Side:
        z = self.centred.values(theta[SCALES:], points)
        parts = []
        for group, own in self.group_terms:
            rows = rows_of(points.on[:, group])
            parts.append((rows, z[rows][:, own]))
        return _Side(points, z, points.on[:, 1:].astype(float), parts)

    def _add(self, out: FloatArray, theta: FloatArray, a: _Side, b: _Side) -> Pullback:
        """Add k(a, b) to ``out``."""
        o, s, j, phi = np.exp(theta[:SCALES])
        za, zb = a.z, b.z
        out += o * (a.on @ b.on.T)

        terms: list[_Term] = []
        for (_, own), (rows, left), (cols, right) in zip(self.group_terms, a.parts, b.parts):
            if left.size and right.size:
                k, slope = matern52(squared_distances(left, right))
                where = block(rows, cols)
                out[where] += s * k
                terms.append(_Term(own, where, left, right, k, slope))
        distances = squared_distances(za, zb)
        distances *= phi**-2
        k_all, slope_all = matern52(distances)
        out += j * k_all

        def pull_theta(w: FloatArray) -> FloatArray:
            by_feature = np.zeros(za.shape[1])
            by_group = 0.0
            for term in terms:
                part = w[term.where]
                by_group += float(np.einsum("ij,ij->", part, term.k))
                by_feature[term.features] += s * sum_of_squares(term.slope() * part, term.left, term.right)
            by_all = (j / phi**2) * sum_of_squares(slope_all() * w, za, zb)
            by_column = np.bincount(self.centred.table.column, by_feature + by_all, self.layout.columns)
            scales = [
                o * float(np.einsum("ig,ig->", a.on, w @ b.on)),
                s * by_group,
                j * float(np.einsum("ij,ij->", w, k_all)),
                -2.0 * by_all.sum(),
            ]
            return np.concatenate([scales, -2.0 * by_column])

        def slopes(g: FloatArray, left: FloatArray, right: FloatArray, first: bool) -> FloatArray:
            return sum_of_differences(g, left, right) if first else sum_of_differences(g.T, right, left)

        def pull_input(w: FloatArray, first: bool) -> FloatArray:
            slope = slopes((j / phi**2) * slope_all() * w, za, zb, first)
            for term in terms:
                part = s * slopes(term.slope() * w[term.where], term.left, term.right, first)
                rows = term.where[0 if first else 1]
                slope[rows if isinstance(rows, slice) else rows.ravel()[:, None], term.features] += part
            slope *= 2.0
            return self.centred.pull_x(theta[SCALES:], (a if first else b).points, slope)

        return Pullback(theta=pull_theta, a=lambda w: pull_input(w, True), b=lambda w: pull_input(w, False))

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        o, s, j, _ = np.exp(theta[:SCALES])
        levels, terms = a.on[:, 1:].sum(axis=1), a.on[:, self._terms].sum(axis=1)

        def pull_theta(w: FloatArray) -> FloatArray:
            out = np.zeros(len(theta))
            out[:SCALES] = o * (w @ levels), s * (w @ terms), j * w.sum(), 0.0
            return out

        return o * levels + s * terms + j, DiagPullback(theta=pull_theta, a=lambda w: np.zeros(a.x.shape))


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """Points as the kernel reads them, at given length-scales.

    z: (n, features) in units of the length-scales; on: (n, groups − 1) activity of all but the root;
    parts: for each group with a term, the rows where it is active, and its features there.
    """

    points: Points
    z: FloatArray
    on: FloatArray
    parts: list[tuple[Rows, FloatArray]]


@dataclass(frozen=True, eq=False, slots=True)
class _Term:
    """One group's term: its features, block of the matrix, and what its slope needs."""

    features: IntArray
    where: tuple[Rows, Rows]
    left: FloatArray
    right: FloatArray
    k: FloatArray
    slope: Slope


def core_points(points: Points) -> tuple[Any, ...]:
    """The arguments of ``read_points`` in ``core/src/read.h``."""
    return len(points), np.ascontiguousarray(points.x), np.ascontiguousarray(points.on)


def core_model(kernel: Nested, theta: FloatArray, points: Points) -> tuple[Any, ...]:
    """The arguments of ``read_model``: the covariance with ``points``."""
    return kernel.core_shape, np.ascontiguousarray(theta), core_points(points)


def _compiled(
    core: ModuleType, kernel: Nested, theta: FloatArray, a: Points, b: Points
) -> tuple[FloatArray, Pullback]:
    """k(a, b) and its pullback."""
    symmetric = a is b
    matrix = np.empty((len(a), len(b)))
    core.cross(core_model(kernel, theta, b), core_points(a), symmetric, matrix)

    def pull_theta(w: FloatArray) -> FloatArray:
        weight = 0.5 * (w + w.T) if symmetric else np.ascontiguousarray(w)
        found = np.empty(SCALES + kernel.layout.columns)
        core.pull_theta(core_model(kernel, theta, b), core_points(a), symmetric, weight, None, found)
        return found

    def pull_input(w: FloatArray, one: Points, other: Points) -> FloatArray:
        found = np.empty(one.x.shape)
        core.pull_x(core_model(kernel, theta, other), core_points(one), np.ascontiguousarray(w), found)
        return found

    return matrix, Pullback(
        theta=pull_theta, a=lambda w: pull_input(w, a, b), b=lambda w: pull_input(w.T, b, a)
    )
