"""The first points of a study: one per path of the space and a few more, spread by a Sobol sequence.

With no result yet every branch deserves one look. A space with very many paths gets a random
subset of them; what is left is explored because the model is unsure about it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.acquisition.maximise.starts import branch_of
from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.space.sampling import path_points, sobol_points
from bough.strategies.base import tried_points

__all__ = ["InitialDesign"]

MORE = 4
"""Points besides one per path: a model that starts with less spends its first trials on corners."""

MOST = 16
"""Beyond this many the model chooses better than a design does, whatever the number of paths."""

# a stream of random numbers of its own, apart from those of the trials (whose numbers start at 0)
_DESIGN_STREAM = 2**31


@dataclass(frozen=True)
class InitialDesign:
    """A design of ``count`` points; None: one per path and MORE, at most MOST."""

    count: int | None = None

    def size(self, space: Space) -> int:
        if self.count is not None:
            return self.count
        return min(space.tree.path_count(MOST) + MORE, MOST)

    def points(self, space: Space, seed: int) -> Points:
        """The whole design: a function of the study's seed alone."""
        rng = np.random.default_rng([seed, _DESIGN_STREAM])
        size = self.size(space)
        first = path_points(space, size, rng)
        if len(first) >= size:
            return first.take(slice(0, size))
        return Points.concat([first, sobol_points(space, size - len(first), rng)])

    def next(self, space: Space, history: History) -> Points | None:
        """The next design point, or None when the design is done.

        Points that came from elsewhere (defaults, queued or added trials) count: a path they
        cover is not visited again.
        """
        tried = tried_points(history)
        if len(tried) >= self.size(space):
            return None
        design = self.points(space, history.seed)
        branch = branch_of(space, Points.concat([tried, design]))
        seen = set(branch[: len(tried)].tolist())
        for index, number in enumerate(branch[len(tried) :].tolist()):
            if number not in seen:
                return design.take([index])
        return design.take([len(tried)])
