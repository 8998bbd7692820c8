"""One connection to SQLite or PostgreSQL: transactions, retries after temporary faults, clear errors.

SQLAlchemy opens the connection and rewrites each statement's parameters in the driver's style. The statements
then run directly on the driver's cursor: they are few and simple, and SQLAlchemy's execution layer would take
several times longer than the statements themselves.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from bough.errors import StorageError
from bough.storage import forks
from bough.storage.connect import UnlockedConnection, open_connection, parse_url, sqlite_file
from bough.storage.driver_errors import fault_of
from bough.storage.rows import Row
from bough.storage.sqlite_wal import Log, log_of
from bough.storage.watchdog import Watchdog

__all__ = ["Database", "Transaction"]

T = TypeVar("T")

_BEGIN = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "BEGIN"}
_DIALECT = {  # replacements for {name} in statements
    "sqlite": {
        "clock": "(julianday('now') - 2440587.5) * 86400.0",
        "row_lock": "",  # a writing transaction locks the whole file
        "free_row_lock": "",
    },
    "postgresql": {
        "clock": "CAST(extract(epoch FROM clock_timestamp()) AS double precision)",
        "row_lock": "FOR UPDATE",
        "free_row_lock": "FOR UPDATE SKIP LOCKED",
    },
}


@dataclass(frozen=True)
class Transaction:
    """A write transaction; ``retried``: an earlier try may have been committed without an acknowledgement."""

    database: Database
    retried: bool

    def execute(self, sql: str, **parameters: Any) -> list[Row]:
        return self.database._execute(sql, parameters)

    def execute_many(self, sql: str, rows: list[dict[str, Any]]) -> None:
        self.database._execute_many(sql, rows)


class Database:
    """A connection that threads share, one at a time. It is closed around a fork, so no child inherits it.

    patience: seconds for which an operation is retried while the database is locked, full or unreachable.
    """

    def __init__(self, url: str, patience: float = 30.0) -> None:
        self._url, self._dialect = parse_url(url)
        self.dialect: str = self._dialect.name
        self.where = sa.make_url(url).set(query={}).render_as_string(hide_password=True)
        self._in_memory = self.dialect == "sqlite" and self._url.database in (None, "", ":memory:")
        self._path = sqlite_file(self._url)
        self._identity: tuple[int, int] | None = None  # of the file that was opened
        self._logs: dict[str, tuple[int, int] | None] = {}  # likewise, of the open connection's other files
        self._patience = patience
        self._statements: dict[str, str] = {}
        # Moving average of transaction times in seconds, used as the retry interval for a lock: retrying
        # sooner is wasted, later leaves the lock idle. At least a millisecond, or many waiting processes
        # would take the processor from the one that has the lock.
        self._typical = 0.001
        self._lock = threading.RLock()
        self._connection: Any = None
        self._only_cursor: Any = None
        self._writes = False  # whether the connection was opened to write
        self._watchdog = Watchdog() if self.dialect == "postgresql" else None
        self._statement_seconds = math.inf
        self._log: Log | None = None  # SQLite's log, if bough flushes it
        self._process = os.getpid()
        forks.register(self)

    def before_fork(self) -> None:
        """Wait for the current transaction, then close the connection."""
        self._lock.acquire()
        if not self._in_memory:  # a database in memory would end with its connection, and has no file
            self._drop_connection()

    def after_fork(self, child: bool) -> None:
        self._process = os.getpid()
        if self._watchdog is not None and child:
            self._watchdog = Watchdog()
        self._lock.release()

    @property
    def exists(self) -> bool:
        """Whether there is something to read: a server, memory, or a file."""
        return self._path is None or os.path.exists(self._path)

    def is_idle_within(self, seconds: float) -> bool:
        """Whether the connection becomes free of other threads within that many seconds."""
        if not self._lock.acquire(timeout=seconds):
            return False
        self._lock.release()
        return True

    def read(self, sql: str, **parameters: Any) -> list[Row]:
        """The rows of one statement, from one consistent snapshot."""

        def attempt(retried: bool) -> list[Row]:
            self._open(write=False)
            rows = self._execute(sql, parameters)
            if isinstance(self._connection, UnlockedConnection):
                self._drop_connection()
            return rows

        return self._patiently(attempt)

    def write(
        self, work: Callable[[Transaction], T], shortcut: Callable[[Transaction], T | None] | None = None
    ) -> T:
        """Run ``work`` in one transaction; if it raises, nothing is changed. It may be run several times.

        shortcut: does the same with a single writing statement, which needs no BEGIN and COMMIT. It returns
        None if it changed nothing; then ``work`` runs. On a server this saves round trips during which other
        workers would wait for the lock.
        """

        def attempt(retried: bool) -> T:
            self._open(write=True)
            self._check_file()
            if shortcut is not None and not retried:
                done = shortcut(Transaction(self, retried))
                if done is not None:
                    return done
            began = time.monotonic()
            try:
                self._execute(_BEGIN[self.dialect], {})
                result = work(Transaction(self, retried))
                self._check_file()
                self._execute("COMMIT", {})
            except BaseException:
                self._roll_back()
                raise
            taken = min(max(time.monotonic() - began, 0.001), 0.01)
            self._typical += 0.1 * (taken - self._typical)
            if self._log is not None:
                self._log.flush()
            return result

        return self._patiently(attempt)

    def has_table(self, name: str) -> bool:
        found = {
            "sqlite": "SELECT count(*) FROM sqlite_master WHERE name = :name",
            "postgresql": "SELECT count(to_regclass(:name))",  # in the schema of this connection
        }
        return self.read(found[self.dialect], name=name) == [(1,)]

    def _patiently(self, attempt: Callable[[bool], T]) -> T:
        """Retry until it works, the fault is permanent, or patience ends."""
        if self._process != os.getpid():
            raise StorageError(
                f"{self.where}: this process was forked by something other than Python while the study was "
                "open; open the study after the fork"
            )
        deadline = time.monotonic() + self._patience
        retried, pause = False, 0.0
        # The first try may take a third of the patience; after a timeout the next try gets twice as long.
        statement_seconds = max(self._patience / 3, 1.0)
        while True:
            with self._lock:
                self._statement_seconds = statement_seconds
                try:
                    return attempt(retried)
                except (self._dialect.loaded_dbapi.Error, UnicodeDecodeError) as error:
                    fault = fault_of(error, self.dialect)
                    if fault.lost:
                        self._drop_connection()
                    if not fault.passing:
                        raise StorageError(f"{self.where}: {fault.cause}") from error
                    if time.monotonic() > deadline:
                        tried = f"(tried again for {self._patience:g} s)"
                        raise StorageError(f"{self.where}: {fault.cause} {tried}") from error
                    pause = self._typical if fault.held else min(max(1.5 * pause, 0.1), 1.0)
                    retried = retried or fault.lost  # only then it is unknown whether it was committed
                    statement_seconds *= 2 if fault.lost else 1
            time.sleep(pause * random.uniform(0.5, 1.5))

    def _execute(self, sql: str, parameters: dict[str, Any]) -> list[Row]:
        cursor = self._only_cursor
        if cursor is None:  # ``before_fork`` closed it
            raise StorageError(f"{self.where}: the process forked during a transaction; nothing was changed")
        text = self._statements.get(sql) or self._compiled(sql)
        if self._watchdog is None:
            cursor.execute(text, parameters)
        else:
            with self._watched(self._watchdog):
                cursor.execute(text, parameters)
        return cursor.fetchall() if cursor.description else []

    def _compiled(self, sql: str) -> str:
        """The statement in the driver's parameter style.

        ``{clock}`` is the database's clock; ``{row_lock}`` locks the found rows until the commit;
        ``{free_row_lock}`` does the same, but skips rows that another transaction has locked.
        """
        if sql not in self._statements:
            text = sql
            for name, meaning in _DIALECT[self.dialect].items():
                text = text.replace(f"{{{name}}}", meaning)
            self._statements[sql] = str(sa.text(text).compile(dialect=self._dialect))
        return self._statements[sql]

    def _execute_many(self, sql: str, rows: list[dict[str, Any]]) -> None:
        with contextlib.nullcontext() if self._watchdog is None else self._watched(self._watchdog):
            self._only_cursor.executemany(self._compiled(sql), rows)

    def _watched(self, watchdog: Watchdog) -> contextlib.AbstractContextManager[None]:
        """A block in which the connection is shut down if the server does not answer for too long."""
        return watchdog.limit(self._connection.fileno(), self._statement_seconds)

    def _open(self, write: bool) -> None:
        """Connect, unless there is a suitable connection."""
        write = write or self._in_memory or self.dialect == "postgresql"  # these have one kind of connection
        if self._connection is not None and (self._writes or not write):
            return
        self._drop_connection()
        connection = open_connection(self._url, self._dialect, write=write, create=self._identity is None)
        try:
            if self.dialect == "sqlite" and write:
                self._log = log_of(connection, self.where)
            if self._log is not None:
                connection.execute("PRAGMA synchronous = NORMAL")
            cursor = connection.cursor()
        except BaseException:
            self._log = None
            connection.close()
            raise
        self._connection, self._only_cursor, self._writes = connection, cursor, write
        if self._path is not None and self._identity is None:
            self._identity = _identity(self._path)
        self._logs = {suffix: _identity(f"{self._path}{suffix}") for suffix in ("-wal", "-shm")}

    def _check_file(self) -> None:
        """StorageError if a file of the database was removed or replaced: writing would lose the data."""
        if self._path is None:
            return
        for suffix, opened in (("", self._identity), *self._logs.items()):
            if opened is not None and _identity(f"{self._path}{suffix}") != opened:
                raise StorageError(
                    f"{self.where}{suffix}: the file was removed, moved or replaced while it was open; "
                    "new results would be lost"
                )

    def _roll_back(self) -> None:
        if self._connection is None or not getattr(self._connection, "in_transaction", True):
            return  # SQLite had the file locked, or its COMMIT was the last that was done
        try:
            self._execute("ROLLBACK", {})
        except self._dialect.loaded_dbapi.Error:
            self._drop_connection()  # the server then rolls back

    def _drop_connection(self) -> None:
        connection, cursor = self._connection, self._only_cursor
        self._connection = self._only_cursor = self._log = None
        self._logs = {}  # SQLite removes them with the last connection
        if connection is not None:
            with contextlib.suppress(self._dialect.loaded_dbapi.Error):
                cursor.close()  # an open statement would keep SQLite's file open behind a closed connection
            with contextlib.suppress(self._dialect.loaded_dbapi.Error):
                connection.close()


def _identity(path: str) -> tuple[int, int] | None:
    """Device and inode of the file at the path; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
