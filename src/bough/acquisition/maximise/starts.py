"""Where a search begins: candidates spread over every path, and around the best points so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.space.halton import halton
from bough.space.sampling import perturb
from bough.space.tree import Path

__all__ = ["around", "choose", "spread", "transplant"]

SCALES = (0.1, 0.01)
"""Widths of the steps around good points: one to leave a basin's floor, one to settle on it."""

APART = 0.25
"""Two starts on one branch must differ by this much in some column, or they would climb the same hill."""


def spread(
    space: Space, boxes: Sequence[Path], each: int, rng: np.random.Generator
) -> tuple[Points, IntArray]:
    """``each`` quasi-random points in every box, snapped, and the box (n,) that each was put in.

    A box that leaves nothing to choose gets one point.
    """
    low = np.stack([box.low for box in boxes])
    high = np.stack([box.high for box in boxes])
    counts = np.where((low < high).any(axis=1), each, 1)
    owner = np.repeat(np.arange(len(boxes)), counts)
    unit = halton(low.shape[1], rng)(len(owner))
    return space.snap(low[owner] + unit * (high - low)[owner]), owner


def transplant(space: Space, boxes: Sequence[Path], point: Points) -> Points:
    """One point per box: what ``point`` (one row) says of the columns it has in common with it."""
    x = np.where(space.layout.active(point.on), point.x, 0.5)
    return space.snap(np.clip(x, np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])))


def around(space: Space, near: Points, copies: int, rng: np.random.Generator, most: int = 8) -> Points:
    """``copies`` random steps of each width around the best point of each branch; ``near`` is best first."""
    if not len(near):
        return near
    _, first = np.unique(space.tree.branch_ids(near), return_index=True)
    leaders = np.repeat(np.sort(first)[:most], copies)
    return Points.concat([perturb(space, near.take(leaders), rng, scale) for scale in SCALES])


def choose(space: Space, points: Points, value: FloatArray, branches: int, starts: int) -> IntArray:
    """Rows to start from: the best ones, well apart, of each of the ``branches`` best branches.

    ``starts`` in all are shared out evenly, so that on few branches each gets more of them.
    """
    branch, active = space.tree.branch_ids(points), space.layout.active(points.on)
    order = np.argsort(-value, kind="stable")
    order = order[value[order] > -np.inf]
    _, first = np.unique(branch[order], return_index=True)
    leaders = order[np.sort(first)[:branches]]
    each = starts // max(len(leaders), 1)
    chosen: list[int] = []
    for leader in leaders:
        x = points.x[:, active[leader]]
        rows, last = order[branch[order] == branch[leader]], leader
        chosen.append(int(leader))
        for _ in range(each - 1):
            rows = rows[np.abs(x[rows] - x[last]).max(axis=1, initial=0.0) > APART]
            if not len(rows):
                break
            last = rows[0]
            chosen.append(int(last))
    return np.array(chosen, dtype=np.intp)
