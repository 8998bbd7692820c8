"""A config to try next, from a study's method or, after too many lost races, at random."""

from __future__ import annotations

import numpy as np

from bough.errors import ExhaustedError
from bough.history import History
from bough.registry import BUILT_IN
from bough.strategies.base import Strategy, check_proposal
from bough.study.revising.model_space import ModelSpace
from bough.study.stopping.fidelities import Halving
from bough.trial import Config

__all__ = ["NO_LIMIT", "propose"]

NO_LIMIT = 2**48
"""More trials than there will ever be, and well within the integers of every database."""

MAX_RACES_LOST = 3
"""How many proposals may lose the race for a number before a point is drawn at random."""


def propose(
    name: str,
    model: ModelSpace,
    strategy: Strategy,
    history: History,
    halving: Halving | None,
    number: int,
    races_lost: int,
    room: int,
) -> tuple[Config, range]:
    """A config to try, and the numbers under which it may be inserted.

    name: of the method. halving: says which config is to be promoted to a higher fidelity; None without one.
    number: of the next trial.
    """
    this_number = range(number, number + 1)
    if halving is not None and (due := halving.due()) is not None:
        return due, this_number
    if races_lost < MAX_RACES_LOST:
        rng, numbers = np.random.default_rng([history.seed, number]), this_number
        try:
            point = strategy.propose(model.space, history, rng)
        except ExhaustedError:
            if halving is None or (left := halving.left()) is None:
                raise
            return left, this_number
    else:
        import secrets

        from bough.strategies.designs import RandomSearch  # seldom needed

        rng = np.random.default_rng([history.seed, number, secrets.randbits(63)])  # not what the others draw
        point, numbers = RandomSearch().propose(model.space, history, rng), range(number, number + room)
    if name not in BUILT_IN:
        check_proposal(model.space, point, name)
    config = model.decode(point)[0]
    return (config if halving is None else halving.begin(config)), numbers
