"""Local search over active parameters: move to the best one-exchange neighbour while that helps.

A neighbour differs in one active parameter. If that opens another branch, its parameters are drawn at random
(Lévesque et al. 2017, after SMAC's local search). All searches move together, and the neighbours of all of
them are scored in one batch.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import CandidateFilter, best_row
from bough.acquisition.maximise.sample import best_of_samples
from bough.points import FloatArray, Points, row_keys
from bough.space import Space
from bough.space.neighbourhood import neighbours_of_each
from bough.space.sampling import sample_points

__all__ = ["local_search", "local_search_from"]

MAX_SIDEWAYS_MOVES = 10
"""Moves in a row without a gain before a search on a plateau stops."""


def local_search(
    space: Space,
    criterion: Criterion,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    samples: int = 1000,
    starts: int = 10,
    steps: int = 20,
    fixed_step: float | None = None,
) -> Points:
    """The best point seen on searches from the best of uniform samples and of the points in ``near``.

    fixed_step: steps of one size and no sideways moves, as Lévesque et al. 2017 print them (eq. 6-7).
    """
    pool = Points.concat([sample_points(space, samples, rng), near.take(slice(0, starts))])
    value = np.where(space.legal(pool), criterion(pool), -np.inf)
    best = np.argsort(-value, kind="stable")[:starts]
    seen, seen_value = local_search_from(
        space, criterion, pool.take(best), value[best], rng, steps, fixed_step
    )
    every, values = Points.concat([pool, seen]), np.concatenate([value, seen_value])
    found = best_row(every, CandidateFilter(space, avoid).score(every, values))
    return found if len(found) else best_of_samples(space, criterion, near=near, avoid=avoid, rng=rng)


def local_search_from(
    space: Space,
    criterion: Criterion,
    starts: Points,
    value: FloatArray,
    rng: np.random.Generator,
    steps: int,
    fixed_step: float | None = None,
) -> tuple[Points, FloatArray]:
    """Every point scored on the way from ``starts`` (whose values are given), with its value.

    A search moves to its best neighbour if that is better. It also moves to one that is as good and that no
    search has visited, up to MAX_SIDEWAYS_MOVES times in a row: this crosses plateaus without cycling.
    Searches with a ``fixed_step`` make no such moves.
    """
    patience = MAX_SIDEWAYS_MOVES if fixed_step is None else 0
    current, height = starts, value.copy()
    visited = set(row_keys(space.layout, starts))
    sideways = np.zeros(len(starts), dtype=int)
    alive = np.arange(len(starts))
    seen, seen_value = [starts], [value]
    for _ in range(steps):
        moves, owner = neighbours_of_each(space, current.take(alive), rng, fixed_step=fixed_step)
        if not len(moves):
            break
        score = np.where(space.legal(moves), criterion(moves), -np.inf)
        seen.append(moves)
        seen_value.append(score)

        x, on = current.x.copy(), current.on.copy()
        moved = []
        ends = np.searchsorted(owner, np.arange(len(alive) + 1))
        for row, begin, end in zip(alive, ends, ends[1:]):
            part = moves.take(slice(begin, end))
            pick = _step(space, part, score[begin:end], height[row], sideways[row] < patience, visited)
            if pick is None:
                continue
            visited.add(row_keys(space.layout, part.take([pick]))[0])
            sideways[row] = 0 if score[begin + pick] > height[row] else sideways[row] + 1
            x[row], on[row], height[row] = part.x[pick], part.on[pick], score[begin + pick]
            moved.append(row)
        current, alive = Points(x, on), np.array(moved, dtype=np.intp)
    return Points.concat(seen), np.concatenate(seen_value)


def _step(
    space: Space, moves: Points, score: FloatArray, height: float, patient: bool, visited: set[bytes]
) -> int | None:
    """The row of ``moves`` to go to: the best if better, else (if ``patient``) an unvisited equal one."""
    if not len(moves):
        return None
    best = int(np.argmax(score))
    if score[best] > height:
        return best
    if not patient or height == -np.inf:
        return None
    level = np.flatnonzero(score == height)
    keys = row_keys(space.layout, moves.take(level))
    return next((int(row) for row, key in zip(level, keys) if key not in visited), None)
