"""The probability of success under the covariance of ``auto``: what carries over, and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from tests.strategies.histories import history

import bough
from bough.history import History
from bough.points import Points
from bough.registry import build
from bough.space.sampling import sample_points
from bough.strategies.hyperparameters import working_rows
from bough.strategies.model_based import ModelBased
from bough.strategies.success import DOUBT, with_labels
from bough.strategies.viability import MIN_PROBABILITY, PENALTY_EXPONENT
from bough.study import Study

SPACE = bough.Space(
    {
        "model": bough.Choice(
            {name: {f"{name}_x": bough.Float(0, 1)} for name in ("forest", "svm", "network")}
        ),
        "batch": bough.Int(32, 4096, log=True),
    }
)


def config(model: str, x: float, batch: int) -> dict[str, Any]:
    return {"model": model, f"{model}_x": x, "batch": batch}


def told(results: list[tuple[dict[str, Any], float]]) -> Study:
    """A study with these results; NaN for a failure."""
    study = Study(SPACE, seed=0)
    for given, value in results:
        study.enqueue(given)
        study.tell(study.ask(), value)
    return study


def history_of(study: Study) -> History:
    with study._current() as view:
        return study._history(view)


def probability(study: Study, given: dict[str, Any]) -> float:
    strategy = study._strategy
    assert isinstance(strategy, ModelBased)
    criterion = strategy.success(SPACE, history_of(study))
    return float(np.exp(criterion(SPACE.encode([given]))[0]))


OUT_OF_MEMORY = [
    (config(model, x, batch), math.nan if batch == 4096 else 1.0 - math.log2(batch) / 20)
    for model, x, batch in [
        ("forest", 0.2, 64), ("svm", 0.5, 256), ("network", 0.4, 128), ("forest", 0.7, 4096),
        ("svm", 0.3, 4096), ("svm", 0.9, 512), ("forest", 0.4, 1024), ("svm", 0.8, 4096),
        ("forest", 0.1, 4096), ("network", 0.8, 700),
    ]
]  # fmt: skip


def test_a_shared_value_that_fails_on_two_branches_is_avoided_on_the_third() -> None:
    study = told(OUT_OF_MEMORY)
    assert probability(study, config("network", 0.5, 4096)) < 0.3
    assert probability(study, config("network", 0.5, 256)) > 0.8
    for _ in range(6):  # the larger the batch, the better, so the limit is tempting
        trial = study.ask()
        study.tell(
            trial, math.nan if trial.config["batch"] > 3000 else 1 - math.log2(trial.config["batch"]) / 20
        )
    assert sum(trial.state == "failed" for trial in study.trials[10:]) <= 2


def test_a_branch_that_never_works_is_left_and_the_others_are_not() -> None:
    rows = [
        (config(model, x, batch), math.nan if model == "svm" else x)
        for model, x, batch in [
            ("svm", 0.5, 1000), ("forest", 0.4, 100), ("network", 0.6, 300), ("svm", 0.2, 90),
            ("forest", 0.8, 2000), ("network", 0.3, 50), ("svm", 0.8, 300),
        ]
    ]  # fmt: skip
    study = told(rows)
    assert probability(study, config("svm", 0.1, 500)) < 0.3
    assert probability(study, config("forest", 0.5, 500)) > 0.8


def test_a_region_that_always_fails_does_not_take_most_trials() -> None:
    """Where every trial fails, the model of values has no data, and may promise more and more."""
    space = bough.Space(
        {
            "kind": bough.Choice({"a": {"p": bough.Float(0, 1)}, "b": {"q": bough.Float(0, 1)}, "c": {}}),
            "size": bough.Int(1, 64, log=True),
        }
    )

    def objective(given: dict[str, Any]) -> float:
        gap = (given.get("p", 0.9) - 0.2) ** 2 + (given.get("q", 0.5) - 0.5) ** 2
        return math.nan if given["size"] > 32 else gap - math.log2(given["size"]) / 6

    study = bough.minimize(objective, space, 60, seed=0, progress=False)
    assert study.best.value < -0.82
    assert sum(trial.state == "failed" for trial in study.trials[30:]) <= 15


def rugged(given: dict[str, Any]) -> float:
    """It still has something to gain after 20 trials."""
    return float((given["x"] - 0.4) ** 2 + math.sin(9 * given["z"]) * math.cos(5 * given["x"]))


def bowl(given: dict[str, Any]) -> float:
    """Its optimum is found before that."""
    return float((given["x"] - 0.4) ** 2)


@pytest.mark.parametrize("acquisition", ["log-ei", "log-pi", "lcb", "thompson", "mes", "kg"])
@pytest.mark.parametrize(("value", "names", "trials"), [(rugged, "xz", 20), (bowl, "x", 30)])
def test_a_branch_that_always_fails_is_left_with_every_acquisition(
    acquisition: str, value: Any, names: str, trials: int
) -> None:
    good = {name: bough.Float(0, 1) for name in names}
    space = bough.Space({"kind": bough.Choice({"good": good, "bad": {"y": bough.Float(0, 1)}})})
    method = bough.method("auto", acquisition=acquisition)
    study = bough.minimize(
        lambda given: value(given) if given["kind"] == "good" else math.nan,
        space,
        trials,
        method=method,
        seed=0,
        progress=False,
    )
    assert sum(trial.state == "failed" for trial in study.trials[6:]) <= 1


@pytest.mark.parametrize("seed", [0, 1])
def test_a_search_with_nothing_left_to_gain_does_not_return_to_a_broken_branch(seed: int) -> None:
    space = bough.Space(
        {
            "model": bough.Choice(
                {
                    "forest": {"trees": bough.Int(10, 300, log=True), "depth": bough.Int(2, 20)},
                    "svm": {"C": bough.Float(1e-3, 1e3, log=True)},
                    "xgb": {"eta": bough.Float(1e-3, 1, log=True)},
                }
            )
        }
    )

    def objective(given: dict[str, Any]) -> float:
        if given["model"] == "xgb":
            return math.nan
        if given["model"] == "svm":
            return 0.1 + 0.02 * (math.log10(given["C"]) - 1) ** 2
        return 0.05 + 1 / given["trees"] + 0.2 / given["depth"]

    study = bough.minimize(objective, space, 50, seed=seed, progress=False)
    assert sum(trial.state == "failed" for trial in study.trials) <= 5


def test_the_knowledge_gradient_takes_what_is_least_likely_to_fail_if_all_will() -> None:
    space = bough.Space({"kind": bough.Choice({"good": {}, "bad": {"y": bough.Float(0, 1)}})})
    failed = [{"kind": "bad", "y": y} for y in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    strategy = build(bough.method("auto", acquisition="kg", initial=1), space)
    assert isinstance(strategy, ModelBased)
    given = history(space, [({"kind": "good"}, 1.0)], failed=failed)
    point = strategy.propose(space, given, np.random.default_rng(0))
    rest = space.encode([{"kind": "bad", "y": y} for y in np.linspace(0, 1, 101).tolist()])
    chance = np.exp(strategy.success(space, given)(rest))
    assert chance.max() < 0.5
    assert strategy.success(space, given)(point)[0] > np.log(0.99 * chance.max())


def test_the_formula_and_the_gradient() -> None:
    study = told(OUT_OF_MEMORY)
    strategy = study._strategy
    assert isinstance(strategy, ModelBased)
    points = sample_points(SPACE, 40, np.random.default_rng(0))
    criterion = strategy.success(SPACE, history_of(study))
    value, gradient = criterion.with_gradient(points)
    fitted = criterion.posteriors[0]  # type: ignore[attr-defined]
    mean, sd = fitted.predict(points)
    labels = with_labels(history_of(study)).y
    half = (0.5 - labels.mean()) / labels.std()
    chance = norm.cdf((mean - half) / np.sqrt(sd**2 + DOUBT**2))
    assert chance.min() < MIN_PROBABILITY < chance.max()
    penalty = np.minimum(chance / MIN_PROBABILITY, 1.0) ** PENALTY_EXPONENT
    assert np.exp(value) == pytest.approx(chance * penalty, rel=1e-6)
    step = 1e-6
    for column in range(SPACE.layout.columns):
        shift = np.zeros(SPACE.layout.columns)
        shift[column] = step
        up, down = (criterion(Points(points.x + sign * shift, points.on)) for sign in (1, -1))
        moves = SPACE.layout.active(points.on)[:, column] & ~SPACE.layout.nominal[column]
        assert gradient[:, column] == pytest.approx(np.where(moves, (up - down) / (2 * step), 0), abs=1e-4)


def test_the_working_set_of_a_long_study_keeps_failures() -> None:
    labels = np.ones(1000)
    labels[::25] = 0.0
    assert set(np.flatnonzero(labels == 0)) <= set(working_rows(labels))


def test_labels_come_in_the_order_of_the_trials() -> None:
    labelled = with_labels(history_of(told(OUT_OF_MEMORY)))
    assert labelled.y.tolist() == [1, 1, 1, 0, 0, 1, 1, 0, 0, 1]
    assert labelled.done_numbers.tolist() == list(range(10))
    assert [given["batch"] for given in SPACE.decode(labelled.done)] == [
        row[0]["batch"] for row in OUT_OF_MEMORY
    ]
