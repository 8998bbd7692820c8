"""An ask and a tell as one statement each, for PostgreSQL, so many workers hardly wait for each other.

A transaction that inserts a trial or hands one out holds the lock on the study's row until its commit is on
disk. A single statement holds it for the shortest time, without round trips to the client.

A tell does not take that lock, so the results of many workers are flushed to disk together. Therefore it does
not know the study's next revision and writes UNASSIGNED, which is greater than every revision. So all readers
of changes see the result, perhaps more than once. The next statement with the lock replaces UNASSIGNED by its
revision. A tell locks the row of its trial, like every statement that depends on a trial's state.

A statement that had to wait for a lock re-reads the row and checks its conditions again (PostgreSQL manual,
13.2.1, "Read Committed Isolation Level").
"""

from __future__ import annotations

from bough.storage.rows import COLUMNS

__all__ = ["FINISH", "INSERT", "LOCK"]

UNASSIGNED = 2**62

_SHIFTED = {  # NULL stays NULL
    "number": "locked.number",
    "started": "locked.now + CAST(:started AS double precision)",
    "finished": "locked.now + CAST(:finished AS double precision)",
    "expires": "locked.now + CAST(:expires AS double precision)",
}
_ASSIGN = f"""
    assigned AS (
        UPDATE bough_trials AS t SET revision = locked.revision FROM locked
        WHERE t.study = :study AND t.revision = {UNASSIGNED})"""

LOCK = f"""
    WITH locked AS (
        UPDATE bough_studies SET revision = revision + 1 WHERE id = :study
        RETURNING revision, {{clock}} AS now),
    {_ASSIGN}
    SELECT revision, now FROM locked"""
"""Lock the study until the commit; returns its new revision and the time."""

INSERT = f"""
    WITH locked AS (
        UPDATE bough_studies SET revision = revision + 1, trials = trials + 1
        WHERE id = :study AND trials >= :low AND trials < :high AND amended <= :seen
        RETURNING revision, trials - 1 AS number, {{clock}} AS now),
    {_ASSIGN}
    INSERT INTO bough_trials (study, revision, operation, {", ".join(COLUMNS)})
    SELECT :study, locked.revision, :operation,
        {", ".join(_SHIFTED.get(column, f":{column}") for column in COLUMNS)}
    FROM locked
    RETURNING number, started, finished, expires"""
"""Insert a trial, if its number is within the range and the study was not amended; its times are relative to
now."""

FINISH = f"""
    UPDATE bough_trials SET state = :state, value = :value, noise = :noise, cost = :cost, error = :error,
        measures = :measures, notes = :notes, traceback = :traceback, learn = :learn,
        noises = :noises,
        finished = {{clock}}, expires = NULL, revision = {UNASSIGNED}, operation = NULL
    WHERE study = :study AND number = :number AND state IN ('queued', 'running')
        AND (CAST(:state AS TEXT) = 'done' OR :attempt IN (0, attempt))
    RETURNING {", ".join(COLUMNS)}"""
"""Store the result of an unfinished trial, under the same conditions as ``trial.finished``."""
