"""Studies in SQLite or PostgreSQL, shared by processes and machines.

Every write begins with an UPDATE of the study's row. It locks the study until the commit, so the writes to
one study happen one at a time, and it increments the revision. So revisions grow in the order of commits,
and a query for everything after revision r misses nothing. Proposals are made outside of transactions. On
PostgreSQL, asks and tells are shorter; see ``postgres_sql``.

If the connection is lost before a commit is acknowledged, the client cannot know whether it happened. So an
operation that inserts or hands out a trial stores a random id in the row. A retry looks for this id once it
has the lock; before that, the first try may still be waiting for the same lock.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from bough.errors import StorageError, StudyError, TrialError
from bough.storage import amendment_rows, postgres_sql, report_rows
from bough.storage.base import Amendment, Changes, StudyRecord
from bough.storage.database import Database, Transaction
from bough.storage.rows import COLUMNS, Row, row_of, trials_of
from bough.storage.schema import ADDED_COLUMNS, MIGRATIONS, check_version, migrate, schema_version
from bough.trial import Report, Trial, begun, finished, handed_out, renewed

__all__ = ["SqlStorage"]

T = TypeVar("T")

LEASE_WAIT_SECONDS = 1.0
"""Seconds that a renewal waits for the shared connection before it opens a second one."""

_STUDY = ("name", "space", "direction", "method", "seed", "created", "trials", "id", "goals", "stopping")
_TRIAL = ", ".join(COLUMNS)

_CREATE = """
    INSERT INTO bough_studies
        (name, space, direction, method, seed, created, trials, revision, goals, stopping)
    VALUES (:name, :space, :direction, :method, :seed, {clock}, :trials, 1, :goals, :stopping)
    ON CONFLICT (name) DO NOTHING
    RETURNING id, created"""
_FIND = """
    SELECT {study} FROM bough_studies
    WHERE CAST(:name AS TEXT) IS NULL OR name = CAST(:name AS TEXT) ORDER BY id"""
_DELETE = "DELETE FROM bough_studies WHERE id = :study"
_EXISTS = "SELECT 1 FROM bough_studies WHERE id = :study"
_LOCK = {
    "sqlite": """
        UPDATE bough_studies SET revision = revision + 1 WHERE id = :study
        RETURNING revision, {clock}""",
    "postgresql": postgres_sql.LOCK,
}
_APPEND = """
    UPDATE bough_studies SET revision = revision + 1, trials = trials + :count
    WHERE id = :study AND trials >= :low AND trials < :high AND amended <= :seen
    RETURNING revision, {clock}, trials - :count"""
_CHANGES = """
    SELECT {trial}, s.revision, {clock}, {latest}
    FROM bough_studies s LEFT JOIN bough_trials t ON t.study = s.id AND t.revision > :since
    WHERE s.id = :study ORDER BY t.revision, t.finished, t.number"""
_INSERT = f"""
    INSERT INTO bough_trials (study, revision, operation, {_TRIAL})
    VALUES (:study, :revision, :operation, {", ".join(f":{column}" for column in COLUMNS)})"""
_SAVE = """
    UPDATE bough_trials SET state = :state, value = :value, noise = :noise, cost = :cost, error = :error,
        attempt = :attempt, started = :started, finished = :finished, worker = :worker, expires = :expires,
        measures = :measures, notes = :notes, traceback = :traceback, request = :request, holder = :holder,
        learn = :learn, noises = :noises, revision = :revision, operation = :operation
    WHERE study = :study AND number = :number"""
_TRIAL_NUMBER = f"""
    SELECT {_TRIAL} FROM bough_trials WHERE study = :study AND number = :number {{row_lock}}"""
_TRIALS_OF_OPERATION = f"""
    SELECT {_TRIAL} FROM bough_trials WHERE study = :study AND operation = :operation ORDER BY number"""
_TRIALS_OF_REQUEST = f"""
    SELECT {_TRIAL} FROM bough_trials WHERE study = :study AND request = :mark ORDER BY number"""
_TRIAL_OF_HOLDER = f"""
    SELECT {_TRIAL} FROM bough_trials
    WHERE study = :study AND state IN ('queued', 'running') AND state = 'running' AND holder = :mark"""
_FIRST_AVAILABLE = f"""
    SELECT {_TRIAL} FROM bough_trials
    WHERE study = :study AND state IN ('queued', 'running') AND (state = 'queued' OR expires < :now)
    ORDER BY number LIMIT 1 {{free_row_lock}}"""


class SqlStorage:
    """See ``Storage``. ``url`` is sqlite:///file.db or postgresql://...

    patience: seconds for which an operation is retried while the database is locked, full or unreachable.
    create:   create the file and the tables; if False, the database must have bough's tables, and nothing is
              written before the first operation that writes.
    """

    def __init__(self, url: str, patience: float = 30.0, *, create: bool = True) -> None:
        self._database = Database(url, patience)
        self._on_server = self._database.dialect == "postgresql"
        self._renewing = Database(url, patience) if self._on_server else self._database
        if create:
            self._upgrade()
        else:
            self._version = self._look()

    def __repr__(self) -> str:
        return f"SqlStorage({self._database.where!r})"

    def _upgrade(self) -> None:
        """Create the tables, or apply missing migrations."""
        migrate(self._database)
        self._version = len(MIGRATIONS)  # of the tables, when last checked

    def _look(self) -> int:
        """The version of the tables; StorageError if there are none."""
        if not self._database.exists:
            raise StorageError(f"{self._database.where}: there is no such file")
        version = schema_version(self._database)
        check_version(version, self._database)
        if not version:
            raise StorageError(f"{self._database.where} has no bough studies")
        return version

    def _read(self, statement: Callable[[int], str], **parameters: Any) -> list[Row]:
        """The rows of a statement, which depends on the version of the tables.

        Another process may upgrade old tables at any time. A statement for the old version then still works,
        but it misses the new columns. So the version is checked after it.
        """
        while True:
            version = self._version
            rows = self._database.read(statement(version), **parameters)
            if version < len(MIGRATIONS):
                self._version = self._look()
            if self._version == version:
                return rows

    def _write(
        self, work: Callable[[Transaction], T], shortcut: Callable[[Transaction], T | None] | None = None
    ) -> T:
        if self._version < len(MIGRATIONS):
            self._upgrade()
        return self._database.write(work, shortcut)

    def create(
        self,
        record: StudyRecord,
        trials: Sequence[Trial] = (),
        amendments: Sequence[Amendment] = (),
        reports: Sequence[Report] = (),
    ) -> StudyRecord:
        def work(transaction: Transaction) -> StudyRecord:
            created = transaction.execute(
                _CREATE,
                name=record.name,
                space=record.space,
                direction=record.direction,
                method=record.method,
                seed=record.seed,
                trials=len(trials),
                goals=record.goals,
                stopping=record.stopping,
            )
            if not created:
                raise StudyError(f"study {record.name!r} exists already")
            study, when = created[0]
            _insert(transaction, study, trials, revision=1, operation=None)
            amendment_rows.insert(transaction, study, amendments, revision=1)
            report_rows.insert(transaction, study, reports, revision=1)
            return replace(record, id=study, created=when, trials=len(trials))

        return self._write(work)

    def find(self, name: str | None = None) -> list[StudyRecord]:
        if name is not None and not name.isprintable():  # no study has such a name
            return []
        return [StudyRecord(*row) for row in self._read(_find, name=name)]

    def delete(self, study: int) -> None:
        self._write(lambda transaction: transaction.execute(_DELETE, study=study))

    def changes(self, study: int, since: int) -> Changes:
        rows = self._read(_changes, study=study, since=since)
        if not rows:
            raise _deleted()
        *_, revision, now, amended, reported = rows[0]
        trials = trials_of(row[: len(COLUMNS)] for row in rows if row[0] is not None)
        # Later statements may see newer rows, but up to this revision they see the same rows as this one.
        news = {"study": study, "since": since, "revision": revision}
        amendments, reports = [], []
        if amended > since:
            amendments = amendment_rows.amendments_of(self._database.read(amendment_rows.READ, **news))
        if reported > since:
            reports = report_rows.reports_of(self._database.read(report_rows.READ, **news))
        return Changes(trials, revision, now, amendments, reports)

    def amend(
        self,
        study: int,
        amendment: Amendment,
        *,
        after: int | None = None,
        space: str | None = None,
        moved: Sequence[Trial] = (),
    ) -> Amendment:
        operation = secrets.token_hex(8)

        def work(transaction: Transaction) -> Amendment:
            revision, now = _lock(transaction, study)
            return amendment_rows.append(
                transaction, study, amendment, after, space, moved, revision, now, operation
            )

        return self._write(work)

    def insert(
        self,
        study: int,
        trials: Sequence[Trial],
        *,
        within: range | None = None,
        lease: float | None = None,
        seen: int | None = None,
    ) -> list[Trial]:
        operation = secrets.token_hex(8)
        marked = bool(trials) and (trials[0].request or trials[0].holder) is not None
        low, high = (0, 2**62) if within is None else (within.start, within.stop)
        only_if = {"low": low, "high": high, "seen": 2**62 if seen is None else seen}

        def work(transaction: Transaction) -> list[Trial]:
            if transaction.retried or marked:
                _lock(transaction, study)
                if mine := _of_operation(transaction, study, operation) if transaction.retried else []:
                    return mine
                if theirs := _of_mark(transaction, study, trials[0].request, trials[0].holder):
                    return theirs
            appended = transaction.execute(_APPEND, study=study, count=len(trials), **only_if)
            if not appended:
                return _none_appended(transaction, study)
            revision, now, first = appended[0]
            rows = [begun(trial, first + i, now, lease) for i, trial in enumerate(trials)]
            _insert(transaction, study, rows, revision, operation)
            return rows

        def shortcut(transaction: Transaction) -> list[Trial]:
            row = begun(trials[0], 0, 0.0, lease)  # its times count from the moment of the insertion
            columns = row_of(row, study, 0, operation)
            inserted = transaction.execute(postgres_sql.INSERT, **columns, **only_if)
            if not inserted:
                return _none_appended(transaction, study)
            number, started, finished, expires = inserted[0]
            return [replace(row, number=number, started=started, finished=finished, expires=expires)]

        # Another process may handle the same request, so its id must be looked up under the lock.
        one = self._on_server and len(trials) == 1 and not marked
        return self._write(work, shortcut if one else None)

    def take(
        self, study: int, worker: str, lease: float | None = None, holder: str | None = None
    ) -> Trial | None:
        operation = secrets.token_hex(8)

        def work(transaction: Transaction) -> Trial | None:
            revision, now = _lock(transaction, study)
            if transaction.retried and (mine := _of_operation(transaction, study, operation)):
                return mine[0]
            if theirs := _of_mark(transaction, study, None, holder):
                return theirs[0]
            while found := trials_of(transaction.execute(_FIRST_AVAILABLE, study=study, now=now)):
                trial = handed_out(found[0], worker, now, lease, holder)
                if trial.state == "running":
                    _save(transaction, study, trial, revision, operation)
                    return trial
                _save(transaction, study, trial, revision, None)
            return None

        return self._write(work)

    def finish(self, study: int, result: Trial) -> Trial:
        def work(transaction: Transaction) -> Trial:
            revision, now = _lock(transaction, study)
            current = _known_trial(transaction, study, result.number)
            trial = finished(current, result, now)
            if trial is not current:
                _save(transaction, study, trial, revision, None)
            return trial

        def shortcut(transaction: Transaction) -> Trial | None:
            columns = row_of(result, study, 0, None)
            told = trials_of(transaction.execute(postgres_sql.FINISH, **columns))
            return told[0] if told else None  # a repetition, a conflict, or a failure of an old attempt

        return self._write(work, shortcut if self._on_server else None)

    def report(self, study: int, report: Report) -> Trial:
        def work(transaction: Transaction) -> Trial:
            revision, _ = _lock(transaction, study)
            current = _known_trial(transaction, study, report.number)
            given = replace(report, attempt=report.attempt or current.attempt)
            report_rows.append(transaction, study, current, given, revision)
            return current

        return self._write(work)

    def renew(self, study: int, held: Sequence[Trial], lease: float | None) -> None:
        def work(transaction: Transaction) -> None:
            revision, now = _lock(transaction, study)
            for trial in held:
                current = _trial(transaction, study, trial.number)
                changed = current and renewed(current, trial, now, lease)
                if changed is not None:
                    _save(transaction, study, changed, revision, None)

        if self._version < len(MIGRATIONS):
            self._upgrade()
        # A statement that waits for a silent server must not block the leases of other trials.
        free = self._database.is_idle_within(LEASE_WAIT_SECONDS)
        (self._database if free else self._renewing).write(work)


@cache
def _find(version: int) -> str:
    return _FIND.replace("{study}", _selected(_STUDY, version))


@cache
def _changes(version: int) -> str:
    latest = "s.amended, s.reported" if version > 1 else "0, 0"
    trial = _selected(COLUMNS, version, "t.")
    return _CHANGES.replace("{trial}", trial).replace("{latest}", latest)


def _selected(columns: Sequence[str], version: int, table: str = "") -> str:
    """The columns for a SELECT from tables of this version; those that they lack are NULL."""
    return ", ".join(
        f"{table}{column}" if ADDED_COLUMNS.get(column, 1) <= version else f"NULL AS {column}"
        for column in columns
    )


def _lock(transaction: Transaction, study: int) -> tuple[int, float]:
    """Lock the study until the commit; returns its new revision and the time."""
    locked = transaction.execute(_LOCK[transaction.database.dialect], study=study)
    if not locked:
        raise _deleted()
    revision, now = locked[0]
    return revision, now


def _deleted() -> StudyError:
    return StudyError("the study was deleted in the meantime")


def _trial(transaction: Transaction, study: int, number: int) -> Trial | None:
    found = trials_of(transaction.execute(_TRIAL_NUMBER, study=study, number=number))
    return found[0] if found else None


def _known_trial(transaction: Transaction, study: int, number: int) -> Trial:
    if (found := _trial(transaction, study, number)) is None:
        raise TrialError(f"the study has no trial {number}")
    return found


def _none_appended(transaction: Transaction, study: int) -> list[Trial]:
    if not transaction.execute(_EXISTS, study=study):
        raise _deleted()
    return []


def _of_operation(transaction: Transaction, study: int, operation: str) -> list[Trial]:
    return trials_of(transaction.execute(_TRIALS_OF_OPERATION, study=study, operation=operation))


def _of_mark(transaction: Transaction, study: int, request: str | None, holder: str | None) -> list[Trial]:
    """The trials that a request inserted, or the trial that runs for it; the caller has locked the study."""
    for sql, mark in ((_TRIALS_OF_REQUEST, request), (_TRIAL_OF_HOLDER, holder)):
        found = [] if mark is None else trials_of(transaction.execute(sql, study=study, mark=mark))
        if found:
            return found
    return []


def _insert(
    transaction: Transaction, study: int, trials: Sequence[Trial], revision: int, operation: str | None
) -> None:
    rows = [row_of(trial, study, revision, operation) for trial in trials]
    if len(rows) == 1:
        transaction.execute(_INSERT, **rows[0])
    elif rows:
        transaction.execute_many(_INSERT, rows)


def _save(transaction: Transaction, study: int, trial: Trial, revision: int, operation: str | None) -> None:
    transaction.execute(_SAVE, **row_of(trial, study, revision, operation))
