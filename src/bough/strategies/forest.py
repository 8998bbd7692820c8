"""Method ``forest``: a random forest, local search and some random trials, as in SMAC."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bough.acquisition.functions import LOG_EI
from bough.acquisition.maximise.local import local_search
from bough.gp.output_transform import OutputTransform
from bough.history import History
from bough.points import FloatArray, Points
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.context import Choice, repeated_choice
from bough.strategies.decisions import maximise_with
from bough.strategies.designs import RandomSearch
from bough.strategies.initial import initial_design
from bough.strategies.model_based import ModelBased
from bough.strategies.options import INITIAL, SHARE, WORKING_SET, Options, at_least, option, require
from bough.surrogates.forest import Forest

__all__ = ["Interleaved", "RandomForest"]

LOCAL_SEARCH_STARTS = 5


@dataclass(frozen=True)
class RandomForest(Options):
    """Hutter, Hoos & Leyton-Brown 2011. random_fraction: share of trials drawn at random."""

    trees: int = option(10, at_least(1))
    random_fraction: float = option(0.2, SHARE)
    initial: int | str | tuple[str, int] | None = option(None, INITIAL)
    working_set: int = option(400, WORKING_SET)

    def strategy(self, space: Space) -> Strategy:
        require(
            "sklearn.tree",
            "method 'forest' needs the scikit-learn package: pip install 'bough-opt[sklearn]'",
        )
        model = ModelBased(
            Forest(space.layout, self.trees),
            maximise_with(partial(local_search, starts=LOCAL_SEARCH_STARTS)),
            LOG_EI,
            initial_design(self.initial),
            fit_transform=OutputTransform.logarithm,
            working_set=self.working_set,
        )
        return Interleaved(model, self.random_fraction)


@dataclass(frozen=True)
class Interleaved:
    """Random trials between the trials of a model: a safeguard against a wrong model.

    random_fraction: probability that a trial is drawn at random, once there is an observation.
    """

    main: ModelBased
    random_fraction: float = 0.2
    uses_beliefs: ClassVar[bool] = True

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        if self._random_turn(history, rng):
            return self._draw(space, history, rng).points
        return self.main.propose(space, history, rng)

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        if not self._random_turn(history, rng):
            return self.main.explain(space, history, point, rng)
        chosen = repeated_choice(space, point, lambda: self._draw(space, history, rng))
        told = self.main.explain(space, history, point, rng)
        return {**told, "rule": chosen.rule, "reason": chosen.reason}

    def predict(self, history: History, points: Points) -> tuple[FloatArray, FloatArray]:
        return self.main.predict(history, points)

    @staticmethod
    def _draw(space: Space, history: History, rng: np.random.Generator) -> Choice:
        point = RandomSearch().propose(space, history, rng)
        return Choice(point, "drawn at random, to check the model", "random")

    def _random_turn(self, history: History, rng: np.random.Generator) -> bool:
        return bool(len(history.done)) and rng.random() < self.random_fraction
