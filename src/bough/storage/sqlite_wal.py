"""SQLite's log, flushed by ourselves, so that the commits of many processes reach the disk together.

With ``synchronous = FULL`` SQLite flushes its log (the ``-wal`` file) while it has the lock, so the processes
wait for the disk one after the other. Here a commit only appends to the log, under ``synchronous = NORMAL``,
and lets the lock go; then its process flushes the log, and only then tells anybody that it is done. The next
process writes meanwhile, and one flush covers all that was appended before it.

Nothing acknowledged can be lost. After a power failure SQLite reads the log up to the first damaged frame, so
a commit is safe when the log is flushed up to it. Who goes by a commit that is not flushed yet writes behind
it in the log: the own flush covers both. And SQLite begins the log anew only when it has flushed the log and
then the database itself, which it does under NORMAL too (https://www.sqlite.org/pragma.html#pragma_synchronous).
It also flushes the head of a new log and its folder's entry. Who only reads may see what was not acknowledged
yet, and what a power failure would take back.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = ["Log", "log_of"]


class Log:
    """The open log of one connection, which is the same file for as long as that connection is open."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDONLY)
        self._failure: tuple[object, ...] = ()  # arguments of the first error

    def flush(self) -> None:
        """Return when all that was committed so far, by whomever, is on the disk; OSError if it cannot be.

        Nor can anything later then: the system tells once of what it could not write, and forgets it, and
        the log is of no use behind the gap.
        """
        if self._failure:
            raise OSError(*self._failure)
        try:
            os.fdatasync(self._file)
        except OSError as error:
            self._failure = error.args
            raise

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


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
