"""Refine starts inside their boxes: gradients for reals, exchanges for ints, steps and categories, in turn.

Rounding the result of a gradient step would leave a plateau or a ridge to chance. Instead a discrete
column is only ever moved from one of its values to another, and every such move of every start is scored
in one batch.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.gradient import ENOUGH, ascend
from bough.acquisition.maximise.pool import best_of_each
from bough.points import FloatArray, IntArray, Points
from bough.space import Space

__all__ = ["exchanges", "refine"]

FEW = 16
"""Up to this many values of an ordered column are all tried; of more, those at distances 1, 2, 4, ..."""


def refine(
    space: Space,
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
    *,
    rounds: int = 3,
    steps: int = 25,
) -> tuple[Points, FloatArray]:
    """Climb from every start within its box [low, high] (n, columns): points reached, and their values.

    Activity must be constant in a box, as it is in that of a path. Each round climbs the real columns, then
    makes the best single exchange of a discrete one; a start for which none helps is done.
    """
    layout = space.layout
    open_ = layout.active(starts.on) & (low < high)
    real = open_ & (layout.levels == 0)
    points, value = ascend(criterion, starts, low, high, real, steps)
    active = np.flatnonzero((open_ & (layout.levels > 0)).any(axis=1))
    for _ in range(rounds):
        if not len(active):
            break
        moves, owner = exchanges(space, points.take(active), low[active], high[active])
        score = np.where(space.legal(moves), criterion(moves), -np.inf)
        best = best_of_each(score, owner, len(active))
        better = score[best] > value[active] + ENOUGH * (1.0 + np.abs(value[active]))
        active, chosen = active[better], moves.take(best[better])
        if not len(active):
            break
        reached, reached_value = ascend(criterion, chosen, low[active], high[active], real[active], steps)
        x = points.x.copy()
        x[active], value[active] = reached.x, reached_value
        points = Points(x, points.on)
    return points, value


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


def _options(here: FloatArray, levels: int, nominal: bool) -> FloatArray:
    """(rows, options) ranks to try from the ranks ``here`` (rows,); some may lie outside the domain."""
    if nominal or levels <= FEW:
        return np.tile(np.arange(float(levels)), (len(here), 1))
    far = 2.0 ** np.arange(levels.bit_length())
    return np.asarray(np.add.outer(here, np.concatenate([-far, far])))
