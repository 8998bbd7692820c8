"""Constraints alone, told noise and poor branches where `auto` has several goals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import bough
from bough.gp.output_transform import OutputTransform
from bough.space import Choice, Float, Space
from bough.strategies.goal_models import chebyshev, fit_transform_of_objective
from bough.study import Study

optimize = partial(bough.optimize, progress=False)
SQUARE = Space({"x": Float(0, 1), "y": Float(0, 1)})


def two_islands(config: dict[str, Any]) -> dict[str, float]:
    """At most 0.15 around two points: 14 % of the square."""
    places = ((0.25, 0.25), (0.75, 0.7))
    return {"distance": min(float(np.hypot(config["x"] - x, config["y"] - y)) for x, y in places)}


def search(method: str) -> Study:
    limits = ["distance <= 0.15"]
    return optimize(two_islands, SQUARE, 32, objectives={}, constraints=limits, seed=0, method=method)


@pytest.mark.parametrize("method", ["auto", "tpe"])
def test_constraints_alone_find_feasible_configurations_all_over(method: str) -> None:
    study = search(method)
    points = np.array([[trial.config["x"], trial.config["y"]] for trial in study.front])
    assert len(points) >= 10  # chance would give 4 or 5
    assert {x < 0.5 for x, _ in points} == {True, False}
    if method == "tpe":
        return
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(len(points), 1)]
    assert apart.min() > 0.01
    reason = study.explain(31)
    assert reason["reason"] == "likely to meet the constraints, and unlike the trials that are known to"
    assert reason["objectives"] == {} and set(reason["constraints"]) == {"distance <= 0.15"}
    mean, sd = study.predict([{"x": 0.25, "y": 0.25}, {"x": 0.02, "y": 0.98}])
    assert mean[0] < 0.3 < 0.7 < mean[1] and np.all(sd < 0.5)


def test_told_noise_of_one_objective_smooths_that_one_alone() -> None:
    told = Study(SQUARE, seed=0, objectives=["a", "b"])
    rng = np.random.default_rng(0)
    configs = SQUARE.sample(20, rng)
    noise = {"a": 0.3}
    told.add_many(
        [
            (c, {"a": c["x"] + 0.3 * rng.standard_normal(), "b": 0.3 * rng.standard_normal(), "noise": noise})
            for c in configs
        ]
    )
    with told._current() as view:
        history = told._history(view)
    models = told._strategy._models(SQUARE, history, np.array([0.5, 0.5]))  # type: ignore[attr-defined]
    noisy, exact = (model.posteriors[0].data.noise for model in models.objectives)
    assert np.all(noisy > 0) and np.all(np.isnan(exact))
    a, _ = told.predict(configs)
    residual = np.array([trial.measures["a"] for trial in told.trials]) - a
    assert np.std(residual) > 0.1  # not interpolated


def test_told_noise_of_a_limit_decides_by_the_expected_slack() -> None:
    told = Study(SQUARE, seed=0, objectives=["a"], constraints=["m <= 0.5"])
    rng = np.random.default_rng(1)
    for config in SQUARE.sample(25, rng):
        measured = config["x"] + 0.3 * rng.standard_normal()
        told.add(config, {"a": config["y"], "m": measured, "noise": {"m": 0.3}})
    with told._current() as view:
        history = told._history(view)
    models = told._strategy._models(SQUARE, history, np.ones(1))  # type: ignore[attr-defined]
    truth = np.array([trial.config["x"] <= 0.5 for trial in told.trials])
    observed = np.array([trial.feasible for trial in told.trials])
    assert np.sum(models.feasible == truth) > np.sum(observed == truth)


@pytest.mark.slow
def test_a_branch_that_looks_poor_reaches_the_front() -> None:
    space = Space(
        {"kind": Choice({"early": {"x": Float(0, 1)}, "late": {"y": Float(0, 1), "z": Float(0, 1)}})}
    )

    def measure(config: dict[str, Any]) -> dict[str, float]:
        if config["kind"] == "early":
            return {"a": config["x"], "b": 1 - config["x"]}
        valley = (config["y"] - 0.9) ** 2 + (config["z"] - 0.9) ** 2
        return {"a": 0.1 + 2 * valley, "b": 0.1 + 2 * valley}

    study = optimize(measure, space, 40, objectives=["a", "b"], seed=0)
    assert any(trial.config["kind"] == "late" for trial in study.front)


@pytest.mark.slow  # a fast test changes all units at once
@pytest.mark.parametrize("measure", ["error", "time", "memory"])
def test_the_unit_of_one_measure_changes_no_proposal(measure: str) -> None:
    def toy(config: dict[str, Any]) -> dict[str, float]:
        return {
            "error": (config["x"] - 0.3) ** 2,
            "time": config["x"] + config["y"],
            "memory": config["y"],
        }

    def configs(scale: float, shift: float) -> list[dict[str, Any]]:
        limit = 0.6 if measure != "memory" else 0.6 * scale + shift
        study = Study(SQUARE, seed=2, objectives=["error", "time"], constraints=[f"memory <= {limit!r}"])
        for _ in range(12):
            trial = study.ask()
            result = toy(trial.config)
            study.tell(trial, {**result, measure: scale * result[measure] + shift})
        return [trial.config for trial in study.trials]

    for one, other in zip(configs(1.0, 0.0), configs(1024.0, 0.0), strict=True):
        assert one == pytest.approx(other, abs=1e-6)
    for one, other in zip(configs(1.0, 0.0), configs(1.0, 32.0), strict=True):
        assert one == pytest.approx(other, abs=1e-3)


@pytest.mark.filterwarnings("error")
def test_all_values_of_an_objective_up_to_its_reference_count() -> None:
    y = 10 ** np.linspace(0, 3, 40)
    cut_off = OutputTransform.fit(y).forward(np.array([500.0, 900.0]))
    assert cut_off[0] == cut_off[1]
    z = fit_transform_of_objective(900.0, y).forward(np.array([500.0, 900.0, 1000.0]))
    assert z[0] < z[1] == z[2]
    quartiles = [np.quantile(y[:size], [0.25, 0.75]) for size in (8, 16, 32, 40)]
    tukey = max(high + 1.5 * (high - low) for low, high in quartiles)
    z = fit_transform_of_objective(np.nan, y).forward(tukey * np.array([0.99, 1.0, 1.01]))
    assert z[0] < z[1] == z[2]


def test_a_front_over_three_orders_of_magnitude_is_found_as_a_whole() -> None:
    def objective(config: dict[str, float]) -> dict[str, float]:
        worse = 1 + 2 * (config["y"] - 0.3) ** 2
        return {"latency": 10 ** (3 * config["x"]) * worse, "error": (1 - config["x"]) * worse}

    found, reference = [], {"latency": 1000.0, "error": 1.0}
    for seed in range(6):
        study = optimize(
            objective, SQUARE, 40, objectives=["latency", "error"], reference=reference, seed=seed
        )
        found.append(study.hypervolume() / 1000.0)
    assert np.mean(found) > 0.838  # at best 0.855; 0.833 where latencies beyond the fence do not count


def test_objectives_at_both_ends_of_the_range_have_a_finite_norm() -> None:
    largest = float(np.finfo(float).max)
    values = np.array([[largest, -largest], [-largest, largest], [0.0, 0.0]])
    norm, noise = chebyshev(values, np.full((3, 2), np.nan), np.ones(3, dtype=bool), np.array([0.5, 0.5]))
    assert norm == pytest.approx([0.5 + 0.025, 0.5 + 0.025, 0.25 + 0.025])
    assert np.isnan(noise).all()


def test_the_noise_of_the_norm_is_that_of_the_objectives() -> None:
    """By finite differences: the sum of (slope times noise)², in each objective."""
    rng = np.random.default_rng(3)
    values, noise = rng.random((6, 3)), rng.uniform(0.01, 0.1, (6, 3))
    weights = np.array([0.5, 0.3, 0.2])
    fixed = np.concatenate([values, [values.min(axis=0) - 1, values.max(axis=0) + 1]])  # sets all scales
    every = np.arange(8) >= 6
    for row in range(6):
        variance = 0.0
        for column in range(3):
            ends = []
            for step in (1e-6, -1e-6):
                moved = fixed.copy()
                moved[row, column] += step
                ends.append(chebyshev(moved, np.full((8, 3), np.nan), every, weights)[0][row])
            variance += ((ends[0] - ends[1]) / 2e-6 * noise[row, column]) ** 2
        told = np.concatenate([noise, np.full((2, 3), np.nan)])
        assert chebyshev(fixed, told, every, weights)[1][row] == pytest.approx(np.sqrt(variance), rel=1e-6)
