"""The simplest maximisers: the best of many uniform samples, or of a dense grid, without gradients."""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import CandidateFilter, best_row, every_point
from bough.points import Points, distinct
from bough.space import Space
from bough.space.sampling import sample_points, sobol_points

__all__ = ["best_of_samples", "best_of_sobol"]

MAX_LISTED_POINTS = 50_000
"""If sampling finds nothing new, a space with at most this many configurations is listed."""


def best_of_samples(
    space: Space,
    criterion: Criterion,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    samples: int = 1000,
) -> Points:
    """The best of uniform samples that is not in ``avoid`` (Lévesque et al. 2017). ``near`` is ignored.

    If ``avoid`` holds all samples, every configuration of a small space is scored; in a large one, no row is
    returned.
    """
    allowed = CandidateFilter(space, avoid)
    points = sample_points(space, samples, rng)
    found = best_row(points, allowed.score(points, criterion(points)))
    if not len(found) and (every := every_point(space, MAX_LISTED_POINTS)) is not None:
        return best_row(every, allowed.score(every, criterion(every)))
    return found


def best_of_sobol(
    space: Space,
    criterion: Criterion,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    points: int = 20_000,
) -> Points:
    """The best of a dense Sobol grid that is not in ``avoid``; no row if there is none. ``near`` is ignored.

    For criteria with jumps: a treed model has one at every split (Spearmint and Assael et al. 2014 use
    20,000 points). A finite space no larger than the grid is listed completely; otherwise points that
    snap to the same configuration are scored once.
    """
    grid = every_point(space, points)
    if grid is None:
        grid = sobol_points(space, points, rng)
        if space.size < np.inf:
            grid = distinct(space.layout, grid)
    return best_row(grid, CandidateFilter(space, avoid).score(grid, criterion(grid)))
