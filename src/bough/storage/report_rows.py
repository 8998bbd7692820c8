"""Reads and appends rows of the table ``bough_reports``, for ``SqlStorage``.

The study's row keeps the revision of its last report. A reader queries this table only if that revision is
newer than what it has read, so a study without reports needs no extra statement.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from bough.errors import StorageError
from bough.storage.database import Transaction
from bough.storage.rows import Row
from bough.trial import Report, Trial, is_news

__all__ = ["READ", "append", "insert", "reports_of"]

_INSERT = """
    INSERT INTO bough_reports (study, number, attempt, step, value, measures, revision)
    VALUES (:study, :number, :attempt, :step, :value, :measures, :revision)"""
_MARK = "UPDATE bough_studies SET reported = :revision WHERE id = :study"
_BEFORE = """
    SELECT number, step, value, attempt, measures FROM bough_reports
    WHERE study = :study AND number = :number AND attempt = :attempt AND step = :step"""
_LAST = """
    SELECT max(step) FROM bough_reports WHERE study = :study AND number = :number AND attempt = :attempt"""
READ = """
    SELECT number, step, value, attempt, measures FROM bough_reports
    WHERE study = :study AND revision > :since AND revision <= :revision
    ORDER BY revision, number, attempt, step"""


def append(transaction: Transaction, study: int, current: Trial, report: Report, revision: int) -> None:
    """Store a report of the trial ``current`` unless it is stored already; the caller locks the study."""
    row = {"study": study, "number": report.number, "attempt": report.attempt}
    before = transaction.execute(_BEFORE, **row, step=report.step)
    last = transaction.execute(_LAST, **row)[0][0]
    if is_news(current, report, reports_of(before)[0] if before else None, last):
        insert(transaction, study, [report], revision)


def insert(transaction: Transaction, study: int, reports: Sequence[Report], revision: int) -> None:
    """Store reports without checks."""
    if not reports:
        return
    rows = [
        {
            "study": study,
            "number": report.number,
            "attempt": report.attempt,
            "step": report.step,
            "value": report.value,
            "measures": json.dumps(report.measures) if report.measures else None,
            "revision": revision,
        }
        for report in reports
    ]
    transaction.execute_many(_INSERT, rows)
    transaction.execute(_MARK, study=study, revision=revision)


def reports_of(rows: Sequence[Row]) -> list[Report]:
    """Reports from rows; StorageError if a row is not one that bough writes."""
    for number, step, value, attempt, _ in rows:
        if type(step) is not int or type(attempt) is not int or type(value) not in (float, int):
            raise StorageError(f"a report of trial {number} is damaged: step {step!r}, value {value!r}")
    try:
        return [
            Report(number, step, float(value), attempt, {} if measures is None else json.loads(measures))
            for number, step, value, attempt, measures in rows
        ]
    except ValueError:
        raise StorageError("the measures of a report are damaged: they are not JSON") from None
