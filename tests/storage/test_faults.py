"""Full disks, locks, read-only files, servers that go away, odd URLs, newer and older schemas."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.conftest import PostgresServer
from tests.storage.invariants import sound_trials

from bough.errors import StorageError
from bough.space import Float, Space
from bough.storage import connect, open_storage, postgres_sql
from bough.storage.database import Database
from bough.storage.schema import MIGRATIONS, migrate
from bough.storage.sql import SqlStorage
from bough.study import Study, open_study

SPACE = Space({"x": Float(0, 1)})


def impatient(url: str, patience: float = 0.2) -> Study:
    return Study(SPACE, name="s", storage=SqlStorage(url, patience=patience), method="random", seed=0)


def file_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


# ---- causes that may pass --------------------------------------------------------------------------


def test_disk_full(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = impatient(sqlite_url)
    trial = study.ask(lease=600.0)
    # SQLite makes that the present size: the file cannot grow any more.
    full = (*connect.SQLITE_WRITER_SET_UP, "PRAGMA max_page_count = 1")
    monkeypatch.setattr(connect, "SQLITE_WRITER_SET_UP", full)
    study = impatient(sqlite_url)
    with pytest.raises(StorageError, match=r"studies\.db: the disk is full \(tried again for 0\.2 s\)"):
        study.add_many([({"x": 0.5}, 1.0)] * 1000)
    assert len(sound_trials(sqlite_url, "s")) == 1
    monkeypatch.undo()
    study = impatient(sqlite_url)
    study.tell(trial, 1.0)
    assert len(study.add_many([({"x": 0.5}, 1.0)] * 1000)) == 1000
    assert len(open_study("s", sqlite_url).trials) == 1001


@pytest.mark.parametrize("mode", ["EXCLUSIVE", "IMMEDIATE"])
def test_locked_by_another_program(sqlite_url: str, mode: str) -> None:
    study = impatient(sqlite_url)
    trial = study.ask(lease=600.0)
    other = sqlite3.connect(file_of(sqlite_url), isolation_level=None)
    other.execute(f"BEGIN {mode}")
    for blocked in (lambda: study.tell(trial, 1.0), lambda: study.ask()):
        with pytest.raises(StorageError, match=r"studies\.db: the file is locked by another program \(tried"):
            blocked()
    other.execute("ROLLBACK")
    other.close()
    study.tell(trial, 1.0)
    assert study.ask(lease=600.0).number == 1


def test_a_tell_waits_for_the_lock_to_go(sqlite_url: str) -> None:
    study = impatient(sqlite_url, patience=60.0)
    trial = study.ask(lease=600.0)
    other = sqlite3.connect(file_of(sqlite_url), isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    teller = threading.Thread(target=study.tell, args=(trial, 1.0))
    teller.start()
    teller.join(0.3)
    assert teller.is_alive()
    other.execute("ROLLBACK")
    teller.join(60)
    assert sound_trials(sqlite_url, "s")[0].value == 1.0


def test_the_server_crashes_in_the_middle(postgres_server: PostgresServer, postgresql_url: str) -> None:
    study = impatient(postgresql_url, patience=0.5)
    told: dict[int, float] = {}
    stop = threading.Event()

    def work(seed: int) -> None:
        mine = open_study("s", SqlStorage(postgresql_url, patience=120.0))
        while not stop.is_set():
            trial = mine.ask(lease=600.0)
            value = trial.config["x"] + seed
            mine.tell(trial, value)
            told[trial.number] = value

    def until(count: int) -> None:
        deadline = time.monotonic() + 120
        while len(told) < count:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for worker in workers:
        worker.start()
    until(20)
    postgres_server.crash()
    try:
        with pytest.raises(StorageError, match=r"(?s)postgresql.*: the .*server.*\(tried again for 0\.5 s\)"):
            study.ask()
    finally:
        postgres_server.start()
    until(len(told) + 20)
    stop.set()
    for worker in workers:
        worker.join(120)
    trials = sound_trials(postgresql_url, "s")
    assert all(trials[number].value == value for number, value in told.items()), "acknowledged, then lost"
    assert all(trial.is_finished for trial in trials), "an ask was committed but not handed out"
    assert len(told) == len(trials), "nothing was asked or told twice"


@pytest.mark.parametrize("operation", ["insert", "take", "finish", "create"])
def test_an_acknowledgement_gets_lost(
    shared_url: str, operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit happens, but its answer does not arrive: the operation is tried again, and done once."""
    study = impatient(shared_url, patience=60.0)
    first = study.ask(lease=600.0)
    if operation == "take":
        study.enqueue({"x": 0.5})
    database = study._storage._database  # type: ignore[attr-defined]
    error = sqlite3.OperationalError("gone")
    error.sqlite_errorname = "SQLITE_IOERR"
    if database.dialect == "postgresql":
        error = database._dialect.loaded_dbapi.OperationalError("gone")
    lost: list[str] = []
    execute = Database._execute

    def lose_the_answer(self: Database, sql: str, parameters: dict[str, object]) -> list[tuple[object, ...]]:
        rows = execute(self, sql, parameters)
        if sql in ("COMMIT", postgres_sql.INSERT, postgres_sql.FINISH) and not lost:
            lost.append(sql)
            raise error
        return rows

    monkeypatch.setattr(Database, "_execute", lose_the_answer)
    if operation == "insert" or operation == "take":
        assert (study.ask(lease=600.0).number, study.ask(lease=600.0).number) == (1, 2)
    elif operation == "finish":
        study.tell(first, 1.0)
    else:
        Study(SPACE, name="another", storage=study._storage, method="random", seed=0).ask(lease=600.0)
        sound_trials(shared_url, "another")
    assert lost
    assert [trial.attempt for trial in sound_trials(shared_url, "s")] == [1] * len(study.trials)


# ---- causes that stay ------------------------------------------------------------------------------


def test_read_only(sqlite_url: str) -> None:
    study = impatient(sqlite_url)
    study.tell(study.ask(), 1.0)
    read_only = f"sqlite:///file:{file_of(sqlite_url)}?mode=ro&uri=true"
    opened = open_study("s", read_only)
    assert opened.best.value == 1.0, "reading is allowed"
    with pytest.raises(StorageError, match=r"studies\.db.*: the file or its folder is read-only$"):
        opened.ask()


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be opened: check that its folder exists"):
        open_storage(f"sqlite:///{tmp_path}/nowhere/studies.db")


def test_not_a_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 1000)
    with pytest.raises(StorageError, match="is not an SQLite database"):
        open_storage(f"sqlite:///{path}")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("studies.db", "'studies.db' is not a storage URL: use sqlite:///file.db"),
        ("mysql://localhost/x", "bough cannot store studies in 'mysql': use sqlite"),
        ("", "not a storage URL"),
        (42, "storage must be a URL such as 'sqlite:///file.db', not int"),
    ],
)
def test_odd_urls(url: object, message: str) -> None:
    with pytest.raises(StorageError, match=message):
        open_storage(url)  # type: ignore[arg-type]


def test_passwords_stay_secret() -> None:
    with pytest.raises(StorageError) as caught:
        SqlStorage("postgresql://me:geheim@localhost:1/x", patience=0.0)
    assert "geheim" not in str(caught.value)
    assert "cannot be reached" in str(caught.value)


def test_a_relative_file_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = impatient("sqlite:///here.db")
    study._storage._database._drop_connection()  # type: ignore[attr-defined]
    monkeypatch.chdir("/")
    study.ask()
    assert os.path.getsize(tmp_path / "here.db") > 0


# ---- schemas ---------------------------------------------------------------------------------------


def test_a_newer_schema_is_refused(shared_url: str) -> None:
    impatient(shared_url)
    newer = [*MIGRATIONS, ["CREATE TABLE bough_of_tomorrow (x {real})"]]
    migrate(Database(shared_url, 1.0), newer)
    with pytest.raises(StorageError, match=f"newer bough: its schema is {len(newer)}.*upgrade bough"):
        open_storage(shared_url)


def test_an_older_schema_is_migrated_with_its_data(shared_url: str) -> None:
    study = impatient(shared_url)
    trial = study.ask(lease=600.0)
    newer = [*MIGRATIONS, ["ALTER TABLE bough_trials ADD COLUMN mood TEXT DEFAULT 'fine'"]]
    for _ in range(2):  # the second time there is nothing to do
        migrate(Database(shared_url, 1.0), newer)
    database = Database(shared_url, 1.0)
    assert database.read("SELECT number, mood FROM bough_trials") == [(0, "fine")]
    study.tell(trial, 1.0)
    assert sum(row[0] for row in database.read("SELECT 1 FROM bough_schema")) == len(newer)


def test_a_migration_that_fails_leaves_everything_as_it_was(shared_url: str) -> None:
    impatient(shared_url)
    broken = [*MIGRATIONS, ["CREATE TABLE bough_of_tomorrow (x {real})", "THIS IS NOT SQL"]]
    with pytest.raises(StorageError):
        migrate(Database(shared_url, 1.0), broken)
    assert not Database(shared_url, 1.0).has_table("bough_of_tomorrow")
    assert open_study("s", shared_url).ask(lease=600.0).number == 0


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("postgres@/nowhere", "the database does not exist on the server$"),
        ("nobody@/postgres", "the server refused the user name or password$"),
    ],
)
def test_a_server_that_refuses_is_not_asked_again(postgresql_url: str, where: str, message: str) -> None:
    folder = parse_qs(urlsplit(postgresql_url).query)["host"][0]
    with pytest.raises(StorageError, match=message):
        SqlStorage(f"postgresql://{where}?host={folder}", patience=600.0)
