"""Decisions: trials that exploit the predicted mean take turns with trials that reward uncertainty."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.acquisition.criterion import Expected
from bough.acquisition.functions import LOG_EI
from bough.auto import fading_share
from bough.registry import build, method, stored_method
from bough.strategies.context import Choice, ProposalContext
from bough.strategies.decisions import exploit
from bough.strategies.model_based import ModelBased

SPACE = bough.Space({"x": bough.Float(0, 1)})
SHARE = 0.3
RESULTS = [({"x": x}, (x - 0.3) ** 2) for x in (0.1, 0.4, 0.55, 0.8)]


def context_of(number: int, results: list[tuple[dict[str, float], float]] = RESULTS) -> ProposalContext:
    strategy = build(method("auto", initial=4), SPACE)
    assert isinstance(strategy, ModelBased)
    seen: list[ProposalContext] = []

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        seen.append(context)
        return Choice(context.done.take([0]))

    told = replace(history(SPACE, results), number=number)
    replace(strategy, decide=decide).propose(SPACE, told, np.random.default_rng(0))
    return seen[0]


@pytest.mark.parametrize(
    ("number", "period", "exploits"), [(4, 2, False), (5, 2, True), (6, 3, False), (8, 3, True)]
)
def test_every_period_th_trial_exploits(number: int, period: int, exploits: bool) -> None:
    context = context_of(number)
    grid = SPACE.snap(np.linspace(0, 1, 50)[:, None])
    seen: list[np.ndarray] = []

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        seen.append(context.criterion(grid))
        return Choice(context.done.take([0]))

    chosen = exploit(decide, period, lambda _: SHARE)(context, np.random.default_rng(0))
    assert chosen.reason.startswith("exploitation turn") == exploits
    posterior, best = context.model.posteriors[0], context.model.best[0]
    mean, sd = posterior.predict(grid)
    expected = LOG_EI.score(mean, SHARE * sd if exploits else sd, best)[0]
    np.testing.assert_allclose(seen[0], expected)
    np.testing.assert_array_equal(context.criterion(grid), Expected([posterior], [best])(grid))


@pytest.mark.parametrize("name", ["auto", "add-tree"])
def test_every_other_trial_exploits(name: str) -> None:
    strategies = [build(method(name, exploit_every=every, initial=4), SPACE) for every in (0, 2)]
    for number, alike in ((4, True), (5, False)):
        told = replace(history(SPACE, RESULTS), number=number)
        plain, exploiting = (s.propose(SPACE, told, np.random.default_rng(0)).x[0, 0] for s in strategies)
        assert (plain == exploiting) == alike


def test_exploitation_fades_after_thirty_observations() -> None:
    shares = [fading_share(0.3, n) for n in (0, 30, 40, 60, 300)]
    np.testing.assert_allclose(shares, [0.3, 0.3, 0.475, 0.65, 0.93])


@pytest.mark.parametrize(("count", "share"), [(20, 0.3), (40, 0.475)])
def test_the_share_depends_on_the_number_of_observations(count: int, share: float) -> None:
    results = [({"x": x}, (x - 0.3) ** 2) for x in np.linspace(0, 1, count).tolist()]
    context = context_of(count + 1, results)
    grid = SPACE.snap(np.linspace(0, 1, 50)[:, None])
    seen: list[np.ndarray] = []

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        seen.append(context.criterion(grid))
        return Choice(context.done.take([0]))

    exploit(decide, 2, partial(fading_share, 0.3))(context, np.random.default_rng(0))
    mean, sd = context.model.posteriors[0].predict(grid)
    np.testing.assert_allclose(seen[0], LOG_EI.score(mean, share * sd, context.model.best[0])[0])


@pytest.mark.parametrize("option", ["samples", "around"])
def test_a_study_stored_with_averaging_goes_on_without_it(option: str) -> None:
    assert stored_method(f'{{"name": "auto", "options": {{"{option}": 4}}}}').options == {}
