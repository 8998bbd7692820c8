"""SQLite's write-ahead log, flushed by us: one flush covers the commits of many processes.

With ``synchronous = FULL`` SQLite flushes its log (the ``-wal`` file) while it holds the lock, and the
processes wait for the disk one after the other. Here a commit appends to the log under ``synchronous =
NORMAL`` and releases the lock. Then its process flushes the log, and only then reports success. Meanwhile
the next process writes, and one flush covers everything appended before it.

No acknowledged result can be lost. After a power failure SQLite reads the log up to the first damaged
frame, so a commit is safe once the log is flushed up to it. A process that reads a commit that is not
flushed yet writes behind it in the log, and its own flush covers both. SQLite starts the log from its
beginning only after it has flushed the log and then the database itself, under NORMAL too
(https://www.sqlite.org/pragma.html#pragma_synchronous). It also flushes the head of a new log and the entry
of its folder. A reader may see a result that is not acknowledged yet, and that a power failure would undo.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

__all__ = ["Log", "log_of"]


class Log:
    """The open log of one connection, which is the same file for as long as that connection is open."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDONLY)
        self._failure: tuple[object, ...] = ()  # arguments of the first error

    def flush(self) -> None:
        """Return when everything committed so far, by any process, is on the disk; OSError if that fails.

        Then every later flush fails, too: the system reports only once what it could not write, and the log
        is useless behind the gap.
        """
        if self._failure:
            raise OSError(*self._failure)
        try:
            os.fdatasync(self._file)
        except OSError as error:
            self._failure = error.args
            raise

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if hasattr(self, "_file"):
            close(self._file)  # when the interpreter ends, ``os`` may be gone already


def log_of(connection: Any) -> Log | None:
    """The log of a connection to SQLite; None where it has none or we cannot flush it, so SQLite must."""
    if not hasattr(os, "fdatasync"):  # Windows, macOS
        return None
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the log
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        return None
    _, _, path = connection.execute("PRAGMA database_list").fetchone()
    try:
        return Log(f"{path}-wal")
    except OSError:
        return None
