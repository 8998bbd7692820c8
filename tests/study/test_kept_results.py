"""An error or Ctrl-C ends a run: results of other workers are kept, or logged if they cannot be stored."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pytest

from bough.errors import BoughError, ServiceError, StorageError, TrialError
from bough.space import Float, Space
from bough.storage import MemoryStorage
from bough.study import Study
from bough.trial import Trial

LINE = Space({"x": Float(0, 1)})


class AllAtOnce(ThreadPoolExecutor):
    """Its evaluations are over when the run waits for the first one."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.workers = workers
        self.futures: list[Future[Any]] = []

    def submit(self, *given: Any, **more: Any) -> Future[Any]:
        self.futures.append(super().submit(*given, **more))
        if len(self.futures) == self.workers:
            wait(self.futures, 60)
        return self.futures[-1]


@pytest.mark.parametrize("end", ["callback", "objective"])
def test_results_of_other_workers_are_kept_when_an_error_ends_the_run(end: str) -> None:
    study = Study(LINE, method="random", seed=0)
    together = threading.Barrier(3)

    def objective(config: dict[str, float]) -> float:
        if together.wait(60) == 0 and end == "objective":
            raise ValueError("boo")
        return 1.0

    def callback(study: Study, trial: Trial) -> None:
        assert end != "callback", "the callback"

    with AllAtOnce(3) as executor, pytest.raises((AssertionError, TrialError), match=r"the callback|boo"):
        study.run(objective, 9, executor=executor, callbacks=[callback], on_error="raise", progress=False)
    states = ["done"] * 3 if end == "callback" else ["done", "done", "failed"]
    assert sorted(trial.state for trial in study.trials) == states


@pytest.mark.parametrize("error", [StorageError, ServiceError])
def test_results_that_cannot_be_stored_after_an_error_are_logged(
    error: type[BoughError], caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[int] = []

    class Down(MemoryStorage):
        def finish(self, study: int, result: Trial) -> Trial:
            tried.append(result.number)
            if len(tried) > 1:
                raise error("the storage is down")
            return super().finish(study, result)

    def callback(study: Study, trial: Trial) -> None:
        raise RuntimeError("a bug in the callback")

    study = Study(LINE, name="kept", method="random", seed=0, storage=Down())
    with AllAtOnce(4) as executor, pytest.raises(RuntimeError, match="a bug in the callback"):
        study.run(lambda config: config["x"], 8, executor=executor, callbacks=[callback], progress=False)
    assert tried == [0, 1]  # each attempt may take long
    values = [trial.config["x"] for trial in study.trials]
    lost = [
        f"the result of trial {number} could not be stored: value={values[number]}" for number in (1, 2, 3)
    ]
    failed = "storing results failed after the error that ended the run: the storage is down"
    assert caplog.messages == [lost[0], failed, *lost[1:]]


def test_a_callback_that_raises_again_after_an_interruption_loses_no_result() -> None:
    def callback(study: Study, trial: Trial) -> None:
        raise KeyboardInterrupt

    study = Study(LINE, method="random", seed=0)
    with AllAtOnce(4) as executor, pytest.raises(KeyboardInterrupt):
        study.run(lambda config: config["x"], 8, executor=executor, callbacks=[callback], progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 4


@pytest.mark.parametrize("error", [StorageError, KeyboardInterrupt])
def test_results_that_cannot_be_stored_after_an_interruption_are_logged(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    class Down(MemoryStorage):
        def finish(self, study: int, result: Trial) -> Trial:
            if result.number > 0:
                raise error("while it was stored")
            return super().finish(study, result)

    def callback(study: Study, trial: Trial) -> None:
        raise KeyboardInterrupt

    study = Study(LINE, name="kept", method="random", seed=0, storage=Down())
    with AllAtOnce(4) as executor, pytest.raises(error, match="while it was stored"):
        study.run(lambda config: config["x"], 8, executor=executor, callbacks=[callback], progress=False)
    lost = [line for line in caplog.messages if "could not be stored" in line]
    assert lost == [
        f"the result of trial {trial.number} could not be stored: value={trial.config['x']}"
        for trial in study.trials[1:]
    ]
