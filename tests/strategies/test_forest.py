"""Random trials between those of a strategy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.strategies.histories import history

from bough import Float, Space
from bough.history import History
from bough.points import Points
from bough.strategies.forest import Interleaved

SPACE = Space({"x": Float(0, 1)})


@dataclass(frozen=True)
class Middle:
    """Always the same point."""

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        return space.encode([{"x": 0.5}])

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        return {"reason": "the middle"}


def proposals(done: list[tuple[dict[str, Any], float]], n: int) -> np.ndarray:
    seen = history(SPACE, done)
    strategy = Interleaved(Middle(), random_fraction=0.25)  # type: ignore[arg-type]
    return np.array([strategy.propose(SPACE, seen, np.random.default_rng([0, i])).x[0, 0] for i in range(n)])


def test_a_share_of_the_trials_is_random() -> None:
    x = proposals([({"x": 0.1}, 1.0)], 400)
    drawn = x[x != 0.5]
    assert 0.18 < len(drawn) / 400 < 0.32
    assert len(np.unique(drawn)) == len(drawn)


def test_before_any_result_the_strategy_decides() -> None:
    assert np.all(proposals([], 50) == 0.5)


def test_explanations_name_the_trials_that_were_drawn_at_random() -> None:
    seen = history(SPACE, [({"x": 0.1}, 1.0)])
    strategy = Interleaved(Middle(), random_fraction=0.25)  # type: ignore[arg-type]
    reasons = set()
    for number in range(40):
        point = strategy.propose(SPACE, seen, np.random.default_rng([0, number]))
        told = strategy.explain(SPACE, seen, point, np.random.default_rng([0, number]))
        drawn = point.x[0, 0] != 0.5
        assert told["reason"] == ("drawn at random, to check the model" if drawn else "the middle")
        reasons.add(told["reason"])
    assert len(reasons) == 2


def test_a_queued_trial_was_not_drawn_at_random() -> None:
    seen, queued = history(SPACE, [({"x": 0.1}, 1.0)]), SPACE.encode([{"x": 0.7}])
    strategy = Interleaved(Middle(), random_fraction=0.25)  # type: ignore[arg-type]
    told = [strategy.explain(SPACE, seen, queued, np.random.default_rng([0, i])) for i in range(40)]
    assert not any("drawn at random" in each["reason"] for each in told)
    assert any(each.get("rule") == "not the method" for each in told)
