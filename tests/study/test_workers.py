"""Evaluating in worker processes: lambdas, dead workers, timeouts, asynchrony."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bough.errors import StudyError
from bough.space import Float, Space
from bough.study import Study, minimize
from bough.study.results import outcome
from bough.study.running.executors import THREAD_VARIABLES, WorkerLost, open_pool, thread_limits
from bough.trial import MAX_ATTEMPTS, Trial

LINE = Space({"x": Float(0, 1)})


def run(objective: Any, trials: int, **more: Any) -> Study:
    return minimize(objective, LINE, trials, **{"method": "random", "seed": 0, "progress": False, **more})


def test_closures_run_in_other_processes() -> None:
    scale, here = 2.0, os.getpid()
    study = run(
        lambda config: {"value": scale * config["x"], "cost": float(os.getpid() != here)}, 6, workers=2
    )
    assert [trial.value for trial in study.trials] == [2 * trial.config["x"] for trial in study.trials]
    assert all(trial.cost == 1.0 for trial in study.trials)


def test_a_worker_keeps_what_the_objective_refers_to() -> None:
    """A generator that began again in every trial would give all of them the same noise."""
    rng, calls = np.random.default_rng(0), []

    def noisy(config: dict[str, float]) -> dict[str, float]:
        calls.append(config)
        return {"value": float(rng.normal()), "calls": len(calls)}

    alone = [trial.value for trial in run(noisy, 4).trials]
    rng, calls = np.random.default_rng(0), []
    study = run(noisy, 4, trial_timeout=1e12)  # one worker process; threads cannot wait that long
    assert [trial.value for trial in study.trials] == alone
    assert [trial.measures["calls"] for trial in study.trials] == [1, 2, 3, 4]
    assert not calls, "the worker has its own copy"


@pytest.mark.parametrize("limit", ["1", None])
def test_a_worker_whose_memory_grows(limit: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """loky replaces such a worker. Then its trial is tried again; by default nothing is replaced."""
    pytest.importorskip("psutil")
    if limit is not None:
        monkeypatch.setenv("LOKY_MAX_MEMORY_LEAK_SIZE", limit)
    held: list[bytearray] = []

    def growing(config: dict[str, float]) -> dict[str, float]:
        time.sleep(1.1)  # loky looks once per second
        held.append(bytearray(b"x" * (0 if held else 310_000_000)))
        return {"value": config["x"], "held": len(held)}

    study = run(growing, 2, trial_timeout=600)
    assert [trial.state for trial in study.trials] == ["done", "done"]
    assert [trial.measures["held"] for trial in study.trials] == ([1, 2] if limit is None else [1, 1])


def test_what_the_objective_needs_and_a_worker_lacks_is_named(tmp_path: Path) -> None:
    class Unreadable:
        def __reduce__(self) -> Any:
            return open, (str(tmp_path / "missing"),)

        def __call__(self, config: dict[str, float]) -> float:
            return 0.0

    with pytest.raises(StudyError, match=r"worker process could not be started: FileNotFoundError.*missing"):
        run(Unreadable(), 3, workers=2)


def variables_in_workers(workers: int) -> set[str | None]:
    study = run(lambda _: {"value": 0.0, "threads": os.environ.get("OMP_NUM_THREADS")}, 4, workers=workers)
    return {trial.notes.get("threads") for trial in study.trials}


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("loky.cpu_count", lambda: 6)
    assert variables_in_workers(2) == {"3"}
    assert thread_limits(100)["OPENBLAS_NUM_THREADS"] == "1"
    assert "OMP_NUM_THREADS" not in os.environ


def test_workers_keep_the_number_of_threads_that_the_user_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert variables_in_workers(2) == {"5"}


def test_failures_come_back_with_their_reason() -> None:
    def objective(config: dict[str, float]) -> Any:
        if config["x"] < 0.5:
            raise RuntimeError("too small")
        return threading.Lock()  # cannot be sent to another process, and need not be

    study = run(objective, 6, workers=2)
    for trial in study.trials:
        expected = (
            "RuntimeError: too small" if trial.config["x"] < 0.5 else "the objective returned <unlocked"
        )
        assert trial.error is not None and expected in trial.error


def test_a_worker_that_dies_while_it_is_idle_costs_one_attempt() -> None:
    def kill_first(study: Study, trial: Trial) -> None:
        if trial.number == 0:
            os.kill(int(trial.measures["worker"]), signal.SIGKILL)
            time.sleep(1.0)  # until its executor has noticed

    study = run(
        lambda config: {"value": 1.0, "worker": os.getpid()}, 3, trial_timeout=60, callbacks=[kill_first]
    )
    assert [(trial.state, trial.attempt) for trial in study.trials] == [("done", 1), ("done", 2), ("done", 1)]


def test_several_workers_that_die_while_they_are_idle_cost_one_attempt_together() -> None:
    def evaluate(trial: Trial) -> Trial:
        return outcome(trial, {"value": 1.0, "worker": os.getpid()})

    trial = Trial(0, {"x": 0.5}, "running", attempt=1)
    pool: Any = open_pool(evaluate, 2, None, None, contextlib.nullcontext)
    with contextlib.closing(pool):
        wait(pool.starting, 60)
        assert pool.ready()
        futures = [pool.submit(trial) for _ in range(2)]
        wait(futures, 60)
        for future in futures:
            os.kill(int(pool.collect(future, trial).measures["worker"]), signal.SIGKILL)
        while not all(executor._flags.broken for executor in pool._idle):
            time.sleep(0.05)
        with pytest.raises(WorkerLost):
            pool.collect(pool.submit(trial), trial)
        assert len(pool.starting) == 2
        wait(pool.starting, 60)
        assert pool.ready()
        assert pool.collect(pool.submit(trial), trial).value == 1.0


def test_a_killed_worker_costs_one_attempt_and_no_neighbour(tmp_path: Path) -> None:
    """The first trial kills its worker once; the trial of the other worker is not disturbed."""
    mark = tmp_path / "killed"

    def objective(config: dict[str, float]) -> float:
        if config["x"] == 0.125 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.3)
        return config["x"]

    study = Study(LINE, method="random", seed=0)
    study.enqueue({"x": 0.125})
    study.run(objective, 5, workers=2, progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 5
    assert [trial.attempt for trial in study.trials] == [2, 1, 1, 1, 1]


def test_a_trial_that_kills_every_worker_fails_in_the_end() -> None:
    study = Study(LINE, method="random", seed=0)
    study.enqueue({"x": 0.125})
    study.run(lambda config: os._exit(1) if config["x"] == 0.125 else 1.0, 3, workers=2, progress=False)
    first = study.trials[0]
    assert (first.state, first.attempt) == ("failed", MAX_ATTEMPTS)
    assert first.error is not None and f"lost in each of {MAX_ATTEMPTS} attempts" in first.error
    assert [trial.state for trial in study.trials[1:]] == ["done", "done"]


@pytest.mark.parametrize("workers", [None, 2])
def test_trial_timeout(workers: int | None, tmp_path: Path) -> None:
    def objective(config: dict[str, float]) -> float:
        (tmp_path / str(os.getpid())).touch()
        if config["x"] == 0.125:
            while True:  # does not even listen to signals of Python
                sum(range(10_000))
        return 1.0

    study = Study(LINE, method="random", seed=0)
    study.enqueue({"x": 0.125})
    study.run(objective, 3, workers=workers, trial_timeout=2.0, progress=False)
    assert [trial.state for trial in study.trials] == ["failed", "done", "done"]
    assert study.trials[0].error == "stopped after 2 s (trial_timeout)"
    for path in tmp_path.iterdir():  # no process is left behind
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


def test_a_free_worker_does_not_wait_for_a_slow_one(tmp_path: Path) -> None:
    """One trial runs until all the others are done, which only asynchronous suggestions allow."""

    def objective(config: dict[str, float]) -> float:
        if config["x"] == 0.125:
            while len(list(tmp_path.iterdir())) < 5:
                time.sleep(0.01)
        else:
            (tmp_path / str(config["x"])).touch()
        return 1.0

    study = Study(LINE, method="random", seed=0)
    study.enqueue({"x": 0.125})
    study.run(objective, 6, workers=2, progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 6
    slow, *others = study.trials
    assert slow.finished is not None
    # the last of the others may still be on its way back when the slow one sees its file
    assert sum(trial.finished is not None and trial.finished < slow.finished for trial in others) >= 4
