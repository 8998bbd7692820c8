"""Regression trees with thresholds at data points, which belong to both sides (Assael et al. 2014, sec. 3.1).

A node A is split where the squared error falls most (eq. 5),

    I = U(A) − |A'|/|A| U(A') − |A''|/|A| U(A''),   U(A) = mean squared deviation of y in A.

Ordinary CART puts the threshold between two points, and in the gap neither side has data. Here
A' = {x ≤ τ} and A'' = {x ≥ τ} with τ the position of a data point that belongs to both sides; rows that tie
with it go to both as well. Every side keeps at least ``least`` rows, shared ones included. For predictions
x ≤ τ is the lower side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bough.points import FloatArray, IntArray

__all__ = ["Node", "best_split", "grow", "leaves", "route"]

LEAST_GAIN = 1e-12
"""Gain relative to the variance of the node; smaller gains are rounding errors."""


@dataclass(frozen=True, eq=False)
class Node:
    """Some rows of the data, and how they are split.

    rows: (n,) row numbers. A leaf has no children; otherwise column ``column`` is compared with
    ``threshold``, and children = (lower side, upper side).
    """

    rows: IntArray
    column: int = -1
    threshold: float = np.nan
    children: tuple[Node, ...] = ()


def grow(x: FloatArray, y: FloatArray, columns: IntArray, rows: IntArray, least: int) -> Node:
    """The tree over some ``rows`` of x (n, all columns) and y (n,), split along ``columns`` only."""
    split = best_split(x[np.ix_(rows, columns)], y[rows], least)
    if split is None:
        return Node(rows)
    column, threshold = int(columns[split[0]]), split[1]
    values = x[rows, column]
    lower = grow(x, y, columns, rows[values <= threshold], least)
    upper = grow(x, y, columns, rows[values >= threshold], least)
    return Node(rows, column, threshold, (lower, upper))


def best_split(x: FloatArray, y: FloatArray, least: int) -> tuple[int, float, float] | None:
    """Column, threshold and gain I of the best split of x (n, d), y (n,); None if no split gains."""
    n, d = x.shape
    if n <= least or d == 0:
        return None
    order = np.argsort(x, axis=0, kind="stable")
    values = np.take_along_axis(x, order, axis=0)
    centred = y - y.mean()
    below = _errors(centred[order])  # of the first i + 1 rows
    above = _errors(centred[order][::-1])[::-1]  # of all rows from i on
    # Rows that tie with a threshold are on both sides: the lower one ends after the last of them,
    # the upper one begins at the first.
    position = np.arange(n)[:, None]
    differs = values[1:] != values[:-1]
    edge = np.ones((1, d), dtype=bool)
    first = np.maximum.accumulate(np.where(np.vstack([edge, differs]), position, 0), axis=0)
    last = np.minimum.accumulate(np.where(np.vstack([differs, edge]), position, n - 1)[::-1], axis=0)[::-1]
    error = np.take_along_axis(below, last, axis=0) + np.take_along_axis(above, first, axis=0)
    size_below, size_above = last + 1, n - first
    allowed = (np.minimum(size_below, size_above) >= least) & (np.maximum(size_below, size_above) < n)
    variance = float(np.mean(centred**2))
    gain = np.where(allowed, variance - error / n, -np.inf)
    # Columns before rows, so that among equal gains the first column wins and then the lowest threshold.
    column, row = np.unravel_index(int(np.argmax(gain.T)), (d, n))
    if not gain[row, column] > LEAST_GAIN * variance:
        return None
    return int(column), float(values[row, column]), float(gain[row, column])


def _errors(y: FloatArray) -> FloatArray:
    """(n, d) sum of squared deviations from their mean, of the first i + 1 rows of y (n, d)."""
    count = np.arange(1, len(y) + 1)[:, None]
    squares = np.cumsum(y**2, axis=0) - np.cumsum(y, axis=0) ** 2 / count
    return np.maximum(squares, 0.0)


def leaves(node: Node, above: tuple[Node, ...] = ()) -> Iterator[tuple[Node, ...]]:
    """The path from each leaf, lower sides first, up to the root: (leaf, parent, ..., root)."""
    path = (node, *above)
    if not node.children:
        yield path
    for child in node.children:
        yield from leaves(child, path)


def route(node: Node, x: FloatArray) -> IntArray:
    """(m,) the leaf, numbered as in ``leaves``, into which each row of x (m, all columns) falls."""
    out = np.zeros(len(x), dtype=np.intp)
    _route(node, x, np.arange(len(x)), 0, out)
    return out


def _route(node: Node, x: FloatArray, rows: IntArray, first: int, out: IntArray) -> int:
    """Write leaf numbers from ``first`` on into ``out``; the number of leaves below ``node``, plus first."""
    if not node.children:
        out[rows] = first
        return first + 1
    lower = x[rows, node.column] <= node.threshold
    middle = _route(node.children[0], x, rows[lower], first, out)
    return _route(node.children[1], x, rows[~lower], middle, out)
