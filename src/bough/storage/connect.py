"""Storage URLs, and how connections are opened.

Reading creates nothing: a connection that only reads opens an existing file, and does not change the file or
its journal mode. A connection that writes creates the file if necessary.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from bough.errors import MissingExtraError, StorageError

__all__ = [
    "UnlockedConnection",
    "display_url",
    "is_in_memory",
    "open_connection",
    "parse_url",
    "sqlite_file",
]

_ADVICE = "use sqlite:///file.db or postgresql://user@host/database"

# Autocommit: transactions begin and end with explicit statements.
_SQLITE: dict[str, Any] = {
    "isolation_level": None,
    "timeout": 0.0,  # SQLite's lock wait favours newcomers, so ``Database`` waits instead
    "check_same_thread": False,
}
_POSTGRESQL: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,  # a pooler may run the next transaction in another server process
}
_POSTGRESQL_DEFAULTS = {  # for libpq; the URL takes precedence
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
_SQLITE_OPTIONS = {"mode", "uri", "timeout", "cache", "nolock", "immutable"}
"""Options in URLs of SQLite; a "?" before anything else was meant as a part of the file's name."""

SQLITE_WRITER_SET_UP = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)
"""The first statements of a connection that writes to SQLite."""


def parse_url(text: str) -> tuple[sa.URL, sa.Dialect]:
    """A storage URL and its dialect, with the driver loaded."""
    try:
        url = sa.make_url(text)
    except (ArgumentError, ValueError):  # ValueError: a port that is not a number
        raise StorageError(f"{display_url(text)!r} is not a storage URL: {_ADVICE}") from None
    if url.drivername == "sqlite":
        if url.host:
            raise StorageError(
                f"{display_url(text)!r} names a host, not a file: a file takes three slashes, sqlite:///{url.host}"
            )
        if url.database and not url.database.startswith((":", "file:")):
            if "?" in text and not _SQLITE_OPTIONS.intersection(url.query):
                raise StorageError(
                    f"the path in {display_url(text)!r} has a '?', which no storage URL can hold: "
                    "use another name"
                )
            if "?" in text:
                name = quote(quote(url.database, errors="replace"))  # SQLAlchemy and SQLite each undo it once
                raise StorageError(
                    f"{display_url(text)!r} has options, and a file takes none; to read only, write "
                    f"sqlite:///file:{name}?mode=ro&uri=true"
                )
            path = os.path.abspath(url.database)
            url = url.set(database=path)
            if path.encode(errors="ignore").decode() != path:
                raise StorageError(f"the path {path!r} is not UTF-8: use another folder or name")
            if "\0" in path:
                raise StorageError(f"the path {path!r} has a NUL: use another name")
            if os.path.isdir(path):
                raise StorageError(f"{display_url(text)!r} names a folder, not a file: {_ADVICE}")
        try:
            return url, sa.create_engine(url, paramstyle="named").dialect
        except ValueError as error:
            raise StorageError(f"an option of {display_url(text)!r} is wrong: {error}") from None
    if url.drivername in ("postgresql", "postgresql+psycopg"):
        url = url.set(drivername="postgresql+psycopg")
        try:
            return url, sa.create_engine(url).dialect
        except ModuleNotFoundError:
            raise MissingExtraError("PostgreSQL needs psycopg: pip install 'bough-opt[postgres]'") from None
    raise StorageError(f"bough cannot store studies in {url.drivername!r}: {_ADVICE}")


def display_url(text: str) -> str:
    """A storage URL without its password, even if the URL is malformed."""
    hidden = re.sub(r"(://[^/@:]*):.*@", r"\1:***@", text)
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", hidden)


def sqlite_file(url: str | sa.URL) -> str | None:
    """The path of the SQLite file that a URL names; None if it does not name a plain file."""
    parsed = parse_url(url)[0] if isinstance(url, str) else url
    name = parsed.database or ""
    if parsed.drivername != "sqlite" or not name or name.startswith((":", "file:")):
        return None
    return name


def is_in_memory(url: str) -> bool:
    """Whether a URL names a database of SQLite that has no file and ends with its connection."""
    parsed, dialect = parse_url(url)
    if dialect.name != "sqlite":
        return False
    (name, *_), given = dialect.create_connect_args(parsed)
    place, _, options = (name or "").partition("?")
    place = place.removeprefix("file:") if given.get("uri") else place
    return place in ("", ":memory:") or not {"mode=memory", "vfs=memdb"}.isdisjoint(options.split("&"))


def open_connection(url: sa.URL, dialect: sa.Dialect, *, write: bool, create: bool) -> Any:
    """Open a connection of the driver: to read, to write, or to write and create the file."""
    args, given = dialect.create_connect_args(url)
    if dialect.name == "postgresql":
        return dialect.connect(*args, **{**_POSTGRESQL_DEFAULTS, **given, **_POSTGRESQL})
    path = sqlite_file(url)
    connection: Any
    if path is None:
        connection = dialect.connect(*args, **{**given, **_SQLITE})
    elif write:
        mode = "rwc" if create else "rw"
        connection = _open_file(path, f"mode={mode}", given)
    else:
        return _open_to_read(path, given)
    if write:
        try:
            for statement in SQLITE_WRITER_SET_UP:
                connection.execute(statement)
        except BaseException:
            connection.close()
            raise
    return connection


class UnlockedConnection(sqlite3.Connection):
    """Reads a file without locks. Another process may write meanwhile, so it runs only one statement."""


def _open_file(path: str, mode: str, given: Mapping[str, Any]) -> sqlite3.Connection:
    options = {**given, **_SQLITE, "uri": True}
    if "immutable" in mode:
        options["factory"] = UnlockedConnection
    connection: sqlite3.Connection = sqlite3.connect(f"file:{quote(path)}?{mode}", **options)
    return connection


def _open_to_read(path: str, given: Mapping[str, Any]) -> sqlite3.Connection:
    """Open a file to read; works also on read-only media, where SQLite cannot use its locks and its log."""
    if not os.path.exists(path):
        raise StorageError(f"there is no file {path}")
    for mode in ("mode=rw", "mode=ro&immutable=1"):
        connection = _open_file(path, mode, given)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.Error as error:
            connection.close()
            name = getattr(error, "sqlite_errorname", "")
            if mode != "mode=rw" or not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
        if _size(
            f"{path}-wal"
        ):  # the log has results that are not in the file yet; reading without locks would miss them
            raise StorageError(
                f"{path} has a log, {os.path.basename(path)}-wal, that cannot be read in a folder without "
                "permission to write: copy both files to another folder and read them there"
            )
    raise AssertionError("the last mode returns or raises")


def _size(path: str) -> int:
    """The size of a file in bytes; 0 if there is no file."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
