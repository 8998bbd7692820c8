"""Small finite spaces: list every configuration, so the best one is found for certain."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from bough.acquisition.maximise.candidates import distinct
from bough.points import FloatArray, Points
from bough.space import Space
from bough.space.tree import Path

__all__ = ["every_point"]


def every_point(space: Space, limit: int) -> Points | None:
    """All points of a space, path by path, forbidden ones included; None if there are more than ``limit``.

    A space with a real parameter on any path counts as infinite.
    """
    if (space.layout.levels == 0).any():
        return None
    boxes = space.tree.all_paths(limit)
    if len(boxes) > limit or sum(_count(space, box) for box in boxes) > limit:
        return None
    points = space.snap(np.concatenate([_grid(space, box) for box in boxes]))
    # Where a condition compares two columns, boxes of different paths overlap.
    return distinct(space.layout, points)


def _count(space: Space, box: Path) -> float:
    """How many points a box holds."""
    ranks = [_ranks(space, box, column) for column in _open(space, box)]
    return prod(most - least + 1 for least, most in ranks)


def _grid(space: Space, box: Path) -> FloatArray:
    """(n, columns) every combination of the levels of the columns that are open in a box."""
    open_ = _open(space, box)
    axes = []
    for column in open_:
        least, most = _ranks(space, box, column)
        axes.append(space.parameters[column].domain.position(np.arange(least, most + 1)))
    combinations = list(product(*axes))
    grid = np.tile(box.low, (len(combinations), 1))
    grid[:, open_] = combinations
    return grid


def _open(space: Space, box: Path) -> list[int]:
    """The active columns that a box does not fix."""
    active = space.layout.active(box.on[None])[0]
    return np.flatnonzero(active & (box.low < box.high)).tolist()


def _ranks(space: Space, box: Path, column: int) -> tuple[float, float]:
    """The first and the last rank of a column in a box."""
    least, most = space.parameters[column].domain.rank_at(np.array([box.low[column], box.high[column]]))
    return float(least), float(most)
