"""SQLite: the log is flushed before each answer, and not under the lock; else SQLite flushes it itself."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from tests.storage.invariants import sound_trials

from bough.errors import StorageError
from bough.space import Float, Space
from bough.storage import sqlite_wal
from bough.storage.sql import SqlStorage
from bough.study import Study, open_study

SPACE = Space({"x": Float(0, 1)})
FULL, NORMAL = 2, 1

pytestmark = pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="SQLite flushes the log itself here")


def new_study(url: str) -> Study:
    return Study(SPACE, name="s", storage=SqlStorage(url, patience=0.2), method="random", seed=0)


def synchronous(study: Study) -> int:
    rows = study._storage._database.read("PRAGMA synchronous")  # type: ignore[attr-defined]
    return int(rows[0][0])


def test_a_power_failure_loses_nothing_acknowledged(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is sure to be on the disk is what was written before a flush began."""
    study = new_study(sqlite_url)
    disk = tmp_path / "disk"
    disk.mkdir()

    def flush(file: int) -> None:
        # Another process copies: closing the database's file here would let go of SQLite's locks on it.
        subprocess.run(["cp", *map(str, tmp_path.glob("studies.db*")), str(disk)], check=True)

    monkeypatch.setattr(os, "fdatasync", flush)
    for number in range(3):
        trial = study.ask(lease=600.0)
        assert on(disk)[trial.number] is None
        study.tell(trial, float(number))
        assert on(disk)[trial.number] == number


def on(disk: Path) -> dict[int, float | None]:
    """The values of the trials that SQLite finds after the failure."""
    after = disk.parent / "after"
    after.mkdir(exist_ok=True)
    for name in ("studies.db", "studies.db-wal"):  # the -shm file is memory, and gone
        (after / name).write_bytes((disk / name).read_bytes())
    connection = sqlite3.connect(after / "studies.db")
    found = dict(connection.execute("SELECT number, value FROM bough_trials"))
    connection.close()
    return found


def test_others_write_while_the_log_is_flushed(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study, other = new_study(sqlite_url), new_study(sqlite_url)
    fdatasync, numbers = os.fdatasync, []

    def flush(file: int) -> None:
        monkeypatch.setattr(os, "fdatasync", fdatasync)
        numbers.append(other.ask(lease=600.0).number)
        fdatasync(file)

    for _ in range(2):
        monkeypatch.setattr(os, "fdatasync", flush)
        numbers.append(study.ask(lease=600.0).number)
    monkeypatch.setattr(os, "fdatasync", flush)
    study.tell(0, 1.0)
    assert numbers == [1, 0, 3, 2, 4]
    assert len(sound_trials(sqlite_url, "s")) == 5


def test_a_flush_that_fails_is_an_error(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = new_study(sqlite_url)

    def broken(file: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", broken)
    with pytest.raises(StorageError, match=r"studies\.db: writing to disk failed \(.*Input"):
        study.ask(lease=600.0)
    monkeypatch.undo()
    with pytest.raises(StorageError, match="writing to disk failed"):
        study.ask(lease=600.0)  # would be behind what was lost in the log


def test_sqlite_flushes_where_we_cannot(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert synchronous(new_study(sqlite_url)) == NORMAL
    assert synchronous(new_study("sqlite://")) == FULL, "in memory, there is no log"
    monkeypatch.delattr(os, "fdatasync")
    study = new_study(sqlite_url)
    assert synchronous(study) == FULL
    study.tell(study.ask(), 1.0)
    assert open_study("s", sqlite_url).best.value == 1.0


def test_a_new_connection_opens_the_log_anew(sqlite_url: str) -> None:
    study = new_study(sqlite_url)
    study._storage._database._drop_connection()  # type: ignore[attr-defined]
    assert not os.path.exists(sqlite_url.removeprefix("sqlite:///") + "-wal"), "the last one deletes it"
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else None
    for _ in range(5):
        study.tell(study.ask(), 1.0)
        study._storage._database._drop_connection()  # type: ignore[attr-defined]
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before, "no file is left open"


def test_a_log_closes_when_the_interpreter_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.touch()
    log = sqlite_wal.Log(str(path), "a test")
    file = log._file
    monkeypatch.setattr(sqlite_wal, "os", None)  # as Python leaves modules at its end
    log.__del__()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)
    del log._file
