"""Candidates of a search: where they lie, which of them may be proposed, and from which the search starts.

They are spread over every path and around the best points so far. In a small space they are all its points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray, Points, distinct, row_hashes, row_keys, rows_among
from bough.space import Space
from bough.space.halton import halton
from bough.space.neighbourhood import perturb
from bough.space.tree import Path, bounds_of

__all__ = [
    "CANDIDATES",
    "CANDIDATES_PER_INCUMBENT",
    "CandidateFilter",
    "best_of_each",
    "best_row",
    "every_point",
    "near_incumbents",
    "select_starts",
    "spread",
    "spread_candidates",
    "transplant",
]

CANDIDATES = 512
"""Quasi-random candidates on all paths together."""

MIN_CANDIDATES_PER_PATH = 16

CANDIDATES_PER_INCUMBENT = 8
"""Random steps of each width around the best point of a branch."""

STEP_WIDTHS = (0.1, 0.01)
"""Steps around good points: a wide one to leave the floor of a basin, a narrow one to settle on it."""

MAX_INCUMBENTS = 8
"""Branches whose best point gets candidates around it."""

MIN_START_DISTANCE = 0.25
"""Two starts on one branch differ by at least this much in some column; closer ones reach the same peak."""


@dataclass(frozen=True, eq=False)
class CandidateFilter:
    """Accepts legal points that are not in ``avoid``."""

    space: Space
    avoid: Points

    def mask(self, points: Points) -> BoolArray:
        """(n,) whether each point may be proposed."""
        allowed, layout = self.space.legal(points), self.space.layout
        hashes, avoided = row_hashes(layout, points), row_hashes(layout, self.avoid)
        twins = rows_among(avoided, hashes)
        if len(twins):
            found, first = np.unique(avoided[twins], return_index=True)
            suspects = rows_among(hashes, found)
            own = row_keys(layout, points.take(suspects))
            likely = self.avoid.take(twins[first[np.searchsorted(found, hashes[suspects])]])
            tried = [one == other for one, other in zip(own, row_keys(layout, likely))]
            if not all(tried):  # different rows with one hash
                known = set(row_keys(layout, self.avoid.take(twins)))
                tried = [key in known for key in own]
            allowed[suspects[tried]] = False
        return allowed

    def score(self, points: Points, value: FloatArray) -> FloatArray:
        """(n,) the values, -inf for points that may not be proposed or whose value is NaN."""
        return np.where(self.mask(points) & ~np.isnan(value), value, -np.inf)


def best_row(points: Points, score: FloatArray) -> Points:
    """The point with the largest score, as one row; no row if all scores are -inf."""
    return points.take([int(np.argmax(score))] if (score > -np.inf).any() else [])


def best_of_each(score: FloatArray, owner: IntArray, owners: int) -> IntArray:
    """(owners,) the row with the largest score among those of each owner; in ties the first.

    The rows of an owner are contiguous, in the order of owners; each owner has at least one.
    """
    score = np.where(np.isnan(score), -np.inf, score)
    ends = np.searchsorted(owner, np.arange(owners + 1)).tolist()
    return np.array([a + int(np.argmax(score[a:b])) for a, b in pairwise(ends)], dtype=np.intp)


def spread_candidates(
    space: Space, boxes: Sequence[Path], near: Points, rng: np.random.Generator, count: int = CANDIDATES
) -> Points:
    """``count`` points all over the boxes, and more around the best tried ones; ``near`` is best first."""
    everywhere, _ = spread(space, boxes, max(count // len(boxes), MIN_CANDIDATES_PER_PATH), rng)
    return Points.concat([everywhere, near_incumbents(space, near, CANDIDATES_PER_INCUMBENT, rng)])


def spread(
    space: Space, boxes: Sequence[Path], each: int, rng: np.random.Generator
) -> tuple[Points, IntArray]:
    """``each`` quasi-random points in every box, snapped, and the box (n,) that each was put in.

    A box in which all columns are fixed gets one point.
    """
    low, high = bounds_of(boxes)
    counts = np.where((low < high).any(axis=1), each, 1)
    owner = np.repeat(np.arange(len(boxes)), counts)
    unit = halton(len(owner), rng.random(space.layout.columns))
    return space.scatter(low[owner] + unit * (high - low)[owner]), owner


def transplant(space: Space, boxes: Sequence[Path], point: Points) -> Points:
    """One point per box: the values of ``point`` (one row) in the columns that both have."""
    x = np.where(space.layout.active(point.on), point.x, 0.5)
    return space.snap(np.clip(x, *bounds_of(boxes)))


def near_incumbents(space: Space, near: Points, copies: int, rng: np.random.Generator) -> Points:
    """``copies`` random steps of each width around the best point of each branch; ``near`` is best first.

    A step that would be forbidden stays at its point, which is left out if the space forbids that, too.
    """
    if not len(near):
        return near
    _, first = np.unique(space.tree.branch_ids(near), return_index=True)
    leaders = np.repeat(np.sort(first)[:MAX_INCUMBENTS], copies)
    found = perturb(space, near.take(leaders), rng, *STEP_WIDTHS)
    return found.take(space.legal(found))


def select_starts(space: Space, points: Points, value: FloatArray, branches: int, starts: int) -> IntArray:
    """At most ``starts`` rows to start from: the best ones, well apart, of the ``branches`` best branches.

    The branches share ``starts`` evenly: the fewer branches, the more starts on each.
    """
    branch = space.tree.branch_ids(points)
    order = np.argsort(-value, kind="stable")
    order = order[value[order] > -np.inf]
    _, first = np.unique(branch[order], return_index=True)
    leaders = order[np.sort(first)[: min(branches, starts)]]
    each = starts // max(len(leaders), 1)
    if each <= 1:
        return leaders
    chosen, active = list[int](), space.layout.active(points.on)
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
