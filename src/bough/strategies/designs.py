"""Designs that look at no result: random search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.space.sampling import sample_points
from bough.strategies.base import check_exhausted, row_keys, tried_points, unseen

__all__ = ["RandomSearch"]


@dataclass(frozen=True)
class RandomSearch:
    """Uniform draws: a choice first, then its children. In a finite space no configuration comes twice."""

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        if space.size == np.inf:
            return sample_points(space, 1, rng)
        check_exhausted(space, history)
        seen = set(row_keys(space, tried_points(history)))
        while True:  # ends: at least one configuration is left, and each draw may hit it
            fresh = unseen(space, sample_points(space, 64, rng), seen)
            if len(fresh):
                return fresh.take([0])

    def explain(self, space: Space, history: History, point: Points) -> dict[str, Any]:
        return {"reason": "drawn at random, whatever the results so far"}
