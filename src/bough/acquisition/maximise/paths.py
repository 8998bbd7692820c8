"""The default maximiser: candidates on every path, then searches from the best ones on the best branches.

A path is a box of the unit cube with constant activity. Inside it the criterion is a plain function of the
active columns. Candidates of all paths are scored in one batch, and searches from the best run in another. A
space with too many paths to list is sampled instead, and one-exchange steps lead from the best samples to
neighbouring paths, so the combinations of independent choices are never enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.alternate import alternate_search
from bough.acquisition.maximise.candidates import (
    CANDIDATES,
    CANDIDATES_PER_INCUMBENT,
    CandidateFilter,
    best_row,
    every_point,
    near_incumbents,
    select_starts,
    spread_candidates,
    transplant,
)
from bough.acquisition.maximise.local import local_search_from
from bough.acquisition.maximise.sample import best_of_samples
from bough.points import FloatArray, Points
from bough.space import Space
from bough.space.neighbourhood import neighbours
from bough.space.sampling import sample_points
from bough.space.tree import Path, bounds_of

__all__ = ["search_boxes", "search_paths"]

MAX_LISTED_PATHS = 64
"""A space with at most this many paths has all of them searched."""

MAX_LISTED_POINTS = 1000
"""A space with at most this many configurations has all of them scored."""

LOCAL_SEARCHES = 8
"""Samples from which local searches start if there are too many paths to list."""

LOCAL_SEARCH_STEPS = 3

MAX_TRANSPLANTS = 5
"""Largest number of times that the best point is carried over to other paths."""

MIN_TRANSPLANT_GAIN = 0.01
"""A transplant that raises the value by less than this fraction is the last one."""

SNAP_TOLERANCE = 1e-9
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
    candidates: int = CANDIDATES,
) -> Points:
    """The best point found on any path: one row, or none if ``avoid`` leaves nothing.

    near: tried points, best first.  avoid: points that must not be returned.
    The search starts from the best candidates of the best ``branches``, at most ``starts`` in all. In a space
    with more than ``branches`` paths, the best point found is carried over to other paths, a few times while
    that helps.
    """
    allowed = CandidateFilter(space, avoid)
    is_small = space.size <= MAX_LISTED_POINTS
    if is_small and (points := every_point(space, MAX_LISTED_POINTS)) is not None:
        return best_row(points, allowed.score(points, criterion(points)))
    boxes = space.tree.all_paths(MAX_LISTED_PATHS)
    listed = len(boxes) <= MAX_LISTED_PATHS
    if listed:
        pool = spread_candidates(space, boxes, near, rng, candidates)
        value = criterion(pool)
    else:
        pool, value = _sampled_candidates(space, criterion, near, rng, branches, candidates)
    found, best = _search_from(space, criterion, pool, value, allowed, branches, starts)
    for _ in range(MAX_TRANSPLANTS if len(found) and len(boxes) > branches else 0):
        pool = transplant(space, boxes, found) if listed else neighbours(space, found, rng)
        other, value_there = _search_from(
            space, criterion, pool, criterion(pool), allowed, branches, branches
        )
        gain = value_there - best
        if gain > 0:
            found, best = other, value_there
        if not gain > MIN_TRANSPLANT_GAIN * abs(best):
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
    pool, allowed = spread_candidates(space, boxes, near, rng), CandidateFilter(space, avoid)
    return _search_from(space, criterion, pool, criterion(pool), allowed, branches, starts)[0]


def _sampled_candidates(
    space: Space, criterion: Criterion, near: Points, rng: np.random.Generator, branches: int, candidates: int
) -> tuple[Points, FloatArray]:
    """Random points, tried ones, points around those, and the points of local searches from the best."""
    known = [near.take(slice(0, branches)), near_incumbents(space, near, CANDIDATES_PER_INCUMBENT, rng)]
    sampled = Points.concat([sample_points(space, candidates, rng), *known])
    value = np.where(space.legal(sampled), criterion(sampled), -np.inf)
    best = select_starts(space, sampled, value, LOCAL_SEARCHES, LOCAL_SEARCHES)
    seen, seen_value = local_search_from(
        space, criterion, sampled.take(best), value[best], rng, LOCAL_SEARCH_STEPS
    )
    return Points.concat([sampled, seen]), np.concatenate([value, seen_value])


def _search_from(
    space: Space,
    criterion: Criterion,
    pool: Points,
    value: FloatArray,
    allowed: CandidateFilter,
    branches: int,
    starts: int,
) -> tuple[Points, float]:
    """The best of a scored pool and of the searches from its best points: one row or none, and its score."""
    score = np.where(space.legal(pool) & ~np.isnan(value), value, -np.inf)
    chosen = select_starts(space, pool, score, branches, starts)
    # Comparing all candidates with all trials is slow, and only the chosen ones matter.
    if not allowed.mask(pool.take(chosen)).all():
        score = allowed.score(pool, value)
        chosen = select_starts(space, pool, score, branches, starts)
    begin = pool.take(chosen)
    if not len(begin):
        return begin, -np.inf
    low, high = bounds_of(space.tree.path_of(begin))
    reached, reached_value = alternate_search(space, criterion, begin, low, high)
    # The ends of a box may lie on a threshold, so score the configuration that would really be run.
    snapped = space.snap(reached.x)
    shift = np.where(space.layout.active(reached.on), np.abs(snapped.x - reached.x), 0.0)
    moved = (snapped.on != reached.on).any(axis=1) | (shift > SNAP_TOLERANCE).any(axis=1)
    if moved.any():
        reached_value[moved] = criterion(snapped.take(moved))
    scores = np.concatenate([score, allowed.score(snapped, reached_value)])
    return best_row(Points.concat([pool, snapped]), scores), float(scores.max())
