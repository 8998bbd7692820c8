"""``auto`` averages improvement over hyperparameters; trials that exploit use the mode, ever more loosely."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from tests.strategies.histories import history

import bough
from bough.auto import Auto, fading_share
from bough.gp.posterior import Posterior
from bough.history import History
from bough.points import FloatArray, Points
from bough.registry import stored_method
from bough.strategies.context import Choice, ProposalContext
from bough.strategies.decisions import exploit
from bough.strategies.model_based import ModelBased

SPACE = bough.Space(
    {
        "kind": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"n": bough.Int(1, 30)}}),
        "s": bough.Float(0, 1),
    }
)


def told(count: int) -> History:
    rng = np.random.default_rng(4)
    configs = SPACE.sample(count, rng)
    return history(SPACE, [(config, rough(config)) for config in configs])


def rough(config: dict[str, Any]) -> float:
    return math.sin(9 * config["s"]) + math.sin(12 * config.get("x", config.get("n", 0) / 4))


def context_of(history: History, auto: Auto) -> ProposalContext:
    strategy = auto.strategy(SPACE)
    assert isinstance(strategy, ModelBased)
    return strategy._context(SPACE, history)


def improvement(posterior: Posterior, best: float, points: Points, share: float = 1.0) -> FloatArray:
    mean, sd = posterior.predict(points)
    z = (best - mean) / (share * sd)
    return np.asarray(share * sd * (z * norm.cdf(z) + norm.pdf(z)))


def test_exploring_trials_average_over_the_points_around_the_mode() -> None:
    context = context_of(told(20), Auto())
    model, points = context.model, SPACE.encode(SPACE.sample(50, np.random.default_rng(1)))
    assert len(model.posteriors) == 1 + Auto.around
    each = [improvement(p, b, points) for p, b in zip(model.posteriors[1:], model.best[1:], strict=True)]
    np.testing.assert_allclose(
        np.exp(context.criterion(points)), np.mean(each, axis=0), rtol=1e-6, atol=1e-14
    )
    assert np.std(each, axis=0).max() > 0.1 * np.max(each)  # they do disagree


def test_exploiting_trials_use_the_mode() -> None:
    context = replace(context_of(told(40), Auto()), number=41)
    points = SPACE.encode(SPACE.sample(50, np.random.default_rng(1)))
    seen: list[FloatArray] = []

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        seen.append(context.criterion(points))
        return Choice(points.take([0]))

    exploiting = exploit(decide, 2, partial(fading_share, 0.3), mode_alone=True)
    exploiting(context, np.random.default_rng(0))
    expected = improvement(context.model.posteriors[0], context.model.best[0], points, share=0.475)
    np.testing.assert_allclose(np.exp(seen[0]), expected, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize(
    ("count", "auto"), [(15, Auto()), (20, Auto(around=0)), (20, Auto(acquisition="lcb"))]
)
def test_otherwise_there_is_only_the_mode(count: int, auto: Auto) -> None:
    assert len(context_of(told(count), auto).model.posteriors) == 1


def test_exploitation_fades_after_thirty_observations() -> None:
    shares = [fading_share(0.3, n) for n in (0, 30, 40, 60, 300)]
    np.testing.assert_allclose(shares, [0.3, 0.3, 0.475, 0.65, 0.93])


def test_dropping_the_caches_changes_no_proposal() -> None:
    warm = Auto().strategy(SPACE)
    for count in (16, 20, 21, 30):
        known = replace(told(count), number=count)
        fresh = Auto().strategy(SPACE)
        one, other = (s.propose(SPACE, known, np.random.default_rng(0)) for s in (warm, fresh))
        np.testing.assert_array_equal(one.x, other.x)


@pytest.mark.parametrize("around", [True, 3, -2, 2.0, "4", None])
def test_wrong_numbers_of_points_are_refused(around: object) -> None:
    with pytest.raises(
        bough.errors.MethodError, match=r"option 'around' is .*: give an even number of points"
    ):
        bough.method("auto", around=around)


def test_a_stored_study_with_slice_samples_goes_on_without_them() -> None:
    assert stored_method('{"name": "auto", "options": {"samples": 5}}').options == {}
