"""A config to try next, from a study's method or, after too many lost races, at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.errors import ExhaustedError
from bough.history import History
from bough.registry import BUILT_IN
from bough.strategies.base import Strategy, check_proposal
from bough.study.revising.model_space import ModelSpace
from bough.study.stopping.fidelities import Halving
from bough.trial import Config

__all__ = ["NO_LIMIT", "Proposer"]

NO_LIMIT = 2**48
"""More trials than there will ever be, and well within the integers of every database."""

MAX_RACES_LOST = 3
"""How many proposals may lose the race for a number before a point is drawn at random."""


@dataclass(frozen=True, eq=False)
class Proposer:
    """Everything that a proposal depends on, as a study read it at one moment.

    method: its name. halving: says which config is to be promoted to a higher fidelity; None without one.
    number: of the next trial.
    """

    method: str
    model: ModelSpace
    strategy: Strategy
    history: History
    halving: Halving | None
    number: int

    def propose(self, races_lost: int, room: int) -> tuple[Config, range]:
        """A config to try, and the numbers under which it may be inserted: ``room`` for a random one."""
        numbers, space, halving = range(self.number, self.number + 1), self.model.space, self.halving
        if halving is not None and (due := halving.due()) is not None:
            return due, numbers
        if races_lost < MAX_RACES_LOST:
            rng = np.random.default_rng([self.history.seed, self.number])
            try:
                point = self.strategy.propose(space, self.history, rng)
            except ExhaustedError:
                if halving is None or (left := halving.left()) is None:
                    raise
                return left, numbers
        else:
            import secrets

            from bough.strategies.designs import RandomSearch  # seldom needed

            seed = [self.history.seed, self.number, secrets.randbits(63)]  # not what the others draw
            point = RandomSearch().propose(space, self.history, np.random.default_rng(seed))
            numbers = range(self.number, self.number + room)
        if self.method not in BUILT_IN:
            check_proposal(space, point, self.method)
        config = self.model.decode(point)[0]
        return (config if halving is None else halving.begin(config)), numbers
