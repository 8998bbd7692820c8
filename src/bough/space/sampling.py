"""Draw legal points: uniform, low-discrepancy, one per path, and inside a path's box.

Every function takes one ``Generator``. Forbidden points are rejected and drawn again, a bounded number of
times. After that, only the parameters of violated clauses are drawn again. If no legal point turns up, an
error says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bough.errors import SpaceError
from bough.points import FloatArray, Points
from bough.space.activity import EncodedView
from bough.space.binding import columns_read
from bough.space.feasible_sampling import uniform_points
from bough.space.halton import halton
from bough.space.parameters import Domain
from bough.space.tree import Path

if TYPE_CHECKING:
    from bough.space.space import Space

__all__ = [
    "box_points",
    "latin_hypercube",
    "path_points",
    "sample_points",
    "sobol_points",
    "spread_points",
]

START_ROWS = 1024
"""A design starts at one of this many first rows of its sequence, at random."""

REJECTION_ROUNDS = 30
REPAIR_ROUNDS = 300


def sample_points(space: Space, n: int, rng: np.random.Generator) -> Points:
    """``n`` uniform legal points. The columns that conditions or clauses read are drawn first."""
    if space.require:
        return _topped_up(space, uniform_points(space.rules, n, rng), n, rng)
    found = _rejection(space, n, lambda count: _decisive(space, count, rng))
    return _topped_up(space, _completed(space, found, rng), n, rng)


def sobol_points(space: Space, n: int, rng: np.random.Generator) -> Points:
    """``n`` legal points of a scrambled Sobol sequence (forbidden ones are skipped)."""
    return _of_sequence(space, n, _sobol(len(space), rng), rng)


def latin_hypercube(rows: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """(rows, columns) numbers in [0, 1): in each column, one in each of ``rows`` equal slices."""
    slices = rng.permuted(np.tile(np.arange(rows), (columns, 1)), axis=1).T
    return np.asarray((slices + rng.random(slices.shape)) / rows)


def spread_points(space: Space, n: int, rng: np.random.Generator) -> Points:
    """``n`` legal points, spread evenly (forbidden ones are skipped)."""
    row, rotation = int(rng.integers(START_ROWS)), rng.random(len(space))

    def draw(count: int) -> FloatArray:
        nonlocal row
        row += count
        return halton(count, rotation, row - count)

    return _of_sequence(space, n, draw, rng)


def _of_sequence(space: Space, n: int, draw: Callable[[int], FloatArray], rng: np.random.Generator) -> Points:
    found = _rejection(
        space, n, lambda count: _only_legal(space, space.scatter(_stretched(space, draw(count))))
    )
    return _topped_up(space, found, n, rng)


def path_points(space: Space, limit: int, rng: np.random.Generator, share: float = 1.0) -> Points:
    """One point per path; of more than ``limit`` paths a random subset of about that many.

    share: as for ``box_points``, if there are legal points there. A path without legal points is left out."""
    paths: Sequence[Path] = space.tree.all_paths(limit)
    if len(paths) > limit:
        drawn = space.tree.path_of(sample_points(space, 8 * limit, rng))
        paths = list({path.key: path for path in drawn}.values())[:limit]
    found = [box_points(space, path, 1, rng, share) for path in paths]
    if share < 1.0:  # the middle of a path may be forbidden
        found = [
            point if len(point) else box_points(space, path, 1, rng) for path, point in zip(paths, found)
        ]
    return Points.concat([sample_points(space, 0, rng), *found])


def box_points(space: Space, path: Path, n: int, rng: np.random.Generator, share: float = 1.0) -> Points:
    """Up to ``n`` legal points, spread evenly on ``path``; fewer where the path's box
    also holds forbidden points or other signatures and too few others turn up.

    share: numbers and ordered options come from this share of the box, around its middle."""
    low, high = _widened(space, path)
    free = np.flatnonzero(high > low)
    draws = 8 * n + 56 if _is_limited(space) or space.tree.has_relations else n
    unit = halton(draws, rng.random(len(free)))
    unit = np.where(space.layout.nominal[free], unit, 0.5 + share * (unit - 0.5))
    x = np.tile(low, (draws, 1))
    x[:, free] += unit * (high - low)[free]
    for column, allowed in space.tree.allowed.items():
        if allowed.options is not None and high[column] > low[column]:
            x[:, column] = allowed.stretch(x[:, column])
    points = space.scatter(np.clip(x, low, high))
    same = (points.on == path.on).all(axis=1)
    return points.take(np.flatnonzero(same & space.legal(points))[:n])


# ---- helpers ---------------------------------------------------------------------------------


def _decisive(space: Space, n: int, rng: np.random.Generator) -> Points:
    """The legal ones among ``n`` uniform points; x holds only columns that conditions and clauses read."""
    rules = space.rules
    x = np.empty((len(space), n)).T  # only the columns of the loop are written or read
    for column in rules.pieces:
        unit = rng.random(n)
        if column in space.tree.allowed:
            unit = space.tree.allowed[column].stretch(unit)
        x[:, column] = _snapped(rules.domains[column], unit)
    view = EncodedView(rules, x)
    on = rules.activity(view)
    points = Points(x[:, list(rules.pieces)], on)
    return points.take(~np.any(rules.violations(view, on), axis=1)) if space.forbid else points


def _completed(space: Space, decisive: Points, rng: np.random.Generator) -> Points:
    """``decisive`` points with uniform values for all other active columns."""
    columns = np.full((len(space), len(decisive)), 0.5)
    given = dict(zip(space.rules.pieces, decisive.x.T))
    for group in space.rules.groups:
        rows = np.flatnonzero(decisive.on[:, group.index])
        for column in group.columns:
            if column in given:
                columns[column, rows] = given[column][rows]
            else:
                columns[column, rows] = _snapped(space.rules.domains[column], rng.random(len(rows)))
    return Points(columns.T, decisive.on)


def _stretched(space: Space, unit: FloatArray) -> FloatArray:
    """Rows of the unit cube, mapped to the values that clauses leave in each column."""
    for column, allowed in space.tree.allowed.items():
        unit = unit.copy()
        unit[:, column] = allowed.stretch(unit[:, column])
    return unit


def _snapped(domain: Domain, unit: FloatArray) -> FloatArray:
    return unit if domain.kind == "real" else domain.position(domain.rank_at(unit))


def _sobol(columns: int, rng: np.random.Generator) -> Callable[[int], FloatArray]:
    """Draws the next points of one scrambled Sobol sequence."""
    from scipy.stats import qmc

    engine = qmc.Sobol(columns, scramble=True, rng=rng)
    spare = np.empty((0, columns))

    def draw(count: int) -> FloatArray:
        nonlocal spare
        if count > len(spare):  # powers of two keep the sequence balanced
            fresh = engine.random(1 << (count - len(spare) - 1).bit_length())
            spare = np.concatenate([spare, fresh])
        taken, spare = spare[:count], spare[count:]
        return taken

    return draw


def _rejection(space: Space, n: int, draw: Callable[[int], Points]) -> Points:
    """At most ``n`` legal points from ``draw``, which tries as many as the acceptance so far suggests."""
    found: list[Points] = []
    missing, accepted, drawn = n, 1, 1
    while missing and len(found) < REJECTION_ROUNDS:
        count = (
            min(int(1.1 * missing * drawn / accepted) + 16, 4 * n + 1000) if _is_limited(space) else missing
        )
        points = draw(count)
        found.append(points.take(slice(missing)))
        missing, accepted, drawn = missing - len(found[-1]), accepted + len(points), drawn + count
    return Points.concat(found) if found else draw(0)


def _only_legal(space: Space, points: Points) -> Points:
    return points.take(space.legal(points)) if _is_limited(space) else points


def _is_limited(space: Space) -> bool:
    return bool(space.forbid or space.require)


def _topped_up(space: Space, points: Points, n: int, rng: np.random.Generator) -> Points:
    missing = n - len(points)
    return Points.concat([points, _scarce(space, missing, rng)]) if missing else points


def _scarce(space: Space, n: int, rng: np.random.Generator) -> Points:
    """``n`` legal points of a space where hardly anything is legal; they may repeat."""
    found = _repair(space, space.snap(_stretched(space, rng.random((max(n, 256), len(space))))), rng)
    if not len(found):
        raise SpaceError(
            "no legal configuration was found: forbid or require excludes every one, or nearly every one"
        )
    return found.take(rng.integers(len(found), size=n))


def _repair(space: Space, points: Points, rng: np.random.Generator) -> Points:
    """Legal points found from ``points`` by re-drawing the parameters of violated clauses only."""
    reads = np.zeros((len(space.rules.clauses) + len(space.rules.constraints), len(space)), dtype=bool)
    for i, clause in enumerate(space.rules.clauses):
        reads[i, sorted(columns_read(clause))] = True
    for i, constraint in enumerate(space.rules.constraints, start=len(space.rules.clauses)):
        reads[i, list(constraint.columns)] = True
    found: list[Points] = []
    for _ in range(REPAIR_ROUNDS):
        violated = space.violations(points)
        bad = np.any(violated, axis=1)
        found.append(points.take(~bad))
        if not bad.any():
            break
        points, violated = points.take(bad), violated[bad]
        redraw = (violated @ reads) & (rng.random(points.x.shape) < 0.7)
        redraw |= ~space.layout.active(points.on)  # a new branch needs new values
        points = space.snap(np.where(redraw, rng.random(points.x.shape), points.x))
    return Points.concat(found)


def _widened(space: Space, path: Path) -> tuple[FloatArray, FloatArray]:
    """The path's box with grid ranges widened by half a cell, which gives all values the same weight."""
    low, high = path.low.copy(), path.high.copy()
    for column in (*space.tree.switches, *(c for c in space.tree.allowed if not space.layout.switch[c])):
        domain = space.parameters[column].domain
        if domain.kind == "nominal" and high[column] > low[column]:
            continue
        if domain.kind != "real" and path.on[space.layout.group[column]]:
            first, last = domain.rank_at(path.low[[column]]), domain.rank_at(path.high[[column]])
            low[column] = domain.position(first - 0.5)[0]
            high[column] = domain.position(last + 0.5)[0] - 1e-12  # just inside the last cell
    return low, high
