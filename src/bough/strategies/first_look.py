"""Where to look first in a space that is still being learned: at options that no trial has taken yet.

A declared space says which branches there are, and the initial design visits each of them once. A learned
space has only the branches that trials went to: an option that no trial took may have parameters that are
still unknown. So every option of a categorical parameter gets a trial before the model decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.points import FloatArray, Points
from bough.space import Space
from bough.space.parameters import Categorical, Domain

__all__ = ["MIDDLE_SHARE", "first_look", "fresh_answer", "is_design"]

MIDDLE_SHARE = 0.5
"""The share of a range, around its middle, from which a first value is drawn."""

DRAWS = 64
"""Random points that are drawn to find a legal one with the wanted option."""


def first_look(space: Space, tried: Points, rng: np.random.Generator) -> Points | None:
    """A point with an option that no trial has taken, numbers from the middle of their ranges.

    None if every option was taken.
    """
    active = space.layout.active(tried.on)
    for column, parameter in enumerate(space.parameters):
        if not isinstance(parameter.domain, Categorical):
            continue
        taken = parameter.domain.rank_at(tried.x[active[:, column], column])
        for option in np.setdiff1d(np.arange(len(parameter.domain.options)), taken):
            x = np.column_stack([_positions(each.domain, rng, DRAWS) for each in space.parameters])
            x[:, column] = parameter.domain.position(np.array([float(option)]))[0]
            points = space.snap(x)
            points = points.take(space.legal(points) & space.layout.active(points.on)[:, column])
            if len(points):
                return points.take([0])
    return None


def fresh_answer(name: str, domain: Domain, rng: np.random.Generator, *, uniform: bool) -> Any:
    """A first value for an unknown parameter. uniform: drawn from its whole range, as designs do."""
    space = Space({name: domain})
    if uniform:
        return space.sample(1, rng)[0][name]
    return space.decode(space.snap(_positions(domain, rng, 1)[:, None]))[0][name]


def is_design(strategy: object) -> bool:
    """Whether a strategy ignores all results."""
    return bool(getattr(strategy, "ignores_values", False))


def _positions(domain: Domain, rng: np.random.Generator, n: int) -> FloatArray:
    drawn = rng.random(n)
    return drawn if isinstance(domain, Categorical) else 0.5 + MIDDLE_SHARE * (drawn - 0.5)
