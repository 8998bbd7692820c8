"""Several objectives and constraints: what a study accepts, stores, and gives back."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.errors import MethodError, StudyError, TrialError
from bough.space import Choice, Float, Space
from bough.study import Study, export_study, import_study, open_study, outcome, run_trials
from bough.study.goals import Goals, Limit, goals_of, parse_goals

SPACE = Space({"x": Float(0, 1)})
GOALS: dict[str, Any] = {
    "objectives": {"error": "minimize", "speed": "maximize"},
    "constraints": ["memory <= 512"],
}


def told(results: list[dict[str, float]], **goals: Any) -> Study:
    study = Study(SPACE, method="random", seed=0, **goals)
    for result in results:
        study.tell(study.ask(), result)
    return study


@pytest.mark.parametrize("method", ["auto", "tpe", "add-tree"])
def test_the_name_of_a_single_objective_changes_no_proposal(method: str) -> None:
    space = Space({"m": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}})})
    plain = Study(space, method=method, seed=1, direction="maximize")
    named = Study(space, method=method, seed=1, objectives={"score": "maximize"})
    for number in range(9):
        one, other = plain.ask(), named.ask()
        assert one.config == other.config
        plain.tell(one, score := sum(v for v in one.config.values() if isinstance(v, float)), noise=0.1)
        named.tell(other, {"score": score, "number": number}, noise={"score": 0.1})
    assert plain.explain(8) == named.explain(8)


@pytest.mark.parametrize(("search", "best"), [(bough.minimize, 0.4), (bough.maximize, 0.9)])
def test_the_short_forms_take_constraints(search: Any, best: float) -> None:
    values = iter([0.1, 0.4, 0.9, 1.5])
    study = search(
        lambda config: {"value": (value := next(values)), "memory": 3 * abs(value - 0.65)},
        SPACE, 4, constraints=["memory <= 1"], method="random", seed=0, progress=False,
    )  # fmt: skip
    assert study.best.value == best
    assert [trial.feasible for trial in study.trials] == [False, True, True, False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"objectives": {"a": "minimise"}}, "the direction of 'a' must be 'minimize' or"),
        ({"objectives": {}}, "at least one objective"),
        ({"objectives": "error"}, "a dict of names and directions, or a list of names, not 'error'"),
        ({"objectives": ["a", "a"]}, "names 'a' twice"),
        ({"objectives": ["a", "value"]}, "none can be called 'value'"),
        ({"objectives": ["cost"]}, "'cost' is reserved"),
        ({"objectives": ["a"], "direction": "maximize"}, "give the directions in objectives"),
        ({"direction": "up"}, "direction must be 'minimize' or 'maximize', not 'up'"),
        ({"constraints": "memory <= 512"}, "constraints must be a list"),
        ({"constraints": ["memory"]}, "the constraint 'memory' cannot be read: write 'name <= number'"),
        ({"constraints": ["memory == 3"]}, "the constraint 'memory == 3' cannot be read"),
        ({"constraints": ["memory <= many"]}, "cannot be read"),
        ({"constraints": ["memory <= inf"]}, "cannot be read"),
        ({"constraints": ["a <= b <= 3"]}, "cannot be read"),
        ({"constraints": ["memory + cache <= 3"]}, "computes with measures: return the result as a"),
        ({"constraints": ["a - b <= 3"]}, "computes with measures"),
        ({"constraints": ["2 * memory <= 3"]}, "computes with measures"),
        ({"constraints": ["max(a, b) <= 3"]}, "computes with measures"),
        ({"constraints": ["x <= 0.5"]}, r"'x <= 0.5' names a parameter: limit it by Space\(..., require="),
        ({"constraints": ["noise <= 3"]}, "'noise' is reserved"),
        ({"constraints": ["m <= 1", "m >= 2"]}, "'m >= 2' and 'm <= 1' contradict each other"),
        ({"constraints": ["m < 1", "m >= 1"]}, "contradict"),
        ({"objectives": ["a"], "constraints": ["value <= 1"]}, "no objective is called that"),
        ({"objectives": ["a"], "reference": {"b": 1}}, "'b', which is not an objective: they are a"),
        ({"objectives": ["a"], "reference": {"a": math.nan}}, "the reference of 'a' must be a finite number"),
        ({"objectives": ["a"], "reference": {"a": 1}}, r"only one: .* write constraints=\['a <= 1'\]"),
        ({"direction": "maximize", "reference": {"value": 2}}, r"constraints=\['value >= 2'\]"),
    ],
)  # fmt: skip
def test_goals_that_make_no_sense_are_refused_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message) as raised:
        Study(SPACE, **given)
    assert "\n" not in str(raised.value)


def test_limits_are_met_on_their_side() -> None:
    assert Limit.parse(" peak memory<=1e3 ") == Limit("peak memory", "<=", 1000.0)
    assert Limit.parse("val/f1-score >= .5") == Limit("val/f1-score", ">=", 0.5)
    assert Limit.parse("`memory (MB)` <= 5") == Limit("memory (MB)", "<=", 5.0)
    assert Limit.parse("`a < b` > -2") == Limit("a < b", ">", -2.0)
    slacks = {
        sign: [Limit("m", sign, 2.0).slack(m) for m in (1.0, 2.0, 3.5)] for sign in ("<=", "<", ">=", ">")
    }
    assert slacks["<="] == [-1.0, 0.0, 1.5]
    assert slacks[">="] == [1.0, 0.0, -1.5]
    assert [s > 0 for s in slacks["<"]] == [False, True, True]
    assert [s > 0 for s in slacks[">"]] == [True, True, False]


def test_goals_survive_storage_as_text() -> None:
    goals = parse_goals({"b": "maximize", "a": "minimize"}, ["m <= 0.1", "`n o` > 1e300"], {"a": 3})
    assert goals_of(goals.to_json(), goals.direction) == goals
    assert Goals().to_json() is None
    assert parse_goals(None, (), None, "maximize") == goals_of(None, "maximize")


def test_the_front_is_feasible_and_not_dominated() -> None:
    results = [
        {"error": 0.3, "speed": 5.0, "memory": 100},
        {"error": 0.1, "speed": 1.0, "memory": 512},
        {"error": 0.2, "speed": 1.0, "memory": 100},  # dominated by the one before
        {"error": 0.0, "speed": 9.0, "memory": 513},  # does not fit
        {"error": 0.3, "speed": 5.0, "memory": 1},  # the same as the first
    ]
    study = told(results, **GOALS)
    assert [trial.number for trial in study.front] == [1, 0]
    assert [trial.feasible for trial in study.trials] == [True, True, True, False, True]
    assert study.trials[3].violated == ("memory <= 512",)
    assert study.trials[0].value == 0.3 and study.trials[0].measures == results[0]
    # (0.5 - 0.3) * (5 - 0) + (0.3 - 0.1) * 0 and the strip of trial 1: (0.5 - 0.1) * 1 beside it
    assert study.hypervolume({"error": 0.5, "speed": 0.0}) == pytest.approx(0.2 * 5 + 0.2 * 1)
    with pytest.raises(StudyError, match=r"2 objectives, so no single best trial: see study.front"):
        _ = study.best
    frame = study.frame()
    assert list(frame["feasible"]) == [True, True, True, False, True]
    assert list(frame["memory"]) == [100, 512, 100, 513, 1]


def test_the_best_trial_is_feasible_or_the_closest_is_named() -> None:
    limits = {"constraints": ["memory <= 512", "accuracy >= 0.9"]}
    study = told(
        [{"value": 1.0, "memory": 600, "accuracy": 0.95}, {"value": 0.0, "memory": 2000, "accuracy": 0.5}],
        **limits,
    )
    with pytest.raises(StudyError, match=r"trial 0 is closest: memory is 600, not <= 512$"):
        _ = study.best
    study.tell(study.ask(), {"value": 5.0, "memory": 512, "accuracy": 0.9})
    study.tell(study.ask(), {"value": -5.0, "memory": 513, "accuracy": 0.9})
    assert study.best.number == 2
    assert [trial.number for trial in study.front] == [2]


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"error": 1.0, "speed": 2.0}, "the measure 'memory' is missing"),
        ({"error": 1.0, "memory": 2.0}, "the measure 'speed' is missing"),
        ({"error": math.nan, "speed": 2.0, "memory": 1.0}, "the measure 'error' is nan"),
        ({"error": 1.0, "speed": "fast", "memory": 1.0}, "the measure 'speed' is 'fast' (str), not a number"),
    ],
)
def test_a_measure_that_a_goal_names_must_be_there(result: dict[str, Any], why: str) -> None:
    for study in (
        told([result], **GOALS),
        bough.optimize(lambda c: result, SPACE, 1, method="random", **GOALS),
    ):
        (trial,) = study.trials
        assert trial.state == "failed" and trial.error is not None and why in trial.error
        assert study.front == [] and study.hypervolume() == 0.0


def test_a_result_that_lacks_a_measure_never_makes_a_study_unreadable() -> None:
    study = Study(SPACE, method="random", seed=0, **GOALS)
    run_trials(study, lambda trial: outcome(trial, 1.0), 1, progress=False)  # made without the goals
    assert study.trials[0].state == "failed" and "'speed' is missing" in str(study.trials[0].error)


def test_a_number_is_enough_for_one_objective_and_no_more() -> None:
    study = told([0.25], objectives={"error": "maximize"})  # type: ignore[list-item]
    assert study.best.value == 0.25 and study.best.measures == {"error": 0.25}
    with pytest.raises(TrialError, match=r"tell a dict with 'error', 'speed', 'memory', not 3.0"):
        told([3.0], **GOALS)  # type: ignore[list-item]
    failed = bough.optimize(lambda c: 3.0, SPACE, 1, method="random", **GOALS).trials[0]
    assert "a dict with 'error', 'speed', 'memory'" in (failed.error or "")


def test_a_stored_study_keeps_its_goals(storage_url: str | None, tmp_path: Path) -> None:
    url = storage_url or f"sqlite:///{tmp_path}/goals.db"
    study = Study(SPACE, name="s", storage=url, method="random", reference={"speed": 0}, **GOALS)
    study.run(lambda c: {"error": c["x"], "speed": c["x"] ** 2, "memory": 1000 * c["x"]}, trials=8)
    again = open_study("s", url)
    assert again.goals == study.goals and again.front == study.front
    assert [t.violated for t in again.trials] == [t.violated for t in study.trials]
    Study(SPACE, name="s", storage=url, reference={"speed": 0}, **GOALS)
    with pytest.raises(
        StudyError, match="its goal is to minimize error, maximize speed with memory <= 512 from speed"
    ):
        Study(SPACE, name="s", storage=url)
    export_study(again, tmp_path / "s.jsonl")
    copy = import_study(tmp_path / "s.jsonl", url, name="copy")
    assert copy.goals == study.goals and copy.front == study.front
    assert copy.hypervolume() == study.hypervolume()


def test_methods_that_cannot_say_who_can() -> None:
    space = Space({"m": Choice({"a": {"x": Float(0, 1)}, "b": {}})})
    for method in ("cma", bough.method("forest")):
        with pytest.raises(MethodError, match=r"takes one objective without constraints; .*random take more"):
            Study(space, method=method, **GOALS)
    for method in ("tpe", "random", "sobol", "lhs", "grid"):
        study = bough.optimize(
            lambda c: {"error": 1, "speed": 2, "memory": 3}, space, 1, method=method, **GOALS
        )
        assert len(study.front) == 1


def test_the_order_of_constraints_makes_no_other_goal(tmp_path: Path) -> None:
    def opened(*limits: str) -> bough.Study:
        url = f"sqlite:///{tmp_path}/s.db"
        return bough.Study(SPACE, name="s", storage=url, method="random", constraints=limits)

    opened("memory <= 5", "time < 3")
    assert opened("time < 3", "memory <= 5").goals.limits[0].name == "memory"
    with pytest.raises(StudyError, match="its goal is to"):
        opened("time < 3")
    with pytest.raises(StudyError, match="its goal is to"):
        opened("time < 3", "memory <= 6")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"]])
def test_values_near_the_largest_float_have_an_infinite_hypervolume(names: list[str]) -> None:
    study = Study(Space({"x": Float(0, 1)}), objectives=names)
    for value in (1e308, -1e308, 5e307):
        study.add({"x": 0.5}, {name: value * (-1) ** place for place, name in enumerate(names)})
    assert study.hypervolume() == study.hypervolume(dict.fromkeys(names, 1.7e308)) == math.inf
    assert len(bough.plot.hypervolume(study).data) > 0


def test_a_reference_of_one_objective_that_an_earlier_version_stored_still_opens(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    goals = {"objectives": {"a": "minimize"}, "constraints": [], "reference": {"a": 1.0}}
    Study(SPACE, objectives=["a"], name="s", storage=url)
    with sqlite3.connect(tmp_path / "s.db") as database:
        database.execute("UPDATE bough_studies SET goals = ?", (json.dumps(goals),))
    database.close()
    assert open_study("s", url).goals.reference == (("a", 1.0),)
    Study(SPACE, objectives=["a"], reference={"a": 1.0}, name="s", storage=url)
