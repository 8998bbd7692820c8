"""The records of the service: tokens, sessions, and SigOpt's objects.

They are in the same database as the studies, so one backup covers both. Their tables have separate
migrations, so a database that is never served does not have them. A document is a JSON object with a kind, a
name and an owner; this is enough for SigOpt's experiments, runs and projects.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bough.storage.database import Database, Transaction
from bough.storage.schema import Migration, migrate

__all__ = ["Document", "Records", "TokenRow"]

FIRST: Migration = (  # "IF NOT EXISTS": version 0.1 created these tables without a version number
    """
    CREATE TABLE IF NOT EXISTS bough_tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, scope TEXT NOT NULL,
        hash TEXT NOT NULL,        -- SHA-256 of the secret, which has 256 random bits
        created {real} NOT NULL, revoked {real}
    )""",
    """
    CREATE TABLE IF NOT EXISTS bough_documents (
        id {key}, kind TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, body TEXT NOT NULL,
        created {real} NOT NULL, updated {real} NOT NULL, UNIQUE (kind, name)
    )""",
    "CREATE INDEX IF NOT EXISTS bough_documents_owner ON bough_documents (kind, owner, id)",
)
MIGRATIONS = (FIRST,)
VERSION_TABLE = "bough_service_schema"

_TOKEN = "id, name, scope, hash, created, revoked"
_ADD_TOKEN = """
    INSERT INTO bough_tokens (id, name, scope, hash, created) VALUES (:id, :name, :scope, :hash, {clock})"""
_REVOKE = "UPDATE bough_tokens SET revoked = {clock} WHERE id = :id AND revoked IS NULL RETURNING id"

_DOCUMENT = "id, name, owner, body, created, updated"
_PUT = f"""
    INSERT INTO bough_documents (kind, name, owner, body, created, updated)
    VALUES (:kind, :name, :owner, :body, {{clock}}, {{clock}})
    ON CONFLICT (kind, name) DO NOTHING RETURNING {_DOCUMENT}"""
_GET = f"SELECT {_DOCUMENT} FROM bough_documents WHERE kind = :kind AND name = :name"
_LIST = f"SELECT {_DOCUMENT} FROM bough_documents WHERE kind = :kind AND owner = :owner ORDER BY id"
_UPDATE = f"""
    UPDATE bough_documents SET body = :body, updated = {{clock}} WHERE kind = :kind AND name = :name
    RETURNING {_DOCUMENT}"""
_DELETE = "DELETE FROM bough_documents WHERE kind = :kind AND name = :name"


@dataclass(frozen=True)
class TokenRow:
    """A token without its secret."""

    id: str
    name: str
    scope: str
    hash: str
    created: float
    revoked: float | None


@dataclass(frozen=True)
class Document:
    """A stored JSON object; ``id`` increases over all documents, ``name`` is unique within a kind."""

    id: int
    name: str
    owner: str
    body: dict[str, Any]
    created: float
    updated: float


class Records:
    """``url`` is a storage URL; None keeps everything in memory. ``create=False`` creates no tables."""

    def __init__(self, url: str | None, *, create: bool = True) -> None:
        self._database = Database(url or "sqlite:///:memory:?check_same_thread=false")
        if create:
            migrate(self._database, MIGRATIONS, VERSION_TABLE)

    @property
    def where(self) -> str:
        """The database without its password."""
        return self._database.where

    # ---- tokens -------------------------------------------------------------------------------------

    def tokens(self) -> list[TokenRow]:
        """All tokens, the oldest first."""
        if not self._has_tokens:
            return []
        return [
            TokenRow(*row)
            for row in self._database.read(f"SELECT {_TOKEN} FROM bough_tokens ORDER BY created")
        ]

    def token(self, id: str) -> TokenRow | None:
        """The token of that id, unless it was revoked."""
        sql = f"SELECT {_TOKEN} FROM bough_tokens WHERE id = :id AND revoked IS NULL"
        rows = self._database.read(sql, id=id)
        return TokenRow(*rows[0]) if rows else None

    def add_token(self, id: str, name: str, scope: str, hash: str) -> None:
        self._database.write(lambda t: t.execute(_ADD_TOKEN, id=id, name=name, scope=scope, hash=hash))

    def revoke(self, id: str) -> bool:
        """Revoke a token; returns whether it existed and was still valid."""
        return self._has_tokens and bool(self._database.write(lambda t: t.execute(_REVOKE, id=id)))

    @property
    def _has_tokens(self) -> bool:
        return self._database.exists and self._database.has_table("bough_tokens")

    # ---- documents ----------------------------------------------------------------------------------

    def put(self, kind: str, name: str, body: dict[str, Any], owner: str = "") -> Document | None:
        """Store a new document; None if the name is taken."""
        text = json.dumps(body, allow_nan=False)
        rows = self._database.write(lambda t: t.execute(_PUT, kind=kind, name=name, owner=owner, body=text))
        return _document(rows[0]) if rows else None

    def get(self, kind: str, name: str) -> Document | None:
        if "\0" in name:  # no database can store it
            return None
        rows = self._database.read(_GET, kind=kind, name=name)
        return _document(rows[0]) if rows else None

    def list(self, kind: str, owner: str = "") -> list[Document]:
        """The documents of an owner, in the order of their creation."""
        return [_document(row) for row in self._database.read(_LIST, kind=kind, owner=owner)]

    def change(
        self, kind: str, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Document | None:
        """Replace a document's body by ``change(body)``, in one transaction; None if there is no document."""

        def work(transaction: Transaction) -> Document | None:
            rows = transaction.execute(_GET + self._for_update, kind=kind, name=name)
            if not rows:
                return None
            body = json.dumps(change(_document(rows[0]).body), allow_nan=False)
            return _document(transaction.execute(_UPDATE, kind=kind, name=name, body=body)[0])

        return self._database.write(work)

    def delete(self, kind: str, name: str) -> None:
        self._database.write(lambda t: t.execute(_DELETE, kind=kind, name=name))

    @property
    def _for_update(self) -> str:
        """The clause that locks a row; SQLite's transactions already lock the whole database."""
        return " FOR UPDATE" if self._database.dialect == "postgresql" else ""


def _document(row: tuple[Any, ...]) -> Document:
    id, name, owner, body, created, updated = row
    return Document(id, name, owner, json.loads(body), created, updated)
