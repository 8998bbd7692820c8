"""Grid search that covers the space early: every configuration of a finite space, or of a finite part.

In an infinite space, each numeric column with more than ``resolution`` levels is reduced to that many, evenly
spaced between its bounds (on a log scale where it has one). A Sobol sequence decides the order in which
the cells are visited, so any prefix covers the whole space. The last cells, which the sequence would hit
only after a long time, are found by counting through the paths.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bough.errors import ExhaustedError
from bough.history import SAME_POSITION, History
from bough.points import FloatArray, Points, row_keys
from bough.space import Space
from bough.space.tree import Path
from bough.strategies.base import SameReason, tried_points, unseen
from bough.strategies.designs import sobol_blocks
from bough.strategies.options import Options, at_least, option

__all__ = ["GridSearch"]

SOBOL_POINTS_PER_TRIAL = 8
"""Sobol points looked at per tried point before counting begins."""

POINTS_PER_CHUNK = 256
"""Counted points that are snapped and compared at a time."""


@dataclass(frozen=True)
class GridSearch(SameReason, Options):
    """resolution: positions of a numeric column, where the space is not finite."""

    resolution: int = option(5, at_least(2, "a number of positions, at least 2"))

    ignores_values = True
    reason = "the next point of the grid, independent of all observations"

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        tried = tried_points(history)
        seen = self._seen(space, tried)
        orders = itertools.chain(self._sobol(space, history.seed, len(tried)), self._count(space, len(tried)))
        for block in orders:
            points = self._round(space, block)
            fresh = unseen(space, points.take(space.legal(points)), seen)
            if len(fresh):
                return fresh.take([0])
        raise ExhaustedError(f"all {len(seen):,} points of the grid have been tried")

    def _seen(self, space: Space, tried: Points) -> set[bytes]:
        """Keys of the grid points among ``tried``; off-grid trials do not count for their cells."""
        active = space.layout.active(tried.on)
        x = np.where(active, tried.x, 0.5)
        nearest = x.copy()
        for column in np.flatnonzero(self._coarse(space)).tolist():
            grid = self._grid(space, column)
            nearest[:, column] = grid[np.abs(x[:, column, None] - grid).argmin(axis=1)]
        rounded = space.snap(nearest)
        on_grid = (np.abs(rounded.x - x) < SAME_POSITION) | ~active
        return set(row_keys(space.layout, rounded.take(np.flatnonzero(on_grid.all(axis=1)))))

    def _coarse(self, space: Space) -> np.ndarray:
        """(columns,) which columns are reduced to ``resolution`` positions."""
        layout = space.layout
        many = (layout.levels == 0) | (layout.levels > self.resolution)
        return many & ~layout.nominal if space.size == np.inf else np.zeros(layout.columns, dtype=bool)

    def _grid(self, space: Space, column: int) -> FloatArray:
        """(resolution,) positions of a coarse column, moved to its levels if it has any."""
        grid = np.arange(self.resolution) / max(self.resolution - 1, 1)
        domain = space.parameters[column].domain
        return np.asarray(domain.position(domain.rank_at(grid))) if space.layout.levels[column] else grid

    def _round(self, space: Space, x: FloatArray) -> Points:
        """The grid points of the cells that contain rows x (n, columns); bounds belong to the grid."""
        cells = np.minimum(np.floor(x * self.resolution), self.resolution - 1)
        return space.snap(np.where(self._coarse(space), cells / max(self.resolution - 1, 1), x))

    def _sobol(self, space: Space, seed: int, tried: int) -> Iterator[FloatArray]:
        looked_at = 0
        for block in sobol_blocks(space.layout.columns, seed):
            yield block
            looked_at += len(block)
            if looked_at > SOBOL_POINTS_PER_TRIAL * tried:
                return

    def _count(self, space: Space, tried: int) -> Iterator[FloatArray]:
        """All grid points, path by path. If any list is cut off at tried + 1, one of those is new."""
        for path in space.tree.paths(tried + 1):
            lists = [self._positions(space, path, column, tried + 1) for column in range(len(path.low))]
            rows = itertools.product(*lists)
            while chunk := list(itertools.islice(rows, POINTS_PER_CHUNK)):
                yield np.array(chunk)

    def _positions(self, space: Space, path: Path, column: int, most: int) -> FloatArray:
        """Positions of a column within a path's box, at most ``most``."""
        low, high = path.low[column], path.high[column]
        if low == high:
            return np.array([low])
        if self._coarse(space)[column]:
            grid = self._grid(space, column)
            inside = (grid >= low - SAME_POSITION) & (grid <= high + SAME_POSITION)
            return np.asarray((np.flatnonzero(inside) + 0.5) / self.resolution)
        domain = space.parameters[column].domain
        first, last = domain.rank_at(np.array([low, high]))
        return np.asarray(domain.position(np.arange(first, min(last + 1, first + most))))
