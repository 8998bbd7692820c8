"""The studies that the service has open, and the order in which they are asked.

A proposal may take seconds. Askers of one study wait for their turn without blocking a thread, and proposals
run in separate threads. So results can be told and pages be read at any time.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from bough.errors import ConflictError, StudyError, TrialError
from bough.storage import Storage, StudyRecord
from bough.study import Study
from bough.trial import Trial

__all__ = [
    "NoStudy", "NoTrial", "OpenStudies", "Version", "WrongRequest", "amending", "checking_request",
    "existing", "existing_trial", "request_mark",
]  # fmt: skip

T = TypeVar("T")

Version = tuple[int, ...]
"""A cache key that changes with a study, but not if a lease is only renewed."""

MAX_OPEN = 32
"""The number of studies whose trials are kept in memory; the least recently used one is dropped first."""


class NoStudy(StudyError):
    """There is no study of that name."""


class NoTrial(TrialError):
    """The study has no trial of that number."""


class WrongRequest(TrialError):
    """What a request says about a trial is wrong, whatever the state of the trial."""


@contextlib.contextmanager
def checking_request() -> Iterator[None]:
    """A block in which a TrialError is the fault of the request, and not of a trial's state."""
    try:
        yield
    except TrialError as error:
        raise WrongRequest(str(error)) from None


def existing(study: Study, number: int, act: Callable[[], T]) -> T:
    """The result of ``act`` on a trial; NoTrial, not a conflict, if there is no such trial."""
    try:
        return act()
    except TrialError:
        existing_trial(study, number)
        raise


def amending(study: Study, number: int, act: Callable[[], T]) -> T:
    """The result of ``act``, which amends a finished trial: if it is finished, the request must be wrong."""
    try:
        return act()
    except ConflictError:
        raise
    except TrialError as error:
        if existing_trial(study, number).is_finished:
            raise WrongRequest(str(error)) from None
        raise


def existing_trial(study: Study, number: int) -> Trial:
    """The trial of that number; NoTrial if there is none."""
    try:
        return study.trial(number)
    except TrialError as error:
        raise NoTrial(str(error)) from None


def request_mark(client: str, operation: str, key: str | None, content: str = "") -> str | None:
    """An id of a request from its Idempotency-Key; it is stored with the trials, so a repetition finds them.

    The same key from another client, for another operation or with other content gives another id.
    """
    if key is None:
        return None
    digest = hashlib.sha256("\0".join([client, operation, key, content]).encode()).digest()
    return base64.urlsafe_b64encode(digest[:15]).decode()


class OpenStudies:
    """The open studies by name; threads and coroutines may share it."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._open: OrderedDict[int, Future[Study]] = OrderedDict()
        self._lock = threading.Lock()  # guards the dictionary, never the opening of a study
        self._turns: dict[int, asyncio.Lock] = {}
        self._fronts: dict[int, tuple[Version, int]] = {}
        self._running: dict[tuple[int, str], asyncio.Task[list[Trial]]] = {}
        self._askers = ThreadPoolExecutor(8, thread_name_prefix="bough-ask")
        self._models = ThreadPoolExecutor(2, thread_name_prefix="bough-model")

    def close(self) -> None:
        for threads in (self._askers, self._models):
            threads.shutdown(wait=False, cancel_futures=True)

    def records(self) -> list[StudyRecord]:
        return self.storage.find()

    def find(self, name: str) -> StudyRecord:
        """The record of the study of that name as it is now."""
        found = self.storage.find(name) if name.isprintable() else []  # all study names are printable
        if not found:
            raise NoStudy(f"there is no study {name!r}")
        return found[0]

    def open(self, name: str) -> Study:
        """The current study of that name: the one known before may have been deleted and replaced."""
        return self.study_of(self.find(name))

    def study_of(self, record: StudyRecord) -> Study:
        """The study of a record.

        Opening a study may take seconds. Requests for the same study wait for it; others do not.
        """
        with self._lock:
            opening = self._open.get(record.id)
            mine = opening is None
            if opening is None:
                opening = self._open[record.id] = Future()
                while len(self._open) > MAX_OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(record.id)
        if mine:
            try:
                opening.set_result(Study.of_record(record, self.storage))
            except BaseException as error:
                with self._lock:
                    self._open.pop(record.id, None)
                opening.set_exception(error)
        return opening.result()

    def front_size(self, study: Study) -> int | None:
        """How many trials are on the front, counted once per version of the study; None for one objective."""
        if len(study.goals.objectives) < 2:
            return None
        version = self.version(study)
        known = self._fronts.get(study.record.id)
        if known is None or known[0] != version:
            known = self._fronts[study.record.id] = version, len(study.front)
        return known[1]

    def version(self, study: Study) -> Version:
        status = study.status()
        # PostgreSQL shows a result before the study has a revision for it, so finished trials count as well.
        over = status.done + status.failed + status.stopped + status.retracted
        return study.record.id, status.changed, over, status.leased

    async def consult_model(self, work: Callable[[], T]) -> T:
        """Run ``work`` with a study's model in separate threads, so other requests do not wait."""
        return await asyncio.get_running_loop().run_in_executor(self._models, work)

    async def ask(
        self,
        study: Study,
        worker: str,
        *,
        request: str | None = None,
        n: int = 1,
        lease: float | None = None,
        limit: int | None = None,
    ) -> list[Trial]:
        """Trials for a worker; see ``Study.ask_up_to``."""

        async def in_turn() -> list[Trial]:
            async with self._turns.setdefault(study.record.id, asyncio.Lock()):
                work = partial(study.ask_up_to, n, limit=limit, lease=lease, worker=worker, request=request)
                return await asyncio.get_running_loop().run_in_executor(self._askers, work)

        return await (in_turn() if request is None else self._once(study, request, in_turn()))

    async def insert(self, study: Study, request: str | None, work: Callable[[], list[Trial]]) -> list[Trial]:
        """The trials that ``work`` inserts into the study."""

        async def in_thread() -> list[Trial]:
            return await asyncio.get_running_loop().run_in_executor(self._askers, work)

        return await (in_thread() if request is None else self._once(study, request, in_thread()))

    async def _once(self, study: Study, request: str, work: Coroutine[Any, Any, list[Trial]]) -> list[Trial]:
        """Do the work, or wait for it if the same request was sent before and is still running."""
        key = study.record.id, request
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.create_task(work)
            running.add_done_callback(lambda _: self._running.pop(key, None))
        else:
            work.close()
        return await asyncio.shield(running)  # others may wait for it even if this request is cancelled
