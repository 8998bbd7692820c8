"""A run that is asked to stop starts no further trial, wherever the request comes from."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import bough
from bough.errors import StudyError
from bough.study.catalogue import export_study, import_study

SPACE = bough.Space({"x": bough.Float(0, 1)})


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/s.db"


def new(url: str) -> bough.Study:
    return bough.Study(SPACE, name="s", storage=url, method="random", seed=0)


def test_a_run_stops_and_a_later_one_goes_on(url: str, caplog: pytest.LogCaptureFixture) -> None:
    study = new(url)

    def objective(config: dict[str, float]) -> float:
        if len(bough.open_study("s", url).trials) == 3:
            bough.open_study("s", url).stop_runs("good enough", by="ann")
        return config["x"]

    with caplog.at_level(logging.WARNING, "bough"):
        study.run(objective, trials=50, progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 3
    assert [(each.kind, each.body) for each in study.amendments] == [
        ("stop", {"reason": "good enough", "by": "ann"})
    ]
    assert [line.message for line in caplog.records] == [
        "the run was asked to stop: it starts no further trial"
    ]
    study.run(lambda config: config["x"], trials=5, progress=False)
    assert study.status().finished == 5


def test_running_evaluations_are_finished(url: str) -> None:
    study = new(url)
    asked = threading.Event()

    def objective(config: dict[str, float]) -> float:
        if not asked.is_set():
            asked.set()
            study.stop_runs()
        return config["x"]

    with ThreadPoolExecutor(3) as executor:
        study.run(objective, trials=50, workers=3, executor=executor, progress=False)
    assert {trial.state for trial in study.trials} == {"done"}
    assert 1 <= len(study.trials) <= 6


def test_a_run_that_waits_for_others_stops(url: str) -> None:
    study, other = new(url), new(url)
    other.ask(lease=600)  # the only trial is in other hands
    timer = threading.Timer(0.2, other.stop_runs)
    timer.start()
    study.run(lambda config: config["x"], trials=1, progress=False)
    timer.join()
    assert study.status().finished == 0


def test_requests_travel_in_files_and_change_no_proposal(url: str, tmp_path: Path) -> None:
    study, twin = (bough.Study(SPACE, name=name, storage=url, seed=0) for name in "st")
    for each in (study, twin):
        each.add_many(({"x": x}, x * x) for x in (0.1, 0.4, 0.9))
    study.stop_runs("why")
    assert study.ask().config == twin.ask().config
    export_study(study, tmp_path / "s.jsonl")
    again = import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/other.db")
    assert again.status().stop_requests == 1
    assert again.amendments[0].body == {"reason": "why"}


def test_a_reason_is_a_text(url: str) -> None:
    study = new(url)
    with pytest.raises(StudyError, match="reason must be a text, not 3"):
        study.stop_runs(3)  # type: ignore[arg-type]
    assert study.amendments == []
