"""Candidates of a search: which of them may be proposed, and which of those is best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray, Layout, Points, row_keys
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
    def avoided(self) -> frozenset[bytes]:
        return frozenset(row_keys(self.space.layout, self.avoid))

    def mask(self, points: Points) -> BoolArray:
        """(n,) whether each point may be proposed."""
        legal = self.space.legal(points)
        if not len(self.avoid):
            return legal
        new = [key not in self.avoided for key in row_keys(self.space.layout, points)]
        return np.logical_and(legal, new)

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
