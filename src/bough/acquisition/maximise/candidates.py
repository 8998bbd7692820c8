"""Candidates of a search: which of them may be proposed, and which of those is best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bough.points import BoolArray, FloatArray, IntArray, Layout, Points, row_hashes, row_keys
from bough.space import Space

__all__ = ["CandidateFilter", "best_of_each", "best_row", "distinct"]


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
    def _hashes(self) -> NDArray[np.uint64]:
        return row_hashes(self.space.layout, self.avoid)

    def mask(self, points: Points) -> BoolArray:
        """(n,) whether each point may be proposed."""
        allowed, layout = self.space.legal(points), self.space.layout
        suspects = np.isin(row_hashes(layout, points), self._hashes)
        for row in np.flatnonzero(suspects & allowed).tolist():
            point = points.take([row])
            twins = self.avoid.take(self._hashes == row_hashes(layout, point)[0])
            allowed[row] = row_keys(layout, point)[0] not in row_keys(layout, twins)
        return allowed

    def score(self, points: Points, value: FloatArray) -> FloatArray:
        """(n,) the values, -inf for points that may not be proposed or whose value is NaN."""
        return np.where(self.mask(points) & ~np.isnan(value), value, -np.inf)


def best_row(points: Points, score: FloatArray) -> Points:
    """The point with the largest score, as one row; no row if all scores are -inf."""
    return points.take([int(np.argmax(score))] if (score > -np.inf).any() else [])


def best_of_each(score: FloatArray, owner: IntArray, owners: int) -> IntArray:
    """(owners,) the row with the largest score among those of each owner, the first of equals."""
    order = np.lexsort((np.arange(len(score)), -score, owner))
    return order[np.searchsorted(owner[order], np.arange(owners))]
