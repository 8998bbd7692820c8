"""Reads and appends rows of the table ``bough_amendments``, for ``SqlStorage``.

The study's row keeps the revision of its last amendment. A reader queries this table only if that revision is
newer than what it has read. Amendments never change, so rows up to a revision can be read at any time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from bough.errors import StorageError
from bough.storage.base import Amendment, amended_meanwhile
from bough.storage.database import Transaction
from bough.storage.rows import Row, to_json
from bough.trial import Trial

__all__ = ["READ", "amendments_of", "append", "insert"]

_COLUMNS = "kind, body, trial, since, position, at"

READ = f"""
    SELECT {_COLUMNS} FROM bough_amendments
    WHERE study = :study AND revision > :since AND revision <= :revision ORDER BY position"""
_OF_OPERATION = f"""
    SELECT {_COLUMNS} FROM bough_amendments WHERE study = :study AND operation = :operation"""
_COUNT = "SELECT count(*) FROM bough_amendments WHERE study = :study"
_TRIALS = "SELECT trials FROM bough_studies WHERE id = :study"
_INSERT = """
    INSERT INTO bough_amendments (study, position, kind, trial, since, body, at, revision, operation)
    VALUES (:study, :position, :kind, :trial, :since, :body, :at, :revision, :operation)"""
_MARK = """
    UPDATE bough_studies SET amended = :revision, space = coalesce(CAST(:space AS TEXT), space)
    WHERE id = :study"""

_MOVE = """
    UPDATE bough_trials SET config = :config WHERE study = :study AND number = :number AND state = :state
    RETURNING number"""


def append(
    transaction: Transaction,
    study: int,
    amendment: Amendment,
    after: int | None,
    space: str | None,
    moved: Sequence[Trial],
    revision: int,
    now: float,
    operation: str,
) -> Amendment:
    """Append to a study whose row the transaction has locked; see ``Storage.amend``."""
    if transaction.retried:  # an earlier try may have been committed without an acknowledgement
        mine = transaction.execute(_OF_OPERATION, study=study, operation=operation)
        if mine:
            return amendments_of(mine)[0]
    position = transaction.execute(_COUNT, study=study)[0][0]
    if after is not None and position != after:
        raise amended_meanwhile()
    since = transaction.execute(_TRIALS, study=study)[0][0]
    if moved and amendment.since != since:
        raise amended_meanwhile()
    for trial in moved:
        row = {"study": study, "number": trial.number, "state": trial.state, "config": to_json(trial.config)}
        if not transaction.execute(_MOVE, **row):
            raise amended_meanwhile()
    stored = replace(amendment, since=since, position=position, at=now)
    insert(transaction, study, [stored], revision, operation, space)
    return stored


def insert(
    transaction: Transaction,
    study: int,
    amendments: Sequence[Amendment],
    revision: int,
    operation: str | None = None,
    space: str | None = None,
) -> None:
    """Insert amendments as they are."""
    for amendment in amendments:
        transaction.execute(
            _INSERT,
            study=study,
            position=amendment.position,
            kind=amendment.kind,
            trial=amendment.trial,
            since=amendment.since,
            body=json.dumps(amendment.body, allow_nan=False),
            at=amendment.at,
            revision=revision,
            operation=operation,
        )
    if amendments:
        transaction.execute(_MARK, study=study, revision=revision, space=space)


def amendments_of(rows: Sequence[Row]) -> list[Amendment]:
    """Amendments from rows; StorageError if a row is not one that bough writes."""
    found = []
    for kind, text, trial, since, position, at in rows:
        try:
            body = json.loads(text)
            if type(body) is not dict:
                raise ValueError("its body is not a JSON object")
        except (ValueError, TypeError, RecursionError) as error:
            raise StorageError(f"the row of amendment {position} is damaged: {error}") from None
        found.append(Amendment(kind, body, trial, since, position, at))
    return found
