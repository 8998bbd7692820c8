"""Designs that ignore the observations: random search, a Sobol sequence, a Latin hypercube on every path.

Each is a fixed sequence of points that depends only on the study's seed; trial number k gets its k-th
point. In a finite space no configuration comes twice: the trial gets the first point of the
sequence that has not been tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bough.errors import ExhaustedError
from bough.history import History
from bough.points import FloatArray, Points, row_keys
from bough.space import Space
from bough.space.sampling import latin_hypercube, path_points, sample_points
from bough.space.size import AtMost
from bough.space.tree import Path
from bough.strategies import streams
from bough.strategies.base import SameReason, check_exhausted, tried_points, unseen
from bough.strategies.options import Options, at_least, option

__all__ = ["LatinHypercube", "RandomSearch", "SobolSearch", "sobol_blocks"]

MAX_STALE_BATCHES = 16
"""Batches of draws without any new point before a space of unknown size counts as exhausted."""

MAX_STALE_BLOCKS = 16
"""Blocks of a sequence without any new point before a design falls back to random draws."""

PATHS_PER_ROUND = 100
"""Paths that get a Latin hypercube at a time."""


@dataclass(frozen=True)
class RandomSearch(SameReason):
    """Uniform draws: a choice first, then its children. In a finite space no configuration comes twice."""

    ignores_values = True
    reason = "drawn at random, independent of all observations"

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        if space.size == np.inf:
            return sample_points(space, 1, rng)
        check_exhausted(space, history)
        seen = set(row_keys(space.layout, tried_points(history)))
        # Where the size is known, at least one configuration is left and each draw may hit it.
        for _ in range(MAX_STALE_BATCHES) if isinstance(space.size, AtMost) else itertools.repeat(None):
            fresh = unseen(space, sample_points(space, 64, rng), seen)
            if len(fresh):
                return fresh.take([0])
        raise ExhaustedError("no configuration was found that has not been tried")


@dataclass(frozen=True)
class SobolSearch(SameReason):
    """One scrambled Sobol sequence over all columns; the switches decide which of them are active."""

    ignores_values = True
    reason = "the next point of a Sobol sequence, independent of all observations"

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        blocks = (space.scatter(x) for x in sobol_blocks(space.layout.columns, history.seed))
        return _next_of(blocks, space, history, rng)


@dataclass(frozen=True)
class LatinHypercube(SameReason, Options):
    """A Latin hypercube of ``points_per_path`` points on each path, then another one; paths take turns.

    Every path gets its first point before any gets its second. In a space with more than
    PATHS_PER_ROUND paths, each round of hypercubes takes a random subset.
    """

    points_per_path: int = option(10, at_least(1))

    ignores_values = True
    reason = "the next point of its path's Latin hypercube, independent of all observations"

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        return _next_of(self._blocks(space, history.seed), space, history, rng)

    def _blocks(self, space: Space, seed: int) -> Iterator[Points]:
        rng = np.random.default_rng([seed, streams.SEQUENCE])
        while True:
            few = len(space.tree.all_paths(PATHS_PER_ROUND)) <= PATHS_PER_ROUND
            paths = space.tree.path_of((path_points if few else sample_points)(space, PATHS_PER_ROUND, rng))
            cubes = np.stack([self._cube(path, rng) for path in paths], axis=1)
            turns = rng.permuted(np.tile(np.arange(len(paths)), (self.points_per_path, 1)), axis=1)
            mixed = np.take_along_axis(cubes, turns[:, :, None], axis=1)
            yield space.scatter(mixed.reshape(-1, cubes.shape[2]))

    def _cube(self, path: Path, rng: np.random.Generator) -> FloatArray:
        """(points_per_path, columns) the hypercube of a path's box."""
        unit = latin_hypercube(self.points_per_path, len(path.low), rng)
        return path.low + unit * (path.high - path.low)


def sobol_blocks(columns: int, seed: int) -> Iterator[FloatArray]:
    """The scrambled Sobol sequence of a seed, in blocks (64, columns), (64, columns), (128, columns), ..."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(columns, scramble=True, rng=np.random.default_rng([seed, streams.SEQUENCE]))
    size = 64
    yield sequence.random(size)
    while True:
        yield sequence.random(size)
        size *= 2


def _next_of(blocks: Iterator[Points], space: Space, history: History, rng: np.random.Generator) -> Points:
    """The point of a sequence that belongs to this trial; forbidden points are skipped."""
    check_exhausted(space, history)
    seen = set(row_keys(space.layout, tried_points(history)))
    finite = space.size < np.inf
    turn = 0 if finite else history.number
    stale = 0
    for block in blocks:
        points = block.take(space.legal(block))
        if finite:
            points = unseen(space, points, seen)
        if len(points) > turn:
            return points.take([turn])
        turn -= len(points)
        stale = 0 if len(points) else stale + 1
        if stale == MAX_STALE_BLOCKS:
            break
    return RandomSearch().propose(space, history, rng)
