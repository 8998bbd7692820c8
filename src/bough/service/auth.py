"""Permissions: tokens for programs, sessions for browsers.

A token is ``bough_<id>_<secret>``; the id identifies its row. The secret has 256 random bits, so storing its
plain SHA-256 is safe; hashes are compared in constant time. A browser exchanges a token for a session: a
random cookie that expires after a while, or when the token is revoked.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from bough.errors import ServiceError
from bough.service.records import Records

__all__ = ["SCOPES", "SESSION_COOKIE", "Attempts", "Principal", "create_token", "credentials", "open_session"]
__all__ += ["close_session", "principal_of_session", "principal_of_token"]

SCOPES = ("read", "write")
SESSION_COOKIE = "bough_session"
SESSION_SECONDS = 30 * 24 * 3600

_TOKEN = re.compile(r"bough_([0-9a-f]{8})_([0-9a-f]{64})")


@dataclass(frozen=True)
class Principal:
    """The sender of a request. session: known by a browser's cookie, so another site may have caused it."""

    id: str
    name: str
    scope: str
    session: bool = False


def create_token(records: Records, name: str, scope: str) -> str:
    """A new token; only its hash is stored, so it cannot be shown again."""
    if scope not in SCOPES:
        raise ServiceError(f"a token's scope is 'read' or 'write', not {scope!r}")
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise ServiceError(f"a token's name must be 1 to 100 printable characters, not {name!r}")
    id, secret = secrets.token_hex(4), secrets.token_hex(32)
    records.add_token(id, name, scope, _hash(secret))
    return f"bough_{id}_{secret}"


def principal_of_token(records: Records, token: str) -> Principal | None:
    match = _TOKEN.fullmatch(token)
    hashed = _hash(match[2] if match else "")
    row = records.token(match[1]) if match else None
    # An unknown id takes the same comparison as a known one, so timing reveals nothing.
    good = hmac.compare_digest(hashed, row.hash if row else "")
    return Principal(row.id, row.name, row.scope) if good and row is not None else None


def credentials(headers: Mapping[str, str]) -> str | None:
    """The token of an Authorization header: ``Bearer TOKEN``, or HTTP Basic with the token as user name."""
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest, validate=True).decode("ascii").partition(":")[0]
        except ValueError:  # not Base64, or not ASCII
            return ""
    return None


def open_session(records: Records, principal: Principal) -> str:
    """The value of a new session's cookie."""
    for other in records.list("session"):
        if other.body["ends"] < time.time():
            records.delete("session", other.name)
    cookie = secrets.token_hex(32)
    records.put("session", _hash(cookie), {"token": principal.id, "ends": time.time() + SESSION_SECONDS})
    return cookie


def close_session(records: Records, cookie: str) -> None:
    records.delete("session", _hash(cookie))


def principal_of_session(records: Records, cookie: str) -> Principal | None:
    document = records.get("session", _hash(cookie))
    if document is None or document.body["ends"] < time.time():
        return None
    row = records.token(document.body["token"])
    return None if row is None else Principal(row.id, row.name, row.scope, session=True)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class Attempts:
    """Limits failed sign-ins per address."""

    def __init__(self, most: int = 10, seconds: float = 600.0) -> None:
        self._most, self._seconds = most, seconds
        self._failed: dict[str, deque[float]] = {}

    def blocked(self, address: str) -> bool:
        recent = self._failed.get(address, deque())
        while recent and recent[0] < time.monotonic() - self._seconds:
            recent.popleft()
        if not recent:
            self._failed.pop(address, None)
        return len(recent) >= self._most

    def failed(self, address: str) -> None:
        if len(self._failed) > 10_000:  # limits the memory that an attacker with many addresses can use
            self._failed.clear()
        self._failed.setdefault(address, deque(maxlen=self._most)).append(time.monotonic())
