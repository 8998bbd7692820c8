"""Decisions: trials that trust the means of the model take turns with those that weigh what is unsure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.acquisition.criterion import Expected
from bough.acquisition.functions import LOG_EI
from bough.points import Points
from bough.registry import method, strategy_for
from bough.strategies.decisions import TRUST, Situation, trusting
from bough.strategies.model_based import ModelBased

SPACE = bough.Space({"x": bough.Float(0, 1)})
RESULTS = [({"x": x}, (x - 0.3) ** 2) for x in (0.1, 0.4, 0.55, 0.8)]


def situation(number: int) -> Situation:
    strategy = strategy_for(method("auto", inward=False, initial=4), SPACE)
    assert isinstance(strategy, ModelBased)
    seen: list[Situation] = []

    def decide(now: Situation, rng: np.random.Generator) -> Points:
        seen.append(now)
        return now.done.take([0])

    told = replace(history(SPACE, RESULTS), number=number)
    replace(strategy, decide=decide).propose(SPACE, told, np.random.default_rng(0))
    return seen[0]


@pytest.mark.parametrize(
    ("number", "period", "trusts"), [(4, 2, False), (5, 2, True), (6, 3, False), (8, 3, True)]
)
def test_every_period_th_trial_trusts_the_means(number: int, period: int, trusts: bool) -> None:
    now = situation(number)
    grid = SPACE.snap(np.linspace(0, 1, 50)[:, None])
    seen: list[np.ndarray] = []

    def decide(now: Situation, rng: np.random.Generator) -> Points:
        seen.append(now.criterion(grid))
        return now.done.take([0])

    trusting(decide, period)(now, np.random.default_rng(0))
    posterior, best = now.model.posteriors[0], now.model.best[0]
    mean, sd = posterior.predict(grid)
    expected = LOG_EI.score(mean, TRUST * sd if trusts else sd, best)[0]
    np.testing.assert_allclose(seen[0], expected)
    np.testing.assert_array_equal(now.criterion(grid), Expected([posterior], [best])(grid))


@pytest.mark.parametrize("name", ["auto", "add-tree"])
def test_trust_is_for_every_other_trial(name: str) -> None:
    strategies = [strategy_for(method(name, trust=trust, initial=4), SPACE) for trust in (0, 2)]
    for number, alike in ((4, True), (5, False)):
        told = replace(history(SPACE, RESULTS), number=number)
        plain, trusted = (s.propose(SPACE, told, np.random.default_rng(0)).x[0, 0] for s in strategies)
        assert (plain == trusted) == alike
