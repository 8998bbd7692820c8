"""The class of all benchmark problems: a space, a function to minimise, and facts about its optimum."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

import bough

Config = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """A function over a branching space.

    function: the function that the search sees; if it raises or returns NaN, the trial fails.
    optimum: the smallest possible (noiseless) value, or None if unknown.
    branch:  the branch of a config, to judge whether a search found the right branch.
    best_branch: the branch of the optimum, or None.
    test:    the score of a config on data that the search never sees, or None.
    noiseless: the true value of a config if ``function`` is noisy, else None. A study gets
        ``function(config)``; its results are judged by ``score(config, value)``. The noise of the k-th
        evaluation is fixed by the problem's seed, so build a new problem for each study.
    """

    name: str
    space: bough.Space
    function: Callable[[Config], float]
    optimum: float | None
    branch: Callable[[Config], Hashable]
    best_branch: Hashable | None = None
    test: Callable[[Config], float] | None = None
    noiseless: Callable[[Config], float] | None = None

    def score(self, config: Config, value: float) -> float:
        """The score of an evaluation of ``config`` that returned ``value``: the value without its noise."""
        return value if self.noiseless is None else self.noiseless(config)

    def log10_gap(self, value: float) -> float:
        """log10 of the distance to the optimum, with a floor at 1e-16."""
        assert self.optimum is not None
        return float(np.log10(max(value - self.optimum, 1e-16)))
