"""Several objectives and limits in `auto`: what moves a proposal, and what must not."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import bough
from bough.acquisition.functions import log_ei
from bough.acquisition.hypervolume import free_boxes, log_ehvi
from bough.errors import MethodError
from bough.history import History, Outcomes
from bough.space import Choice, Float, Int, Space
from bough.strategies.goal_based import _rank
from bough.strategies.goal_models import bilog, chebyshev, front_boxes
from bough.study import Study, open_study

SPACE = Space(
    {
        "model": Choice(
            {
                "small": {"width": Float(0, 1), "rate": Float(0, 1)},
                "large": {"depth": Int(1, 8), "rate": Float(0, 1)},
            }
        )
    }
)


def toy(config: dict[str, Any]) -> dict[str, float]:
    """The small model is quick and poor, the large one slow and good; memory grows with both."""
    off = (config["rate"] - 0.3) ** 2
    if config["model"] == "small":
        width = config["width"]
        return {
            "error": 0.5 - 0.2 * width + off,
            "time": 0.1 + 0.3 * width + 0.5 * off,
            "memory": 10 + 50 * width,
        }
    depth = config["depth"] / 8
    return {
        "error": 0.35 - 0.3 * depth + off,
        "time": 0.3 + 0.7 * depth + 0.5 * off,
        "memory": 30 + 90 * depth,
    }


optimize = partial(bough.optimize, progress=False)
Result = Callable[[dict[str, Any]], dict[str, float]]


def proposals(told: Study, result: Result, count: int) -> list[dict[str, Any]]:
    """The configs of ``count`` trials, each told what ``result`` measures."""
    configs = []
    for _ in range(count):
        trial = told.ask()
        told.tell(trial, result(trial.config))
        configs.append(trial.config)
    return configs


def same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    def close(a: Any, b: Any) -> bool:
        return a == b if isinstance(a, str) else bool(abs(a - b) < 1e-4)

    return all(
        a.keys() == b.keys() and all(close(a[k], b[k]) for k in a) for a, b in zip(one, other, strict=True)
    )


GOALS: dict[str, Any] = {"objectives": ["error", "time"], "constraints": ["memory <= 70"]}


@pytest.fixture(scope="module")
def plain() -> list[dict[str, Any]]:
    return proposals(Study(SPACE, seed=3, **GOALS), toy, 14)


def test_units_and_directions_do_not_matter(plain: list[dict[str, Any]]) -> None:
    def other_units(config: dict[str, Any]) -> dict[str, float]:
        told = toy(config)
        return {
            "error": 1000 - 64 * told["error"],
            "time": 7 + told["time"] / 32,
            "memory": 1024 * told["memory"] + 5,
        }

    study = Study(
        SPACE,
        seed=3,
        objectives={"error": "maximize", "time": "minimize"},
        constraints=["memory <= 71685"],  # 1024 * 70 + 5
    )
    assert same(proposals(study, other_units, 14), plain)


def test_a_reopened_study_goes_on_as_if_nothing_had_happened(
    plain: list[dict[str, Any]], tmp_path: Any
) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    first = proposals(Study(SPACE, seed=3, name="s", storage=url, **GOALS), toy, 10)
    assert [*first, *proposals(open_study("s", url), toy, 4)] == plain


@pytest.mark.slow
def test_both_branches_are_on_the_front() -> None:
    study = optimize(toy, SPACE, 24, seed=0, **GOALS)
    assert {trial.config["model"] for trial in study.front} == {"small", "large"}
    assert sum(not trial.feasible for trial in study.trials) <= 6


def history(study: Study) -> History:
    with study._current() as view:
        return study._history(view)


def test_a_dominated_result_leaves_the_boxes_of_the_front_alone() -> None:
    front = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    nan = np.full(2, np.nan)
    before, after = front_boxes(front, nan), front_boxes(np.vstack([front, [[0.9, 0.9]]]), nan)
    assert np.array_equal(before.low, after.low) and np.array_equal(before.high, after.high)
    far = front_boxes(np.vstack([front, [[3.0, 0.9]]]), nan, wide=True)
    assert far.high.max(axis=0) == pytest.approx([3.3, 1.1])
    shrunk = front_boxes(front, np.array([0.8, np.nan]))
    assert shrunk.high[:, 0].max() == 0.8
    unreached = front_boxes(
        front, np.array([-3.0, -3.0])
    )  # nothing is that good yet: the inferred point counts
    assert np.array_equal(unreached.high, before.high)


def test_one_objective_is_expected_improvement_over_the_best_feasible_value() -> None:
    mean, sd = np.array([0.3, -1.0, 2.0]), np.array([0.5, 0.1, 1.0])
    boxes = front_boxes(np.array([[0.7], [0.2], [0.9]]), np.full(1, np.nan))
    assert np.allclose(log_ehvi(mean[:, None], sd[:, None], boxes)[0], log_ei(mean, sd, 0.2)[0], atol=1e-12)
    assert len(free_boxes(np.array([[0.2]]), np.array([1.0])).low) == 1


def test_bilog_keeps_signs_and_ignores_units() -> None:
    slack = np.array([-100.0, -1.0, 0.0, 2.0, 1e6])
    assert np.array_equal(np.sign(bilog(slack)), np.sign(slack))
    assert np.all(np.diff(bilog(slack)) > 0)
    assert np.allclose(bilog(1e-6 * slack), bilog(slack))
    assert np.array_equal(bilog(np.zeros(3)), np.zeros(3))


def test_chebyshev_prefers_what_dominates_and_the_heavy_objective() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((30, 5))
    values[1] = values[0] + 0.1  # dominated by row 0
    every = np.ones(30, dtype=bool)
    noise = np.full((30, 5), np.nan)
    noise[:2] = 0.01
    for _ in range(10):
        weights = rng.dirichlet(np.ones(5))
        norm, sd = chebyshev(values, noise, every, weights)
        assert norm[0] < norm[1]
        assert np.all(sd[:2] > 0) and np.all(np.isnan(sd[2:]))
        again, sd_again = chebyshev(1000 * values - 7, 1000 * noise, every, weights)
        assert np.allclose(again, norm) and np.allclose(sd_again, sd, equal_nan=True)


@pytest.mark.slow
def test_two_objectives_beat_random_search() -> None:
    reference = {"error": 0.8, "time": 1.2}
    volumes = {name: [] for name in ("auto", "random")}  # type: dict[str, list[float]]
    for name, found in volumes.items():
        for seed in range(2):
            study = optimize(toy, SPACE, 24, objectives=["error", "time"], method=name, seed=seed)
            found.append(study.hypervolume(reference))
    assert min(volumes["auto"]) > max(volumes["random"])


def test_limits_are_learned_and_the_best_trial_meets_them() -> None:
    # Unlimited, the best is the deepest large model (memory 120); with the limit, depth 3 at memory 63.75.
    def value(config: dict[str, Any]) -> dict[str, float]:
        told = toy(config)
        return {"value": told["error"], "memory": told["memory"]}

    study = optimize(value, SPACE, 24, constraints=["memory <= 65"], seed=1)
    assert study.best.measures["memory"] <= 65
    assert study.best.config["model"] == "large" and study.best.config["depth"] == 3
    assert study.best.value == pytest.approx(0.35 - 0.3 * 3 / 8, abs=0.01)
    assert sum(not trial.feasible for trial in study.trials[12:]) <= 6


def test_while_nothing_is_feasible_it_searches_for_feasibility() -> None:
    def value(config: dict[str, Any]) -> dict[str, float]:
        return {
            "value": -config["width"],
            "distance": abs(config["width"] - 0.83) + abs(config["rate"] - 0.2),
        }

    space = Space({"width": Float(0, 1), "rate": Float(0, 1)})  # 0.32 % of it is feasible
    study = optimize(value, space, 25, constraints=["distance <= 0.04"], seed=0)
    assert any(trial.feasible for trial in study.trials)
    first = next(trial.number for trial in study.trials if trial.feasible)
    reasons = [study.explain(number)["reason"] for number in (first,)]
    assert reasons == ["no trial meets the constraints yet: the best chance of meeting them"]


def test_running_trials_are_taken_into_account() -> None:
    study = Study(SPACE, seed=0, **GOALS)
    proposals(study, toy, 12)
    configs = [trial.config for trial in study.ask(4)]
    points = SPACE.encode(configs)
    for i in range(4):
        for j in range(i):
            apart = (
                not np.array_equal(points.on[i], points.on[j])
                or np.nanmax(np.abs(points.x[i] - points.x[j])) > 1e-3
            )
            assert apart


def test_more_than_four_objectives_and_explanations() -> None:
    def five(config: dict[str, Any]) -> dict[str, float]:
        told = toy(config)
        return {f"m{i}": told["error"] * i + told["time"] * (5 - i) for i in range(5)} | {
            "memory": told["memory"]
        }

    names = {f"m{i}": "minimize" for i in range(4)} | {"m4": "minimize"}
    study = optimize(five, SPACE, 11, objectives=names, constraints=["memory <= 1000"], seed=0)
    assert len(study.front) >= 1 and study.hypervolume() > 0
    told = study.explain(10)
    assert set(told["objectives"]) == set(names)
    assert 0.5 < told["constraints"]["memory <= 1000"] <= 1


def test_explained_means_are_in_the_users_direction() -> None:
    study = optimize(
        lambda c: {"error": toy(c)["error"], "speed": 100 + toy(c)["time"]},
        SPACE,
        9,
        objectives={"error": "minimize", "speed": "maximize"},
        seed=0,
    )
    assert study.explain(8)["objectives"]["speed"]["mean"] == pytest.approx(100.5, abs=0.7)
    reasons = {study.explain(trial)["reason"] for trial in study.trials}
    assert "the best expected gain" in reasons, "without constraints none are named"


def test_other_acquisitions_are_refused() -> None:
    with pytest.raises(MethodError, match="need acquisition='log-ei'"):
        Study(SPACE, method=bough.method("auto", acquisition="lcb"), **GOALS)


@pytest.mark.slow
def test_failures_are_avoided_with_several_objectives() -> None:
    def fails(config: dict[str, Any]) -> dict[str, float]:
        if config["model"] == "large":
            raise ValueError("out of memory")
        return toy(config)

    study = optimize(fails, SPACE, 18, seed=0, **GOALS)
    assert sum(trial.state == "failed" for trial in study.trials[10:]) <= 2


def test_ranks_of_a_long_study_need_little_memory() -> None:
    values = np.random.default_rng(0).random((4000, 3))
    none = np.full(values.shape, np.nan)
    told = Outcomes(values, values - 0.9, none[0], (), (), none, none)
    known = replace(history(Study(SPACE)), outcomes=told)
    tracemalloc.start()
    rank = _rank(known)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e7
    feasible = told.feasible
    for row in np.flatnonzero(feasible)[[0, 1, -1]]:
        assert rank[row] == np.all(values[feasible] < values[row], axis=1).sum()
    violation = np.maximum(told.slacks, 0.0).max(axis=1)
    assert rank[~feasible].min() > rank[feasible].max()
    assert rank[np.argmax(violation)] > rank[~feasible].min()
