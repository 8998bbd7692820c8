"""Random trials between those of a model, as in SMAC: a safeguard against a wrong model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bough.history import History
from bough.points import FloatArray, Points
from bough.space import Space
from bough.strategies.designs import RandomSearch
from bough.strategies.model_based import ModelBased

__all__ = ["Interleaved"]


@dataclass(frozen=True)
class Interleaved:
    """random_fraction: probability that a trial is drawn at random, once there is an observation."""

    main: ModelBased
    random_fraction: float = 0.2
    uses_beliefs: ClassVar[bool] = True

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        if self._random_turn(history, rng):
            return RandomSearch().propose(space, history, rng)
        return self.main.propose(space, history, rng)

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        random = self._random_turn(history, rng)
        told = self.main.explain(space, history, point, rng)
        return {**told, "rule": "random", "reason": "drawn at random, to check the model"} if random else told

    def predict(self, history: History, points: Points) -> tuple[FloatArray, FloatArray]:
        return self.main.predict(history, points)

    def _random_turn(self, history: History, rng: np.random.Generator) -> bool:
        return bool(len(history.done)) and rng.random() < self.random_fraction
