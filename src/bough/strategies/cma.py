"""CMA-ES (Hansen 2016) on the flattened space, replayed from the history by the ``cmaes`` package.

Every column is a coordinate of the unit cube, active or not. A generation is the next ``population`` finished
trials by number. The state of the search follows from all complete generations, so nothing is remembered
between proposals. Failed trials rank last. In a replay the optimiser repeats its draws. If a draw matches the
trial, the optimiser gets the full vector, including inactive coordinates and the position inside a category
or grid cell, so a replayed search equals the original one. For other trials (queued, added, or asked in
another order) the draw fills in the missing coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bough.history import History
from bough.points import FloatArray, Points
from bough.space import Space
from bough.strategies import streams
from bough.strategies.base import SameReason, check_exhausted, finished_in_order, first_untried
from bough.strategies.designs import RandomSearch
from bough.strategies.options import POSITIVE, Options, at_least, option, require
from bough.strategies.pso import as_tried

if TYPE_CHECKING:
    from cmaes import CMA

__all__ = ["CmaSearch"]

MIN_COORDINATES = 2
"""The package needs two coordinates; a space with fewer columns gets idle ones."""

MAX_RESAMPLES = 10
"""Draws outside the cube before one is clipped: with many columns hardly any draw is inside."""

MAX_REDRAWS = 64
"""Draws that were tried before or are forbidden, until random search takes over."""


@dataclass(frozen=True)
class CmaSearch(SameReason, Options):
    """sigma: first step size. population: size of a generation (None: 4 + 3 ln columns).

    A search that has converged starts again from a random place with twice the population (IPOP,
    Auger & Hansen 2005).
    """

    sigma: float = option(0.25, POSITIVE)
    population: int | None = option(None, at_least(4, or_none=True))

    reason = "drawn from the normal distribution that CMA-ES has adapted to the best trials"

    def __post_init__(self) -> None:
        super().__post_init__()
        require("cmaes", "method 'cma' needs the cmaes package: pip install 'bough-opt[cma]'")

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        check_exhausted(space, history)
        optimiser, unused = self._replay(space, history)
        for _ in range(unused):
            optimiser.ask()  # the draws of running trials
        draws = (optimiser.ask()[: space.layout.columns] for _ in range(MAX_REDRAWS))
        return first_untried(space, history, draws) or RandomSearch().propose(space, history, rng)

    def _replay(self, space: Space, history: History) -> tuple[CMA, int]:
        """The optimiser after all complete generations, and the number of trials since."""
        points, values = finished_in_order(history)
        rng = np.random.default_rng([history.seed, streams.CMA_GENERATIONS])
        optimiser = self._start(space, rng, self.population)
        told = 0
        while told + optimiser.population_size <= len(points):
            generation = slice(told, told + optimiser.population_size)
            vectors = _vectors(space, optimiser, points.take(generation))
            optimiser.tell(list(zip(vectors, values[generation].tolist())))
            told = generation.stop
            if optimiser.should_stop():
                optimiser = self._start(space, rng, 2 * optimiser.population_size)
        return optimiser, len(points) - told + len(history.pending)

    def _start(self, space: Space, rng: np.random.Generator, population: int | None) -> CMA:
        from cmaes import CMA

        columns = max(space.layout.columns, MIN_COORDINATES)
        return CMA(
            mean=rng.uniform(0.25, 0.75, columns),
            sigma=self.sigma,
            bounds=np.tile([0.0, 1.0], (columns, 1)),
            n_max_resampling=MAX_RESAMPLES,
            seed=int(rng.integers(2**31)),
            population_size=population,
        )


def _vectors(space: Space, optimiser: CMA, points: Points) -> FloatArray:
    """(n, coordinates) vectors for the optimiser: a draw each, corrected where the trial differs."""
    draws = np.stack([optimiser.ask() for _ in range(len(points))])
    own = draws[:, : space.layout.columns]
    own[:] = as_tried(space, own, points)
    return draws
