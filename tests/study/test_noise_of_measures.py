"""Told noise per measure, and studies that have constraints only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import StudyError, TrialError
from bough.space import Float, Space
from bough.study import Study, export_study, import_study, open_study

SPACE = Space({"x": Float(0, 1)})
GOALS: dict[str, Any] = {"objectives": ["error", "time"], "constraints": ["memory <= 5"]}
RESULT = {"error": 1.0, "time": 2.0, "memory": 3.0}


def study(**options: Any) -> Study:
    return Study(SPACE, method="random", seed=0, **(GOALS | options))


def test_noise_is_told_by_name_and_kept(sqlite_url: str, tmp_path: Path) -> None:
    told = study(name="s", storage=sqlite_url)
    first = told.tell(told.ask(), {**RESULT, "noise": {"error": 0.1, "memory": 0.5}})
    second = told.tell(told.ask(), RESULT, noise={"time": 0.2})
    assert (first.noise, first.noises) == (0.1, {"error": 0.1, "memory": 0.5})
    assert (second.noise, second.noises) == (None, {"time": 0.2})
    assert open_study("s", sqlite_url).trials == told.trials
    export_study(told, tmp_path / "s.jsonl")
    copy = import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/other.db")
    assert [trial.noises for trial in copy.trials] == [first.noises, second.noises]
    with told._current() as view:
        seen = told._history(view).outcomes
    assert seen is not None
    np.testing.assert_array_equal(seen.noise, [[0.1, np.nan], [np.nan, 0.2]])
    np.testing.assert_array_equal(seen.slack_noise, [[0.5], [np.nan]])


def test_a_number_is_the_noise_of_the_only_objective() -> None:
    one = study(objectives=["error"])
    trial = one.tell(one.ask(), {**RESULT, "noise": 0.3})
    assert (trial.noise, trial.noises) == (0.3, {})


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (0.1, r"noise must be a dict by measure, such as \{'error': 0.1\}, not 0.1"),
        ({"latency": 0.1}, "noise names 'latency', which was not measured"),
        ({"error": -1.0}, "the noise of 'error' must be finite and not negative, not -1.0"),
        ({"error": "much"}, "the noise of 'error' must be a number, not 'much'"),
    ],
)
def test_wrong_noise_is_refused_and_the_trial_stays_open(noise: Any, message: str) -> None:
    told = study()
    trial = told.ask()
    with pytest.raises(TrialError, match=message):
        told.tell(trial, RESULT, noise=noise)
    assert told.trial(trial.number).state == "running"
    told.tell(trial, RESULT)


def test_without_objectives_the_value_counts_the_violated_constraints() -> None:
    both = Study(SPACE, method="random", seed=0, objectives={}, constraints=["a <= 1", "b >= 2"])
    values = [both.tell(both.ask(), {"a": a, "b": b}).value for a, b in ((5, 0), (0, 0), (0, 3), (1, 2))]
    assert values == [2.0, 1.0, 0.0, 0.0]
    assert both.best.number == 2
    assert [trial.number for trial in both.front] == [2, 3]
    assert "meet a <= 1, b >= 2" in repr(both)
    with pytest.raises(StudyError, match="a study without objectives has no hypervolume"):
        both.hypervolume()


def test_without_objectives_a_number_is_the_only_measure() -> None:
    one = Study(SPACE, method="random", seed=0, objectives=[], constraints=["a <= 1"])
    assert one.tell(one.ask(), 3).violated == ("a <= 1",)
    with pytest.raises(StudyError, match="trial 0 is closest: a is 3, not <= 1"):
        _ = one.best


def test_a_study_needs_some_goal() -> None:
    with pytest.raises(StudyError, match="at least one objective, unless there are constraints to meet"):
        Study(SPACE, objectives={})
    with pytest.raises(StudyError, match="reference names 'a', which is not an objective: there are none"):
        Study(SPACE, objectives={}, constraints=["a <= 1"], reference={"a": 1})


def test_a_stored_study_without_objectives_can_be_opened_again(sqlite_url: str) -> None:
    goals: dict[str, Any] = {"objectives": [], "constraints": ["a <= 1"]}
    first = Study(SPACE, name="s", storage=sqlite_url, method="random", **goals)
    first.run(lambda config: {"a": 2 * config["x"]}, 6, progress=False)
    again = Study(SPACE, name="s", storage=sqlite_url, **goals)
    assert again.trials == first.trials and again.front == first.front
    with pytest.raises(StudyError, match="its goal is to meet a <= 1, not to minimize value"):
        bough.Study(SPACE, name="s", storage=sqlite_url)
