"""Databases of version 0.1: ``written_by_0_1.sql`` is the dump of a file that it wrote."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bough.errors import BoughError
from bough.space import Space
from bough.storage import Amendment, open_storage
from bough.storage.database import Database, Transaction
from bough.storage.rows import Row
from bough.storage.schema import MIGRATIONS, migrate
from bough.storage.sql import SqlStorage
from bough.study import Study, open_study, studies
from bough.trial import Report, Trial

DUMP = Path(__file__).with_name("written_by_0_1.sql")
MARK_OF_ASK, MARK_OF_ENQUEUE = "YRLJxpn7lkLE9JZj9qxN", "7Lfkfn0VK7lRoxjYiong"


@pytest.fixture
def old_url(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.executescript(DUMP.read_text())
    connection.close()
    return f"sqlite:///{tmp_path}/old.db"


def test_an_old_study_is_read_as_it_was(old_url: str) -> None:
    assert [(record.name, record.trials, record.goals) for record in studies(old_url)] == [
        ("old", 6, None),
        ("upward", 2, None),
        ("served", 2, None),
    ]
    old = open_study("old", old_url)
    assert [(trial.state, trial.value, trial.noise, trial.cost) for trial in old.trials] == [
        ("done", -1.5, 0.25, None),
        ("done", 0.5, 0.125, 2.0),
        ("failed", None, None, None),
        ("done", 0.0, None, None),
        ("running", None, None, None),
        ("queued", None, None, None),
    ]
    assert old.trials[2].error == "no memory"
    assert all(trial.measures == {} and trial.notes == {} and trial.traceback is None for trial in old.trials)
    assert all(trial.learn and trial.noises == {} for trial in old.trials)
    assert open_study("upward", old_url).best.value == 4.0


def test_an_old_study_goes_on(old_url: str) -> None:
    old = open_study("old", old_url)
    assert old.ask().number == 5, "what was queued comes first"
    told = old.tell(5, {"value": -3.0, "memory": 512}, notes={"by": "hand"})
    assert (told.measures, told.notes) == ({"memory": 512.0}, {"by": "hand"})
    assert open_study("old", old_url).best == told
    assert old.fail(4, "no network", learn=False).learn is False
    assert [trial.learn for trial in open_study("old", old_url).trials] == [True] * 4 + [False, True]
    same = Study(old.space, name="old", storage=old_url, method="random", seed=3)
    assert same.ask().number == 6


def test_an_old_study_takes_reports(old_url: str) -> None:
    storage = open_storage(old_url, create=False)
    (record,) = storage.find("old")
    assert (record.stopping, storage.changes(record.id, 0).reports) == (None, [])
    storage.report(record.id, Report(4, 1, 0.5))
    assert storage.changes(record.id, 0).reports == [Report(4, 1, 0.5, 1)]
    assert open_study("old", old_url).trial(4).curve == ((1, 0.5),)


def test_marks_of_requests_move_out_of_the_workers_names(old_url: str) -> None:
    served = open_study("served", open_storage(old_url))  # as the service does
    assert [trial.number for trial in served.ask_up_to(1, request=MARK_OF_ASK)] == [0]
    assert served.enqueue({"model": "svm", "C": 3.5, "scale": "none"}, request=MARK_OF_ENQUEUE).number == 1
    assert [trial.worker for trial in served.trials] == ["alice", "alice"]
    assert len(served.trials) == 2


def test_workers_keep_their_own_number_signs(old_url: str) -> None:
    with sqlite3.connect(old_url.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE bough_trials SET worker = 'gpu#1' WHERE study = 1 AND number = 4")
    connection.close()
    old = open_study("old", open_storage(old_url))
    assert (old.trial(4).worker, old.trial(4).holder) == ("gpu#1", None)


def test_two_old_files_are_upgraded_once(old_url: str) -> None:
    for _ in range(2):
        open_storage(old_url)
        open_study("old", old_url).enqueue({"model": "svm", "C": 2.5, "scale": "none"})
    with sqlite3.connect(old_url.removeprefix("sqlite:///")) as connection:
        assert connection.execute("SELECT version FROM bough_schema").fetchall() == [(1,), (2,)]
    connection.close()


def test_postgresql_is_upgraded_alike(postgresql_url: str) -> None:
    database = Database(postgresql_url, 1.0)
    migrate(database, MIGRATIONS[:1])

    def as_in_0_1(transaction: Transaction) -> None:
        transaction.execute(
            "INSERT INTO bough_studies (name, space, direction, method, seed, created, trials, revision) "
            "VALUES "
            '(\'s\', \'{"x": {"type": "float", "low": 0, "high": 1}}\', \'minimize\', '
            '\'{"name": "random", "options": {}}\', 0, 1.0, 2, 2)'
        )
        transaction.execute(
            "INSERT INTO bough_trials (study, number, config, state, attempt, worker, revision) VALUES "
            "(1, 0, '{\"x\": 0.5}', 'running', 1, 'alice#" + MARK_OF_ASK + "', 1), "
            "(1, 1, '{\"x\": 0.25}', 'queued', 0, NULL, 2)"
        )

    database.write(as_in_0_1)
    study = open_study("s", open_storage(postgresql_url))
    assert [trial.number for trial in study.ask_up_to(1, request=MARK_OF_ASK)] == [0]
    assert [(trial.worker, trial.state) for trial in study.trials] == [("alice", "running"), (None, "queued")]
    assert study.tell(0, {"value": 1.0, "memory": 3}).measures == {"memory": 3.0}


def test_an_old_study_is_amended(old_url: str) -> None:
    reader, storage = open_storage(old_url, create=False), open_storage(old_url, create=False)
    study = reader.find("old")[0].id
    assert reader.changes(study, 0).amendments == []
    stored = storage.amend(study, Amendment("note", {"text": "from 0.1"}), after=0)
    assert (stored.since, stored.position) == (6, 0)
    assert reader.changes(study, 0).amendments == [stored]


@pytest.mark.parametrize("moment", range(6))
def test_a_reader_misses_nothing_if_another_process_upgrades_the_tables(
    old_url: str, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upgrade, and results that need its columns, come before the reader's statement ``moment``."""
    reader, writer = SqlStorage(old_url, create=False), SqlStorage(old_url, create=False)
    study = writer.find("old")[0].id
    new = replace(writer.find("old")[0], name="new", goals='{"objectives": {}}')
    read, statements, stored = Database.read, [], []

    def upgrade_before(database: Database, sql: str, **parameters: Any) -> list[Row]:
        if database is reader._database:
            statements.append(sql)
            if len(statements) == moment + 1:
                writer.finish(study, Trial(4, {}, "done", 1.0, measures={"memory": 2.0}))
                stored.append(writer.amend(study, Amendment("note", {"text": "upgraded"})))
                writer.create(new)
        return read(database, sql, **parameters)

    monkeypatch.setattr(Database, "read", upgrade_before)
    first = reader.changes(study, 0)
    found = {record.name: record.goals for record in reader.find()}
    later = reader.changes(study, first.revision)
    assert stored, "the reader executed as many statements"
    assert [t.measures for t in [*first.trials, *later.trials] if t.state == "done" and t.number == 4] == [
        {"memory": 2.0}
    ]
    assert [*first.amendments, *later.amendments] == stored
    assert found.get("new", new.goals) == new.goals


@pytest.mark.slow
def test_an_old_study_of_many_trials_is_changed_and_goes_on(old_url: str) -> None:
    with sqlite3.connect(old_url.removeprefix("sqlite:///")) as connection:
        columns = "study, number, config, state, value, attempt, revision"
        connection.executemany(
            f"INSERT INTO bough_trials ({columns}) VALUES (1, ?, ?, 'done', ?, 1, ?)",
            [
                (
                    number,
                    f'{{"model": "svm", "C": {1 + number / 100}, "scale": "none"}}',
                    number / 7,
                    100 + number,
                )
                for number in range(6, 10_000)
            ],
        )
        connection.execute("UPDATE bough_studies SET trials = 10000, revision = 20000 WHERE id = 1")
        method = '{"name": "auto", "options": {}}'
        connection.execute("UPDATE bough_studies SET method = ? WHERE id = 1", (method,))
    connection.close()
    old, former = open_study("old", old_url), open_study("old", old_url)
    assert (len(old.trials), old.space == former.space) == (10_000, True)
    before = old.trials[9_999]
    wider = old.space.to_dict()
    wider["dropout"] = {"type": "float", "low": 0.0, "high": 0.5}
    old.fail(5, "it waits in the queue, and the space changes")
    old.change(Space.from_json(wider))
    trial = old.ask()
    assert trial.number == 10_000
    assert "dropout" in trial.config
    old.tell(trial, -9.0)
    again = open_study("old", old_url)
    assert again.best.number == 10_000
    assert again.trials[9_999] == before
    with pytest.raises(
        BoughError, match="the space was changed at trial 10000, and this config belongs to the"
    ):
        former.enqueue(before.config)


def test_an_old_study_goes_on_in_another_space(old_url: str) -> None:
    old = open_study("old", old_url)
    before = [trial.config for trial in old.trials]
    wider = old.space.to_dict()
    wider["dropout"] = {"type": "float", "low": 0.0, "high": 0.5}
    old.fail(5, "it waits in the queue, and the space changes")
    assert old.change(Space.from_json(wider)) == ["+ dropout: Float(0.0, 0.5)"]
    assert "dropout" in old.ask().config
    assert old.tell(4, 0.75).state == "done", "what ran in the old space may be told"
    again = open_study("old", old_url)
    assert [trial.config for trial in again.trials[:6]] == before
    assert "dropout" in again.space.to_dict()
    assert again.retract(0, "wrong data").retracted == "wrong data"
