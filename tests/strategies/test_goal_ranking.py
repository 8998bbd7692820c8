"""The order that TPE sees of trials with several objectives and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.strategies.test_goal_based import SPACE, proposals, toy

from bough.history import Outcomes
from bough.strategies.goal_models import bilog
from bough.strategies.goal_ranking import positions, usual_size
from bough.study import Study


def outcomes(values: Any, slacks: Any = None) -> Outcomes:
    values = np.asarray(values, dtype=float)
    slacks = np.zeros((len(values), 0)) if slacks is None else np.asarray(slacks, dtype=float)
    unknown = np.full(values.shape[1], np.nan)
    return Outcomes(
        values, slacks, unknown, (), (), np.full_like(values, np.nan), np.full_like(slacks, np.nan)
    )


def test_nothing_comes_before_what_dominates_it() -> None:
    for objectives in (2, 3, 5):
        values = np.random.default_rng(objectives).random((30, objectives))
        place = positions(outcomes(values))
        assert sorted(place) == list(range(30))
        for i in range(30):
            for j in range(30):
                if np.all(values[i] <= values[j]) and np.any(values[i] < values[j]):
                    assert place[i] < place[j]


def test_the_trial_that_dominates_most_alone_comes_first() -> None:
    front = [[0.0, 1.0], [0.45, 0.45], [0.46, 0.44], [1.0, 0.0]]
    alone = np.array(positions(outcomes([*front, [1.0, 1.0]])))
    assert set(alone[[1, 2]]) == {2, 3} and alone[4] == 4  # the two that share their corner come later


def test_feasible_comes_first_then_the_smallest_violation() -> None:
    values = [[0.0, 0.0], [5.0, 5.0], [1.0, 1.0], [2.0, 2.0]]
    assert positions(outcomes(values, [[3.0], [-1.0], [0.5], [0.0]])).tolist() == [3, 1, 2, 0]


def test_a_measure_at_the_end_of_the_range_is_a_violation_as_any_other() -> None:
    largest = float(np.finfo(float).max)
    slacks = np.array([-1.0, 2.0, *[largest] * 4])
    assert np.isfinite(usual_size(slacks))
    assert np.all(np.diff(bilog(slacks)[:3]) > 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("objectives", [2, 3, 5])
def test_the_order_does_not_depend_on_the_size_of_numbers(objectives: int) -> None:
    values = np.random.default_rng(0).random((40, objectives)) - 0.5
    expected = positions(outcomes(values)).tolist()
    for power in (-900, 900, 1024):
        assert positions(outcomes(np.ldexp(values, power))).tolist() == expected


@pytest.mark.filterwarnings("error")
def test_a_violation_far_beyond_the_usual_ones_is_finite() -> None:
    slacks = np.array([5e-324] * 16 + [1.0, 1e300, -1e300])
    assert np.isfinite(bilog(slacks)).all()
    assert positions(outcomes(np.zeros((19, 1)), slacks[:, None])).tolist() == [*range(1, 19), 0]


@pytest.mark.filterwarnings("error")
def test_a_limit_as_far_away_as_numbers_reach() -> None:
    """The measure minus the limit is infinite."""
    study = Study(SPACE, objectives=["a"], constraints=["c <= -1.7e308"], seed=0)
    for row in range(10):
        trial = study.ask()
        study.tell(trial, {"a": float(row), "c": (-1) ** row * 1.7e308})


def test_tpe_ignores_units() -> None:
    goals: dict[str, Any] = {"objectives": ["error", "time"], "constraints": ["memory <= 70"]}

    def scaled(config: dict[str, Any]) -> dict[str, float]:
        told = toy(config)
        return {"error": 1024 * told["error"], "time": told["time"] / 4, "memory": 8 * told["memory"]}

    plain = proposals(Study(SPACE, method="tpe", seed=0, **goals), toy, 30)
    goals["constraints"] = ["memory <= 560"]
    assert proposals(Study(SPACE, method="tpe", seed=0, **goals), scaled, 30) == plain
