"""Alternate between gradient ascent over reals and exchanges of ints, steps and categories.

Rounding the result of a gradient ascent would leave categories and small ranges to chance. Instead a discrete
column moves from one of its values to another, and all such moves of all starts are scored in one batch.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import best_of_each
from bough.acquisition.maximise.feasible import feasible_ascent
from bough.acquisition.maximise.gradient import GAIN_TOLERANCE, gradient_ascent
from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space import Space
from bough.space.projection import repair

__all__ = ["alternate_search", "exchanges"]

MAX_LISTED_LEVELS = 16
"""An ordered column with at most this many values has all of them tried; a longer one those at distances 1,
2, 4, ..."""

EXCHANGE_ROUNDS = 3


def alternate_search(
    space: Space,
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
) -> tuple[Points, FloatArray]:
    """Maximise from every start within its box [low, high] (n, columns): points reached, and their values.

    Activity must be constant in a box, as it is in that of a path. The first ascent moves all real columns,
    and long grids as if they were real: a ridge across both would stop a search that moves one of them at a
    time. Then each round makes the best single exchange of a discrete column and moves the reals again. A
    start that no exchange improves is done.
    """
    layout = space.layout
    open_ = layout.active(starts.on) & (low < high)
    real, loose = open_ & (layout.levels == 0), open_ & (layout.levels > MAX_LISTED_LEVELS) & ~layout.nominal
    points, value = _ascend(space, criterion, starts, low, high, real | loose)
    points = _on_grid(space, points, loose)
    if space.require:
        points = _legal_again(space, points, value, criterion)
    active = np.flatnonzero((open_ & (layout.levels > 0)).any(axis=1))
    for turn in range(EXCHANGE_ROUNDS):
        if not len(active):
            break
        moves, owner = exchanges(space, points.take(active), low[active], high[active])
        if space.require:  # other values give way, so that a search can move along a face
            exchanged = moves.x != points.take(active).take(owner).x
            moves = repair(space.rules, moves, locked=exchanged)
        if turn == 0:
            moves = Points.concat([moves, starts.take(active)])
            owner = np.concatenate([owner, np.arange(len(active))])
        score = np.where(space.legal(moves), criterion(moves), -np.inf)
        best = best_of_each(score, owner, len(active))
        better = score[best] > value[active] + GAIN_TOLERANCE * (1.0 + np.abs(value[active]))
        if turn == 0:  # off-grid points cannot be proposed, so their value must not count
            better |= loose[active].any(axis=1)
        active, chosen = active[better], moves.take(best[better])
        if not len(active):
            break
        reached, value[active] = _ascend(space, criterion, chosen, low[active], high[active], real[active])
        x = points.x.copy()
        x[active] = reached.x
        points = Points(x, points.on)
    return points, value


def _ascend(
    space: Space, criterion: Criterion, starts: Points, low: FloatArray, high: FloatArray, moving: BoolArray
) -> tuple[Points, FloatArray]:
    """Gradient ascent in the box, or in the part of it that meets the relations between parameters."""
    if space.require:
        return feasible_ascent(space, criterion, starts, low, high, moving)
    return gradient_ascent(criterion, starts, low, high, moving)


def _legal_again(space: Space, points: Points, value: FloatArray, criterion: Criterion) -> Points:
    """Points whose grids were rounded, repaired; ``value`` is updated where that moves them."""
    repaired = repair(space.rules, points)
    moved = np.flatnonzero((repaired.x != points.x).any(axis=1))
    if len(moved):
        value[moved] = criterion(repaired.take(moved))
    return repaired


def exchanges(space: Space, points: Points, low: FloatArray, high: FloatArray) -> tuple[Points, IntArray]:
    """All moves of one discrete column inside the boxes, and the row of ``points`` that each starts from.

    Every row of ``points`` owns at least one move: staying where it is comes first.
    """
    layout = space.layout
    open_ = layout.active(points.on) & (low < high) & (layout.levels > 0)
    owners: list[IntArray] = [np.arange(len(points))]
    columns: list[IntArray] = [np.zeros(len(points), dtype=np.intp)]
    places: list[FloatArray] = [points.x[:, 0] if layout.columns else np.zeros(len(points))]
    for column in np.flatnonzero(open_.any(axis=0)):
        rows = np.flatnonzero(open_[:, column])
        domain = space.parameters[column].domain
        least, most = domain.rank_at(low[rows, column]), domain.rank_at(high[rows, column])
        here = domain.rank_at(points.x[rows, column])
        ranks = _options(here, int(layout.levels[column]), bool(layout.nominal[column]))
        inside = (ranks >= least[:, None]) & (ranks <= most[:, None]) & (ranks != here[:, None])
        row, option = np.nonzero(inside)
        owners.append(rows[row])
        columns.append(np.full(len(row), column))
        places.append(domain.position(ranks[row, option]))
    owner = np.concatenate(owners)
    moved = points.take(owner)
    moved.x[np.arange(len(owner)), np.concatenate(columns)] = np.concatenate(places)
    return moved, owner


def _on_grid(space: Space, points: Points, loose: BoolArray) -> Points:
    """The points with the ``loose`` (n, columns) values moved to the nearest value of their grid."""
    x = points.x.copy()
    for column in np.flatnonzero(loose.any(axis=0)):
        rows, domain = loose[:, column], space.parameters[column].domain
        x[rows, column] = domain.position(domain.rank_at(x[rows, column]))
    return Points(x, points.on)


def _options(here: FloatArray, levels: int, nominal: bool) -> FloatArray:
    """(rows, options) ranks to try from the ranks ``here`` (rows,); some may lie outside the domain."""
    if nominal or levels <= MAX_LISTED_LEVELS:
        return np.tile(np.arange(float(levels)), (len(here), 1))
    far = 2.0 ** np.arange(levels.bit_length())
    return np.asarray(np.add.outer(here, np.concatenate([-far, far])))
