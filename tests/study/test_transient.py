"""Failures that say nothing about their configs: tried again, and never learned from."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import BoughError, ServiceError, StorageError, TrialError
from bough.history import History
from bough.points import Points
from bough.space import Choice, Float, Space
from bough.storage import MemoryStorage
from bough.strategies.designs import RandomSearch
from bough.study import Study, copy_study, export_study, import_study, open_study
from bough.trial import Report, Trial

SPACE = Space({"model": Choice({"a": {"C": Float(0, 1)}, "b": {}}), "x": Float(0, 1)})


class Watching:
    """Random search that remembers what it was shown."""

    def __init__(self) -> None:
        self.failures: list[int] = []
        self.seen: list[History] = []

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        self.failures.append(len(history.failed))
        self.seen.append(history)
        return RandomSearch().propose(space, history, rng)


def flaky(times: int) -> Any:
    """An objective that raises Transient in the first evaluations of each config."""
    seen: dict[float, int] = {}

    def objective(config: dict[str, Any]) -> float:
        seen[config["x"]] = seen.get(config["x"], 0) + 1
        if seen[config["x"]] <= times:
            raise bough.Transient("no network")
        return float(config["x"])

    return objective


def test_a_trial_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "bough"):
        study = Study(SPACE, method="random", seed=0).run(flaky(2), 3, progress=False)
    assert [(trial.state, trial.attempt) for trial in study.trials] == [("done", 3)] * 3
    assert sum("goes back to the queue: Transient: no network" in text for text in caplog.messages) == 6


def test_in_worker_processes_too(tmp_path: Path) -> None:
    folder = str(tmp_path)

    def objective(config: dict[str, Any]) -> float:
        mark = Path(folder, str(config["x"]))
        if not mark.exists():
            mark.touch()
            raise bough.Transient("no network")
        return 1.0

    study = Study(SPACE, method="random", seed=0).run(objective, 3, workers=2, progress=False)
    assert [(trial.state, trial.attempt) for trial in study.trials] == [("done", 2)] * 3


@pytest.mark.parametrize("workers", [None, 2])
@pytest.mark.parametrize("error", [StorageError, ServiceError])
def test_a_report_that_could_not_be_stored_is_no_fault_of_the_config(
    workers: int | None, error: type[BoughError]
) -> None:
    refused: set[int] = set()

    class Locked(MemoryStorage):
        def report(self, study: int, report: Report) -> Trial:
            if report.number not in refused:
                refused.add(report.number)
                raise error("the file is locked by another program")
            return super().report(study, report)

    def objective(config: dict[str, Any], run: Any) -> float:
        run.report(1.0, step=1)
        return 1.0

    study = Study(SPACE, storage=Locked(), name="s", method="random", seed=0)
    study.run(objective, 2, workers=workers, progress=False)
    assert [(trial.state, trial.attempt) for trial in study.trials] == [("done", 2)] * 2


def test_used_up_attempts_fail_and_nothing_is_learned() -> None:
    method = Watching()
    study = Study(SPACE, method=method, seed=0).run(flaky(9), 4, progress=False)
    assert all((t.state, t.attempt, t.learn) == ("failed", 3, False) for t in study.trials)
    study.fail(study.ask(), "diverged")
    study.ask()
    assert method.failures == [0, 0, 0, 0, 0, 1]


def test_when_errors_are_raised_the_last_attempt_decides() -> None:
    study = Study(SPACE, method="random", seed=0)
    with pytest.raises(bough.Transient):
        study.run(flaky(9), 4, on_error="raise", progress=False)
    assert [(trial.state, trial.attempt) for trial in study.trials] == [("failed", 3)]


@pytest.mark.parametrize("name", ["memory", "sqlite"])
def test_it_is_kept_and_travels_in_files(name: str, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db" if name == "sqlite" else None
    study = Study(SPACE, name="s", storage=storage, method="random", seed=0)
    assert study.fail(study.ask(), "no network", learn=False).learn is False
    assert study.fail(study.ask(), "diverged").learn is True
    assert study.tell(study.ask(), 1.0).learn is True
    if storage:
        study = open_study("s", storage)
    assert [trial.learn for trial in study.trials] == [False, True, True]
    export_study(study, tmp_path / "s.jsonl")
    lines = (tmp_path / "s.jsonl").read_text().splitlines()
    assert ['"learn"' in line for line in lines] == [False, True, False, False]
    back = import_study(tmp_path / "s.jsonl", MemoryStorage())
    assert [trial.learn for trial in back.trials] == [False, True, True]
    (tmp_path / "bad.jsonl").write_text((tmp_path / "s.jsonl").read_text().replace("false", '"no"'))
    with pytest.raises(bough.errors.StudyError, match="line 2: 'learn' must be true or false"):
        import_study(tmp_path / "bad.jsonl", MemoryStorage())


def test_learn_is_a_truth_value() -> None:
    study = Study(SPACE, method="random", seed=0)
    trial = study.ask()
    with pytest.raises(TrialError, match="learn must be True or False, not 'no'"):
        study.fail(trial, "no network", learn="no")  # type: ignore[arg-type]
    assert study.trial(trial.number).state == "running"


EPOCHS = bough.Int(1, 9, fidelity=True)
GIVEN_UP: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "auto": ({"x": Float(0, 1)}, {}),
    "cma": ({"x": Float(0, 1)}, {"method": "cma"}),
    "objectives": ({"x": Float(0, 1)}, {"objectives": ["error", "size"]}),
    "fidelity": ({"x": Float(0, 1), "epochs": EPOCHS}, {}),
    "promotion": ({"x": bough.Categorical([0.7, 0.8]), "epochs": EPOCHS}, {}),
    "finite": ({"x": bough.Categorical([0.1, 0.2, 0.7])}, {}),
}


@pytest.mark.parametrize("name", GIVEN_UP)
def test_a_config_that_never_works_is_given_up(name: str, sqlite_url: str) -> None:
    parameters, options = GIVEN_UP[name]

    def objective(config: dict[str, Any]) -> dict[str, float]:
        if config["x"] > 0.5 and (name != "promotion" or config["epochs"] > 1):
            raise bough.Transient("no network")
        return {"value": (config["x"] - 0.2) ** 2, "error": config["x"], "size": 1 - config["x"]}

    study = Study(Space(parameters), seed=1, **options).run(objective, 16, progress=False)
    failed = Counter(str(trial.config) for trial in study.trials if trial.state == "failed")
    assert max(failed.values()) == 2
    copied = copy_study(study, "s", sqlite_url)  # which reads all trials at once
    assert _proposal(study) == _proposal(copied)


@pytest.mark.parametrize("fidelity", [False, True])
def test_a_config_that_is_given_up_does_not_run(fidelity: bool) -> None:
    """A running trial counts with a predicted value, which may be better than every result."""
    method, space = Watching(), SPACE
    config: dict[str, Any] = {"model": "b", "x": 0.5}
    if fidelity:
        space, config = Space({"x": Float(0, 1), "epochs": EPOCHS}), {"x": 0.5, "epochs": 1}
    study = Study(space, method=method, seed=0)
    for _ in range(2):
        study.enqueue(config)
        study.fail(study.ask(), "no network", learn=False)
    study.ask()
    study.ask()
    history = method.seen[-1]
    assert len(history.pending) == 1 and history.pending_numbers.tolist() == [2]
    assert history.given_up is not None and history.given_up_numbers is not None
    assert history.given_up_numbers.tolist() == [1]
    (point,) = space.decode(history.given_up)
    assert point["x"] == 0.5


def _proposal(study: Study) -> object:
    try:
        return study.ask().config
    except bough.errors.ExhaustedError as error:
        return str(error)
