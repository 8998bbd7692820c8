"""A strategy that every now and then draws at random instead, as SMAC does to stay honest about its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.designs import RandomSearch

__all__ = ["Interleaved"]


@dataclass(frozen=True)
class Interleaved:
    """share: probability with which a trial is drawn at random, once there is a result."""

    main: Strategy
    share: float = 0.2

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        if len(history.done) and rng.random() < self.share:
            return RandomSearch().propose(space, history, rng)
        return self.main.propose(space, history, rng)

    def explain(self, space: Space, history: History, point: Points) -> dict[str, Any]:
        told = self.main.explain(space, history, point)
        return {
            **told,
            "reason": f"{told['reason']}, or drawn at random (every {1 / self.share:.0f}th trial)",
        }
