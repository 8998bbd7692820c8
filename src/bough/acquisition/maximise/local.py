"""Local search over active parameters: move to the best one-exchange neighbour while that helps.

A neighbour differs in one active parameter; where that opens another branch, the parameters of the new
branch are drawn afresh (Lévesque et al. 2017, after SMAC's local search). All searches move together, and
the neighbours of all of them are scored in one batch.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.pool import Allowed, top
from bough.acquisition.maximise.sample import best_of_samples
from bough.points import FloatArray, Points, row_keys
from bough.space import Space
from bough.space.sampling import neighbours, sample_points

__all__ = ["climb", "local_search"]

PLATEAU = 10
"""Sideways moves, one after another, before a search on a plateau gives up."""


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
) -> Points:
    """Climb from the best of uniform samples and of the best tried points; the best point seen."""
    pool = Points.concat([sample_points(space, samples, rng), near.take(slice(0, starts))])
    value = np.where(space.legal(pool), criterion(pool), -np.inf)
    best = np.argsort(-value, kind="stable")[:starts]
    seen, seen_value = climb(space, criterion, pool.take(best), value[best], rng, steps)
    every, values = Points.concat([pool, seen]), np.concatenate([value, seen_value])
    found = top(every, Allowed(space, avoid).score(every, values))
    return found if len(found) else best_of_samples(space, criterion, near=near, avoid=avoid, rng=rng)


def climb(
    space: Space,
    criterion: Criterion,
    starts: Points,
    value: FloatArray,
    rng: np.random.Generator,
    steps: int,
) -> tuple[Points, FloatArray]:
    """Every point scored on the way from ``starts`` (whose values are given), with its value.

    A search goes to its best neighbour if that is better, or as good and not yet visited by any search
    (up to PLATEAU times in a row): a piecewise constant criterion is crossed, and nothing cycles.
    """
    current, height = starts, value.copy()
    visited = set(row_keys(space.layout, starts))
    sideways = np.zeros(len(starts), dtype=int)
    alive = np.arange(len(starts))
    seen, seen_value = [starts], [value]
    for _ in range(steps):
        around = [neighbours(space, current.take([int(row)]), rng) for row in alive]
        moves = Points.concat([*around, starts.take([])])
        if not len(moves):
            break
        score = np.where(space.legal(moves), criterion(moves), -np.inf)
        seen.append(moves)
        seen_value.append(score)

        x, on = current.x.copy(), current.on.copy()
        moved = []
        end = 0
        for row, part in zip(alive, around):
            begin, end = end, end + len(part)
            pick = _step(space, part, score[begin:end], height[row], sideways[row] < PLATEAU, visited)
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
    """The row of ``moves`` to go to: the best if better, else an unvisited equal if still patient."""
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
