"""Where a search starts: candidates spread over every path, and around the best points so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.space.halton import halton
from bough.space.neighbourhood import perturb
from bough.space.tree import Path

__all__ = ["near_incumbents", "select_starts", "spread", "transplant"]

STEP_WIDTHS = (0.1, 0.01)
"""Steps around good points: a wide one to leave the floor of a basin, a narrow one to settle on it."""

MAX_INCUMBENTS = 8
"""Branches whose best point gets candidates around it."""

MIN_START_DISTANCE = 0.25
"""Two starts on one branch differ by at least this much in some column, or they would reach the same peak."""


def spread(
    space: Space, boxes: Sequence[Path], each: int, rng: np.random.Generator
) -> tuple[Points, IntArray]:
    """``each`` quasi-random points in every box, snapped, and the box (n,) that each was put in.

    A box in which all columns are fixed gets one point.
    """
    low = np.stack([box.low for box in boxes])
    high = np.stack([box.high for box in boxes])
    counts = np.where((low < high).any(axis=1), each, 1)
    owner = np.repeat(np.arange(len(boxes)), counts)
    unit = halton(low.shape[1], rng)(len(owner))
    return space.scatter(low[owner] + unit * (high - low)[owner]), owner


def transplant(space: Space, boxes: Sequence[Path], point: Points) -> Points:
    """One point per box: the values of ``point`` (one row) in the columns that both have."""
    x = np.where(space.layout.active(point.on), point.x, 0.5)
    return space.snap(np.clip(x, np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])))


def near_incumbents(space: Space, near: Points, copies: int, rng: np.random.Generator) -> Points:
    """``copies`` random steps of each width around the best point of each branch; ``near`` is best first."""
    if not len(near):
        return near
    _, first = np.unique(space.tree.branch_ids(near), return_index=True)
    leaders = np.repeat(np.sort(first)[:MAX_INCUMBENTS], copies)
    return perturb(space, near.take(leaders), rng, *STEP_WIDTHS)


def select_starts(space: Space, points: Points, value: FloatArray, branches: int, starts: int) -> IntArray:
    """Rows to start from: the best ones, well apart, of each of the ``branches`` best branches.

    The branches share ``starts`` evenly: the fewer branches, the more starts on each.
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
            rows = rows[np.abs(x[rows] - x[last]).max(axis=1, initial=0.0) > MIN_START_DISTANCE]
            if not len(rows):
                break
            last = rows[0]
            chosen.append(int(last))
    return np.array(chosen, dtype=np.intp)
