"""PostgreSQL: a tell does not wait for the study's lock, and nobody overwrites what it decides meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.storage.invariants import sound_trials

from bough.errors import ConflictError, StudyError, TrialError
from bough.storage import StudyRecord
from bough.storage.database import Database, Transaction
from bough.storage.sql import SqlStorage
from bough.study.goals import Goals
from bough.study.trial_index import TrialIndex
from bough.trial import Trial

RECORD = StudyRecord("s", "{}", "minimize", "{}", 0)
RUNNING = Trial(-1, {"x": 0.5}, "running", worker="me")


def done(number: int, value: float = 1.0) -> Trial:
    return Trial(number, {}, "done", value=value)


class Late:
    """A call in another thread, which waits for a lock until the test lets go of it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._result: list[Any] = []
        self._thread = threading.Thread(target=self._run, args=(call,))
        self._thread.start()
        self._thread.join(0.3)
        self.waits = self._thread.is_alive()

    def _run(self, call: Callable[[], Any]) -> None:
        try:
            self._result.append(call())
        except Exception as error:
            self._result.append(error)

    def result(self) -> Any:
        self._thread.join(60)
        if isinstance(self._result[0], Exception):
            raise self._result[0]
        return self._result[0]


class Held:
    """Another client, in the middle of an operation: its statements are sent, its commit is not."""

    def __init__(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.storage = SqlStorage(url)
        self._go, self._sent = threading.Event(), threading.Event()
        database = self.storage._database
        execute = database._execute

        def pausing(sql: str, parameters: dict[str, Any]) -> Any:
            if sql == "COMMIT":
                self._sent.set()
                self._go.wait(60)
            return execute(sql, parameters)

        def in_transaction(work: Callable[..., Any], shortcut: Any = None) -> Any:
            def both(transaction: Transaction) -> Any:
                done = shortcut(transaction) if shortcut else None
                return work(transaction) if done is None else done

            return Database.write(database, both)

        monkeypatch.setattr(database, "_execute", pausing)
        monkeypatch.setattr(database, "write", in_transaction)

    def begin(self, call: Callable[[SqlStorage], Any]) -> None:
        self._late = Late(lambda: call(self.storage))
        assert self._sent.wait(60)

    def commit(self) -> Any:
        self._go.set()
        return self._late.result()


@pytest.fixture
def storage(postgresql_url: str) -> SqlStorage:
    return SqlStorage(postgresql_url)


@pytest.fixture
def other(storage: SqlStorage, postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(postgresql_url, monkeypatch)


@pytest.fixture
def study(storage: SqlStorage) -> int:
    return storage.create(RECORD).id


def test_a_tell_does_not_wait_for_an_ask(
    storage: SqlStorage, study: int, other: Held, postgresql_url: str
) -> None:
    storage.insert(study, [RUNNING])
    other.begin(lambda other: other.insert(study, [RUNNING]))
    asking = Late(lambda: storage.insert(study, [RUNNING]))
    assert asking.waits, "numbers are given one after the other"
    telling = Late(lambda: SqlStorage(postgresql_url).finish(study, done(0)))
    assert not telling.waits
    assert telling.result().value == 1.0
    assert other.commit()[0].number == 1
    assert asking.result()[0].number == 2


def test_two_tells_of_one_trial(storage: SqlStorage, study: int, other: Held, postgresql_url: str) -> None:
    storage.insert(study, [RUNNING], lease=60.0)
    other.begin(lambda other: other.finish(study, done(0, 1.0)))
    same, different = SqlStorage(postgresql_url), SqlStorage(postgresql_url)
    first = Late(lambda: same.finish(study, done(0, 1.0)))
    second = Late(lambda: different.finish(study, done(0, 2.0)))
    assert first.waits and second.waits
    told = other.commit()
    assert first.result() == told
    with pytest.raises(ConflictError, match=r"already finished \(value=1\.0\)"):
        second.result()
    assert sound_trials(postgresql_url, "s")[0] == told


def test_what_is_being_told_is_not_handed_out_again(
    storage: SqlStorage, study: int, other: Held, postgresql_url: str
) -> None:
    storage.insert(study, [RUNNING], lease=-1.0)
    other.begin(lambda other: other.finish(study, done(0)))
    assert storage.take(study, "thief") is None
    storage.insert(study, [RUNNING], lease=-1.0)
    taken = storage.take(study, "thief", 60.0)
    assert taken is not None and taken.number == 1, "the next one is"
    told = other.commit()
    assert sound_trials(postgresql_url, "s")[0] == told


@pytest.mark.parametrize("lease", [60.0, None])
def test_what_is_being_told_is_not_renewed(
    storage: SqlStorage, study: int, other: Held, lease: float | None, postgresql_url: str
) -> None:
    held = storage.insert(study, [RUNNING], lease=60.0)
    other.begin(lambda other: other.finish(study, done(0)))
    renewing = Late(lambda: storage.renew(study, held, lease))
    assert renewing.waits
    told = other.commit()
    renewing.result()
    assert sound_trials(postgresql_url, "s")[0] == told


def test_a_tell_meets_a_new_attempt(
    storage: SqlStorage, study: int, other: Held, postgresql_url: str
) -> None:
    storage.insert(study, [RUNNING, RUNNING], lease=-1.0)
    other.begin(lambda other: other.take(study, "second", 60.0))
    late = Late(lambda: SqlStorage(postgresql_url).finish(study, Trial(0, {}, "done", value=1.0, attempt=1)))
    failed = Trial(0, {}, "failed", error="old", attempt=1)
    old = Late(lambda: SqlStorage(postgresql_url).finish(study, failed))
    assert late.waits and old.waits
    other.commit()
    told = late.result()
    assert (told.value, told.attempt, told.worker, told.expires) == (1.0, 2, "second", None)
    with pytest.raises((ConflictError, TrialError)):  # by which of the two was first
        old.result()
    assert sound_trials(postgresql_url, "s")[0] == told


def test_an_old_attempt_fails_while_a_new_one_begins(
    storage: SqlStorage, study: int, other: Held, postgresql_url: str
) -> None:
    storage.insert(study, [RUNNING], lease=-1.0)
    other.begin(lambda other: other.take(study, "second", 60.0))
    old = Late(lambda: storage.finish(study, Trial(0, {}, "failed", error="old", attempt=1)))
    assert old.waits
    taken = other.commit()
    with pytest.raises(TrialError, match="attempt 2 decides"):
        old.result()
    assert sound_trials(postgresql_url, "s") == [taken]


def test_a_tell_to_a_study_that_is_being_deleted(storage: SqlStorage, study: int, other: Held) -> None:
    storage.insert(study, [RUNNING])
    other.begin(lambda other: other.delete(study))
    telling = Late(lambda: storage.finish(study, done(0)))
    assert telling.waits
    other.commit()
    with pytest.raises(StudyError, match="deleted in the meantime"):
        telling.result()


def test_readers_miss_nothing_and_count_nothing_twice(storage: SqlStorage, study: int, other: Held) -> None:
    """Whatever the order of tells, asks and reads, a view is what a fresh one is."""
    storage.insert(study, [RUNNING] * 4)
    view = TrialIndex(Goals())

    def read() -> None:
        view.update(storage.changes(study, view.revision))

    read()
    other.begin(lambda other: other.finish(study, done(2, 5.0)))
    storage.finish(study, done(0, 7.0))
    read()
    read()
    assert (view.over, view.done) == ([0], 1)
    storage.insert(study, [RUNNING])  # gives a revision to the first result, but not to the one on its way
    read()
    other.commit()
    read()
    assert view.over == [0, 2]
    assert storage.take(study, "me") is None
    storage.finish(study, Trial(3, {}, "failed", error="no"))
    read()
    storage.insert(study, [RUNNING])
    read()
    fresh = TrialIndex(Goals())
    fresh.update(storage.changes(study, 0))
    assert view.trials == fresh.trials and view.status() == fresh.status()
    assert sorted(view.over) == sorted(fresh.over) == [0, 2, 3] and view.open == fresh.open
    assert storage.changes(study, view.revision).trials == []


def test_the_short_tell_stores_all_that_the_long_one_does(storage: SqlStorage, study: int) -> None:
    storage.insert(study, [RUNNING])
    told = Trial(0, {}, "done", value=1.0, noise=0.1, cost=2.0, measures={"m": 3.0}, notes={"n": "x"})
    told = replace(told, noises={"m": 0.5})
    assert storage.finish(study, told).noises == {"m": 0.5}
    (stored,) = storage.changes(study, 0).trials
    assert (stored.noises, stored.measures, stored.notes) == (told.noises, told.measures, told.notes)
    assert storage.finish(study, told) == stored
