"""Reports from worker processes: a worker sends each report to the process that runs the study, and waits.

The channel is a local socket with a random key. Messages are JSON. If a worker dies, only the thread that
listens to it ends.
"""

from __future__ import annotations

import contextlib
import json
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from typing import Any

from bough.errors import BoughError, ServiceError, StorageError, StudyError, TrialError
from bough.study.results import real_number
from bough.study.running.objective import ReportTo, takes_run
from bough.study.running.run_options import RunOptions
from bough.trial import Trial

__all__ = ["reporting"]

JOIN_SECONDS = 5.0
"""Seconds that the end of a run waits for the listening thread; by then nothing depends on this thread."""

_log = logging.getLogger("bough")


@contextlib.contextmanager
def reporting(
    objective: Callable[..., Any], report: ReportTo, options: RunOptions
) -> Iterator[ReportTo | None]:
    """The function by which the objective reports, also from workers; None if it does not take a run."""
    executor = options.get("executor")
    in_processes = options.get("workers") not in (None, 1) or options.get("trial_timeout") is not None
    if not takes_run(objective):
        yield None
    elif (
        isinstance(executor, Executor)
        and not isinstance(executor, ThreadPoolExecutor)
        and not _is_local(executor)
    ):
        raise StudyError(
            f"objectives cannot report from {type(executor).__name__}, which may evaluate on "
            "other machines: use workers=, or call run on each machine with a study in PostgreSQL"
        )
    elif in_processes or _is_local(executor):
        with ReportServer(report) as server:
            yield server.client
    else:
        yield report


def _is_local(executor: Executor | None) -> bool:
    """Whether an executor evaluates on this machine: the executors of Python, loky and joblib do."""
    return any(kind.__name__ == "ProcessPoolExecutor" for kind in type(executor).__mro__)


class ReportClient:
    """Sends the reports of a worker process; it is sent to the worker together with the objective."""

    def __init__(self, address: Any, key: bytes) -> None:
        self._address, self._key = address, key

    def knock(self) -> None:
        """Connect without sending a message, to wake up the listener."""
        Client(self._address).close()

    def __call__(self, trial: Trial, value: float | Mapping[str, float], step: int) -> bool:
        what = f"the value that trial {trial.number} reports"
        if isinstance(value, Mapping):
            number: Any = {str(name): real_number(each, what) for name, each in value.items()}
        else:
            number = real_number(value, what)
        if isinstance(step, bool) or not hasattr(step, "__index__"):
            raise TrialError(f"a step must be an integer from 0 on, not {step!r}")
        message = [trial.number, trial.attempt, number, step.__index__()]
        try:
            with Client(self._address, authkey=self._key) as connection:
                connection.send_bytes(json.dumps(message).encode())
                answer = json.loads(connection.recv_bytes())
        except (OSError, EOFError, AuthenticationError) as error:
            raise StudyError(f"the process that runs the study cannot be reached: {error}") from None
        if "error" in answer:
            raise (StorageError if answer["unreachable"] else TrialError)(answer["error"])
        return bool(answer["stop"])


class ReportServer:
    """Listens to workers, in separate threads, until the block ends."""

    def __init__(self, report: ReportTo) -> None:
        self._report = report
        self._key = secrets.token_bytes(32)
        # Without the key: the authentication waits for the worker, and would block all others.
        self._listener = Listener(backlog=64)
        self.client = ReportClient(self._listener.address, self._key)
        self._open = True
        self._thread = threading.Thread(target=self._accept, name="bough-reports", daemon=True)

    def __enter__(self) -> ReportServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        with contextlib.suppress(OSError):
            self.client.knock()  # closing the listener would not wake the thread
        self._thread.join(JOIN_SECONDS)
        self._listener.close()

    def _accept(self) -> None:
        while self._open:
            try:
                connection = self._listener.accept()
            except OSError:
                continue  # the worker is gone already, or the block has ended
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: Connection) -> None:
        with connection, contextlib.suppress(OSError, EOFError, AuthenticationError):
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            number, attempt, value, step = json.loads(connection.recv_bytes())
            try:
                stop = self._report(Trial(number, {}, "running", attempt=attempt), value, step)
                answer: dict[str, Any] = {"stop": stop}
            except BoughError as error:
                unreachable = isinstance(error, (StorageError, ServiceError))
                answer = {"error": str(error), "unreachable": unreachable}
            except Exception as error:  # a worker must not wait for an answer that never comes
                _log.exception("a report of trial %d could not be stored", number)
                answer = {"error": f"{type(error).__name__}: {error}", "unreachable": False}
            connection.send_bytes(json.dumps(answer).encode())
