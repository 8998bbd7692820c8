"""Evaluations of real problems, cached on disk so that a rerun takes no time.

All processes that run studies share one SQLite file in ``benchmarks/.cache``. The key is the name of the
instance (problem, seed, everything else that affects the value, and a version to increase when the problem
changes) and the config as JSON with sorted keys. A failed evaluation is stored as NaN.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.problems.base import Config

FOLDER = Path(__file__).resolve().parents[1] / ".cache"

WAIT = 60.0
"""Seconds to wait for another process that writes."""


def cached(
    instance: str, function: Callable[[Config], float], folder: Path | None = None
) -> Callable[[Config], float]:
    """``function``, evaluated at most once per config; an exception becomes NaN, a failed trial."""
    file = (folder or FOLDER) / "evaluations.sqlite"

    def remembered(config: Config) -> float:
        key = (instance, json.dumps(config, sort_keys=True))
        found = _ask(file, "SELECT value FROM evaluation WHERE instance = ? AND config = ?", key)
        if found is not None:
            return math.nan if found[0] is None else found[0]
        try:
            value = float(function(config))
        except (ValueError, ArithmeticError):  # scikit-learn and NumPy raise these for invalid configs
            value = math.nan
        stored = value if math.isfinite(value) else None
        _ask(file, "INSERT OR IGNORE INTO evaluation VALUES (?, ?, ?)", (*key, stored))
        return value if math.isfinite(value) else math.nan

    return remembered


def _ask(file: Path, statement: str, values: tuple[object, ...]) -> tuple[float | None] | None:
    # a connection is for one thread of one process: a forked worker must not use its parent's
    with _open(file, os.getpid(), threading.get_ident()) as connection:
        row: tuple[float | None] | None = connection.execute(statement, values).fetchone()
    return row


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Set the file's journal mode; SQLite does not wait for another process that does so, so this waits."""
    give_up = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.02)


@cache
def _open(file: Path, process: int, thread: int) -> sqlite3.Connection:
    """A writer waits for the others, so the timeout is generous."""
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, timeout=WAIT)
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = NORMAL")  # the last evaluations may be lost in a power cut
    connection.execute(
        "CREATE TABLE IF NOT EXISTS evaluation "
        "(instance TEXT, config TEXT, value REAL, PRIMARY KEY (instance, config)) WITHOUT ROWID"
    )
    connection.commit()
    return connection
