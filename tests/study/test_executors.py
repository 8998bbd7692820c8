"""Evaluating in executors of the user: threads, processes, and others."""

from __future__ import annotations

import os
import socket
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import cloudpickle
import pytest

from bough.errors import StudyError
from bough.space import Float, Int, Space
from bough.study import Study, minimize
from bough.trial import Trial

LINE = Space({"x": Float(0, 1)})


def run(objective: Any, trials: int, **more: Any) -> Study:
    return minimize(objective, LINE, trials, **{"method": "random", "seed": 0, "progress": False, **more})


def plain_objective(config: dict[str, float]) -> float:
    return config["x"]


def test_threads() -> None:
    names: set[str] = set()

    def objective(config: dict[str, float]) -> float:
        names.add(threading.current_thread().name)
        time.sleep(0.02)
        return config["x"]

    with ThreadPoolExecutor(3, thread_name_prefix="mine") as executor:
        study = run(objective, 12, executor=executor)
        assert executor.submit(int).result() == 0, "the executor stays open"
    assert [trial.value for trial in study.trials] == [trial.config["x"] for trial in study.trials]
    assert len(names) == 3 and all(name.startswith("mine") for name in names)


def test_processes_of_the_standard_library() -> None:
    with ProcessPoolExecutor(2) as executor:
        study = run(plain_objective, 6, executor=executor)
    assert [trial.value for trial in study.trials] == [trial.config["x"] for trial in study.trials]


def test_an_objective_that_cannot_be_sent_is_named() -> None:
    study = Study(LINE, method="random", seed=0)
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(StudyError, match=r"cannot get this objective \(.*pickle.*\): define it with def"),
    ):
        study.run(lambda config: 1.0, 20, executor=executor, budget=5.0, progress=False)
    assert study.trials == []
    assert study.amendments == [], "the budget of a run that did not begin"


class Cloud(ProcessPoolExecutor):
    """Sends lambdas, too."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(_call, cloudpickle.dumps((fn, args, kwargs)))


def _call(sent: bytes) -> Any:
    fn, args, kwargs = cloudpickle.loads(sent)
    return fn(*args, **kwargs)


def test_an_executor_of_processes_may_send_objectives_in_its_own_way() -> None:
    with Cloud(1) as executor:
        study = run(lambda config: 2 * config["x"], 3, executor=executor)
    assert [trial.value for trial in study.trials] == [2 * trial.config["x"] for trial in study.trials]


def test_an_objective_may_refer_to_what_only_multiprocessing_can_send() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, ProcessPoolExecutor(1) as executor:
        study = run(partial(_announce, theirs), 3, executor=executor)
        assert ours.recv(9) == b"..."
    assert [trial.state for trial in study.trials] == ["done"] * 3


def _announce(channel: socket.socket, config: dict[str, float]) -> float:
    channel.send(b".")
    return config["x"]


def test_an_executor_that_breaks_ends_the_run() -> None:
    study = Study(LINE, method="random", seed=0)
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(StudyError, match="executor accepts no more"),
    ):
        study.run(_die, 5, executor=executor, progress=False)
    assert {trial.state for trial in study.trials} == {"queued"}


def _die(config: dict[str, float]) -> float:
    os._exit(1)


class OneByOne(Executor):
    """An executor that does not say how many calls it takes at a time."""

    most = 0
    now = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.now += 1
        self.most = max(self.most, self.now)

        def work() -> None:
            time.sleep(0.02)
            self.now -= 1
            future.set_result(fn(*args, **kwargs))

        threading.Thread(target=work).start()
        return future


def test_workers_say_how_many_at_a_time() -> None:
    executor = OneByOne()
    with pytest.raises(StudyError, match="say with workers= how many trials OneByOne evaluates at a time"):
        run(plain_objective, 3, executor=executor)
    assert len(run(plain_objective, 10, executor=executor, workers=3).trials) == 10
    assert executor.most == 3


def test_timeouts_of_trials_are_refused_with_an_executor() -> None:
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(StudyError, match="trial_timeout cannot stop a call inside an executor"),
    ):
        run(plain_objective, 3, executor=executor, trial_timeout=1.0)


def test_pending_trials_are_known_to_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    pending: list[list[int]] = []
    all_asked = threading.Event()
    study = Study(Space({"n": Int(1, 10**6)}), method="random", seed=0)  # not to be drawn twice, so it looks
    propose = type(study._strategy).propose

    def noting(self: Any, space: Space, history: Any, rng: Any) -> Any:
        pending.append(history.pending_numbers.tolist())
        if len(pending) == 3:
            all_asked.set()
        return propose(self, space, history, rng)

    monkeypatch.setattr(type(study._strategy), "propose", noting)
    with ThreadPoolExecutor(3) as executor:
        study.run(lambda config: float(all_asked.wait(60)), 3, executor=executor, progress=False)
    assert pending == [[], [0], [0, 1]]


def test_the_end_of_a_run_gives_trials_back() -> None:
    """A callback stops the run while another trial is still going on: it is waited for, not thrown away."""
    study = Study(LINE, method="random", seed=0)
    ends: list[Trial] = []
    started, stopping = threading.Barrier(2), threading.Event()

    def objective(config: dict[str, float]) -> float:
        return 1.0 if started.wait(60) == 0 else float(stopping.wait(60))  # the other one waits for the stop

    def stop(study: Study, trial: Trial) -> bool:
        ends.append(trial)
        stopping.set()
        return True

    with ThreadPoolExecutor(2) as executor:
        study.run(objective, 10, executor=executor, callbacks=[stop], progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 2
    assert len(ends) == 2
