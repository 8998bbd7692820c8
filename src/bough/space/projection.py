"""The nearest point that meets every relation between parameters.

``project`` solves, for each row,

    min |z - x|^2   subject to   A z <= b,  low <= z <= high

in unit coordinates, where A and b linearise the constraints at x: exact for sums of linearly scaled numbers,
and followed by a few more such steps for log scales and products. The dual has one multiplier per relation.
Each is found in turn by a safeguarded Newton search while the others are fixed (Hildreth 1957), with the box
in closed form.

``repair`` applies this to points with grids: project as if grids were lines, round, then move single grid
columns by one value while that lowers the violation, and project the reals again. Switches keep their values,
so activity does not change.
"""

from __future__ import annotations

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space.activity import EncodedView, Rules
from bough.space.binding import columns_read
from bough.space.parameter_constraints import soft_values

__all__ = ["linearised", "movable_columns", "project", "related_columns", "repair"]

STRAIGHT_PASSES = 4
CURVED_PASSES = 10
NEAREST_CYCLES = 25
LATER_CYCLES = 8
STILL = 1e-8
"""A row that moves less in a cycle has converged; later passes do the rest."""

NEWTON_STEPS = 40
GRID_STEPS = 100
SMALL = 1e-14


def related_columns(rules: Rules) -> IntArray:
    """The columns that relations read, ascending."""
    return np.array(sorted({column for constraint in rules.constraints for column in constraint.columns}))


def movable_columns(rules: Rules, on: BoolArray) -> BoolArray:
    """(n, columns) which columns a repair may move: active numbers in a relation that decide no activity."""
    free = np.zeros(len(rules.domains), dtype=bool)
    free[related_columns(rules)] = True
    for bound in rules.conditions:
        free[sorted(columns_read(bound))] = False
    return np.asarray(on[:, rules.group] & free)


def repair(rules: Rules, points: Points, locked: BoolArray | None = None) -> Points:
    """``points`` with every row that violates a relation moved to a legal point nearby, if there is one.

    locked: (n, columns) values to keep.
    """
    bad = np.flatnonzero(~rules.meets_relations(points.x, points.on))
    if not len(bad):
        return points
    on, x = points.on[bad], points.x[bad]
    movable = movable_columns(rules, on)
    if locked is not None:
        movable &= ~locked[bad]
    grid = rules.grid
    x = project(rules, x, on, movable)
    for column in np.flatnonzero((movable & grid).any(axis=0)):
        rows, domain = movable[:, column], rules.domains[column]
        x[rows, column] = domain.position(domain.rank_at(x[rows, column]))
    x = project(rules, x, on, movable & ~grid)
    left = np.flatnonzero(~rules.meets_relations(x, on))
    for _ in range(GRID_STEPS if (movable & grid)[left].any() else 0):
        if not len(left):
            break
        x[left], moved = _grid_step(rules, x[left], on[left], movable[left] & grid)
        left = left[moved]
        x[left] = project(rules, x[left], on[left], movable[left] & ~grid)
        left = left[~rules.meets_relations(x[left], on[left])]
    whole = points.x.copy()
    whole[bad] = x
    return Points(whole, points.on)


def project(
    rules: Rules,
    x: FloatArray,
    on: BoolArray,
    movable: BoolArray,
    low: FloatArray | float = 0.0,
    high: FloatArray | float = 1.0,
) -> FloatArray:
    """(n, columns) the nearest positions in [low, high] that meet the relations, as well as possible.

    Columns outside ``movable`` keep their values. Grid columns count as lines.
    """
    columns = related_columns(rules)
    active, free = on[:, rules.group], movable[:, columns]
    wanted = np.nan_to_num(x[:, columns], nan=0.5)
    bottom = np.where(free, np.broadcast_to(low, x.shape)[:, columns], wanted)
    top = np.where(free, np.broadcast_to(high, x.shape)[:, columns], wanted)
    curved = not all(constraint.is_straight(rules.domains) for constraint in rules.constraints)
    place = np.clip(wanted, bottom, top)
    left = np.arange(len(x))
    for turn in range(CURVED_PASSES if curved else STRAIGHT_PASSES):
        slopes, bounds, equal, missed = linearised(rules, columns, place[left], active[left])
        left, slopes, bounds = left[missed], slopes[missed], bounds[missed]
        if not len(left):
            break
        # Later passes start from what was found: they remove rounding errors and follow the curvature.
        origin, cycles = (wanted, NEAREST_CYCLES) if turn == 0 else (place, LATER_CYCLES)
        place[left] = _nearest(origin[left], slopes, bounds, equal, bottom[left], top[left], cycles)
    found = np.where(movable, np.clip(x, low, high), x)
    found[:, columns] = np.where(free, place, x[:, columns])
    return found


def linearised(
    rules: Rules, columns: IntArray, place: FloatArray, active: BoolArray
) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray]:
    """A (n, m, k), b (n, m), which constraints are equalities (m,), and which rows (n,) violate any."""
    at = {int(column): i for i, column in enumerate(columns)}
    soft = {c: soft_values(rules.domains[c], place[:, i]) for c, i in at.items()}
    slopes = np.zeros((len(place), len(rules.constraints), len(columns)))
    bounds = np.zeros(slopes.shape[:2])
    missed = np.zeros(len(place), dtype=bool)
    for i, constraint in enumerate(rules.constraints):
        total, magnitude, by_value = constraint.evaluate(lambda c: soft[c][0], active)
        own = [at[c] for c in constraint.columns]
        applies = constraint.applies(active)
        by_unit = by_value * np.stack([soft[c][1] for c in constraint.columns], axis=1)
        slopes[:, i, own] = np.where(applies[:, None], by_unit, 0.0)
        margin = constraint.margin(magnitude)
        bounds[:, i] = np.where(applies, np.vecdot(slopes[:, i], place) - total - margin, 0.0)
        gap = np.abs(total) if constraint.op == "==" else total + margin
        missed |= applies & (gap > 1e-13 * magnitude)
    equal = np.array([constraint.op == "==" for constraint in rules.constraints])
    return slopes, bounds, equal, missed


def _nearest(
    wanted: FloatArray,
    slopes: FloatArray,
    bounds: FloatArray,
    equal: BoolArray,
    low: FloatArray,
    high: FloatArray,
    cycles: int,
) -> FloatArray:
    """(n, k) the nearest points to ``wanted`` with slopes z <= bounds (= where ``equal``) inside the box."""
    found = np.clip(wanted, low, high)
    dual, here, live = np.zeros(bounds.shape), found.copy(), np.arange(len(wanted))
    for _ in range(cycles if bounds.shape[1] > 1 else 1):
        before = here
        for i in range(bounds.shape[1]):
            a = slopes[:, i]
            if not equal[i] and not dual[:, i].any() and (np.vecdot(a, here) <= bounds[:, i]).all():
                continue
            base = wanted - np.einsum("nm,nmk->nk", dual, slopes) + dual[:, i, None] * a
            dual[:, i] = _multiplier(base, a, bounds[:, i], bool(equal[i]), low, high)
            here = np.clip(base - dual[:, i, None] * a, low, high)
        found[live] = here
        moved = np.abs(here - before).max(axis=1) > STILL
        if not moved.any():
            break
        wanted, slopes, bounds, low, high, dual, here, live = (
            part[moved] for part in (wanted, slopes, bounds, low, high, dual, here, live)
        )
    return found


def _multiplier(
    base: FloatArray, a: FloatArray, b: FloatArray, equal: bool, low: FloatArray, high: FloatArray
) -> FloatArray:
    """(n,) the t with a . clip(base - t a, low, high) = b; 0 where an inequality holds without it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_least = np.where(a != 0, (base - np.where(a > 0, low, high)) / a, 0.0)
        to_most = np.where(a != 0, (base - np.where(a > 0, high, low)) / a, 0.0)
    upper = np.maximum(to_least.max(axis=1), 0.0)
    lower = np.minimum(to_most.min(axis=1), 0.0) if equal else np.zeros(len(a))
    t = np.zeros(len(a))
    scale = SMALL * (np.vecdot(np.abs(a), 1.0 + np.abs(base)) + np.abs(b))
    for _ in range(NEWTON_STEPS):
        z = np.clip(base - t[:, None] * a, low, high)
        rest = np.vecdot(a, z) - b
        if not equal:
            rest = np.where((t == 0.0) & (rest <= 0.0), 0.0, rest)
        open_ = np.abs(rest) > scale
        if not open_.any():
            break
        lower, upper = np.where(rest > 0, t, lower), np.where(rest > 0, upper, t)
        steep = np.vecdot(a * ((z > low) & (z < high)), a)
        newton = t + np.divide(rest, steep, out=np.full_like(t, np.inf), where=steep > 0)
        inside = (newton > lower) & (newton < upper)
        t = np.where(open_, np.where(inside, newton, 0.5 * (lower + upper)), t)
    return t


def _grid_step(
    rules: Rules, x: FloatArray, on: BoolArray, movable: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Each row after the best move of a single grid column by one value, and whether a move helped."""
    before = _total_violation(rules, x, on)
    best, best_x = before.copy(), x.copy()
    for column in np.flatnonzero(movable.any(axis=0)):
        domain = rules.domains[column]
        rank = domain.rank_at(np.nan_to_num(x[:, column], nan=0.5))
        for step in (-1.0, 1.0):
            inside = movable[:, column] & (rank + step >= 0) & (rank + step < domain.levels)
            moved = x.copy()
            moved[inside, column] = domain.position(rank[inside] + step)
            value = np.where(inside, _total_violation(rules, moved, on), np.inf)
            better = value < best
            best, best_x[better] = np.where(better, value, best), moved[better]
    return best_x, best < before


def _total_violation(rules: Rules, x: FloatArray, on: BoolArray) -> FloatArray:
    view, total = EncodedView(rules, x), np.zeros(len(x))
    for constraint in rules.constraints:
        value, magnitude, _ = constraint.evaluate(view.number, on[:, rules.group])
        excess = np.abs(constraint.excess(value, magnitude)) / np.maximum(magnitude, 1e-300)
        total += np.where(constraint.applies(on[:, rules.group]), excess, 0.0)
    return total
