"""Candidates of a search: all points of a small space, which points may be proposed, and which is best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from bough.points import BoolArray, FloatArray, IntArray, Layout, Points, row_hashes, row_keys
from bough.space import Space
from bough.space.tree import Path

__all__ = ["CandidateFilter", "best_of_each", "best_row", "distinct", "every_point"]


def distinct(layout: Layout, points: Points) -> Points:
    """The rows without repeats, each where it first occurs."""
    first: dict[bytes, int] = {}
    for row, key in enumerate(row_keys(layout, points)):
        first.setdefault(key, row)
    return points.take(list(first.values()))


@dataclass(frozen=True, eq=False)
class CandidateFilter:
    """Accepts legal points that are not in ``avoid``."""

    space: Space
    avoid: Points

    @cached_property
    def _hashes(self) -> tuple[NDArray[np.uint64], IntArray]:
        """Hashes of the points to avoid in ascending order, and the row of each."""
        hashes = row_hashes(self.space.layout, self.avoid)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def mask(self, points: Points) -> BoolArray:
        """(n,) whether each point may be proposed."""
        allowed, layout = self.space.legal(points), self.space.layout
        hashes, (avoided, rows) = row_hashes(layout, points), self._hashes
        begin, end = (np.searchsorted(avoided, hashes, side) for side in ("left", "right"))
        suspects = np.flatnonzero((begin < end) & allowed)
        if len(suspects):
            spans = set(zip(begin[suspects].tolist(), end[suspects].tolist()))
            twins = self.avoid.take(np.concatenate([rows[first:last] for first, last in spans]))
            known = set(row_keys(layout, twins))
            allowed[suspects] = [key not in known for key in row_keys(layout, points.take(suspects))]
        return allowed

    def score(self, points: Points, value: FloatArray) -> FloatArray:
        """(n,) the values, -inf for points that may not be proposed or whose value is NaN."""
        return np.where(self.mask(points) & ~np.isnan(value), value, -np.inf)


def best_row(points: Points, score: FloatArray) -> Points:
    """The point with the largest score, as one row; no row if all scores are -inf."""
    return points.take([int(np.argmax(score))] if (score > -np.inf).any() else [])


def best_of_each(score: FloatArray, owner: IntArray, owners: int) -> IntArray:
    """(owners,) the row with the largest score among those of each owner, the first of equals.

    The rows of an owner stand together, in the order of owners; each has one.
    """
    score = np.where(np.isnan(score), -np.inf, score)
    ends = np.searchsorted(owner, np.arange(owners + 1)).tolist()
    return np.array([a + int(np.argmax(score[a:b])) for a, b in pairwise(ends)], dtype=np.intp)


def every_point(space: Space, limit: int) -> Points | None:
    """All points of a space, path by path, forbidden ones included; None if there are more than ``limit``.

    A space with a real parameter on any path counts as infinite.
    """
    if (space.layout.levels == 0).any():
        return None
    boxes = space.tree.all_paths(limit)
    if len(boxes) > limit or sum(_count(space, box) for box in boxes) > limit:
        return None
    points = space.snap(np.concatenate([_grid(space, box) for box in boxes]))
    # Where a condition compares two columns, boxes of different paths overlap.
    return distinct(space.layout, points)


def _count(space: Space, box: Path) -> float:
    """How many points a box holds."""
    ranks = [_ranks(space, box, column) for column in _open(space, box)]
    return prod(most - least + 1 for least, most in ranks)


def _grid(space: Space, box: Path) -> FloatArray:
    """(n, columns) every combination of the levels of the columns that are open in a box."""
    open_ = _open(space, box)
    axes = []
    for column in open_:
        least, most = _ranks(space, box, column)
        axes.append(space.parameters[column].domain.position(np.arange(least, most + 1)))
    combinations = list(product(*axes))
    grid = np.tile(box.low, (len(combinations), 1))
    grid[:, open_] = combinations
    return grid


def _open(space: Space, box: Path) -> list[int]:
    """The active columns that a box does not fix."""
    active = space.layout.active(box.on[None])[0]
    return np.flatnonzero(active & (box.low < box.high)).tolist()


def _ranks(space: Space, box: Path, column: int) -> tuple[float, float]:
    """The first and the last rank of a column in a box."""
    least, most = space.parameters[column].domain.rank_at(np.array([box.low[column], box.high[column]]))
    return float(least), float(most)
