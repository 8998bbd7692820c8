"""Studies in the memory of this process: the default, gone when the process ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any

from bough.errors import StudyError, TrialError
from bough.storage import forks
from bough.storage.base import Amendment, Changes, StudyRecord, amended_meanwhile
from bough.trial import Report, Trial, available, begun, finished, handed_out, is_news, renewed

__all__ = ["MemoryStorage"]


@dataclass
class _StudyState:
    """One study: its trials by number, the numbers of unfinished trials, and a journal of all changes.

    The revision of a study is the length of its journal, so the changes since a revision are a slice. An
    entry is the number of a trial that changed, or a report. curves: reports by step, by number and attempt.

    Ctrl-C may end a change after any statement. So each change is written to the journal first, and then
    made by one statement. An entry whose change was not made is ignored; so is a number in ``open`` whose
    trial is finished or was not inserted.
    """

    record: StudyRecord
    trials: list[Trial] = field(default_factory=list)
    open: dict[int, None] = field(default_factory=dict)
    journal: list[int | Report | None] = field(default_factory=list)  # None for an amendment
    amendments: list[tuple[int, Amendment]] = field(default_factory=list)  # each with its revision
    curves: dict[tuple[int, int], dict[int, Report]] = field(default_factory=dict)

    def copied(self) -> _StudyState:
        parts = {each.name: copy(getattr(self, each.name)) for each in fields(self)}
        return _StudyState(**parts | {"curves": {key: dict(curve) for key, curve in self.curves.items()}})

    def insert(self, trials: list[Trial]) -> list[Trial]:
        self.journal += [trial.number for trial in trials]
        self.open.update((trial.number, None) for trial in trials if not trial.is_finished)
        self.trials += trials
        return trials

    def put(self, trial: Trial) -> Trial:
        self.journal.append(trial.number)
        self.open[trial.number] = None
        self.trials[trial.number] = trial
        if trial.is_finished:
            del self.open[trial.number]
        return trial

    def unfinished(self) -> list[Trial]:
        return [self.trials[number] for number in self.open if number < len(self.trials)]

    def trial(self, number: int) -> Trial:
        if not 0 <= number < len(self.trials):
            raise TrialError(f"study {self.record.name!r} has no trial {number}")
        return self.trials[number]

    def of_mark(self, request: str | None, holder: str | None) -> list[Trial]:
        """The trials that a request inserted, or the trial that runs for it."""
        if request is not None and (found := [trial for trial in self.trials if trial.request == request]):
            return found
        running = self.unfinished() if holder is not None else []
        return [trial for trial in running if trial.state == "running" and trial.holder == holder]

    def curve(self, number: int, attempt: int) -> dict[int, Report]:
        return self.curves.setdefault((number, attempt), {})

    def put_report(self, report: Report) -> None:
        curve = self.curve(report.number, report.attempt)
        self.journal.append(report)
        curve[report.step] = report


class MemoryStorage:
    """See ``Storage``; one lock makes every method atomic."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[int, _StudyState] = {}
        self._ids = 0
        forks.register(self)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:  # other threads may change the study while it is pickled
            return _restored, ({study: state.copied() for study, state in self._states.items()}, self._ids)

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self, child: bool) -> None:
        self._lock.release()

    def create(
        self,
        record: StudyRecord,
        trials: Sequence[Trial] = (),
        amendments: Sequence[Amendment] = (),
        reports: Sequence[Report] = (),
    ) -> StudyRecord:
        with self._lock:
            if any(state.record.name == record.name for state in self._states.values()):
                raise StudyError(f"study {record.name!r} exists already")
            self._ids += 1
            record = replace(record, id=self._ids, created=time.time(), trials=len(trials))
            # Results come in the order of their times, as from a database.
            order = sorted(trials, key=lambda trial: (trial.finished or 0.0, trial.number))
            state = _StudyState(record)
            state.insert(list(trials))
            state.journal = [trial.number for trial in order]
            state.amendments = [(1, amendment) for amendment in amendments]
            for report in reports:
                state.put_report(report)
            state.journal.append(None)  # so the first revision is not 0, after which everything is read
            self._states[record.id] = state
            return record

    def find(self, name: str | None = None) -> list[StudyRecord]:
        with self._lock:
            return [
                replace(state.record, trials=len(state.trials))
                for state in self._states.values()
                if name is None or state.record.name == name
            ]

    def delete(self, study: int) -> None:
        with self._lock:
            self._states.pop(study, None)

    def changes(self, study: int, since: int) -> Changes:
        with self._lock:
            state = self._state(study)
            news = state.journal[since:]
            reports = [
                entry
                for entry in news
                if isinstance(entry, Report)
                and state.curve(entry.number, entry.attempt).get(entry.step) is entry
            ]
            # A trial that changed twice is listed once, at the place of its last change.
            latest = dict.fromkeys(entry for entry in reversed(news) if isinstance(entry, int))
            trials = [state.trials[number] for number in reversed(latest) if number < len(state.trials)]
            amendments = [amendment for revision, amendment in state.amendments if revision > since]
            return Changes(trials, len(state.journal), time.time(), amendments, reports)

    def amend(
        self,
        study: int,
        amendment: Amendment,
        *,
        after: int | None = None,
        space: str | None = None,
        moved: Sequence[Trial] = (),
    ) -> Amendment:
        with self._lock:
            state = self._state(study)
            if after is not None and after != len(state.amendments):
                raise amended_meanwhile()
            if moved and amendment.since != len(state.trials):
                raise amended_meanwhile()
            if any(state.trial(trial.number).state != trial.state for trial in moved):
                raise amended_meanwhile()
            trials = list(state.trials) if moved else state.trials
            for trial in moved:
                trials[trial.number] = replace(trials[trial.number], config=trial.config)
            record = state.record if space is None else replace(state.record, space=space)
            position, since = len(state.amendments), len(state.trials)
            stored = replace(amendment, since=since, position=position, at=time.time())
            state.journal.append(None)
            amendments = [*state.amendments, (len(state.journal), stored)]
            state.trials, state.record, state.amendments = trials, record, amendments
            return stored

    def insert(
        self,
        study: int,
        trials: Sequence[Trial],
        *,
        within: range | None = None,
        lease: float | None = None,
        seen: int | None = None,
    ) -> list[Trial]:
        with self._lock:
            state, now = self._state(study), time.time()
            request, holder = (trials[0].request, trials[0].holder) if trials else (None, None)
            if (request is not None or holder is not None) and (theirs := state.of_mark(request, holder)):
                return theirs
            first = len(state.trials)
            if within is not None and first not in within:
                return []
            if seen is not None and state.amendments and state.amendments[-1][0] > seen:
                return []
            return state.insert([begun(trial, first + i, now, lease) for i, trial in enumerate(trials)])

    def take(
        self, study: int, worker: str, lease: float | None = None, holder: str | None = None
    ) -> Trial | None:
        with self._lock:
            state, now = self._state(study), time.time()
            if theirs := state.of_mark(None, holder):
                return theirs[0]
            for trial in state.unfinished():
                if available(trial, now):
                    taken = state.put(handed_out(trial, worker, now, lease, holder))
                    if taken.state == "running":
                        return taken
            return None

    def finish(self, study: int, result: Trial) -> Trial:
        with self._lock:
            state = self._state(study)
            current = state.trial(result.number)
            trial = finished(current, result, time.time())
            return current if trial is current else state.put(trial)

    def report(self, study: int, report: Report) -> Trial:
        with self._lock:
            state = self._state(study)
            current = state.trial(report.number)
            report = replace(report, attempt=report.attempt or current.attempt)
            curve = state.curve(report.number, report.attempt)
            if is_news(current, report, curve.get(report.step), next(reversed(curve), None)):
                state.put_report(report)
            return current

    def renew(self, study: int, held: Sequence[Trial], lease: float | None) -> None:
        with self._lock:
            state, now = self._state(study), time.time()
            for trial in held:
                current = state.trials[trial.number] if 0 <= trial.number < len(state.trials) else None
                changed = current and renewed(current, trial, now, lease)
                if changed is not None:
                    state.put(changed)

    def _state(self, study: int) -> _StudyState:
        if study not in self._states:
            raise StudyError("the study was deleted in the meantime")
        return self._states[study]


def _restored(states: dict[int, _StudyState], ids: int) -> MemoryStorage:
    """A storage from its pickle."""
    storage = MemoryStorage()
    storage._states, storage._ids = states, ids
    return storage
