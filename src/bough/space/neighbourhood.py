"""Points near given ones: small random moves, and neighbours that differ in one active parameter.

A neighbour has a number a few Gaussian steps away, one of the two adjacent values of a grid or of ordered
options, or another category. If a switch changes, the parameters that it activates are drawn at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bough.points import FloatArray, IntArray, Points, row_keys
from bough.space.parameters import Domain

if TYPE_CHECKING:
    from bough.space.space import Space

__all__ = ["neighbours", "neighbours_of_each", "perturb"]

GAUSSIAN_STEPS = 4
STEP_SD = 0.2
REDRAW_ROUNDS = 4
"""How often the parameters that a switch activates are drawn, if the first draw is forbidden."""


def perturb(space: Space, points: Points, rng: np.random.Generator, *scales: float) -> Points:
    """Each row moved a little on its branch, once per scale.

    Numbers take Gaussian steps of that size, one nominal parameter in ten takes another option, and switches
    stay. A row whose move is forbidden stays.
    """
    layout, active = space.layout, space.layout.active(points.on)
    movable = active & ~layout.switch
    numeric, nominal, shape = movable & ~layout.nominal, movable & layout.nominal, points.x.shape
    steps = []
    for scale in scales:
        x = np.where(numeric, points.x + scale * rng.standard_normal(shape), points.x)
        redrawn = nominal & (rng.random(shape) < 0.1)
        steps.append(np.where(active, np.where(redrawn, rng.random(shape), _reflect(x)), 0.5))
    moved = space.snap(np.concatenate(steps))
    if not (space.forbid or space.require):
        return moved
    keep, still = space.legal(moved)[:, None], Points.concat([points] * len(scales))
    return Points(np.where(keep, moved.x, still.x), np.where(keep, moved.on, still.on))


def neighbours(
    space: Space, point: Points, rng: np.random.Generator, fixed_step: float | None = None
) -> Points:
    """The neighbours of one row; ``fixed_step`` as below."""
    return neighbours_of_each(space, point, rng, fixed_step)[0]


def neighbours_of_each(
    space: Space, points: Points, rng: np.random.Generator, fixed_step: float | None = None
) -> tuple[Points, IntArray]:
    """The neighbours of every row, and the row of ``points`` that each belongs to, in ascending order.

    fixed_step: a share of the unit interval. Numbers then take this step in both directions, and grids and
    ordered options only the adjacent values (Lévesque et al. 2017, eq. 7).
    """
    active = space.layout.active(points.on)
    owners, columns, places = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for column in np.flatnonzero(active.any(axis=0)):
        rows = np.flatnonzero(active[:, column])
        row, place = _other_places(space.parameters[column].domain, points.x[rows, column], rng, fixed_step)
        owners.append(rows[row])
        columns.append(np.full(len(row), column))
        places.append(place)
    owner, changed = np.concatenate(owners), np.concatenate(columns)
    x = points.x[owner]
    x[np.arange(len(owner)), changed] = np.concatenate(places)
    found, owned = [points.take([])], [np.empty(0, dtype=np.intp)]
    for _ in range(REDRAW_ROUNDS):
        if not len(x):
            break
        moved = space.snap(np.where(active[owner], x, rng.random(x.shape)))
        legal = space.legal(moved)
        found.append(moved.take(legal))
        owned.append(owner[legal])
        opened = (space.layout.active(moved.on) & ~active[owner]).any(axis=1)
        x, owner = x[~legal & opened], owner[~legal & opened]
    return _distinct(space, points, Points.concat(found), np.concatenate(owned))


def _other_places(
    domain: Domain, unit: FloatArray, rng: np.random.Generator, fixed_step: float | None
) -> tuple[IntArray, FloatArray]:
    """Unit positions to try instead of ``unit`` (n,) in one column, and the row that each belongs to."""
    if domain.kind == "nominal":
        ranks = np.broadcast_to(np.arange(float(domain.levels)), (len(unit), domain.levels))
    else:
        steps = _steps(unit, rng, fixed_step, domain.kind == "real")
        if domain.kind == "real":
            return np.repeat(np.arange(len(unit)), steps.shape[1]), steps.ravel()
        here = domain.rank_at(unit)[:, None]
        ranks = np.hstack([here - 1, here + 1, domain.rank_at(steps)])
    inside = (ranks >= 0) & (ranks < domain.levels) & (ranks != domain.rank_at(unit)[:, None])
    row, option = np.nonzero(inside)
    return row, domain.position(ranks[row, option])


def _steps(unit: FloatArray, rng: np.random.Generator, fixed_step: float | None, real: bool) -> FloatArray:
    """(n, steps) unit positions some way from ``unit`` (n,)."""
    if fixed_step is None:
        return _reflect(unit[:, None] + STEP_SD * rng.standard_normal((len(unit), GAUSSIAN_STEPS)))
    both = np.array([-fixed_step, fixed_step]) if real else np.empty(0)
    return np.clip(unit[:, None] + both, 0.0, 1.0)


def _distinct(space: Space, points: Points, found: Points, owner: IntArray) -> tuple[Points, IntArray]:
    """The points without repeats and without the point that they belong to, sorted by owner."""
    layout = space.layout
    seen = set(enumerate(row_keys(layout, points)))
    kept = []
    for row, key in enumerate(zip(owner.tolist(), row_keys(layout, found))):
        if key not in seen:
            seen.add(key)
            kept.append(row)
    rows = np.array(kept, dtype=np.intp)
    rows = rows[np.argsort(owner[rows], kind="stable")]
    return found.take(rows), owner[rows]


def _reflect(x: FloatArray) -> FloatArray:
    """Steps that left the unit interval, folded back into it."""
    folded: FloatArray = 1.0 - np.abs(1.0 - np.mod(x, 2.0))
    return folded
