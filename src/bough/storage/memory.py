"""Studies in the memory of this process: the default, gone when the process ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bough.errors import StudyError, TrialError
from bough.storage import forks
from bough.storage.base import Changes, StudyRecord
from bough.storage.transitions import available, begun, finished, handed_out, renewed
from bough.trial import Trial

__all__ = ["MemoryStorage"]


@dataclass
class _Shelf:
    """One study: its trials by number, the numbers of those that are not over, and a journal of all changes.

    The revision of a study is the length of its journal, so what changed since then is a slice of it.
    """

    record: StudyRecord
    trials: list[Trial] = field(default_factory=list)
    open: dict[int, None] = field(default_factory=dict)
    journal: list[int] = field(default_factory=list)

    def put(self, trial: Trial) -> Trial:
        if trial.number == len(self.trials):
            self.trials.append(trial)
        else:
            self.trials[trial.number] = trial
        if trial.over:
            self.open.pop(trial.number, None)
        else:
            self.open[trial.number] = None
        self.journal.append(trial.number)
        return trial


class MemoryStorage:
    """See ``Storage``; one lock makes every method atomic."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: dict[int, _Shelf] = {}
        self._ids = 0
        forks.register(self)

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self, child: bool) -> None:
        self._lock.release()

    def create(self, record: StudyRecord, trials: Sequence[Trial] = ()) -> StudyRecord:
        with self._lock:
            if any(shelf.record.name == record.name for shelf in self._shelves.values()):
                raise StudyError(f"study {record.name!r} exists already")
            self._ids += 1
            record = replace(record, id=self._ids, created=time.time(), trials=len(trials))
            shelf = self._shelves[record.id] = _Shelf(record)
            for trial in trials:
                shelf.put(trial)
            return record

    def find(self, name: str | None = None) -> list[StudyRecord]:
        with self._lock:
            return [
                replace(shelf.record, trials=len(shelf.trials))
                for shelf in self._shelves.values()
                if name is None or shelf.record.name == name
            ]

    def delete(self, study: int) -> None:
        with self._lock:
            self._shelves.pop(study, None)

    def changes(self, study: int, since: int) -> Changes:
        with self._lock:
            shelf = self._shelf(study)
            # A trial that changed twice is reported once, at the place of its last change.
            latest = dict.fromkeys(reversed(shelf.journal[since:]))
            trials = [shelf.trials[number] for number in reversed(latest)]
            return Changes(trials, len(shelf.journal), time.time())

    def insert(
        self, study: int, trials: Sequence[Trial], *, within: range | None = None, lease: float | None = None
    ) -> list[Trial]:
        with self._lock:
            shelf, now = self._shelf(study), time.time()
            first = len(shelf.trials)
            if within is not None and first not in within:
                return []
            return [shelf.put(begun(trial, first + i, now, lease)) for i, trial in enumerate(trials)]

    def take(self, study: int, worker: str, lease: float | None = None) -> Trial | None:
        with self._lock:
            shelf, now = self._shelf(study), time.time()
            for number in list(shelf.open):
                trial = shelf.trials[number]
                if available(trial, now):
                    trial = shelf.put(handed_out(trial, worker, now, lease))
                    if trial.state == "running":
                        return trial
            return None

    def finish(self, study: int, result: Trial) -> Trial:
        with self._lock:
            shelf = self._shelf(study)
            if not 0 <= result.number < len(shelf.trials):
                raise TrialError(f"study {shelf.record.name!r} has no trial {result.number}")
            current = shelf.trials[result.number]
            trial = finished(current, result, time.time())
            return current if trial is current else shelf.put(trial)

    def renew(self, study: int, held: Sequence[Trial], lease: float | None) -> None:
        with self._lock:
            shelf, now = self._shelf(study), time.time()
            for trial in held:
                changed = renewed(shelf.trials[trial.number], trial, now, lease)
                if changed is not None:
                    shelf.put(changed)

    def _shelf(self, study: int) -> _Shelf:
        if study not in self._shelves:
            raise StudyError("the study was deleted meanwhile")
        return self._shelves[study]
