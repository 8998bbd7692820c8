"""Exchanges: all moves of one discrete column of a point to another of its values.

A column with few values, or without an order, tries all of them; a longer grid tries those at distances 1,
2, 4 and so on.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from bough.acquisition.criterion import Criterion, score
from bough.gp.kernels.nested import core_points
from bough.gp.posterior import Posterior
from bough.points import BoolArray, FloatArray, IntArray, Layout, Points
from bough.space import Space

__all__ = ["MAX_LISTED_LEVELS", "Moves", "Options", "exchanges", "options", "score_moves"]

MAX_LISTED_LEVELS = 16
"""An ordered column with at most this many values has all of them tried."""

STAYS = -1
"""The column of a move that leaves its base as it is."""


class Moves(NamedTuple):
    """Points that each differ from their base in at most one column.

    owner: (n,) the row of each move's base. The moves of a base are contiguous; staying comes first.
    column: (n,) the column that is changed, ``STAYS`` for none.
    place: (n,) its new value.
    """

    bases: Points
    owner: IntArray
    column: IntArray
    place: FloatArray

    def points(self, rows: slice | IntArray = slice(None)) -> Points:
        """The points that these moves lead to."""
        owner, column, place = self.owner[rows], self.column[rows], self.place[rows]
        x, moving = self.bases.x[owner], np.flatnonzero(column != STAYS)
        x[moving, column[moving]] = place[moving]
        return Points(x, self.bases.on[owner])


def exchanges(space: Space, points: Points, low: FloatArray, high: FloatArray) -> Moves:
    """All moves of one discrete column inside the boxes [low, high] (n, columns), from every row."""
    layout, table = space.layout, options(space.layout)
    open_ = layout.active(points.on) & (low < high) & (layout.levels > 0)
    least, most, here = space.rules.grids.rank_at(np.stack([low, high, np.where(open_, points.x, 0.5)]))
    rank = np.where(table.relative, here[:, table.column] + table.rank, table.rank)
    tried = open_[:, table.column] & (rank != here[:, table.column])
    tried &= (rank >= least[:, table.column]) & (rank <= most[:, table.column])
    tried[:, 0] = True
    owner, option = np.nonzero(tried)
    column, rank = table.column[option], rank[owner, option]
    place = space.rules.grids.position(rank, column)
    return Moves(points, owner, np.where(option == 0, STAYS, column), place)


def score_moves(criterion: Criterion, moves: Moves) -> FloatArray:
    """The criterion (n,) of points that each differ from a base in at most one column."""
    points = cache(moves.points)
    bases, owner, column = core_points(moves.bases), moves.owner.astype(np.intc), moves.column.astype(np.intc)

    def moments(posterior: Posterior) -> tuple[FloatArray, FloatArray]:
        if (known := posterior.compiled) is None:
            return posterior.predict(points())
        mean, sd = np.empty(len(owner)), np.empty(len(owner))
        core, member = known.core, known.member()
        core.predict_moves(*member, bases, len(owner), owner, column, moves.place, mean, sd)
        return mean, sd

    return score(criterion, points, moments)


class Options(NamedTuple):
    """Every rank that some column may try, after a first entry for staying.

    relative: whether ``rank`` is relative to the current rank of the point.
    """

    column: IntArray
    rank: FloatArray
    relative: BoolArray


@lru_cache(maxsize=16)
def options(layout: Layout) -> Options:
    """The ranks that the exchanges of a space try."""
    found = [(0, 0.0, False)]
    for column in np.flatnonzero(layout.levels > 0).tolist():
        levels = int(layout.levels[column])
        if layout.nominal[column] or levels <= MAX_LISTED_LEVELS:
            found += [(column, float(rank), False) for rank in range(levels)]
        else:
            far = [2.0**power for power in range(levels.bit_length())]
            found += [(column, step, True) for step in [*(-step for step in far), *far]]
    columns, ranks, relative = zip(*found, strict=True)
    return Options(np.array(columns, np.intp), np.array(ranks), np.array(relative))
