"""The first points of a study: one per path of the space, from the middle part of its ranges.

With no result yet every branch deserves one look, and one that shows what it can do. A point that is
uniform in many dimensions is extreme in some of them, and ranges are drawn so that their ends are the
values nobody expects to be best. A space with hardly any paths gets a few points more, spread evenly
over all of it; one with very many gets a random subset of them, and what is left is explored
because the model is unsure about it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.space.sampling import path_points, spread_points
from bough.strategies.base import tried_points

__all__ = ["InitialDesign"]

FEWEST = 4
"""Points even where there are fewer paths: of less than that a model makes nothing."""

MIDDLE = 0.5
"""The share of a range, around its middle, from which the point of a path is drawn."""

MOST = 16
"""Beyond this many the model chooses better than a design does, whatever the number of paths."""

# a stream of random numbers of its own, apart from those of the trials (whose numbers start at 0)
_DESIGN_STREAM = 2**31


@dataclass(frozen=True)
class InitialDesign:
    """A design of ``count`` points; None: one per path, at least FEWEST and at most MOST."""

    count: int | None = None

    def size(self, space: Space) -> int:
        if self.count is not None:
            return self.count
        return min(max(space.tree.path_count(MOST), FEWEST), MOST)

    def points(self, space: Space, seed: int) -> Points:
        """The whole design: a function of the study's seed alone."""
        rng = np.random.default_rng([seed, _DESIGN_STREAM])
        size = self.size(space)
        first = path_points(space, size, rng, share=MIDDLE)
        if len(first) >= size:
            return first.take(slice(0, size))
        return Points.concat([first, spread_points(space, size - len(first), rng)])

    def next(self, space: Space, history: History) -> Points | None:
        """The next design point, or None when the design is done.

        Points that came from elsewhere (defaults, queued or added trials) count: a path they
        cover is not visited again.
        """
        tried = tried_points(history)
        if len(tried) >= self.size(space):
            return None
        design = self.points(space, history.seed)
        branch = space.tree.branch_ids(Points.concat([tried, design]))
        seen = set(branch[: len(tried)].tolist())
        for index, number in enumerate(branch[len(tried) :].tolist()):
            if number not in seen:
                return design.take([index])
        return design.take([len(tried)])
