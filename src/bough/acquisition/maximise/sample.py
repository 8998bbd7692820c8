"""The simplest maximiser: the best of many uniform samples (Lévesque et al. 2017 use 1,000)."""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.finite import every_point
from bough.acquisition.maximise.pool import Allowed, top
from bough.points import Points
from bough.space import Space
from bough.space.sampling import sample_points

__all__ = ["best_of_samples"]

LISTED = 50_000
"""Configurations that are listed when sampling finds nothing new any more."""


def best_of_samples(
    space: Space,
    criterion: Criterion,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    samples: int = 1000,
) -> Points:
    """The best of uniform samples of the space that is not in ``avoid``; ``near`` plays no part.

    Where all samples are to be avoided, a space of not too many configurations is listed instead; no row
    if that does not help either.
    """
    allowed = Allowed(space, avoid)
    points = sample_points(space, samples, rng)
    found = top(points, allowed.score(points, criterion(points)))
    if not len(found) and (every := every_point(space, LISTED)) is not None:
        return top(every, allowed.score(every, criterion(every)))
    return found
