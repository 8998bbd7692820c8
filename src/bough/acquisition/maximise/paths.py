"""The default maximiser: search every path of the space, and refine the best starts of the best ones.

Paths are boxes of the unit cube with constant activity, so that inside one the criterion is a plain
function of its active columns. Candidates of all paths are scored in one batch and refined in another. A
space with too many paths to list is sampled instead, and one-exchange steps lead from the best samples to
the paths around them: independent choices are never multiplied out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.finite import every_point
from bough.acquisition.maximise.local import climb
from bough.acquisition.maximise.mixed import refine
from bough.acquisition.maximise.pool import Allowed, top
from bough.acquisition.maximise.sample import best_of_samples
from bough.acquisition.maximise.starts import around, choose, spread, transplant
from bough.points import FloatArray, Points
from bough.space import Space
from bough.space.sampling import neighbours, sample_points
from bough.space.tree import Path

__all__ = ["search_boxes", "search_paths"]

PATHS = 64
"""Up to this many paths are all searched."""

EXHAUSTIVE = 1000
"""Spaces of at most this many configurations are scored completely."""

CANDIDATES = 512
"""Quasi-random candidates over all paths together, with at least LEAST on each."""

LEAST = 16

CLIMBERS = 8
"""Samples from which exchanges lead on, where paths are too many to list."""

HOPS = 5
"""How often what was found is carried over to other paths, at most."""

FURTHER = 0.01
"""By this fraction a hop must better the value to be worth another."""

ROUNDING = 1e-9
"""Snapping a real value moves it by less than this."""


def search_paths(
    space: Space,
    criterion: Criterion,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    branches: int = 16,
    starts: int = 32,
) -> Points:
    """The best point found on any path: one row, or none if everything is to be avoided.

    near: tried points, best first; avoid: points not to be returned. The best candidates of the best
    ``branches``, ``starts`` in all, are refined. With more paths than that, what was found is carried over
    to others, a few times while that helps.
    """
    allowed = Allowed(space, avoid)
    if (points := every_point(space, EXHAUSTIVE)) is not None:
        return top(points, allowed.score(points, criterion(points)))
    boxes = space.tree.all_paths(PATHS)
    if len(boxes) <= PATHS:
        pool, value = _spread_candidates(space, criterion, boxes, near, rng)
    else:
        pool, value = _sampled_candidates(space, criterion, near, rng, branches)
    found, height = _polish(space, criterion, pool, value, allowed, branches, starts)
    for _ in range(HOPS if len(found) and len(boxes) > branches else 0):
        pool = transplant(space, boxes, found) if len(boxes) <= PATHS else neighbours(space, found, rng)
        further, higher = _polish(space, criterion, pool, criterion(pool), allowed, branches, branches)
        gain = higher - height
        if gain > 0:
            found, height = further, higher
        if not gain > FURTHER * abs(height):
            break
    return found if len(found) else best_of_samples(space, criterion, near=near, avoid=avoid, rng=rng)


def search_boxes(
    space: Space,
    criterion: Criterion,
    boxes: Sequence[Path],
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    branches: int = 16,
    starts: int = 32,
) -> Points:
    """The best point found in any of the boxes, or around a point of ``near``: one row or none."""
    pool, value = _spread_candidates(space, criterion, boxes, near, rng)
    return _polish(space, criterion, pool, value, Allowed(space, avoid), branches, starts)[0]


def _spread_candidates(
    space: Space, criterion: Criterion, boxes: Sequence[Path], near: Points, rng: np.random.Generator
) -> tuple[Points, FloatArray]:
    """Points all over the boxes and around the best tried ones, with their values."""
    candidates, _ = spread(space, boxes, max(CANDIDATES // len(boxes), LEAST), rng)
    pool = Points.concat([candidates, around(space, near, LEAST // 2, rng)])
    return pool, criterion(pool)


def _sampled_candidates(
    space: Space, criterion: Criterion, near: Points, rng: np.random.Generator, branches: int
) -> tuple[Points, FloatArray]:
    """Random points, tried ones and some around them, and what a few exchanges lead to from the best."""
    known = [near.take(slice(0, branches)), around(space, near, LEAST // 2, rng)]
    sampled = Points.concat([sample_points(space, CANDIDATES, rng), *known])
    value = np.where(space.legal(sampled), criterion(sampled), -np.inf)
    best = choose(space, sampled, value, CLIMBERS, CLIMBERS)
    seen, seen_value = climb(space, criterion, sampled.take(best), value[best], rng, steps=3)
    return Points.concat([sampled, seen]), np.concatenate([value, seen_value])


def _polish(
    space: Space,
    criterion: Criterion,
    pool: Points,
    value: FloatArray,
    allowed: Allowed,
    branches: int,
    starts: int,
) -> tuple[Points, float]:
    """The best of a scored pool and of what its best starts climb to (one row or none), and its score."""
    score = allowed.score(pool, value)
    begin = pool.take(choose(space, pool, score, branches, starts))
    if not len(begin):
        return begin, -np.inf
    boxes = space.tree.path_of(begin)
    low, high = np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])
    reached, reached_value = refine(space, criterion, begin, low, high)
    # The ends of a box may lie on a threshold: what counts is the value of what would really be run.
    snapped = space.snap(reached.x)
    shift = np.where(space.layout.active(reached.on), np.abs(snapped.x - reached.x), 0.0)
    moved = (snapped.on != reached.on).any(axis=1) | (shift > ROUNDING).any(axis=1)
    if moved.any():
        reached_value[moved] = criterion(snapped.take(moved))
    scores = np.concatenate([score, allowed.score(snapped, reached_value)])
    return top(Points.concat([pool, snapped]), scores), float(scores.max())
