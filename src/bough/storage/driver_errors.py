"""Translates errors of database drivers into messages for users, and says whether a retry may help."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Fault", "fault_of"]


@dataclass(frozen=True)
class Fault:
    """cause: one line for the user; passing: a retry may help; lost: the connection can no longer be used;
    held: another process, perhaps another bough process, has the lock until its transaction ends."""

    cause: str
    passing: bool = False
    lost: bool = False
    held: bool = False


_LOCKED = Fault("the file is locked by another program", passing=True, held=True)

_SQLITE = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_FULL": Fault("the disk is full", passing=True),
    "SQLITE_IOERR_SHMSIZE": Fault("the disk is full", passing=True, lost=True),  # even readers need this file
    "SQLITE_READONLY": Fault("the file or its folder is read-only"),
    "SQLITE_CANTOPEN": Fault(
        "the file cannot be opened: check that its folder exists, and that both are writable", lost=True
    ),
    "SQLITE_NOTADB": Fault("the file is not an SQLite database", lost=True),
    "SQLITE_CORRUPT": Fault("the file is damaged (see PRAGMA integrity_check)", lost=True),
}

# The first two or all five characters of SQLSTATE, PostgreSQL manual, appendix A.
_POSTGRESQL = {
    "08": Fault("the connection to the server was lost", passing=True, lost=True),
    "57014": Fault("the server cancelled the statement", passing=True),
    "57P": Fault("the server is shutting down or starting up", passing=True, lost=True),
    "40": Fault("the server cancelled the transaction in favour of another", passing=True),
    "55P03": Fault("a lock is held by another program", passing=True),
    "53100": Fault("the server's disk is full", passing=True),
    "53": Fault("the server has no resources left (connections or memory)", passing=True, lost=True),
    "25006": Fault("the database is read-only"),
    "28": Fault("the server refused the user name or password", lost=True),
    "3D": Fault("the database does not exist on the server", lost=True),
    "42501": Fault("the user has no permission to write to the database"),
}

# While connecting, psycopg has the server's message but not its SQLSTATE. If the message is in another
# language, the fault is not recognised and connecting is retried until patience ends.
_REFUSALS = {
    r'FATAL: database ".*" does not exist': _POSTGRESQL["3D"],
    r'FATAL: (role ".*" does not exist|password authentication failed|no pg_hba\.conf entry)': _POSTGRESQL[
        "28"
    ],
}


def fault_of(error: Exception, dialect: str) -> Fault:
    """The fault behind an error of ``sqlite3`` or ``psycopg``."""
    if isinstance(
        error, UnicodeDecodeError
    ):  # sqlite3 could not decode SQLite's message, which quotes damaged text
        return _SQLITE["SQLITE_CORRUPT"]
    name = getattr(error, "sqlite_errorname", "")
    if name in _SQLITE:
        return _SQLITE[name]  # a fast path: waiting for a lock calls this often
    text = " ".join(str(error).split())
    if dialect == "sqlite":
        code = "_".join(name.split("_")[:2])  # SQLITE_IOERR_WRITE -> SQLITE_IOERR
        if code == "SQLITE_IOERR":
            return Fault(f"reading or writing the file failed ({text})", passing=True, lost=True)
        return _SQLITE.get(code, Fault(text))
    state = getattr(error, "sqlstate", None)
    if state is None:  # the server refused the connection or was unreachable, or the connection broke
        for words, fault in _REFUSALS.items():
            if re.search(words, text):
                return fault
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if kinds.isdisjoint(("OperationalError", "InterfaceError")):
            return Fault(text)
        return Fault(f"the server cannot be reached ({text})", passing=True, lost=True)
    for length in (5, 3, 2):
        if state[:length] in _POSTGRESQL:
            return _POSTGRESQL[state[:length]]
    return Fault(text)
