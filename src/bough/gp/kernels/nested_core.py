"""The covariance ``Nested`` through the compiled core: arrays in, arrays out.

The core reads points as they are. It lists the columns of each additive term together, and wants C's own
``int`` (``np.int32`` is a ``long`` on Windows). ``tests/gp/test_core.py`` compares all of it with NumPy.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.gp.kernels.base import Pullback
from bough.points import FloatArray, IntArray, Layout, Points

if TYPE_CHECKING:
    from bough.gp.kernels.nested import Nested

__all__ = ["SCALES", "between", "core_model", "core_points", "core_shape"]

SCALES = 5
"""Entries of theta before the length-scales: o, s, j, φ, t."""

Shape = tuple[Any, ...]


def core_shape(layout: Layout, terms: list[tuple[int, IntArray]], rough: float) -> Shape:
    """The arguments of ``read_shape`` in ``core/src/read.h``; ``terms``: group and columns of each one."""
    listed = np.concatenate([np.empty(0, dtype=np.intp), *(own for _, own in terms)])
    column = np.concatenate([listed, np.setdiff1d(np.arange(layout.columns), listed)])
    return (
        layout.columns,
        layout.groups,
        len(terms),
        column.astype(np.intc),
        layout.group[column].astype(np.intc),
        np.where(layout.nominal, layout.levels, 0)[column].astype(np.intc),
        np.cumsum([0, *(len(own) for _, own in terms)], dtype=np.intc),
        np.array([group for group, _ in terms], dtype=np.intc),
        rough,
    )


def core_points(points: Points) -> tuple[Any, ...]:
    """The arguments of ``read_points``."""
    return len(points), np.ascontiguousarray(points.x), np.ascontiguousarray(points.on)


def core_model(kernel: Nested, theta: FloatArray, points: Points) -> tuple[Any, ...]:
    """The arguments of ``read_model``: the covariance with ``points``."""
    return kernel.core_shape, np.ascontiguousarray(theta), core_points(points)


def between(
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
