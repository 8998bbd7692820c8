"""Reading changes nothing: not a foreign file, not an old one, not one on a medium that cannot be written."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from tests.cli.programs import bough_here

from bough.errors import StorageError
from bough.space import Float, Space
from bough.storage import MemoryStorage, Storage, open_storage
from bough.storage.driver_errors import Fault, fault_of
from bough.storage.sql import SqlStorage
from bough.study import Study, delete_study, export_study, open_study, studies

SPACE = Space({"x": Float(0, 1)})
DUMP = Path(__file__).with_name("written_by_0_1.sql")


def database(path: Path, script: str) -> str:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return f"sqlite:///{path}"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_foreign_file_stays_as_it_is(tmp_path: Path) -> None:
    url = database(
        tmp_path / "optuna.db", "CREATE TABLE studies (id INTEGER); INSERT INTO studies VALUES (1);"
    )
    before = files(tmp_path)
    for read in (studies, lambda url: open_study("s", url), lambda url: delete_study("s", url)):
        with pytest.raises(StorageError, match=r"optuna\.db has no bough studies"):
            read(url)
    for command in ("studies", "best"):
        done = bough_here(command, "--storage", url, cwd=tmp_path)
        assert done.returncode == 2 and "has no bough studies" in done.stderr
    assert files(tmp_path) == before


@pytest.mark.filterwarnings("ignore:Selection of the SingletonThreadPool")
@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///:memory:?cache=shared&uri=true",
        "sqlite:///file::memory:?uri=true",
        "sqlite:///file:?uri=true",
        "sqlite:///file:s.db?mode=memory&cache=shared&uri=true",
        "sqlite:///file:/s?vfs=memdb&uri=true",
    ],
)
def test_a_url_that_keeps_nothing_is_refused(url: str) -> None:
    with pytest.raises(StorageError, match="is in memory and ends with this process: name a file"):
        Study(SPACE, name="s", storage=url)


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/none.db"
    for read in (studies, lambda url: open_study("s", url), lambda url: delete_study("s", url)):
        with pytest.raises(StorageError, match=r"none\.db: there is no such file"):
            read(url)
    assert files(tmp_path) == {}


def test_a_file_of_version_0_1_is_read_as_it_is(tmp_path: Path) -> None:
    url = database(tmp_path / "old.db", DUMP.read_text())
    before = files(tmp_path)
    assert [record.name for record in studies(url)] == ["old", "upward", "served"]
    study = open_study("old", url)
    assert [trial.value for trial in study.trials] == [-1.5, 0.5, None, 0.0, None, None]
    export_study(study, os.devnull)
    assert files(tmp_path) == before
    study.tell(4, {"value": 1.0, "memory": 2}), "the first write upgrades it"
    assert open_study("old", url).trials[4].measures == {"memory": 2.0}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def start_as_another_user(act: Callable[[], int]) -> int:
    """Start ``act`` in a process that root's rights do not help; its exit code is what ``act`` returns."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65534)  # root may write everywhere
            code = act()
        finally:
            os._exit(code)
    return pid


def exit_code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_file_on_a_read_only_medium_is_read(open_folder: Path) -> None:
    folder = open_folder
    url = f"sqlite:///{folder}/s.db"
    study = Study(SPACE, name="s", storage=url, method="random", seed=0)
    study.tell(study.ask(), 1.0)
    del study
    gc.collect()
    assert sorted(files(folder)) == ["s.db"], "no connection is open any more"
    os.chmod(folder / "s.db", 0o444)
    os.chmod(folder, 0o555)

    def read_and_ask() -> int:
        opened = open_study("s", url)
        assert opened.best.value == 1.0
        try:
            opened.ask()
        except StorageError as error:
            return 0 if "read-only" in str(error) else 3
        return 2

    assert exit_code(start_as_another_user(read_and_ask)) == 0
    os.chmod(folder, 0o755)


@pytest.mark.parametrize("leftover", ["log and index", "log", "empty log"])
def test_a_read_only_file_with_a_leftover_log(open_folder: Path, leftover: str) -> None:
    folder = open_folder
    url = f"sqlite:///{folder}/s.db"
    pid = os.fork()
    if pid == 0:  # dies without closing the file
        study = Study(SPACE, name="s", storage=url, method="random", seed=0)
        study.tell(study.ask(), 1.0)
        os._exit(0)
    os.waitpid(pid, 0)
    if leftover != "log and index":
        os.remove(folder / "s.db-shm")
    if leftover == "empty log":
        with contextlib.closing(sqlite3.connect(folder / "s.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (folder / "s.db-wal").touch()
    before = files(folder)
    for name in before:
        os.chmod(folder / name, 0o444)
    os.chmod(folder, 0o555)

    def read() -> int:
        try:
            return 0 if open_study("s", url).best.value == 1.0 else 2
        except StorageError as error:
            return 4 if "s.db-wal, that cannot be read" in str(error) else 3

    assert exit_code(start_as_another_user(read)) == (4 if leftover == "log" else 0)
    os.chmod(folder, 0o755)
    assert files(folder) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs a second user")
def test_a_reader_without_permission_to_write_sees_what_others_write(open_folder: Path) -> None:
    folder = open_folder
    url = f"sqlite:///{folder}/s.db"

    def tell(value: float) -> None:
        study = Study(SPACE, name="s", storage=url, method="random", seed=0)
        study.tell(study.ask(), value)
        del study
        gc.collect()  # closes the file, so its log is gone

    tell(1.0)
    to_child, to_parent = os.pipe(), os.pipe()

    def read_twice() -> int:
        opened = open_study("s", url)
        assert opened.best.value == 1.0
        os.write(to_parent[1], b"read")
        os.read(to_child[0], 1)
        return 0 if opened.best.value == 0.5 else 3

    pid = start_as_another_user(read_twice)
    os.close(to_parent[1])
    assert os.read(to_parent[0], 4) == b"read"
    tell(0.5)
    os.write(to_child[1], b"!")
    assert exit_code(pid) == 0


@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_nothing_is_told_into_a_file_that_is_gone(tmp_path: Path, how: str) -> None:
    path = tmp_path / "s.db"
    study = Study(SPACE, name="s", storage=f"sqlite:///{path}", method="random", seed=0)
    trials = study.ask(2)
    study.tell(trials[0], 1.0)
    if how == "removed":
        path.unlink()
    else:
        path.rename(tmp_path / "elsewhere.db")
    if how == "replaced":
        Study(SPACE, name="s", storage=f"sqlite:///{path}", method="random", seed=0)
    for _ in range(2):
        with pytest.raises(StorageError, match="the file was removed, moved or replaced while it was open"):
            study.tell(trials[1], 2.0)
    assert path.exists() == (how == "replaced")


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_nothing_is_told_into_a_log_that_was_removed(tmp_path: Path, suffix: str) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = Study(SPACE, name="s", storage=url, method="random", seed=0)
    trials = study.ask(2)
    study.tell(trials[0], 1.0)
    os.remove(tmp_path / f"s.db{suffix}")
    for _ in range(2):
        with pytest.raises(StorageError, match=rf"s\.db{suffix}: the file was removed, moved or replaced"):
            study.tell(trials[1], 2.0)
    del study
    gc.collect()  # SQLite copies what it has from the log to the file
    study = open_study("s", url)
    assert [trial.value for trial in study.trials] == [1.0, None]
    study.tell(trials[1], 2.0)


@pytest.mark.parametrize("name", ["a%41.db", "a b.db", "a#b.db", "ä.db", "a%3Fb.db"])
def test_odd_file_names_mean_one_file(tmp_path: Path, name: str) -> None:
    url = f"sqlite:///{tmp_path}/{name}"
    study = Study(SPACE, name="s", storage=url, method="random", seed=0)
    study.tell(study.ask(), 1.0)
    del study
    gc.collect()
    assert list(files(tmp_path)) == [unquote(name)]
    assert open_study("s", url).best.value == 1.0
    assert bough_here("best", "s", "--storage", url, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite://x.db", r"names a host, not a file: a file takes three slashes, sqlite:///x\.db"),
        (
            "postgresql://me:geheim@host:port/db",
            r"'postgresql://me:\*\*\*@host:port/db' is not a storage URL",
        ),
        ("postgresql://me:geheim/er@host:port/db", r"'postgresql://me:\*\*\*@host:port/db' is not"),
        ("postgresql//me:geheim@host/db", "is not a storage URL"),
        ("sqlite:///s.db?mode=ro", r"a file takes none; .* write sqlite:///file:s\.db\?mode=ro&uri=true"),
        ("sqlite:///\udcff.db?mode=ro", r"\.db.mode=ro' has options"),
        ("sqlite:///s.db?timeout=9", "'sqlite:///s.db.timeout=9' has options"),
        ("sqlite:///s.db?nope=1", r"the path in 'sqlite:///s\.db\?nope=1' has a '\?', which no storage URL"),
        ("sqlite:///a?b.db", r"the path in 'sqlite:///a\?b\.db' has a '\?', .*: use another name$"),
        ("sqlite:///file:s.db?uri=true&timeout=abc", "an option of .* is wrong: .*'abc'"),
        ("mysql://me:geheim@host/db", "cannot store studies in 'mysql'"),
    ],
)
def test_odd_urls_are_refused_without_their_password(url: str, message: str) -> None:
    with pytest.raises(StorageError, match=message) as caught:
        open_storage(url)
    if "://" in url:
        assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("name", ["s.db", "a b#c.db", "50%.db", "a%20b.db", "é+&.db"])
def test_the_advice_on_options_names_the_same_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{quote(name)}"
    study = Study(SPACE, name="s", storage=url, method="random", seed=0)
    study.tell(study.ask(), 1.0)
    del study
    gc.collect()
    with pytest.raises(StorageError, match="to read only, write ") as refused:
        open_storage(f"{url}?mode=ro")
    advised = open_study("s", str(refused.value).rpartition(" ")[2])
    assert advised.best.value == 1.0
    with pytest.raises(StorageError, match="read-only"):
        advised.ask()
    assert {re.sub("-(wal|shm)$", "", each) for each in files(tmp_path)} == {name}


def test_the_command_line_shows_no_password(postgresql_url: str, tmp_path: Path) -> None:
    url = postgresql_url.replace("postgres:@", "postgres:geheim@")
    assert "geheim" in url
    for command in ("show",):
        done = bough_here(command, "--storage", url, cwd=tmp_path)
        assert "has no bough studies" in done.stderr and "geheim" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["a\0b", "\udcff"])
def test_a_name_that_no_database_can_hold_is_not_found(storage_url: str | None, name: str) -> None:
    storage: Storage = MemoryStorage() if storage_url is None else open_storage(storage_url)
    assert storage.find(name) == []


@pytest.mark.parametrize("worker", ["a\0b", "\udcff"])
def test_a_worker_whose_name_no_database_can_hold_gets_a_trial(storage_url: str | None, worker: str) -> None:
    study = Study(SPACE, name="s", storage=storage_url, method="random", seed=0)
    study.tell(study.ask(worker=worker), 1.0)
    assert study.trials[0].worker in ("a\\x00b", "\\udcff")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text here")
def test_a_folder_whose_name_is_not_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    monkeypatch.chdir(folder)
    for url in ("sqlite:///s.db", f"sqlite:///{folder}/s.db"):
        with pytest.raises(StorageError, match=r"udcff/s\.db' is not UTF-8: use another folder"):
            open_storage(url)
    assert files(folder) == {}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("config = 'not json'", "trial 1 is damaged"),
        ("config = '[1]'", "trial 1 is damaged"),
        ("value = 'text'", "trial 1 is damaged: 'text' is not a number"),
        ("value = NULL", "trial 1 is damaged: it is done with the value None"),
        ("state = 'zombie'", "trial 1 is damaged"),
        ("measures = '3'", "trial 1 is damaged: '3' is not a JSON object"),
        ("measures = ''", "trial 1 is damaged"),
        ("notes = '{'", "trial 1 is damaged"),
    ],
)
def test_damaged_rows_are_named(sqlite_url: str, damage: str, message: str) -> None:
    study = Study(SPACE, name="s", storage=sqlite_url, method="random", seed=0)
    for trial in study.ask(3):
        study.tell(trial, 1.0)
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as connection:
        connection.execute(f"UPDATE bough_trials SET {damage} WHERE number = 1")
    connection.close()
    with pytest.raises(StorageError, match=message):
        _ = open_study("s", sqlite_url).trials


def test_no_statement_is_prepared_on_the_server(postgresql_url: str) -> None:
    storage = SqlStorage(postgresql_url)
    study = Study(SPACE, name="s", storage=storage, method="random", seed=0)
    for _ in range(12):  # the driver would prepare a statement that it sees for the sixth time
        study.tell(study.ask(), 1.0)
    assert storage._database.read("SELECT count(*) FROM pg_prepared_statements") == [(0,)]


def test_a_cancelled_statement_is_tried_again() -> None:
    cancelled = type("QueryCanceled", (Exception,), {"sqlstate": "57014"})("canceling statement")
    assert fault_of(cancelled, "postgresql").passing


def test_a_value_that_the_driver_refuses_is_not_blamed_on_the_server() -> None:
    refused = type("DataError", (Exception,), {})("PostgreSQL text fields cannot contain NUL")
    assert fault_of(refused, "postgresql") == Fault("PostgreSQL text fields cannot contain NUL")


def test_a_disk_without_room_for_the_index_of_the_log_is_full() -> None:
    full = type("OperationalError", (Exception,), {"sqlite_errorname": "SQLITE_IOERR_SHMSIZE"})(
        "disk I/O error"
    )
    assert fault_of(full, "sqlite") == Fault("the disk is full", passing=True, lost=True)


def test_a_damaged_schema_is_one_clear_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = Study(SPACE, name="s", storage=url, method="random", seed=0)
    study.tell(study.ask(), 1.0)
    del study
    gc.collect()
    data = (tmp_path / "s.db").read_bytes()
    assert data.count(b"bough_trials_open") >= 2, "as a name, and in the statement that made it"
    (tmp_path / "s.db").write_bytes(data.replace(b"bough_trials_open", b"\xff(gh_trials_op\xfe??"))
    with pytest.raises(StorageError, match=r"s\.db: the file is damaged"):
        open_study("s", url)


def test_a_damaged_space_names_its_study(sqlite_url: str) -> None:
    Study(SPACE, name="s", storage=sqlite_url, method="random", seed=0)
    with contextlib.closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        connection.execute("""UPDATE bough_studies SET space = '{"x" 1}'""")
        connection.commit()
    with pytest.raises(StorageError, match="the row of study 's' is damaged: its space is not valid JSON"):
        open_study("s", sqlite_url)
