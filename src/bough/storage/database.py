"""One connection to SQLite or PostgreSQL: transactions, patience with passing faults, clear errors.

SQLAlchemy opens the connection and writes each statement's parameters in the driver's style. The statements
then run on the driver's own cursor: they are few and simple, and SQLAlchemy's execution layer would cost
several times what they do.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from bough.errors import MissingExtraError, StorageError
from bough.storage import forks
from bough.storage.driver_errors import failpoint, fault_of
from bough.storage.rows import Row
from bough.storage.sqlite_wal import Log, log_of

__all__ = ["Database", "Transaction"]

T = TypeVar("T")

_CONNECT: dict[str, dict[str, Any]] = {  # autocommit: our transactions begin and end by statements
    # SQLite's own way to wait for a lock favours newcomers, some processes would starve: we wait ourselves.
    "sqlite": {"isolation_level": None, "timeout": 0.0, "check_same_thread": False},
    "postgresql": {"autocommit": True},
}
_SET_UP = {
    "sqlite": ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"),
    "postgresql": (),
}
_BEGIN = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "BEGIN"}
_DIALECT = {  # what stands for {name} in a statement
    "sqlite": {
        "clock": "(julianday('now') - 2440587.5) * 86400.0",
        "row_lock": "",  # a transaction that writes has the whole file
        "free_row_lock": "",
    },
    "postgresql": {
        "clock": "CAST(extract(epoch FROM clock_timestamp()) AS double precision)",
        "row_lock": "FOR UPDATE",
        "free_row_lock": "FOR UPDATE SKIP LOCKED",
    },
}


class Transaction:
    """What a write may do; ``retried`` says that an earlier try may have been committed unnoticed."""

    def __init__(self, database: Database, retried: bool) -> None:
        self._database = database
        self.dialect = database.dialect
        self.retried = retried

    def execute(self, sql: str, **parameters: Any) -> list[Row]:
        return self._database._execute(sql, parameters)

    def execute_many(self, sql: str, rows: list[dict[str, Any]]) -> None:
        self._database._cursor().executemany(self._database._compiled(sql), rows)


class Database:
    """A connection that threads take turns on. It is closed around a fork, so no child inherits it.

    patience: seconds for which an operation is tried again while the database is locked, full or away.
    """

    def __init__(self, url: str, patience: float) -> None:
        self._url, self._dialect = _parse(url)
        self.dialect: str = self._dialect.name
        self.where = sa.make_url(url).set(query={}).render_as_string(hide_password=True)
        self._in_memory = self.dialect == "sqlite" and self._url.database in (None, "", ":memory:")
        self._patience = patience
        self._statements: dict[str, str] = {}
        # Seconds that a transaction takes of late, which is how long to wait before a lock is tried again:
        # more often would be in vain, more seldom would leave the lock unused. Never less than a millisecond:
        # the attempts of many would take the processor from the one that has the lock.
        self._typical = 0.001
        self._lock = threading.RLock()
        self._connection: Any = None
        self._only_cursor: Any = None
        self._log: Log | None = None  # SQLite's, if we flush it ourselves
        self._process = os.getpid()
        forks.register(self)

    def before_fork(self) -> None:
        """Wait for the transaction that is under way, then close the connection."""
        self._lock.acquire()
        if not self._in_memory:  # which exists only as long as its connection, and has no file to share
            self._drop_connection()

    def after_fork(self, child: bool) -> None:
        self._process = os.getpid()
        self._lock.release()

    def read(self, sql: str, **parameters: Any) -> list[Row]:
        """The rows of one statement, which sees one consistent snapshot."""
        return self._patiently(lambda retried: self._execute(sql, parameters))

    def write(
        self,
        label: str,
        work: Callable[[Transaction], T],
        shortcut: Callable[[Transaction], T | None] | None = None,
    ) -> T:
        """Run ``work`` in one transaction; if it raises, nothing is changed. It may be run several times.

        shortcut: does the same with a single writing statement, which is a transaction of its own, or says
        None if it changed nothing and ``work`` is to do it. On a server this saves the way there and back
        between statements, most of all while the others wait for the lock.
        """

        def attempt(retried: bool) -> T:
            if shortcut is not None and not retried:
                failpoint(f"{label}:before-commit")
                done = shortcut(Transaction(self, retried))
                failpoint(f"{label}:after-commit")
                if done is not None:
                    return done
            self._execute(_BEGIN[self.dialect], {})
            began = time.monotonic()
            try:
                result = work(Transaction(self, retried))
                failpoint(f"{label}:before-commit")
                self._execute("COMMIT", {})
            except BaseException:
                self._roll_back()
                raise
            taken = min(max(time.monotonic() - began, 0.001), 0.01)
            self._typical += 0.1 * (taken - self._typical)
            self._flush()
            failpoint(f"{label}:after-commit")
            return result

        return self._patiently(attempt)

    def has_table(self, name: str) -> bool:
        found = {
            "sqlite": "SELECT count(*) FROM sqlite_master WHERE name = :name",
            "postgresql": "SELECT count(to_regclass(:name))",  # in the schema of this connection
        }
        return self.read(found[self.dialect], name=name) == [(1,)]

    def _patiently(self, attempt: Callable[[bool], T]) -> T:
        """Try until it works, the fault is one that does not pass, or patience ends."""
        if self._process != os.getpid():
            raise StorageError(
                f"{self.where}: this process was forked by something other than Python while the study was "
                "open; open the study after the fork"
            )
        deadline = time.monotonic() + self._patience
        retried, pause = False, 0.0
        while True:
            with self._lock:
                try:
                    return attempt(retried)
                except self._dialect.loaded_dbapi.Error as error:
                    fault = fault_of(error, self.dialect)
                    if fault.lost:
                        self._drop_connection()
                    if not fault.passing:
                        raise StorageError(f"{self.where}: {fault.cause}") from error
                    if time.monotonic() > deadline:
                        tried = f"(tried again for {self._patience:g} s)"
                        raise StorageError(f"{self.where}: {fault.cause} {tried}") from error
                    pause = self._typical if fault.held else min(max(1.5 * pause, 0.1), 1.0)
                    retried = retried or fault.lost  # only then nobody knows whether it was committed
            time.sleep(pause * random.uniform(0.5, 1.5))

    def _execute(self, sql: str, parameters: dict[str, Any]) -> list[Row]:
        cursor = self._only_cursor or self._cursor()
        cursor.execute(self._statements.get(sql) or self._compiled(sql), parameters)
        return cursor.fetchall() if cursor.description else []

    def _compiled(self, sql: str) -> str:
        """The statement in the driver's parameter style.

        ``{clock}`` in it is the database's own clock; ``{row_lock}`` locks the rows found until the commit,
        ``{free_row_lock}`` likewise, but passes over those that another transaction has locked.
        """
        if sql not in self._statements:
            text = sql
            for name, meaning in _DIALECT[self.dialect].items():
                text = text.replace(f"{{{name}}}", meaning)
            self._statements[sql] = str(sa.text(text).compile(dialect=self._dialect))
        return self._statements[sql]

    def _cursor(self) -> Any:
        if self._connection is None:
            args, kwargs = self._dialect.create_connect_args(self._url)
            connection = self._dialect.connect(*args, **{**kwargs, **_CONNECT[self.dialect]})
            try:
                for statement in _SET_UP[self.dialect]:
                    connection.cursor().execute(statement)
                if self.dialect == "sqlite":
                    self._log = log_of(connection)
                if self._log is not None:
                    connection.cursor().execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                connection.close()
                raise
            self._connection, self._only_cursor = connection, connection.cursor()
        return self._only_cursor

    def _flush(self) -> None:
        """Bring to the disk what was committed, unless the database has done so itself."""
        if self._log is None:
            return
        try:
            self._log.flush()
        except OSError as error:
            cause = f"the disk did not take what was written ({error})"
            raise StorageError(f"{self.where}: {cause}; when it does again, open the study anew") from error

    def _roll_back(self) -> None:
        try:
            self._execute("ROLLBACK", {})
        except self._dialect.loaded_dbapi.Error:
            self._drop_connection()  # what has no connection any more is rolled back by the other side

    def _drop_connection(self) -> None:
        connection, cursor = self._connection, self._only_cursor
        self._connection = self._only_cursor = self._log = None
        if connection is not None:
            with contextlib.suppress(self._dialect.loaded_dbapi.Error):
                cursor.close()  # an open statement would keep SQLite's file open behind a closed connection
            connection.close()


def _parse(text: str) -> tuple[sa.URL, sa.Dialect]:
    """A storage URL and its dialect, with the driver loaded."""
    advice = "use sqlite:///file.db or postgresql://user@host/database"
    try:
        url = sa.make_url(text)
    except ArgumentError:
        raise StorageError(f"{text!r} is not a storage URL: {advice}") from None
    if url.drivername == "sqlite":
        if url.database and not url.database.startswith((":", "file:")):
            url = url.set(database=os.path.abspath(url.database))
        return url, sa.create_engine(url, paramstyle="named").dialect
    if url.drivername in ("postgresql", "postgresql+psycopg"):
        url = url.set(drivername="postgresql+psycopg")
        try:
            return url, sa.create_engine(url).dialect
        except ModuleNotFoundError:
            raise MissingExtraError("PostgreSQL needs psycopg: pip install 'bough-opt[postgres]'") from None
    raise StorageError(f"bough cannot store studies in {url.drivername!r}: {advice}")
