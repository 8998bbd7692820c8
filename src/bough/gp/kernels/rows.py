"""Some rows of a matrix, as a view if they are contiguous."""

from __future__ import annotations

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray

__all__ = ["Rows", "block", "contiguous", "rows_of", "scatter"]

Rows = slice | IntArray
"""Some rows of a matrix: a slice if they are contiguous (a view, and several times faster)."""


def rows_of(mask: BoolArray) -> Rows:
    """The rows where ``mask`` (n,) holds."""
    return contiguous(mask.nonzero()[0])


def contiguous(rows: IntArray) -> Rows:
    """Increasing row numbers, as a slice if they leave no gap."""
    if len(rows) == 0:
        return slice(0, 0)
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


def block(rows: Rows, cols: Rows) -> tuple[Rows, Rows]:
    """An index for the block ``rows`` × ``cols`` of a matrix; a view if both are slices."""
    if isinstance(rows, slice) or isinstance(cols, slice):
        return rows, cols
    return np.ix_(rows, cols)  # type: ignore[return-value]


def scatter(values: FloatArray, rows: Rows, shape: tuple[int, ...]) -> FloatArray:
    """An array of the given shape: ``values`` in some rows, zero elsewhere."""
    out = np.zeros(shape)
    out[rows] = values
    return out
