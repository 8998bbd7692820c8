"""Exchanges: all moves of one discrete column of a point to another of its values.

A column with few values, or without an order, tries all of them; a longer grid tries those at distances 1,
2, 4 and so on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.points import FloatArray, IntArray, Points
from bough.space import Space

__all__ = ["MAX_LISTED_LEVELS", "Moves", "exchanges"]

MAX_LISTED_LEVELS = 16
"""An ordered column with at most this many values has all of them tried."""

STAYS = -1
"""The column of a move that leaves its base as it is."""


class Moves(NamedTuple):
    """Points that each differ from their base in at most one column.

    owner: (n,) the row of each one's base; the moves of a base stand together, and staying comes first.
    column: (n,) the column that is changed, ``STAYS`` for none.
    """

    points: Points
    owner: IntArray
    column: IntArray


def exchanges(space: Space, points: Points, low: FloatArray, high: FloatArray) -> Moves:
    """All moves of one discrete column inside the boxes [low, high] (n, columns), from every row."""
    layout = space.layout
    open_ = layout.active(points.on) & (low < high) & (layout.levels > 0)
    owners: list[IntArray] = [np.arange(len(points))]
    columns: list[IntArray] = [np.full(len(points), STAYS)]
    places: list[FloatArray] = [np.zeros(len(points))]
    for column in np.flatnonzero(open_.any(axis=0)):
        rows, domain = np.flatnonzero(open_[:, column]), space.parameters[column].domain
        least, most, here = domain.rank_at(
            np.stack([low[rows, column], high[rows, column], points.x[rows, column]])
        )
        ranks = _options(here, domain.levels, bool(layout.nominal[column]))
        row, option = np.nonzero(
            (ranks >= least[:, None]) & (ranks <= most[:, None]) & (ranks != here[:, None])
        )
        owners.append(rows[row])
        columns.append(np.full(len(row), column))
        places.append(domain.position(ranks[row, option]))
    owner, changed = np.concatenate(owners), np.concatenate(columns)
    together = np.argsort(owner, kind="stable")
    owner, changed, place = owner[together], changed[together], np.concatenate(places)[together]
    moved, moving = points.take(owner), np.flatnonzero(changed != STAYS)
    moved.x[moving, changed[moving]] = place[moving]
    return Moves(moved, owner, changed)


def _options(here: FloatArray, levels: int, nominal: bool) -> FloatArray:
    """(rows, options) ranks to try from the ranks ``here`` (rows,); some may lie outside the domain."""
    if nominal or levels <= MAX_LISTED_LEVELS:
        return np.broadcast_to(np.arange(float(levels)), (len(here), levels))
    far = 2.0 ** np.arange(levels.bit_length())
    return np.asarray(np.add.outer(here, np.concatenate([-far, far])))
