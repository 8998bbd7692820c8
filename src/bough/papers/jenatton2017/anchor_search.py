"""The search of Jenatton et al. 2017, sec. 3: anchor points, first to choose a path, then a point on it.

The space is discretised once: every path has a quasi-random set of anchors, the same at every trial of a
study. Step one scores anchors of every path by the path EI of eq. (6). It maximises jointly over the path p
and its shared variables z_p, and reads only the posterior of the shared weights. Step two scores the anchors
of the chosen path by the EI of eq. (5); those that were tried are left out. From the most promising ones it
may refine the leaf's own variables.

Both criteria are convex in the shared variables (``two_step``), so over the whole box they are largest in a
corner. If every trial drew new anchors, the search would keep finding some beside the same corner, even a
poor one. In a finite set they are soon used up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.alternate import alternate_search
from bough.acquisition.maximise.candidates import CandidateFilter, best_of_each, best_row
from bough.papers.jenatton2017.two_step import PathCriterion, candidate_paths, shared_columns
from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.space.halton import halton
from bough.space.tree import Path, bounds_of

__all__ = ["RANKING_ANCHORS", "anchor_points", "anchor_search"]

RANKING_ANCHORS = 64
"""Anchors per path in step one. Every path is scored, so this number decides the cost of the step."""

STARTS = 4
"""The most promising anchors of step two, from which the leaf's variables may be refined."""


def anchor_search(
    space: Space,
    criterion: Criterion,
    path_criterion: PathCriterion,
    *,
    avoid: Points,
    rotation: FloatArray,
    rng: np.random.Generator,
    keep: int = 1,
    anchors: int = 1000,
    refine: bool = False,
) -> Points:
    """The best anchor by ``criterion`` on the ``keep`` best paths by ``path_criterion``: one row, or none.

    rotation: (columns,) of the quasi-random sequence; it decides where the anchors lie. anchors: per path.
    rng: draws paths if there are too many. refine: also look for better values of the leaf's variables.
    If every anchor must be avoided, the next best paths are searched.
    """
    boxes = candidate_paths(space, rng)
    allowed = CandidateFilter(space, avoid)
    points, owner = anchor_points(space, boxes, min(RANKING_ANCHORS, anchors), rotation)
    worth = np.where(space.legal(points), path_criterion(points), -np.inf)
    order = np.argsort(-worth[best_of_each(worth, owner, len(boxes))], kind="stable")
    for begin in range(0, len(order), keep):
        pool, _ = anchor_points(space, [boxes[row] for row in order[begin : begin + keep]], anchors, rotation)
        score = allowed.score(pool, criterion(pool))
        if refine:
            refined = _refine_leaf(space, criterion, pool.take(np.argsort(-score, kind="stable")[:STARTS]))
            score = np.concatenate([score, allowed.score(refined, criterion(refined))])
            pool = Points.concat([pool, refined])
        found = best_row(pool, score)
        if len(found):
            return found
    return avoid.take([])


def anchor_points(
    space: Space, boxes: Sequence[Path], each: int, rotation: FloatArray
) -> tuple[Points, IntArray]:
    """The first ``each`` anchors of every path, snapped, and the path (n,) of each; a fixed path has one."""
    low, high = bounds_of(boxes)
    counts = np.where((low < high).any(axis=1), each, 1)
    owner = np.repeat(np.arange(len(boxes)), counts)
    row = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    unit = halton(each, rotation)[row]
    return space.scatter(low[owner] + unit * (high - low)[owner]), owner


def _refine_leaf(space: Space, criterion: Criterion, starts: Points) -> Points:
    """The points reached when only the leaf's own variables move, snapped to legal values."""
    low, high = bounds_of(space.tree.path_of(starts))
    shared = shared_columns(space)
    low, high = np.where(shared, starts.x, low), np.where(shared, starts.x, high)
    return space.snap(alternate_search(space, criterion, starts, low, high)[0].x)
