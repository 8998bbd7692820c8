"""Alternate between gradient ascent over reals and exchanges of ints, steps and categories.

Rounding the result of a gradient ascent would leave categories and small ranges to chance. Instead a discrete
column moves from one of its values to another, and all such moves of all starts are scored in one batch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bough.acquisition.criterion import CompiledCriterion, Criterion
from bough.acquisition.maximise.candidates import best_of_each
from bough.acquisition.maximise.exchanges import MAX_LISTED_LEVELS, exchanges, options, score_moves
from bough.acquisition.maximise.feasible import feasible_ascent
from bough.acquisition.maximise.gradient import RULES, gradient_ascent
from bough.gp.core import compiled_core
from bough.gp.kernels.nested import core_points
from bough.points import BoolArray, FloatArray, Layout, Points
from bough.space import Space
from bough.space.grids import Grids
from bough.space.projection import repair

__all__ = ["alternate_search"]

EXCHANGE_ROUNDS = 3

RACE_MARGIN = 3.0
"""A start continues if this many times its gain in the last round would make it the best."""


def alternate_search(
    space: Space,
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
) -> tuple[Points, FloatArray]:
    """Maximise from every start within its box [low, high] (n, columns): points reached, and their values.

    Activity must be constant in a box, as it is on a path. The first ascent moves all real columns,
    and long grids as if they were real: a ridge across both would stop a search that moves one of them at a
    time. Then each round makes the best single exchange of a discrete column and moves the reals again. A
    start that no exchange improves is done, and so is one that falls far behind the best one. The compiled
    core does all of this in one call, except for relations and clauses.
    """
    layout = space.layout
    open_ = layout.active(starts.on) & (low < high)
    real, loose = open_ & (layout.levels == 0), open_ & (layout.levels > MAX_LISTED_LEVELS) & ~layout.nominal
    discrete = open_ & (layout.levels > 0)
    if (found := _compiled_search(space, criterion, starts, low, high, (real, loose, discrete))) is not None:
        return found
    points, value = _ascend(space, criterion, starts, low, high, real | loose)
    points = _on_grid(space, points, loose)
    if space.require:
        points = _legal_again(space, points, value, criterion)
    active = np.flatnonzero(discrete.any(axis=1))
    for turn in range(EXCHANGE_ROUNDS):
        if not len(active):
            break
        reached, gain = _best_exchanges(space, criterion, points.take(active), low[active], high[active])
        if turn == 0:  # rounding to grids may have made it worse than the start
            begin = starts.take(active)
            start_value = np.where(space.legal(begin), criterion(begin), -np.inf)
            reached, gain = _better_of(reached, gain, begin, start_value)
        better = gain > value[active] + RULES.gain_tolerance * (1.0 + np.abs(value[active]))
        if turn == 0:  # off-grid points cannot be proposed, so their value must not count
            better |= loose[active].any(axis=1)
        active = active[better]
        if not len(active):
            break
        reached, there = _ascend(
            space, criterion, reached.take(better), low[active], high[active], real[active]
        )
        x = points.x.copy()
        x[active] = reached.x
        points = Points(x, points.on)
        hope = there + RACE_MARGIN * np.abs(there - value[active])
        value[active] = there
        active = active[hope >= np.max(value, where=np.isfinite(value), initial=-np.inf)]
    return points, value


def _compiled_search(
    space: Space,
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
    masks: tuple[BoolArray, BoolArray, BoolArray],
) -> tuple[Points, FloatArray] | None:
    """The whole search by the compiled core; None if it does not know the criterion or the space.

    masks: (n, columns) each, the open columns that are real, long grids, and discrete.
    """
    core, members = compiled_core(), CompiledCriterion.of(criterion)
    if core is None or members is None or space.require or space.forbid:
        return None
    rows, value = core_points(starts), np.empty(len(starts))
    found = rows[1].copy()
    boxes = (np.ascontiguousarray(part) for part in (*masks, low, high))
    grids = _core_grids(space.layout, space.rules.grids)
    core.search(members, tuple(RULES), grids, EXCHANGE_ROUNDS, RACE_MARGIN, rows, *boxes, found, value)
    return Points(found, starts.on), value


def _best_exchanges(
    space: Space, criterion: Criterion, points: Points, low: FloatArray, high: FloatArray
) -> tuple[Points, FloatArray]:
    """The best legal exchange from each point, which may be to stay, and its value."""
    moves = exchanges(space, points, low, high)
    if space.require:  # repair the other values, so a search can move along a face
        moved = moves.points()
        moved = repair(space.rules, moved, locked=moved.x != moves.bases.take(moves.owner).x)
        score = np.where(space.legal(moved), criterion(moved), -np.inf)
        best = best_of_each(score, moves.owner, len(points))
        return moved.take(best), score[best]
    score = score_moves(criterion, moves)
    if space.forbid:
        score = np.where(space.legal(moves.points()), score, -np.inf)
    best = best_of_each(score, moves.owner, len(points))
    return moves.points(best), score[best]


@lru_cache(maxsize=16)
def _core_grids(layout: Layout, grids: Grids) -> tuple[Any, ...]:
    """The arguments of ``read_grids`` in ``core/src/read.h``: ``options`` without the entry for staying."""
    table = options(layout)
    tried = table.column[1:].astype(np.intc), table.rank[1:].copy(), table.relative[1:].copy()
    return (len(tried[0]), grids.levels, *grids.log_scales, *tried)


def _ascend(
    space: Space, criterion: Criterion, starts: Points, low: FloatArray, high: FloatArray, moving: BoolArray
) -> tuple[Points, FloatArray]:
    """Gradient ascent in the box, or in the part of it that meets the relations between parameters."""
    if space.require:
        return feasible_ascent(space, criterion, starts, low, high, moving)
    return gradient_ascent(criterion, starts, low, high, moving)


def _better_of(
    points: Points, value: FloatArray, others: Points, other_value: FloatArray
) -> tuple[Points, FloatArray]:
    """Row by row the point with the larger value, and that value; activity is the same."""
    replaced = other_value > value
    x = np.where(replaced[:, None], others.x, points.x)
    return Points(x, points.on), np.where(replaced, other_value, value)


def _legal_again(space: Space, points: Points, value: FloatArray, criterion: Criterion) -> Points:
    """Repair points that were rounded to grids; ``value`` is updated where that moves them."""
    repaired = repair(space.rules, points)
    moved = np.flatnonzero((repaired.x != points.x).any(axis=1))
    if len(moved):
        value[moved] = criterion(repaired.take(moved))
    return repaired


def _on_grid(space: Space, points: Points, loose: BoolArray) -> Points:
    """The points with the ``loose`` (n, columns) values moved to the nearest value of their grid."""
    row, column = np.nonzero(loose)
    if not len(row):
        return points
    x, grids = points.x.copy(), space.rules.grids
    ranks = grids.rank_at(np.where(loose, x, 0.5))
    x[row, column] = grids.position(ranks[row, column], column)
    return Points(x, points.on)
