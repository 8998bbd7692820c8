"""Decisions that take turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from bough.points import Points
from bough.strategies.decisions import Decision, in_turn


def test_decisions_take_turns_by_the_number_of_the_trial() -> None:
    def always(value: float) -> Decision:
        return lambda now, rng: Points(np.full((1, 1), value), np.ones((1, 1), dtype=bool))

    decide = in_turn(always(0.1), always(0.2), always(0.3))
    rng = np.random.default_rng(0)
    found = [decide(cast(Any, SimpleNamespace(number=n)), rng).x[0, 0] for n in (0, 1, 2, 3, 7)]
    assert found == [0.1, 0.2, 0.3, 0.1, 0.2]
