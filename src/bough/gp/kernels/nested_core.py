"""The covariance ``Nested`` through the compiled core: arrays in, arrays out.

The core wants the features of each additive term side by side, the rows of one side of the matrix along the
last axis, activity as numbers, and C's own ``int`` (``np.int32`` is a ``long`` on Windows).
``tests/gp/test_core.py`` compares everything here with NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.gp.kernels.base import Pullback, Toward
from bough.points import FloatArray, IntArray, Points

if TYPE_CHECKING:
    from bough.gp.kernels.nested import Nested

__all__ = ["SCALES", "CompiledSide", "CoreOrder", "add_to", "toward"]

SCALES = 5
"""Entries of theta before the length-scales: o, s, j, φ, t."""


@dataclass(frozen=True, eq=False)
class CoreOrder:
    """How the core lists the features of a kernel: those of each additive term together, then the others."""

    kernel: Nested

    @cached_property
    def features(self) -> IntArray:
        """The feature at each place of the core's order."""
        terms = [own for _, own in self.kernel.additive_terms]
        listed = np.concatenate([np.empty(0, dtype=np.intp), *terms])
        return np.concatenate([listed, np.setdiff1d(np.arange(self.kernel.centred.size), listed)])

    @cached_property
    def first(self) -> NDArray[np.intc]:
        """Where each additive term begins, and where the last one ends."""
        return np.cumsum([0, *(len(own) for _, own in self.kernel.additive_terms)], dtype=np.intc)

    @cached_property
    def group(self) -> NDArray[np.intc]:
        """The group of each additive term."""
        return np.array([group for group, _ in self.kernel.additive_terms], dtype=np.intc)

    @cached_property
    def column(self) -> IntArray:
        """The column of the feature at each place."""
        return self.kernel.centred.table.column[self.features]

    @cached_property
    def place(self) -> IntArray:
        """(columns,) where the feature of a numeric column stands; -1 for a nominal column."""
        where = np.full(self.kernel.layout.columns, -1)
        numeric = np.flatnonzero(~self.kernel.layout.nominal[self.column])
        where[self.column[numeric]] = numeric
        return where

    @cached_property
    def first_place(self) -> IntArray:
        """(columns,) where the first feature of a column stands; the others follow it."""
        where = np.zeros(self.kernel.layout.columns, dtype=np.intp)
        where[self.column[::-1]] = np.arange(len(self.column))[::-1]
        return where

    @cached_property
    def width(self) -> IntArray:
        """(columns,) how many features a column has."""
        return np.bincount(self.column, minlength=self.kernel.layout.columns)


class OptionFeatures(NamedTuple):
    """The features of every option of every nominal column, one after the other.

    first: (columns,) where those of the first option of a column begin.
    """

    values: FloatArray
    first: IntArray


@dataclass(frozen=True, eq=False)
class CompiledSide:
    """Points as the core reads them, at some hyperparameters."""

    kernel: Nested
    theta: FloatArray
    points: Points

    @cached_property
    def z(self) -> FloatArray:
        """(n, features) in the core's order."""
        z = self.kernel.centred.values(self.theta[SCALES:], self.points)
        return np.ascontiguousarray(z[:, self.kernel.core_order.features])

    @cached_property
    def on(self) -> FloatArray:
        """(n, groups) activity as numbers."""
        return np.ascontiguousarray(self.points.on, dtype=float)

    @cached_property
    def unit(self) -> FloatArray:
        """(features,) the slope of each feature by the value of its column."""
        return self.kernel.centred.inverse(self.theta[SCALES:])[self.kernel.core_order.features]

    @cached_property
    def option_features(self) -> OptionFeatures:
        order, layout = self.kernel.core_order, self.kernel.layout
        parts, first = [np.empty(0)], np.zeros(layout.columns, dtype=np.intp)
        for column in np.flatnonzero(layout.nominal):
            first[column] = sum(map(len, parts))
            options = int(layout.levels[column])
            unit = self.unit[order.first_place[column]] * math.sqrt(0.5)
            parts.append(((np.eye(options) - 1.0 / options) * unit).ravel())
        return OptionFeatures(np.concatenate(parts), first)

    @cached_property
    def model(self) -> tuple[Any, ...]:
        """The points as the rows of a model: what ``read_model`` in ``core/src/module.c`` expects."""
        order = self.kernel.core_order
        rows, features = self.z.shape
        return (
            rows,
            features,
            self.on.shape[1],
            len(order.group),
            np.ascontiguousarray(self.z.T),
            np.ascontiguousarray(self.on.T),
            order.first,
            order.group,
            self.kernel.core_scales(self.theta),
        )


def add_to(
    core: ModuleType, kernel: Nested, out: FloatArray, theta: FloatArray, a: Points, b: Points
) -> Pullback:
    """Add k(a, b) to ``out``."""
    left = CompiledSide(kernel, theta, a)
    matrix, pull = _between(core, left, left if a is b else CompiledSide(kernel, theta, b))
    out += matrix
    return pull


def toward(core: ModuleType, kernel: Nested, theta: FloatArray, b: Points) -> Toward:
    """The covariance with fixed points ``b``."""
    right = CompiledSide(kernel, theta, b)
    return lambda a: _between(core, CompiledSide(kernel, theta, a), right)


def _between(core: ModuleType, a: CompiledSide, b: CompiledSide) -> tuple[FloatArray, Pullback]:
    kernel, count, symmetric = a.kernel, len(a.points), a is b
    matrix = np.empty((count, len(b.points)))
    core.cross(b.model, count, a.z, a.on, symmetric, matrix)

    def pull_theta(w: FloatArray) -> FloatArray:
        weight = 0.5 * (w + w.T) if symmetric else np.ascontiguousarray(w)
        found = np.empty(SCALES + a.z.shape[1])
        core.pull_theta(b.model, count, a.z, a.on, symmetric, weight, found)
        by_column = np.bincount(kernel.core_order.column, found[SCALES:], kernel.layout.columns)
        return np.concatenate([found[:SCALES], by_column])

    def pull_input(w: FloatArray, first: bool) -> FloatArray:
        one, other = (a, b) if first else (b, a)
        by_place, slope = np.empty(one.z.shape), np.empty(one.z.shape)
        weight = np.ascontiguousarray(w if first else w.T)
        core.pull_z(other.model, len(one.points), one.z, one.on, weight, by_place)
        slope[:, kernel.core_order.features] = by_place
        return kernel.centred.pull_x(a.theta[SCALES:], one.points, slope)

    return matrix, Pullback(
        theta=pull_theta, a=lambda w: pull_input(w, True), b=lambda w: pull_input(w, False)
    )
