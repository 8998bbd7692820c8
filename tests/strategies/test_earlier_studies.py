"""Weights by ranking against a plain loop, the portfolio, and what misleading studies do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.auto import Auto
from bough.history import Source
from bough.points import Points
from bough.space.sampling import sample_points
from bough.storage import MemoryStorage
from bough.strategies.earlier_studies import (
    BOOTSTRAP_SAMPLES,
    MIN_RESULTS,
    leave_one_out,
    next_of_portfolio,
    portfolio,
    ranking_weights,
)
from bough.study.catalogue import copy_study
from bough.surrogates import Data, nested

SPACE = bough.Space(
    {
        "m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}}),
        "w": bough.Float(0, 1),
    }
)


def by_loop(own: Any, predicted: Any, z: Any, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    n = len(z)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=BOOTSTRAP_SAMPLES)
    losses = np.zeros((1 + len(predicted), BOOTSTRAP_SAMPLES))
    for b, counts in enumerate(drawn):
        for i in range(n):
            for j in range(n):
                if z[i] == z[j]:
                    continue
                weight = counts[i] * counts[j]
                losses[0, b] += weight * ((own[i] < z[j]) != (z[i] < z[j]))
                for k, mean in enumerate(predicted):
                    losses[k + 1, b] += weight * ((mean[i] < mean[j]) != (z[i] < z[j]))
    limit = np.quantile(losses[0], 0.95)
    weights = np.zeros(len(predicted))
    for b in range(BOOTSTRAP_SAMPLES):
        able = [0] + [k for k in range(1, len(losses)) if np.median(losses[k]) <= limit]
        best = min(losses[k, b] for k in able)
        winners = [k for k in able if losses[k, b] == best]
        if 0 not in winners:
            for k in winners:
                weights[k - 1] += 1 / len(winners) / BOOTSTRAP_SAMPLES
    return weights.tolist()


def test_weights_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    z = rng.standard_normal(8)
    z[3] = z[5]
    own = z + rng.standard_normal(8)
    predicted = [z + 0.5 * rng.standard_normal(8), z + 0.6 * rng.standard_normal(8), -z]
    found = ranking_weights(own, predicted, z, np.random.default_rng(1))
    assert np.allclose(found, by_loop(own, predicted, z, 1))
    assert found[2] == 0
    assert 0 < found.sum() <= 1


@pytest.mark.parametrize("seed", [0, 1])
def test_a_study_is_left_out_only_where_it_ranks_clearly_worse(seed: int) -> None:
    """Studies a little worse than this one, by the loop: the limit is a quantile of this study's own loss."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(12)
    own = z + rng.standard_normal(12)
    predicted = [z + sd * rng.standard_normal(12) for sd in (0.9, 1.2, 1.5)]
    found = ranking_weights(own, predicted, z, np.random.default_rng(1))
    assert np.allclose(found, by_loop(own, predicted, z, 1))
    assert 0 < np.count_nonzero(found) < 3


def test_with_hardly_any_result_studies_share_the_weight() -> None:
    few = np.zeros(MIN_RESULTS - 1)
    assert ranking_weights(few, [few, few], few, np.random.default_rng(0)).tolist() == [0.5, 0.5]


def test_leave_one_out_against_leaving_one_out() -> None:
    points = sample_points(SPACE, 9, np.random.default_rng(0))
    y = np.sin(5 * points.x[:, -1])
    surrogate = nested(SPACE.layout, SPACE.tree)
    data = Data(points, y, np.full(9, np.nan))
    theta = surrogate.fit(data, np.random.default_rng(0))
    expected = []
    for i in range(9):
        rows = [j for j in range(9) if j != i]
        rest = surrogate.posterior(theta, Data(points.take(rows), y[rows], data.noise[rows]))[0]
        expected.append(rest.predict(points.take([i]))[0][0])
    assert np.allclose(leave_one_out(surrogate.posterior(theta, data)[0]), expected, atol=1e-6)


class Told:
    """Predicts by a function of w."""

    def __init__(self, best: float) -> None:
        self.best = best

    def predict(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        return np.abs(points.x[:, -1] - self.best), np.ones(len(points))


def test_the_portfolio_is_good_on_average_first_and_then_covers_every_study() -> None:
    at = [0.0, 0.1, 0.5, 0.9, 1.0]
    pool = SPACE.encode([{"m": "a", "x": 0.5, "w": w} for w in at])
    members: Any = [Told(0.0), Told(0.1), Told(1.0)]
    found = portfolio(SPACE, members, [pool, pool.take([0, 1])])
    assert found.x[:2, -1].tolist() == [0.1, 1.0]
    assert len(found) == len(at)


def test_the_portfolio_takes_turns_and_ends_when_it_disappoints() -> None:
    points = SPACE.encode([{"m": "a", "x": 0.5, "w": w} for w in (0.1, 0.2, 0.3)])
    own, other = ({"m": "a", "x": 0.5, "w": 0.1}, 1.0), ({"m": "b", "y": 0.5, "w": 0.9}, 2.0)
    second = SPACE.decode(next_of_portfolio(SPACE, points, history(SPACE, [own, other])))[0]
    assert second["w"] == 0.2
    assert next_of_portfolio(SPACE, points, history(SPACE, [own])) is None  # the design's turn
    third = ({"m": "a", "x": 0.5, "w": 0.2}, 1.5), ({"m": "b", "y": 0.1, "w": 0.9}, 3.0)
    going_on = next_of_portfolio(SPACE, points, history(SPACE, [own, other, *third]))
    assert SPACE.decode(going_on)[0]["w"] == 0.3
    worse = [({**own[0]}, 5.0), other, (third[0][0], 6.0), third[1]]
    assert next_of_portfolio(SPACE, points, history(SPACE, worse)) is None


def value(config: dict[str, Any], shift: float = 0.0) -> float:
    inner = config.get("x", config.get("y", 0.0))
    return (config["m"] == "b") * 0.2 + (inner - 0.7 - shift) ** 2 + (config["w"] - 0.3 - shift) ** 2


def earlier(function: Any, name: str) -> bough.Study:
    study = bough.Study(SPACE, name=name, method="lhs", seed=5)
    return study.run(function, trials=25, progress=False)


def test_related_studies_help_and_keep_weight() -> None:
    related = earlier(lambda c: 10 + 3 * value(c, 0.02), "related")
    study = bough.Study(SPACE, seed=0, learn_from=[related]).run(value, trials=7, progress=False)
    alone = bough.Study(SPACE, seed=0).run(value, trials=7, progress=False)
    assert study.best.value < alone.best.value / 3
    weights = [study.explain(number)["earlier_studies"]["related"] for number in (3, 4, 5, 6)]
    assert np.mean(weights) > 0.3


def test_a_misleading_study_loses_its_weight() -> None:
    misleading = earlier(lambda c: -value(c), "misleading")
    study = bough.Study(SPACE, seed=0, learn_from=[misleading]).run(value, trials=14, progress=False)
    assert study.explain(13)["earlier_studies"] == {"misleading": 0.0}
    assert study.best.value < 0.05


@pytest.mark.parametrize("pending", [False, True])
def test_dropping_caches_changes_no_proposal(pending: bool) -> None:
    source = earlier(lambda c: value(c, 0.05), "s")
    study = bough.Study(SPACE, seed=0, learn_from=[source]).run(value, trials=7, progress=False)
    if pending:
        study.ask()
    again = copy_study(study, "again", MemoryStorage())
    if pending:
        again.ask()
    assert again.ask().config == study.ask().config


def test_a_model_that_learns_is_made_once_for_a_batch() -> None:
    strategy = Auto().strategy(SPACE)
    points = sample_points(SPACE, 8, np.random.default_rng(0))
    source = Source("s", points, np.arange(8.0))
    told = [(config, value(config)) for config in SPACE.sample(6, 1)]
    first = strategy.model(replace(history(SPACE, told), sources=(source,)))
    assert strategy.model(replace(history(SPACE, told), sources=(source,))) is first
    other = replace(source, y=-source.y)
    assert strategy.model(replace(history(SPACE, told), sources=(other,))) is not first
    assert strategy.model(history(SPACE, told)).source_weights == ()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["add-tree", "arc", "conditional"])
def test_other_methods_can_learn(method: str) -> None:
    source = earlier(lambda c: value(c, 0.02), "s")
    study = bough.Study(SPACE, seed=0, method=method, learn_from=[source])
    study.run(value, trials=8, progress=False)
    assert set(study.explain(7)["earlier_studies"]) == {"s"}
    assert study.best.value < 0.05
