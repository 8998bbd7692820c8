"""Uniform points among those that meet the relations between parameters, even if hardly any point does.

Three ways, in this order. A *mixture* (a sum of linearly scaled floats that must equal a number) is drawn on
its simplex directly: with u uniform in the unit cube, low + rest e / sum(e) for e = -log(1 - u) is uniform
there, and a quasi-random u stays evenly spread. Other points are drawn in the box, and illegal ones rejected.
If that accepts too few, a random walk starts inside the legal set: hit-and-run steps along random directions
for reals (Smith 1984; on curved limits the chord shrinks as in Neal's slice sampler of 2003), uniform changes
of one grid column and exchanges between two. The stationary distribution of all these steps is uniform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space.activity import EncodedView, Rules
from bough.space.parameter_constraints import ParameterConstraint
from bough.space.parameters import Float
from bough.space.projection import linearised, movable_columns, project, related_columns, repair

__all__ = ["drawn_points", "uniform_points", "walk"]

MIN_ACCEPTANCE = 0.05
"""Below this share of legal draws the walk takes over."""

STEPS_PER_COLUMN = 20
MAX_STEPS = 400
SHRINKS = 12
CENTRE_POINTS = 6
"""A walk starts at the mean of this many legal points: inside the legal set, not on its boundary."""


class Simplex(NamedTuple):
    """Columns whose active values sum to ``total``."""

    columns: IntArray
    total: float
    constraint: ParameterConstraint


def drawn_points(rules: Rules, x: FloatArray) -> Points:
    """Uniform positions x (n, columns) as snapped points, with mixtures spread over their simplex."""
    points = rules.snap(x)
    for simplex in _simplices(rules):
        active = points.on[:, rules.group[simplex.columns]]
        rows = simplex.constraint.applies(points.on[:, rules.group])
        domains = [rules.domains[column] for column in simplex.columns]
        low = np.array([domain.low for domain in domains])
        width = np.array([domain.high for domain in domains]) - low
        share = np.where(active, -np.log1p(-np.clip(x[:, simplex.columns], 0.0, 1.0 - 1e-12)), 0.0)
        share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
        rest = simplex.total - np.where(active, low, 0.0).sum(axis=1, keepdims=True)
        unit = np.clip(rest * share / width, 0.0, 1.0)
        moved = points.x.copy()
        moved[:, simplex.columns] = np.where(rows[:, None] & active, unit, moved[:, simplex.columns])
        points = rules.snap(moved)  # a member may be a switch
    return points


def uniform_points(rules: Rules, n: int, rng: np.random.Generator) -> Points:
    """At most ``n`` legal points, uniform; fewer where forbidden clauses exclude what the walk reaches."""
    columns = len(rules.domains)
    points = drawn_points(rules, rng.random((4 * n + 64, columns)))
    legal = _legal(rules, points)
    found = points.take(legal).take(slice(n))
    if len(found) == n or legal.mean() > MIN_ACCEPTANCE:
        return found
    start = drawn_points(rules, rng.random((n - len(found), columns)))
    walked = walk(rules, start, rng)
    return Points.concat([found, walked.take(_legal(rules, walked))])


def walk(rules: Rules, points: Points, rng: np.random.Generator) -> Points:
    """A legal point for each row, on the same branch: the end of a random walk inside the legal set."""
    movable = movable_columns(rules, points.on)
    points = _centre(rules, points, movable, rng)
    real, level = movable & ~rules.grid, movable & rules.grid
    x, faces = points.x, _Faces.of(rules, points, real)
    for _ in range(min(STEPS_PER_COLUMN * int(movable.sum(axis=1).max(initial=0)), MAX_STEPS)):
        if real.any():
            x = _hit_and_run(rules, x, points.on, real, faces, rng)
        if level.any():
            x = _grid_move(rules, x, points.on, level, rng)
    return repair(rules, Points(project(rules, x, points.on, real), points.on))


def _simplices(rules: Rules) -> list[Simplex]:
    found: list[Simplex] = []
    for constraint in rules.constraints:
        weights = {term.weight for term in constraint.terms if term.columns}
        columns = np.array(constraint.columns)
        plain = all(
            isinstance(d, Float) and d.step is None and not d.log for d in (rules.domains[c] for c in columns)
        )
        taken = {int(c) for simplex in found for c in simplex.columns}
        if constraint.op == "==" and constraint.is_linear and len(weights) == 1 and len(columns) > 1:
            constant = sum(term.weight for term in constraint.terms if not term.columns)
            if plain and taken.isdisjoint(constraint.columns):
                found.append(Simplex(columns, -constant / weights.pop(), constraint))
    return found


def _legal(rules: Rules, points: Points) -> BoolArray:
    return np.asarray(~rules.violations(EncodedView(rules, points.x), points.on).any(axis=1))


def _centre(rules: Rules, points: Points, movable: BoolArray, rng: np.random.Generator) -> Points:
    """Each row repaired, with its reals at the mean of a few legal points of its branch."""
    real = movable & ~rules.grid
    total = np.zeros(points.x.shape)
    first = repair(rules, points)
    for _ in range(CENTRE_POINTS):
        x = np.where(real, rng.random(points.x.shape), first.x)
        total += repair(rules, Points(x, points.on), locked=movable & rules.grid).x
    mean = np.where(real, total / CENTRE_POINTS, first.x)
    return repair(rules, Points(mean, points.on))


class _Faces(NamedTuple):
    """The relations as a walk sees them, in the k columns that they read.

    slopes (n, m, k), bounds (n, m): a . x <= b for the inequalities that are linear in unit positions.
    basis: orthonormal normals (n, k) of the equalities.  curved: whether anything else is left to check.
    """

    columns: IntArray
    slopes: FloatArray
    bounds: FloatArray
    basis: list[FloatArray]
    curved: bool

    @staticmethod
    def of(rules: Rules, points: Points, real: BoolArray) -> _Faces:
        columns = related_columns(rules)
        slopes, bounds, equal, _ = linearised(rules, columns, points.x[:, columns], points.on[:, rules.group])
        straight = np.array([constraint.is_straight(rules.domains) for constraint in rules.constraints])
        moves = np.asarray(real.any(axis=0))
        about_reals = np.array([moves[list(constraint.columns)].any() for constraint in rules.constraints])
        basis: list[FloatArray] = []
        for i in np.flatnonzero(equal & about_reals):
            normal = np.where(real[:, columns], slopes[:, i], 0.0)
            for other in basis:
                normal = normal - np.vecdot(normal, other)[:, None] * other
            length = np.linalg.norm(normal, axis=1, keepdims=True)
            basis.append(np.divide(normal, length, out=np.zeros_like(normal), where=length > 1e-12))
        inside = straight & ~equal & about_reals
        curved = bool((about_reals & ~straight).any())
        return _Faces(columns, slopes[:, inside], bounds[:, inside], basis, curved)


def _hit_and_run(
    rules: Rules, x: FloatArray, on: BoolArray, real: BoolArray, faces: _Faces, rng: np.random.Generator
) -> FloatArray:
    """Each row moved to a uniform point of the legal chord through it in a random direction."""
    here = x[:, faces.columns]
    direction = np.where(real[:, faces.columns], rng.standard_normal(here.shape), 0.0)
    for normal in faces.basis:
        direction -= np.vecdot(direction, normal)[:, None] * normal
    direction = np.where(np.abs(direction) < 1e-12, 0.0, direction)
    least, most = _chord(here, direction, faces)
    found, left = x.copy(), np.flatnonzero(most > least)
    for _ in range(SHRINKS):
        if not len(left):
            break
        t = least[left] + (most - least)[left] * rng.random(len(left))
        trial = x[left]
        trial[:, faces.columns] = np.clip(here[left] + t[:, None] * direction[left], 0.0, 1.0)
        good = np.ones(len(left), dtype=bool)
        if faces.curved:
            trial = project(rules, trial, on[left], real[left]) if faces.basis else trial
            good = rules.meets_relations(trial, on[left])
        found[left[good]] = trial[good]
        left, t = left[~good], t[~good]
        least[left], most[left] = np.where(t < 0, t, least[left]), np.where(t < 0, most[left], t)
    return found


def _chord(here: FloatArray, direction: FloatArray, faces: _Faces) -> tuple[FloatArray, FloatArray]:
    """(n,) the ends of the chord: how far it reaches backwards and forwards in the box and linear faces."""
    rate = np.concatenate([direction, np.einsum("nmk,nk->nm", faces.slopes, direction)], axis=1)
    room = np.maximum(faces.bounds - np.einsum("nmk,nk->nm", faces.slopes, here), 0.0)
    up, down = (
        np.concatenate([1.0 - here, room], axis=1),
        np.concatenate([here, np.full_like(room, np.inf)], axis=1),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        forth = np.where(rate > 0, up / rate, np.where(rate < 0, down / -rate, np.inf)).min(axis=1)
        back = np.where(rate < 0, up / -rate, np.where(rate > 0, down / rate, np.inf)).min(axis=1)
    usable = np.isfinite(forth) & np.isfinite(back)
    return np.where(usable, -back, 0.0), np.where(usable, forth, 0.0)


def _grid_move(
    rules: Rules, x: FloatArray, on: BoolArray, level: BoolArray, rng: np.random.Generator
) -> FloatArray:
    """One grid column changed uniformly, or one value exchanged between two; illegal moves are not made."""
    keys = np.where(level, rng.random(x.shape), -1.0)
    order = np.argsort(-keys, axis=1)
    rows = np.arange(len(x))
    first, second = order[:, 0], order[:, min(1, x.shape[1] - 1)]
    exchange = (rng.random(len(x)) < 0.5) & level[rows, second] & (first != second)
    step = np.where(rng.random(len(x)) < 0.5, -1.0, 1.0)
    fresh = rng.random(len(x))
    moved = x.copy()
    for column in np.flatnonzero(level.any(axis=0)):
        domain = rules.domains[column]
        rank = domain.rank_at(x[:, column])
        alone = (first == column) & ~exchange & level[:, column]
        moved[alone, column] = domain.position(domain.rank_at(fresh[alone]))
        for chosen, sign in ((first, 1.0), (second, -1.0)):
            pair = (chosen == column) & exchange
            target = rank + sign * step
            inside = pair & (target >= 0) & (target < domain.levels)
            moved[inside, column] = domain.position(target[inside])
            moved[pair & ~inside, column] = np.nan  # outside its range: the whole row stays
    stays = np.isnan(moved).any(axis=1) | ~level[rows, first]
    moved[stays] = x[stays]
    good = rules.meets_relations(moved, on)
    return np.where(good[:, None], moved, x)
