"""Flushes SQLite's write-ahead log, so that one flush covers the commits of many processes.

With ``synchronous = FULL`` SQLite flushes its log (the ``-wal`` file) while it holds the lock, so processes
wait for the disk one after another. Here a commit appends to the log under ``synchronous = NORMAL`` and
releases the lock. Then its process flushes the log, and only then reports success. Meanwhile the next process
can write, and one flush covers everything appended before it.

No acknowledged result can be lost. After a power failure SQLite reads the log up to the first damaged
frame, so a commit is safe once the log is flushed up to it. A process that builds on an unflushed commit
writes after it in the log, so its flush covers both. SQLite restarts the log from its beginning only after it
has flushed first the log and then the database, under NORMAL too
(https://www.sqlite.org/pragma.html#pragma_synchronous). It also flushes the header of a new log and its
directory entry. A reader may see a result that is not acknowledged yet, and that a power failure would undo.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from bough.errors import StorageError

__all__ = ["Log", "log_of"]


class Log:
    """The open log of one connection; it stays the same file while that connection is open."""

    def __init__(self, path: str, where: str) -> None:
        self._file = os.open(path, os.O_RDONLY)
        self._where = where
        self._failure = ""  # what is wrong since the first error

    def flush(self) -> None:
        """Return when everything committed so far, by any process, is on disk; StorageError if that fails.

        Every later flush then fails, too: the system reports a failed write only once, and the log is useless
        after the gap.
        """
        if self._failure:
            raise StorageError(self._failure)
        try:
            os.fdatasync(self._file)
        except OSError as error:
            self._failure = f"{self._where}: writing to disk failed ({error}); reopen the study once it works"
            raise StorageError(self._failure) from error

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if hasattr(self, "_file"):
            close(self._file)  # at interpreter exit, ``os`` may already be gone


def log_of(connection: Any, where: str) -> Log | None:
    """The log of a connection to SQLite; None if it has none, or if SQLite itself must flush it.

    where: the database, for errors.
    """
    if not hasattr(os, "fdatasync"):  # Windows, macOS
        return None
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the log
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        return None
    _, _, path = connection.execute("PRAGMA database_list").fetchone()
    try:
        return Log(f"{path}-wal", where)
    except OSError:
        return None
