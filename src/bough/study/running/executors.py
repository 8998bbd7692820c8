"""Where evaluations run: in this thread, in worker processes that bough starts, or in any executor.

Each pool has the same interface: ``ready`` (whether it can take one more evaluation), ``submit``, ``collect``
(the result of an evaluation that ended), ``stop`` (kill an evaluation) and ``close``. ``starting`` holds the
futures of workers that are still starting; the loop waits for these, too.

A worker process gets the evaluation once, when it starts, and keeps it. Then data are sent once, caches of
the objective last, and a random generator that the objective refers to moves on from trial to trial.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Protocol, SupportsIndex

from bough.errors import StudyError
from bough.study.results import failure
from bough.study.running.objective import Evaluate, ObjectiveRaised, in_worker, reason
from bough.study.running.orphans import KILL, Guardian, signal_group
from bough.trial import Trial

__all__ = ["Pool", "WorkerLost", "check_pool", "open_pool", "thread_limits"]

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""By these, numerical libraries learn how many threads they may start."""


class WorkerLost(Exception):
    """The process that evaluated a trial is gone; nothing is known about the result."""


class Pool(Protocol):
    @property
    def starting(self) -> list[Future[Any]]: ...
    def ready(self) -> bool: ...
    def submit(self, trial: Trial) -> Future[Trial]: ...
    def collect(self, future: Future[Trial], trial: Trial) -> Trial: ...
    def stop(self, future: Future[Trial]) -> None: ...
    def close(self) -> None: ...


def open_pool(
    evaluate: Evaluate,
    workers: int | None,
    executor: Executor | None,
    trial_timeout: float | None,
    interruptible: Callable[[], AbstractContextManager[None]],
) -> Pool:
    """The pool for ``run``'s arguments, which ``check_pool`` must have checked."""
    if executor is not None:
        if type(executor) is ProcessPoolExecutor:  # a subclass may send in another way
            _check_sendable(evaluate)
        return _External(evaluate, executor, _at_a_time(workers, executor))
    if workers in (None, 1) and trial_timeout is None:
        return _Inline(evaluate, interruptible)
    return _Processes(evaluate, workers or 1)


def _check_sendable(evaluate: Evaluate) -> None:
    """StudyError if no process can get the objective: every trial would fail for this reason."""
    from multiprocessing.reduction import ForkingPickler  # as the executor does: it also sends sockets

    try:
        ForkingPickler.dumps(evaluate)
    except Exception as error:  # pickling runs code of the user
        raise StudyError(
            f"a process cannot get this objective ({error}): define it with def in a module, or use workers= "
            "instead of executor="
        ) from None


def check_pool(workers: int | None, executor: Executor | None, trial_timeout: float | None) -> None:
    """StudyError if no pool supports these arguments."""
    if workers is not None and (
        isinstance(workers, bool) or not isinstance(workers, SupportsIndex) or workers < 1
    ):
        raise StudyError(f"workers must be a positive integer, not {workers!r}")
    if executor is not None:
        if trial_timeout is not None:
            raise StudyError(
                "trial_timeout cannot stop a call inside an executor: use workers= instead of executor="
            )
        if not isinstance(executor, Executor):
            raise StudyError(f"executor must be a concurrent.futures.Executor, not {type(executor).__name__}")
        _at_a_time(workers, executor)


def _at_a_time(workers: int | None, executor: Executor) -> int:
    """How many trials the executor evaluates at a time."""
    found: int | None = workers or getattr(executor, "_max_workers", None)
    if found is None:
        raise StudyError(f"say with workers= how many trials {type(executor).__name__} evaluates at a time")
    return found


class _Inline:
    """Evaluates in the calling thread."""

    def __init__(self, evaluate: Evaluate, interruptible: Callable[[], AbstractContextManager[None]]) -> None:
        self._evaluate, self._interruptible = evaluate, interruptible
        self._busy = False
        self.starting: list[Future[Any]] = []

    def ready(self) -> bool:
        return not self._busy

    def submit(self, trial: Trial) -> Future[Trial]:
        future: Future[Trial] = Future()
        try:
            with self._interruptible():
                result = self._evaluate(trial)
            future.set_result(result)
        except ObjectiveRaised as raised:
            future.set_exception(raised)
        self._busy = True
        return future

    def collect(self, future: Future[Trial], trial: Trial) -> Trial:
        self._busy = False
        return future.result()

    def stop(self, future: Future[Trial]) -> None:
        raise AssertionError("an evaluation in the calling thread has ended before anyone could stop it")

    def close(self) -> None:
        pass


class _External:
    """Evaluates in the user's executor, ``at_a_time`` trials at once; it is not shut down afterwards."""

    def __init__(self, evaluate: Evaluate, executor: Executor, at_a_time: int) -> None:
        self._evaluate, self._executor, self._at_a_time = evaluate, executor, at_a_time
        self._futures: set[Future[Trial]] = set()
        self.starting: list[Future[Any]] = []

    def ready(self) -> bool:
        return len(self._futures) < self._at_a_time

    def submit(self, trial: Trial) -> Future[Trial]:
        try:
            future = self._executor.submit(in_worker, self._evaluate, trial)
        except RuntimeError as error:  # broken, or shut down
            raise StudyError(f"the executor accepts no more trials: {error}") from error
        self._futures.add(future)
        return future

    def collect(self, future: Future[Trial], trial: Trial) -> Trial:
        self._futures.discard(future)
        return _result(future, trial)

    def stop(self, future: Future[Trial]) -> None:
        self._futures.discard(future)
        future.cancel()

    def close(self) -> None:
        for future in self._futures:
            future.cancel()


class _Processes:
    """Evaluates in worker processes. Each is a separate executor, so killing one does not affect others."""

    def __init__(self, evaluate: Evaluate, count: int) -> None:
        self._sent = _pickled(evaluate)
        self._guardian = Guardian()
        self._groups: dict[Executor, int] = {}
        self._idle: list[Executor] = []
        self._busy: dict[Future[Trial], Executor] = {}
        self._starting: dict[Future[Any], Executor] = {}
        # Otherwise loky would replace a worker that has filled a cache, or loaded a large library.
        leak = os.environ.get("LOKY_MAX_MEMORY_LEAK_SIZE", "1e18")
        self._environment = {"LOKY_MAX_MEMORY_LEAK_SIZE": leak, **thread_limits(count)}
        for _ in range(count):
            self._start()

    @property
    def starting(self) -> list[Future[Any]]:
        return list(self._starting)

    def ready(self) -> bool:
        for future in [future for future in self._starting if future.done()]:
            if error := future.exception():
                raise StudyError(f"a worker process could not be started: {reason(error)}")
            executor = self._starting.pop(future)
            self._groups[executor] = future.result()
            self._guardian.hold(self._groups[executor])
            self._idle.append(executor)
        return bool(self._idle)

    def submit(self, trial: Trial) -> Future[Trial]:
        executor = self._idle.pop()
        try:
            future: Future[Trial] = executor.submit(_evaluate_kept, trial)
        except BrokenExecutor as error:  # its process died while it was idle
            if self._idle:
                self._replace(executor)
                return self.submit(trial)
            future = Future()
            future.set_exception(error)
        self._busy[future] = executor
        return future

    def collect(self, future: Future[Trial], trial: Trial) -> Trial:
        try:
            result = _result(future, trial)
        except WorkerLost:
            self.stop(future)
            raise
        self._idle.append(self._busy.pop(future))
        return result

    def stop(self, future: Future[Trial]) -> None:
        self._replace(self._busy.pop(future))

    def close(self) -> None:
        for executor in [*self._idle, *self._busy.values(), *self._starting.values()]:
            self._kill(executor)
        self._guardian.close()

    def _start(self) -> None:
        from loky.process_executor import ProcessPoolExecutor

        executor = ProcessPoolExecutor(max_workers=1, initializer=_detach, env=self._environment)
        # A worker gets trials only after it has answered, so a trial's time does not include Python's start.
        self._starting[executor.submit(_keep, self._sent)] = executor

    def _replace(self, executor: Executor) -> None:
        self._kill(executor)
        self._start()

    def _kill(self, executor: Any) -> None:
        executor.shutdown(wait=True, kill_workers=True)
        if (group := self._groups.pop(executor, None)) is not None:
            signal_group(group, KILL)  # processes that the objective started
            self._guardian.release(group)


def _pickled(evaluate: Evaluate) -> bytes:
    from loky.backend.reduction import dumps

    try:
        return bytes(dumps(evaluate))
    except Exception as error:
        raise StudyError(
            f"the objective cannot be sent to a worker process ({type(error).__name__}: {error}): run it "
            "without workers= and trial_timeout=, or let it open files, connections and locks itself"
        ) from None


_kept: list[Evaluate] = []
"""In a worker process: the evaluation that it was started for."""


def _keep(evaluate: bytes) -> int:
    """Keep an evaluation in a worker process; returns the worker's process group."""
    _kept[:] = [pickle.loads(evaluate)]  # noqa: S301 (from the process that started this one)
    return os.getpid()


def _evaluate_kept(trial: Trial) -> Trial:
    if not _kept:  # loky replaced the process that kept it
        raise BrokenExecutor("it was restarted, because it used much more memory than at its start")
    return in_worker(_kept[0], trial)


def thread_limits(workers: int) -> dict[str, str]:
    """Variables that give each of several workers an equal share of the cores.

    Otherwise the libraries of every worker would start a thread per core, and wait for one another. No
    variables if the user has set one of them.
    """
    from loky import cpu_count

    if workers == 1 or any(name in os.environ for name in THREAD_VARIABLES):
        return {}
    return dict.fromkeys(THREAD_VARIABLES, str(max(1, cpu_count() // workers)))


def _result(future: Future[Trial], trial: Trial) -> Trial:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise WorkerLost(reason(error)) from error
    except Exception as error:  # the objective could not be sent, or the cluster gave up on it
        return failure(trial.number, reason(error), trial.attempt)


def _detach() -> None:
    """Give a worker its own process group, so it can be killed with all processes that the objective started.

    Ctrl-C in a terminal reaches every process; workers ignore it, because the parent decides what happens.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":
        os.setpgid(0, 0)
