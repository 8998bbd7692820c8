"""The search of Jenatton et al. 2017, sec. 3: anchor points, first to choose a path, then a point on it.

Step one scores anchors of every path by the path EI of eq. (6). It maximises jointly over the path p and its
shared variables z_p, and reads only the posterior of the shared weights. Step two scores anchors of the
chosen path by the EI of eq. (5), and refines the most promising ones over the leaf's own variables.

Shared variables keep the values of their anchor. Both criteria are convex in them (``two_step``), so any
ascent would end in a corner of their box; the paper discretises the space first, and so does this.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.alternate import alternate_search
from bough.acquisition.maximise.candidates import CandidateFilter, best_of_each, best_row, spread
from bough.papers.jenatton2017.two_step import PathCriterion, candidate_paths, shared_columns
from bough.points import Points
from bough.space import Space

__all__ = ["anchor_search"]

RANKING_ANCHORS = 64
"""Anchors per path in step one. Every path is scored, so this number decides the cost of the step."""

STARTS = 4
"""The most promising anchors of step two, from which the leaf's variables are refined."""


def anchor_search(
    space: Space,
    criterion: Criterion,
    path_criterion: PathCriterion,
    *,
    avoid: Points,
    rng: np.random.Generator,
    keep: int = 1,
    anchors: int = 1000,
) -> Points:
    """The best anchor by ``criterion`` on the ``keep`` best paths by ``path_criterion``: one row, or none.

    anchors: per kept path. Where every anchor is to be avoided, the next best paths are searched.
    """
    boxes = candidate_paths(space, rng)
    allowed = CandidateFilter(space, avoid)
    points, owner = spread(space, boxes, RANKING_ANCHORS, rng)
    worth = np.where(space.legal(points), path_criterion(points), -np.inf)
    order = np.argsort(-worth[best_of_each(worth, owner, len(boxes))], kind="stable")
    for begin in range(0, len(order), keep):
        pool, _ = spread(space, [boxes[row] for row in order[begin : begin + keep]], anchors, rng)
        score = allowed.score(pool, criterion(pool))
        starts = pool.take(np.argsort(-score, kind="stable")[:STARTS])
        refined = _refine_leaf(space, criterion, starts)
        scores = np.concatenate([score, allowed.score(refined, criterion(refined))])
        found = best_row(Points.concat([pool, refined]), scores)
        if len(found):
            return found
    return avoid.take([])


def _refine_leaf(space: Space, criterion: Criterion, starts: Points) -> Points:
    """The points reached when only the leaf's own variables move, snapped to legal values."""
    boxes = space.tree.path_of(starts)
    low, high = np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])
    shared = shared_columns(space)
    low, high = np.where(shared, starts.x, low), np.where(shared, starts.x, high)
    return space.snap(alternate_search(space, criterion, starts, low, high)[0].x)
