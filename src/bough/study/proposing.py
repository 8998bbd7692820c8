"""A point to try next, from a study's method or, after too many lost races, at random."""

from __future__ import annotations

import numpy as np

from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.strategies.base import Strategy

__all__ = ["NO_LIMIT", "propose"]

NO_LIMIT = 2**48
"""More trials than there will ever be, and well within the integers of every database."""

MAX_RACES_LOST = 3
"""How many proposals may lose the race for a number before a point is drawn at random."""


def propose(
    strategy: Strategy, space: Space, history: History, races_lost: int, room: int
) -> tuple[Points, range]:
    """A point to try, and the numbers under which it may be inserted."""
    number = history.number
    if races_lost < MAX_RACES_LOST:
        rng = np.random.default_rng([history.seed, number])
        return strategy.propose(space, history, rng), range(number, number + 1)
    import secrets

    from bough.strategies.designs import RandomSearch  # seldom needed

    rng = np.random.default_rng([history.seed, number, secrets.randbits(63)])  # not what the others draw
    return RandomSearch().propose(space, history, rng), range(number, number + room)
