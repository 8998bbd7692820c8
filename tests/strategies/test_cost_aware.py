"""The cooled cost: its gradient, and its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import bough
from bough.acquisition.criterion import Total
from bough.history import History, Source, Spending
from bough.points import Points
from bough.registry import build
from bough.space.sampling import sample_points
from bough.strategies.cost_aware import cost_model, cost_weights
from bough.strategies.model_based import ModelBased

SPACE = bough.Space({"m": bough.Choice({"a": {"x": bough.Float(0, 1), "y": bough.Float(0, 1)}, "b": {}})})


@pytest.fixture(scope="module")
def setting():
    study = bough.Study(SPACE, method="random", seed=0)
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, trial.config.get("x", 0.5), cost=float(np.exp(3 * trial.config.get("x", 0.0))))
    with study._current() as view:
        history = study._history(view)
    assert history.spending is None
    costs = np.array([trial.cost for trial in study.trials])
    strategy = build("auto", SPACE)
    assert isinstance(strategy, ModelBased)
    return strategy, replace(history, spending=Spending(costs, 25.0, 100.0))


def spent(history: History, share: float, budget: float = 10.0) -> History:
    return replace(history, spending=replace(history.spending, spent=share * budget, budget=budget))


def test_where_the_budget_pays_for_very_many_trials_cheapness_is_worth_little(setting) -> None:
    strategy, history = setting
    points = SPACE.encode([{"m": "a", "x": x, "y": 0.5} for x in (0.1, 0.9)])
    prices = []
    for budget in (10.0, 1e3, 1e5):
        (weight,) = cost_weights(strategy.cost_model, spent(history, 0.0, budget))
        prices.append(-float(np.diff(weight(points))[0]))
    assert prices[0] > 1.5 > prices[1] > 0.02 > prices[2] > 0


def test_a_trial_that_costs_more_than_is_left_comes_too_late(setting) -> None:
    strategy, history = setting
    points = SPACE.encode([{"m": "a", "x": x, "y": 0.5} for x in (0.1, 0.9)])
    (weight,) = cost_weights(strategy.cost_model, spent(history, 0.5, 10.0))  # 5 left, of costs 1 to 20
    cheap, dear = weight(points)
    assert cheap - dear > 30


def test_the_price_is_the_formula_of_the_module(setting) -> None:
    strategy, history = setting
    points = sample_points(SPACE, 20, np.random.default_rng(2))
    (weight,) = cost_weights(strategy.cost_model, history)
    fitted = cost_model(strategy.cost_model, history)
    assert fitted is not None
    logs, left, share_left = np.log(history.spending.costs), 75.0, 0.75
    mean, sd = fitted.posteriors[0].predict(points)
    m, s = logs.mean() + logs.std() * mean, logs.std() * sd
    cautious = np.exp(m + 2.0 * s)
    expected = -share_left * np.log(cautious / left + 1 / 50) + 10 * norm.logcdf((np.log(left) - m) / s)
    np.testing.assert_allclose(weight(points), expected, rtol=1e-9)


def test_the_gradient_agrees_with_finite_differences(setting) -> None:
    strategy, history = setting
    weight = Total(cost_weights(strategy.cost_model, history))
    points = sample_points(SPACE, 6, np.random.default_rng(1))
    value, slope = weight.with_gradient(points)
    np.testing.assert_allclose(weight(points), value)
    for column in range(len(SPACE)):
        step = np.zeros(len(SPACE))
        step[column] = 1e-5
        ahead, behind = (weight(Points(points.x + sign * step, points.on)) for sign in (1, -1))
        moves = SPACE.layout.active(points.on)[:, column] & ~SPACE.layout.nominal[column]
        np.testing.assert_allclose(slope[moves, column], ((ahead - behind) / 2e-5)[moves], atol=1e-4)


def test_it_falls_with_the_predicted_log_cost_and_cools_down(setting) -> None:
    strategy, history = setting
    configs = [{"m": "a", "x": x, "y": 0.5} for x in (0.1, 0.5, 0.9)]
    points = SPACE.encode(configs)
    (weight,) = cost_weights(strategy.cost_model, spent(history, 0.25, 60.0))
    steps = np.diff(weight(points))
    np.testing.assert_allclose(steps, -0.75 * 3 * 0.4, atol=0.4)  # log cost is 3 x, and a quarter is spent
    spent_up = spent(history, 1.0)
    assert cost_weights(strategy.cost_model, spent_up) == []
    assert cost_weights(None, history) == []


def test_earlier_studies_say_nothing_about_cost(setting) -> None:
    strategy, history = setting
    points = sample_points(SPACE, 6, np.random.default_rng(1))
    source = Source("earlier", history.done, -history.spending.costs)
    plain, learning = (
        Total(cost_weights(strategy.cost_model, each))(points)
        for each in (history, replace(history, sources=(source,)))
    )
    np.testing.assert_array_equal(learning, plain)
