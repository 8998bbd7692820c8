"""What must hold in a database after any crash."""

from __future__ import annotations

import sqlite3

from bough.storage import open_storage
from bough.trial import Trial

__all__ = ["sound_trials"]


def sound_trials(url: str, name: str) -> list[Trial]:
    """The trials of a study by number, after checking the database and what all trials must satisfy."""
    if url.startswith("sqlite:///"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()
    storage = open_storage(url)
    (record,) = storage.find(name)
    changes = storage.changes(record.id, 0)
    trials = sorted(changes.trials, key=lambda trial: trial.number)
    assert [trial.number for trial in trials] == list(range(record.trials)), (
        "numbers are unique, without gaps"
    )
    for trial in trials:
        assert (trial.value is not None) == (trial.state == "done")
        assert (trial.error is not None) == (trial.state == "failed")
        assert (trial.expires is not None) == (trial.state == "running"), (
            "all asks of these tests have leases"
        )
        assert (trial.finished is not None) == trial.is_finished
        assert trial.attempt >= (trial.state != "queued")
    return trials
