"""Method ``pso``: a particle swarm on the flattened space (Kennedy & Eberhart 1995), replayed from the
history.

Every column is a coordinate of the unit cube, active or not. A generation is the next ``population`` finished
trials by number, one for each particle. A particle i at x with velocity v moves to x + v, where

    v ← w v + c r₁ (p_i − x) + c r₂ (g − x),    r₁, r₂ uniform in each coordinate,

p_i is the best position of the particle and g the best of the swarm; w and c are from Clerc & Kennedy 2002.
Nothing is remembered between proposals: all random numbers come from the study's seed, so a replay repeats
the swarm. If a trial is not at the particle's position (queued or added), its active values replace those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.history import SAME_POSITION, History
from bough.points import FloatArray, Points
from bough.space import Space
from bough.strategies import streams
from bough.strategies.base import SameReason, check_exhausted, finished_in_order, first_untried
from bough.strategies.designs import RandomSearch
from bough.strategies.options import Options, at_least, option

__all__ = ["ParticleSwarm", "as_tried"]

INERTIA, PULL = 0.7298, 1.4962
"""w and c of the constriction with which a swarm converges (Clerc & Kennedy 2002)."""


@dataclass(frozen=True)
class ParticleSwarm(SameReason, Options):
    """population: the number of particles."""

    population: int = option(12, at_least(2))

    reason = "the next position of a particle of the swarm"

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        check_exhausted(space, history)
        position, told = self._replay(space, history)
        return first_untried(space, history, position[told:]) or RandomSearch().propose(space, history, rng)

    def _replay(self, space: Space, history: History) -> tuple[FloatArray, int]:
        """The positions (particles, columns) of this generation, and how many of them have had their turn."""
        points, values = finished_in_order(history)
        shape = self.population, space.layout.columns
        rng = np.random.default_rng([history.seed, streams.SWARM])
        position, velocity = rng.random(shape), rng.uniform(-0.25, 0.25, shape)
        best, best_value = position.copy(), np.full(self.population, np.inf)
        told = 0
        while told + self.population <= len(points):
            generation = slice(told, told + self.population)
            position = as_tried(space, position, points.take(generation))
            better = values[generation] < best_value
            best[better], best_value[better] = position[better], values[generation][better]
            own, common = rng.random((2, *shape))
            leader = best[int(np.argmin(best_value))]
            velocity = (
                INERTIA * velocity + PULL * own * (best - position) + PULL * common * (leader - position)
            )
            moved = np.clip(position + velocity, 0.0, 1.0)
            velocity = np.where(moved == position + velocity, velocity, 0.0)  # stopped by the boundary
            position, told = moved, generation.stop
        return position, min(len(points) - told + len(history.pending), self.population)


def as_tried(space: Space, position: FloatArray, points: Points) -> FloatArray:
    """Positions (n, columns) of a replay, with the active values of the trials where these differ."""
    differs = np.abs(space.snap(position).x - points.x) > SAME_POSITION
    return np.where(space.layout.active(points.on) & differs, points.x, position)
