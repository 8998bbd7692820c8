"""Amendments: what is said about a study after its creation, appended and never changed."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bough.errors import ConflictError, StorageError, StudyError
from bough.storage import Amendment, Storage, StudyRecord, open_storage
from bough.storage.database import Transaction
from bough.storage.sql import SqlStorage
from bough.trial import Trial

RECORD = StudyRecord("a study", '{"x": 1}', "minimize", '{"name": "random"}', 0)
RUNNING = Trial(-1, {"x": 0.5}, "running", worker="me")
RETRACTION = Amendment("retract", {"reason": "the disk was full: ä \" '"}, trial=1)


def amendments(storage: Storage, study: int) -> list[Amendment]:
    return storage.changes(study, 0).amendments


def test_an_amendment_comes_back_as_it_was(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING, RUNNING, RUNNING])
    before = storage.changes(study, 0)
    stored = storage.amend(study, RETRACTION, after=0)
    assert replace(stored, at=0.0) == replace(RETRACTION, since=3, position=0)
    assert stored.at >= before.now
    assert amendments(storage, study) == [stored]


def test_only_new_amendments_are_read(storage: Storage, study: int) -> None:
    revision = storage.changes(study, 0).revision
    for number in range(3):
        storage.insert(study, [RUNNING])
        stored = storage.amend(study, Amendment("note", {"n": number}))
        changes = storage.changes(study, revision)
        assert (changes.amendments, [trial.number for trial in changes.trials]) == ([stored], [number])
        revision = changes.revision
        assert storage.changes(study, revision).amendments == []
    assert [amendment.position for amendment in amendments(storage, study)] == [0, 1, 2]
    assert [amendment.since for amendment in amendments(storage, study)] == [1, 2, 3]


def test_who_has_not_seen_the_last_amendment_is_told(storage: Storage, study: int) -> None:
    storage.amend(study, Amendment("note", {}), after=0)
    with pytest.raises(ConflictError, match="another change to the study came first"):
        storage.amend(study, Amendment("note", {}), after=0, space='{"y": 2}')
    assert len(amendments(storage, study)) == 1
    assert storage.find("a study")[0].space == '{"x": 1}', "nothing of it is stored"


def test_trials_move_to_another_space_all_or_none(storage: Storage, study: int) -> None:
    storage.insert(study, [RUNNING, RUNNING])
    storage.finish(study, Trial(0, {}, "done", value=1.0))
    zero, one = (replace(trial, config={"y": 9}) for trial in storage.changes(study, 0).trials)
    learned = Amendment("learned", {"asked": ["y"]}, trial=0, since=2)
    other_state = replace(one, state="running" if one.state == "done" else "done")
    for stale, moved in ((replace(learned, since=1), [zero]), (learned, [zero, other_state])):
        with pytest.raises(ConflictError):
            storage.amend(study, stale, after=0, space='{"y": 2}', moved=moved)
    assert {trial.config["x"] for trial in storage.changes(study, 0).trials} == {0.5}
    storage.amend(study, learned, after=0, space='{"y": 2}', moved=[zero])
    after = {trial.number: trial for trial in storage.changes(study, 0).trials}
    assert after[zero.number].config == {"y": 9} and after[one.number].config == {"x": 0.5}
    assert (after[0].state, after[0].value) == ("done", 1.0)
    assert storage.find("a study")[0].space == '{"y": 2}'


def test_of_ten_changes_at_once_one_wins(storage: Storage, study: int) -> None:
    won: list[int] = []
    barrier = threading.Barrier(10)

    def amend(number: int) -> None:
        barrier.wait()
        with contextlib.suppress(ConflictError):
            storage.amend(study, Amendment("space", {"n": number}), after=0)
            won.append(number)

    threads = [threading.Thread(target=amend, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [amendment.body for amendment in amendments(storage, study)] == [{"n": number} for number in won]
    assert len(won) == 1


def test_the_record_has_the_current_space(storage: Storage, study: int) -> None:
    storage.amend(study, Amendment("space", {"before": {"x": 1}}), space='{"y": 2}')
    storage.amend(study, Amendment("note", {}))
    assert storage.find("a study")[0].space == '{"y": 2}'


def test_nothing_is_inserted_that_an_amendment_overtook(storage: Storage, study: int) -> None:
    seen = storage.changes(study, 0).revision
    assert storage.insert(study, [RUNNING], seen=seen)
    storage.amend(study, Amendment("note", {}))
    assert storage.insert(study, [RUNNING], seen=seen) == []
    assert storage.insert(study, [RUNNING, RUNNING], seen=seen) == []
    assert storage.insert(study, [RUNNING], within=range(1, 2), seen=seen) == []
    assert storage.insert(study, [RUNNING], seen=storage.changes(study, 0).revision)[0].number == 1


def test_a_study_is_created_with_amendments(storage: Storage) -> None:
    given = [Amendment("retract", {"reason": "a"}, 0, 1, 0, 5.0), Amendment("note", {}, None, 2, 1, 6.0)]
    study = storage.create(RECORD, [replace(RUNNING, number=0)], given).id
    assert amendments(storage, study) == given
    assert storage.amend(study, Amendment("note", {})).position == 2


def test_a_deleted_study_takes_its_amendments_along(storage: Storage, study: int) -> None:
    storage.amend(study, RETRACTION)
    storage.delete(study)
    for call in (lambda: storage.changes(study, 0), lambda: storage.amend(study, RETRACTION)):
        with pytest.raises(StudyError, match="deleted"):
            call()
    assert amendments(storage, storage.create(RECORD).id) == []


def test_rows_go_with_their_study(shared_url: str) -> None:
    storage = SqlStorage(shared_url)
    study = storage.create(RECORD).id
    storage.amend(study, RETRACTION)
    storage.delete(study)
    assert storage._database.read("SELECT count(*) FROM bough_amendments")[0][0] == 0


def test_a_lost_acknowledgement_amends_once(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = SqlStorage(shared_url)
    study = storage.create(RECORD).id
    write = storage._database.write

    def twice(work: object, shortcut: object = None) -> object:
        """As if the first commit had happened, but its answer got lost."""
        first: object = write(work, shortcut)  # type: ignore[arg-type]

        def again(transaction: Transaction) -> object:
            return work(replace(transaction, retried=True))  # type: ignore[operator]

        second = write(again)
        assert second == first
        return second

    monkeypatch.setattr(storage._database, "write", twice)
    assert storage.amend(study, RETRACTION, after=0).position == 0
    monkeypatch.undo()
    assert len(amendments(storage, study)) == 1


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    storage = open_storage(url)
    study = storage.create(RECORD).id
    storage.amend(study, RETRACTION)
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE bough_amendments SET body = '[1'")
    connection.close()
    with pytest.raises(StorageError, match="amendment 0 is damaged"):
        storage.changes(study, 0)
