"""The tables, and the migration of databases from older versions of bough.

A database stores the number of its last migration. The first write runs the missing migrations in one
transaction, so a crash leaves the database unchanged; a new database runs all of them. A database that is
only read is not migrated; missing columns are read as NULL. A released migration is never edited; a change of
the schema appends one.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.errors import StorageError
from bough.storage.database import Database, Transaction

__all__ = ["ADDED_COLUMNS", "MIGRATIONS", "Migration", "check_version", "migrate", "schema_version"]

Migration = Sequence[str]
"""SQL statements. ``{real}`` is the dialect's double, ``{key}`` its auto-increment key, ``{position}`` its
function that finds a text in another."""

FIRST: Migration = (
    """
    CREATE TABLE bough_studies (
        id {key}, name TEXT NOT NULL UNIQUE, space TEXT NOT NULL, direction TEXT NOT NULL,
        method TEXT NOT NULL, seed BIGINT NOT NULL, created {real} NOT NULL,
        trials BIGINT NOT NULL,    -- how many there are, so the number of the next one
        revision BIGINT NOT NULL   -- counts the transactions that changed the study
    )""",
    """
    CREATE TABLE bough_trials (
        study BIGINT NOT NULL REFERENCES bough_studies (id) ON DELETE CASCADE, number BIGINT NOT NULL,
        config TEXT NOT NULL, state TEXT NOT NULL, value {real}, noise {real}, cost {real}, error TEXT,
        attempt INTEGER NOT NULL, started {real}, finished {real}, worker TEXT, expires {real},
        revision BIGINT NOT NULL,  -- of the study when the trial last changed
        operation TEXT,            -- who inserted it or handed it out last; see SqlStorage
        PRIMARY KEY (study, number)
    )""",
    "CREATE INDEX bough_trials_changes ON bough_trials (study, revision)",
    "CREATE INDEX bough_trials_open ON bough_trials (study, number) WHERE state IN ('queued', 'running')",
)

SECOND: Migration = (
    "ALTER TABLE bough_studies ADD COLUMN goals TEXT",  # JSON; NULL is one objective
    "ALTER TABLE bough_trials ADD COLUMN measures TEXT",  # JSON; NULL is none
    "ALTER TABLE bough_trials ADD COLUMN notes TEXT",  # likewise
    "ALTER TABLE bough_trials ADD COLUMN traceback TEXT",
    "ALTER TABLE bough_trials ADD COLUMN noises TEXT",  # JSON; NULL is none
    "ALTER TABLE bough_trials ADD COLUMN request TEXT",
    "ALTER TABLE bough_trials ADD COLUMN holder TEXT",
    "ALTER TABLE bough_trials ADD COLUMN learn INTEGER",  # 0: not from this failure; NULL is yes
    "CREATE INDEX bough_trials_requests ON bough_trials (study, request) WHERE request IS NOT NULL",
    # the revision of the last amendment
    "ALTER TABLE bough_studies ADD COLUMN amended BIGINT NOT NULL DEFAULT 0",
    """
    CREATE TABLE bough_amendments (
        study BIGINT NOT NULL REFERENCES bough_studies (id) ON DELETE CASCADE, position BIGINT NOT NULL,
        kind TEXT NOT NULL, trial BIGINT, since BIGINT NOT NULL, body TEXT NOT NULL, at {real} NOT NULL,
        revision BIGINT NOT NULL, operation TEXT, PRIMARY KEY (study, position)
    )""",
    "ALTER TABLE bough_studies ADD COLUMN stopping TEXT",  # NULL is the default rule
    # the revision of the last report
    "ALTER TABLE bough_studies ADD COLUMN reported BIGINT NOT NULL DEFAULT 0",
    """
    CREATE TABLE bough_reports (
        study BIGINT NOT NULL REFERENCES bough_studies (id) ON DELETE CASCADE, number BIGINT NOT NULL,
        attempt INTEGER NOT NULL, step BIGINT NOT NULL, value {real} NOT NULL,
        measures TEXT,             -- JSON; NULL where the value is all
        revision BIGINT NOT NULL,  -- of the study when the report arrived
        PRIMARY KEY (study, number, attempt, step)
    )""",
    "CREATE INDEX bough_reports_changes ON bough_reports (study, revision)",
    # The service of version 0.1 appended the id of a request, 20 characters, to the worker's name:
    # "name#id". Other workers may have a "#" in their names too.
    """
    UPDATE bough_trials SET
        request = CASE WHEN attempt = 0 THEN substr(worker, {position}(worker, '#') + 1) END,
        holder = CASE WHEN attempt > 0 THEN substr(worker, {position}(worker, '#') + 1) END,
        worker = substr(worker, 1, {position}(worker, '#') - 1)
    WHERE {position}(worker, '#') > 0 AND length(worker) - {position}(worker, '#') = 20""",
)

MIGRATIONS: Sequence[Migration] = (FIRST, SECOND)

ADDED_COLUMNS = {  # each with the number of its migration
    "goals": 2,
    "measures": 2,
    "notes": 2,
    "traceback": 2,
    "noises": 2,
    "request": 2,
    "holder": 2,
    "amended": 2,
    "stopping": 2,
    "reported": 2,
    "learn": 2,
}

# Without a declared type SQLite keeps a double as it is; a REAL column would turn -0.0 into 0.0.
_TYPES = {
    "sqlite": {"real": "", "key": "INTEGER PRIMARY KEY AUTOINCREMENT", "position": "instr"},
    "postgresql": {
        "real": "DOUBLE PRECISION",
        "key": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "position": "strpos",
    },
}
_VERSION_TABLE = "CREATE TABLE IF NOT EXISTS {table} (version INTEGER NOT NULL)"
_VERSION = "SELECT max(version) FROM {table}"


def schema_version(database: Database, table: str = "bough_schema") -> int:
    """The number of migrations that were applied; 0 if bough never wrote to the database."""
    if not database.exists or not database.has_table(table):
        return 0
    version: int = database.read(_VERSION.format(table=table))[0][0] or 0
    return version


def migrate(
    database: Database, migrations: Sequence[Migration] = MIGRATIONS, table: str = "bough_schema"
) -> None:
    """Apply the missing migrations; StorageError if the tables were written by a newer bough.

    table: where the version is kept. The service has separate migrations, applied when it starts.
    """
    if schema_version(database, table) != len(migrations):
        database.write(lambda transaction: _run(transaction, database, migrations, table))


def check_version(version: int, database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """StorageError if the database was written by a newer bough."""
    if version > len(migrations):
        raise StorageError(
            f"{database.where} was written by a newer bough: its schema is {version}, this one knows "
            f"{len(migrations)}; upgrade bough to open it"
        )


def _run(transaction: Transaction, database: Database, migrations: Sequence[Migration], table: str) -> None:
    if database.dialect == "postgresql":  # two processes that open a new database: one waits for the other
        transaction.execute("SELECT pg_advisory_xact_lock(5078404)")
    transaction.execute(_VERSION_TABLE.format(table=table))
    version = transaction.execute(_VERSION.format(table=table))[0][0] or 0
    check_version(version, database, migrations)
    for number, statements in enumerate(migrations[version:], start=version + 1):
        for statement in statements:
            transaction.execute(statement.format(**_TYPES[database.dialect]))
        transaction.execute(f"INSERT INTO {table} (version) VALUES (:version)", version=number)
