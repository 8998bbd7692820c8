"""Retracted and corrected results: what is told stays, what counts changes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.errors import ConflictError, StudyError, TrialError
from bough.study import copy_study, export_study, import_study, open_study

SPACE = bough.Space({"x": bough.Float(0, 1), "kind": bough.Categorical(["a", "b"])})
CONFIGS = [{"x": (i + 0.5) / 8, "kind": "ab"[i % 2]} for i in range(8)]


def filled(storage: str | None = None, **more: Any) -> bough.Study:
    study = bough.Study(SPACE, name="s", storage=storage, seed=1, **more)
    study.add_many((config, config["x"]) for config in CONFIGS)
    return study


def test_a_retracted_result_does_not_count(storage_url: str | None) -> None:
    study = filled(storage_url)
    assert study.best.number == 0
    shown = study.retract(0, "the sensor was off")
    assert (shown.retracted, shown.state, shown.value) == ("the sensor was off", "done", 0.0625)
    assert not shown.feasible
    assert study.best.number == 1
    assert study.recommend().trial.number != 0
    assert study.trials[0] == shown
    status = study.status()
    assert (status.done, status.failed, status.retracted, status.trials) == (7, 0, 1, 8)
    if storage_url is not None:
        again = open_study("s", storage_url)
        assert (again.trials[0], again.best.number) == (shown, 1)


def test_proposals_are_those_of_a_study_without_the_result() -> None:
    study, without = filled(), bough.Study(SPACE, seed=1)
    study.ask()  # the model has seen all results
    study.retract(3, "no")
    without.add_many((config, config["x"]) for i, config in enumerate(CONFIGS) if i != 3)
    mean, _ = study.predict(CONFIGS)
    expected, _ = without.predict(CONFIGS)
    assert mean == pytest.approx(expected, rel=0.3)
    history = study._history(study._view)
    assert history.done_numbers.tolist() == [0, 1, 2, 4, 5, 6, 7]


def test_a_correction_counts_like_the_value_told_first(storage_url: str | None) -> None:
    study, right = filled(storage_url), bough.Study(SPACE, seed=1)
    study.predict(CONFIGS)
    shown = study.correct(5, -1.0, "units were wrong")
    assert (shown.value, shown.value_before, shown.corrected) == (-1.0, CONFIGS[5]["x"], "units were wrong")
    assert study.best == shown
    right.add_many((config, -1.0 if i == 5 else config["x"]) for i, config in enumerate(CONFIGS))
    assert study.ask().config == right.ask().config
    assert study.correct(5, 0.5, "once more").value_before == CONFIGS[5]["x"]
    assert study.trials[5].value == 0.5


def test_corrections_keep_what_they_do_not_name() -> None:
    study = bough.Study(SPACE, objectives=["error", "time"], constraints=["memory <= 5"])
    study.tell(study.ask(), {"error": 1.0, "time": 2.0, "memory": 9.0, "note": "n"}, cost=3.0)
    assert study.front == []
    shown = study.correct(0, {"memory": 4.0}, "it was in other units")
    assert shown.measures == {"error": 1.0, "time": 2.0, "memory": 4.0}
    assert (shown.feasible, shown.cost, shown.notes) == (True, 3.0, {"note": "n"})
    assert [trial.number for trial in study.front] == [0]
    study.retract(0, "after all")
    assert (study.front, study.hypervolume()) == ([], 0.0)


def test_a_failed_trial_may_get_its_result_later() -> None:
    study = filled()
    study.fail(study.ask(), "crashed")
    shown = study.correct(8, -3.0, "found in the log")
    assert (shown.state, shown.value, shown.error, shown.value_before) == ("done", -3.0, None, None)
    assert study.best.number == 8
    assert study.status().failed == 0


def test_the_same_again_changes_nothing() -> None:
    study = filled()
    study.retract(0, "why")
    study.retract(0, " why ")
    study.correct(1, 2.0, "so")
    study.correct(1, 2.0, "so it is")
    assert [amendment.kind for amendment in study.amendments] == ["retract", "correct"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda s: s.retract(99, "x"), "the study has no trial 99"),
        (lambda s: s.retract(-1, "x"), "there is no trial -1"),
        (lambda s: s.retract(8, "x"), "trial 8 is running: only a finished trial can be retracted"),
        (lambda s: s.retract(0, " "), "reason must say why"),
        (lambda s: s.retract(0, None), "reason must say why"),
        (lambda s: s.retract(7, "other"), "trial 7 is retracted already: gone"),
        (lambda s: s.correct(7, 1.0, "x"), "trial 7 is retracted .gone., so it cannot be corrected"),
        (lambda s: s.correct(0, math.nan, "x"), "the value is nan; retract it instead"),
        (lambda s: s.correct(0, "low", "x"), "must be a number, not 'low'"),
        (lambda s: s.correct(8, 1.0, "x"), "trial 8 is running: only a finished trial can be corrected"),
        (lambda s: s.correct(0, {"value": 1, "by": "me"}, "x"), "'by' must be a finite number, not 'me'"),
        (lambda s: s.correct(0, {"a": 1e999}, "x"), "'a' must be a finite number, not 'inf'"),
        (lambda s: s.note(""), "a note needs a text"),
        (lambda s: s.note("x", 99), "no trial 99"),
    ],
)
def test_mistakes_change_nothing(wrong: Any, message: str) -> None:
    study = filled()
    study.ask()
    study.retract(7, "gone")
    before = study.trials
    with pytest.raises((TrialError, StudyError), match=message):
        wrong(study)
    assert study.trials == before
    assert len(study.amendments) == 1


def test_two_processes_agree(shared_url: str) -> None:
    one, other = filled(shared_url), open_study("s", shared_url)
    assert other.best.number == 0
    one.retract(0, "first")
    assert other.best.number == 1
    with pytest.raises(ConflictError, match="retracted already: first"):
        other.retract(0, "second")
    other.note("looked at it", 1, by="me")
    assert one.amendments[-1].body == {"text": "looked at it", "by": "me"}


def test_explain_speaks_of_what_was_known_then() -> None:
    study = filled()
    trial = study.ask()
    before = study.explain(trial)
    study.tell(trial, 5.0)
    study.correct(2, 100.0, "later")
    assert study.explain(trial) == before


def test_files_and_copies_keep_what_was_told_and_why(tmp_path: Path) -> None:
    study = filled()
    study.retract(0, "off")
    study.correct(1, -2.0, "units")
    study.note("hello")
    export_study(study, tmp_path / "s.jsonl")
    for other in (
        import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/s.db"),
        copy_study(study, "copy", f"sqlite:///{tmp_path}/s.db"),
    ):
        assert other.trials == study.trials
        assert other.told_trials() == study.told_trials()
        assert other.amendments == study.amendments
        assert other.best == study.best
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert "retracted" not in rows[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"amendment": "unknown"}, "is not one of"),
        ({"trial": 99}, "there is no trial 99"),
        ({"trial": None}, "must name a finished trial"),
        ({"since": 100}, "'since' must be"),
        ({"body": {"reason": 3}}, "'reason' must be a text"),
        ({"at": "now"}, "'at' must be a number"),
        ({"more": 1}, "an amendment has"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    study = filled()
    study.retract(0, "off")
    export_study(study, tmp_path / "s.jsonl")
    *lines, last = (tmp_path / "s.jsonl").read_text().splitlines()
    (tmp_path / "s.jsonl").write_text("\n".join([*lines, json.dumps({**json.loads(last), **change})]))
    with pytest.raises(StudyError, match=f"line 10: .*{message}"):
        import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/s.db")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noises": ...}, "a correction needs 'noises'"),
        ({"cost": ...}, "a correction needs 'cost'"),
        ({"noises": {"value": "x"}}, "'value' must be a number|'x'"),
        ({"noise": -1.0}, "must not be negative"),
        ({"noise": True}, "'noise' must be a number"),
        ({"measures": []}, "'measures' must be an object"),
    ],
)
def test_a_damaged_correction_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    study = filled()
    study.correct(0, 1.5, "units")
    export_study(study, tmp_path / "s.jsonl")
    *lines, last = (tmp_path / "s.jsonl").read_text().splitlines()
    row = json.loads(last)
    row["body"] = {name: each for name, each in {**row["body"], **change}.items() if each is not ...}
    (tmp_path / "s.jsonl").write_text("\n".join([*lines, json.dumps(row)]))
    with pytest.raises(StudyError, match=f"line 10: .*({message})"):
        import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/s.db")
