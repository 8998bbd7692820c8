"""The first points of a study: one per path of the space, from the middle half of its ranges.

Before any observation, every branch gets one look, at a point that represents it fairly. A uniform point in
many dimensions is extreme in some of them, and users choose ranges whose ends they do not expect to be best.
A space with few paths gets more points, spread evenly. A space with very many paths gets a random
subset of them; the model explores the rest because it is uncertain there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.space.sampling import path_points, spread_points
from bough.strategies.base import tried_points
from bough.strategies.beliefs import draw_believed

__all__ = ["InitialDesign"]

MIN_POINTS = 4
"""Points even if there are fewer paths: a model cannot be fitted to fewer."""

MIDDLE_SHARE = 0.5
"""The share of a range, around its middle, from which the point of a path is drawn."""

MAX_POINTS = 16
"""From here on the model chooses better than a design, whatever the number of paths."""

# a separate random stream: those of the trials are seeded by numbers from 0 on
_DESIGN_STREAM = 2**31
_BELIEF_STREAM = 2**31 + 4


@dataclass(frozen=True)
class InitialDesign:
    """A design of ``count`` points; None: one per path, at least MIN_POINTS and at most MAX_POINTS."""

    count: int | None = None

    def size(self, space: Space) -> int:
        if self.count is not None:
            return self.count
        return min(max(space.tree.path_count(MAX_POINTS), MIN_POINTS), MAX_POINTS)

    def points(self, space: Space, seed: int) -> Points:
        """The whole design. It depends on the study's seed only."""
        rng = np.random.default_rng([seed, _DESIGN_STREAM])
        size = self.size(space)
        first = path_points(space, size, rng, share=MIDDLE_SHARE)
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
        if history.beliefs:
            design, believed = self._believed(space, history, design)
            if len(tried) % 2 == 0 and believed is not None:
                return believed.take([len(tried)])
        branch = space.tree.branch_ids(Points.concat([tried, design]))
        seen = set(branch[: len(tried)].tolist())
        for index, number in enumerate(branch[len(tried) :].tolist()):
            if number not in seen:
                return design.take([index])
        return design.take([len(tried)])

    def _believed(self, space: Space, history: History, design: Points) -> tuple[Points, Points | None]:
        """The design drawn from the beliefs, and with beliefs about branches another one on likely branches.

        The two take turns, so an unlikely branch still gets its look if there are enough turns.
        """
        rng = np.random.default_rng([history.seed, _BELIEF_STREAM])
        drawn = draw_believed(space, history.beliefs, design, rng, branches=False)
        if not any(space.layout.switch[belief.column] for belief in history.beliefs):
            return drawn, None
        return drawn, draw_believed(space, history.beliefs, design, rng, branches=True)
