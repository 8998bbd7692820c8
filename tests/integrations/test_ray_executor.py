"""The end of ``RayExecutor``, with a Ray whose tasks end when a test says so."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from bough.integrations.ray import RayExecutor


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Future[Any]]:
    """The results of the tasks that were submitted."""
    made: list[Future[Any]] = []

    def start(*_: Any) -> Any:
        made.append(result := Future())
        return SimpleNamespace(future=lambda: result, result=result)

    def cancel(reference: Any, force: bool) -> None:
        reference.result.set_exception(RuntimeError("cancelled"))

    ray = SimpleNamespace(
        is_initialized=lambda: True,
        cluster_resources=lambda: {"CPU": 2},
        remote=lambda function: SimpleNamespace(remote=start),
        cancel=cancel,
    )
    monkeypatch.setattr("bough.integrations.ray.import_module", lambda name: ray)
    return made


def test_it_waits_for_its_calls(tasks: list[Future[Any]]) -> None:
    executor = RayExecutor()
    first, second = executor.submit(print), executor.submit(print)
    tasks[0].set_result("a")
    executor.shutdown(wait=False)
    assert first.done() and not second.done()
    ending = threading.Timer(0.1, lambda: tasks[1].set_result("b"))
    ending.start()
    executor.shutdown()
    assert second.result(timeout=0) == "b"
    with pytest.raises(RuntimeError, match="was shut down"):
        executor.submit(print)


def test_it_cancels_its_calls(tasks: list[Future[Any]]) -> None:
    with RayExecutor() as executor:
        done, open_ = executor.submit(print), executor.submit(print)
        tasks[0].set_result("a")
        executor.shutdown(cancel_futures=True)
    assert done.result() == "a" and open_.cancelled()
