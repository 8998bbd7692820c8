"""Tokens and documents, in every kind of database."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from bough.errors import StorageError
from bough.service.auth import create_token, open_session, principal_of_session, principal_of_token
from bough.service.records import VERSION_TABLE, Records
from bough.storage import open_storage
from bough.study import studies


def test_documents_are_put_changed_listed_and_deleted(storage_url: str | None) -> None:
    records = Records(storage_url)
    first = records.put("run", "a", {"n": 1, "text": "ü\n"}, "owner")
    assert first is not None and records.get("run", "a") == first
    assert records.put("run", "a", {}) is None
    assert records.put("project", "a", {}) is not None
    changed = records.change("run", "a", lambda body: {**body, "n": body["n"] + 1})
    assert (
        changed is not None and changed.body == {"n": 2, "text": "ü\n"} and changed.updated >= first.updated
    )
    assert records.change("run", "none", dict) is None
    records.put("run", "b", {}, "owner")
    assert [each.name for each in records.list("run", "owner")] == ["a", "b"]
    records.delete("run", "a")
    assert [each.name for each in records.list("run", "owner")] == ["b"]


def test_changes_at_the_same_time_are_all_kept(storage_url: str | None) -> None:
    records = Records(storage_url)
    records.put("count", "it", {"n": 0})

    def add(_: int) -> None:
        records.change("count", "it", lambda body: {"n": body["n"] + 1})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    assert records.get("count", "it").body == {"n": 40}


def test_tokens_and_sessions(storage_url: str | None) -> None:
    records = Records(storage_url)
    token = create_token(records, "me", "read")
    who = principal_of_token(records, token)
    assert who is not None and (who.name, who.scope) == ("me", "read")
    assert who.scope == "read"
    assert principal_of_token(records, token[:-1] + ("0" if token[-1] != "0" else "1")) is None
    cookie = open_session(records, who)
    assert principal_of_session(records, cookie).session
    assert principal_of_session(records, cookie[:-1]) is None


def test_they_stand_beside_the_studies(shared_url: str) -> None:
    Records(shared_url).put("run", "a", {})
    open_storage(shared_url)
    assert studies(shared_url) == []
    assert Records(shared_url).get("run", "a") is not None


def test_tables_of_version_0_1_are_taken_over_and_those_of_a_newer_version_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    token = create_token(Records(url), "old", "write")
    with closing(sqlite3.connect(tmp_path / "old.db")) as database:
        database.execute(f"DROP TABLE {VERSION_TABLE}")  # as version 0.1 left it
        database.commit()
        assert principal_of_token(Records(url), token) is not None
        database.execute(f"INSERT INTO {VERSION_TABLE} VALUES (99)")
        database.commit()
    with pytest.raises(StorageError, match="written by a newer bough"):
        Records(url)
