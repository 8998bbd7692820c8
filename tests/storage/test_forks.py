"""A study that was open when the process forked: nothing acknowledged is lost, nobody hangs."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bough.errors import StorageError
from bough.space import Float, Space
from bough.storage import MemoryStorage
from bough.storage.database import Database, Transaction
from bough.study import Study, open_study

SPACE = Space({"x": Float(0, 1)})

CHILD_OUTLIVES_PARENT = """
import os, sys, time
import bough

url, acknowledged, ending = sys.argv[1:]
study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), name="s", storage=url, method="random", seed=0)
study.tell(study.ask(), 0.5)
if os.fork() == 0:
    with open(acknowledged, "w") as file:
        for _ in range(30):
            print(study.tell(study.ask(), 0.5).number, file=file, flush=True)
            time.sleep(0.02)
    os._exit(0)
if ending == "close":
    del study
    time.sleep(0.5)
elif ending == "kill":
    os.kill(os.getpid(), 9)
"""


def wait_for_lines(path: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if path.exists() and len(path.read_text().splitlines()) >= count:
            break
        time.sleep(0.02)
    return [int(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("ending", ["exit", "close", "kill"])
def test_a_child_outlives_its_parent_and_readers_come_and_go(tmp_path: Path, ending: str) -> None:
    url, acknowledged = f"sqlite:///{tmp_path}/s.db", tmp_path / "acknowledged"
    subprocess.run(
        [sys.executable, "-c", CHILD_OUTLIVES_PARENT, url, str(acknowledged), ending],
        check=ending != "kill",
        timeout=60,
    )
    for _ in range(3):  # closing a file as its last connection is what used to delete the children's log
        with_sqlite = sqlite3.connect(tmp_path / "s.db")
        with_sqlite.execute("SELECT count(*) FROM bough_trials").fetchone()
        with_sqlite.close()
        open_study("s", url)
    told = wait_for_lines(acknowledged, 30)
    stored = [trial.number for trial in open_study("s", url).trials if trial.state == "done"]
    assert told == list(range(1, 31))
    assert stored == list(range(31))


def child_result(pid: int, seconds: float = 30.0) -> int:
    """The exit code of a forked child; it is killed if it hangs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_fork_beside_a_working_thread_does_not_hang(tmp_path: Path, kind: str) -> None:
    storage = MemoryStorage() if kind == "memory" else f"sqlite:///{tmp_path}/s.db"
    study = Study(SPACE, name="s", storage=storage, method="tpe", seed=0)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            study.tell(study.ask(), 0.5)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(15):
            pid = os.fork()
            if pid == 0:
                study.tell(study.ask(), 0.25)
                os._exit(0)
            assert child_result(pid) == 0
    finally:
        stop.set()
        thread.join()
    in_children = [trial for trial in study.trials if trial.value == 0.25]
    assert len(in_children) == (0 if kind == "memory" else 15)


def test_a_fork_that_python_did_not_see_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(SPACE, name="s", storage=f"sqlite:///{tmp_path}/s.db", method="random", seed=0)
    parent = os.getpid()
    monkeypatch.setattr("bough.storage.database.os.getpid", lambda: parent + 1)
    with pytest.raises(StorageError, match="open the study after the fork"):
        study.ask()


def test_a_fork_amid_a_transaction_undoes_it(shared_url: str) -> None:
    database = Database(shared_url, 5.0)
    database.write(lambda t: t.execute("CREATE TABLE numbers (n BIGINT)"))

    def work(transaction: Transaction) -> None:
        transaction.execute("INSERT INTO numbers VALUES (1)")
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    with pytest.raises(StorageError, match="forked during a transaction; nothing was changed"):
        database.write(work)
    assert database.read("SELECT n FROM numbers") == []
    database.write(lambda t: t.execute("INSERT INTO numbers VALUES (2)"))
    assert database.read("SELECT n FROM numbers") == [(2,)]
