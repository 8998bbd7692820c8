"""The studies that the service has open, and the order in which they are asked.

A proposal may take seconds. Those who ask one study wait for their turn without holding a thread, and
proposals run in threads of their own, so that a result can be told, and a page be read, at any time.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from bough.errors import ExhaustedError, StudyError, TrialError
from bough.service.tagged import Tagged, asked_by
from bough.storage import Storage, StudyRecord
from bough.study import Study
from bough.trial import Trial

__all__ = ["NoStudy", "NoTrial", "OpenStudies", "Version"]

T = TypeVar("T")

MAX_OPEN = 32
"""Studies whose trials are kept in memory; the least recently used goes first."""


class NoStudy(StudyError):
    """There is no study of that name."""


class NoTrial(TrialError):
    """The study has no trial of that number."""


@dataclass(frozen=True)
class Version:
    """Changes whenever the trials of a study do: a key for caches, and news for those who watch."""

    study: int
    trials: int
    done: int
    failed: int
    leased: int


class OpenStudies:
    """Threads and coroutines may share it."""

    def __init__(self, storage: Storage) -> None:
        self.storage = Tagged(storage)
        self._open: OrderedDict[int, Future[Study]] = OrderedDict()
        self._lock = threading.Lock()  # guards the dictionary, never the opening of a study
        self._turns: dict[tuple[int, str], asyncio.Lock] = {}
        self._askers = ThreadPoolExecutor(8, thread_name_prefix="bough-ask")
        self._models = ThreadPoolExecutor(2, thread_name_prefix="bough-model")

    def close(self) -> None:
        for threads in (self._askers, self._models):
            threads.shutdown(wait=False, cancel_futures=True)

    def records(self) -> list[StudyRecord]:
        return self.storage.find()

    def find(self, name: str) -> StudyRecord:
        """The record of the study of that name as it is now."""
        found = self.storage.find(name) if name.isprintable() else []  # as the names of all studies are
        if not found:
            raise NoStudy(f"there is no study {name!r}")
        return found[0]

    def open(self, name: str) -> Study:
        """The study of that name as it is now: others may have deleted it and created another.

        Opening a study may take seconds. Who wants the same study waits for it, all others go on.
        """
        record = self.find(name)
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

    def version(self, study: Study) -> Version:
        status = study.status()
        trials = self.storage.find(study.name)
        return Version(
            study.record.id, trials[0].trials if trials else 0, status.done, status.failed, status.leased
        )

    async def consult_model(self, work: Callable[[], T]) -> T:
        """Do something that computes with a study's model, in threads that nothing else waits for."""
        return await asyncio.get_running_loop().run_in_executor(self._models, work)

    async def ask(
        self, study: Study, tag: str, *, n: int = 1, lease: float | None = None, limit: int | None = None
    ) -> list[Trial]:
        """Up to ``n`` trials; fewer where a finite space ends or ``limit`` trials are reached.

        Trials that the same request was given before, as its tag tells, are given to it again.
        """

        def ask() -> list[Trial]:
            trials = [trial for trial in study.trials if _given(trial, tag)][:n]
            with asked_by(tag):
                while len(trials) < n:
                    try:
                        trial = study.ask_within(limit, lease)
                    except ExhaustedError:
                        if trials:
                            break
                        raise
                    if trial is None:
                        break
                    trials.append(trial)
            return trials

        return await self._take_turn(study, "ask", ask)

    async def insert(self, study: Study, tag: str, work: Callable[[], list[Trial]]) -> list[Trial]:
        """The trials that ``work`` puts into the study, unless the same request has put them in before."""

        def insert() -> list[Trial]:
            before = [trial for trial in study.trials if "#" in tag and trial.worker == tag]
            with asked_by(tag):
                return before or work()

        return await self._take_turn(study, "insert", insert)

    async def _take_turn(self, study: Study, queue: str, work: Callable[[], T]) -> T:
        turn = self._turns.setdefault((study.record.id, queue), asyncio.Lock())
        async with turn:
            return await asyncio.get_running_loop().run_in_executor(self._askers, work)


def _given(trial: Trial, tag: str) -> bool:
    return trial.state == "running" and trial.worker == tag and "#" in tag
