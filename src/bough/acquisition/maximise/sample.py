"""The simplest maximiser: the best of many uniform samples (Lévesque et al. 2017 use 1,000)."""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import CandidateFilter, best_row, every_point
from bough.points import Points
from bough.space import Space
from bough.space.sampling import sample_points

__all__ = ["best_of_samples"]

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
    """The best of uniform samples of the space that is not in ``avoid``. ``near`` is ignored.

    If ``avoid`` holds all samples, every configuration of a small space is scored; in a large one, no row is
    returned.
    """
    allowed = CandidateFilter(space, avoid)
    points = sample_points(space, samples, rng)
    found = best_row(points, allowed.score(points, criterion(points)))
    if not len(found) and (every := every_point(space, MAX_LISTED_POINTS)) is not None:
        return best_row(every, allowed.score(every, criterion(every)))
    return found
