"""Method ``forest``: a random forest, local search and some random trials, as in SMAC."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bough.acquisition.functions import LOG_EI
from bough.acquisition.maximise.local import local_search
from bough.gp.output_transform import OutputTransform
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.decisions import maximise_with
from bough.strategies.initial import initial_design
from bough.strategies.interleave import Interleaved
from bough.strategies.model_based import ModelBased
from bough.strategies.options import INITIAL, SHARE, WORKING_SET, Options, at_least, option, require
from bough.strategies.working_set import LIMIT
from bough.surrogates.forest import Forest

__all__ = ["RandomForest"]

LOCAL_SEARCH_STARTS = 5


@dataclass(frozen=True)
class RandomForest(Options):
    """Hutter, Hoos & Leyton-Brown 2011. random_fraction: share of trials drawn at random."""

    trees: int = option(10, at_least(1))
    random_fraction: float = option(0.2, SHARE)
    initial: int | str | tuple[str, int] | None = option(None, INITIAL)
    working_set: int = option(LIMIT, WORKING_SET)

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
