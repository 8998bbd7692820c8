"""Requests to a bough service: JSON over HTTP, retried while it is unreachable. Standard library only."""

from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from bough import errors
from bough.errors import ServiceError

__all__ = ["QUICK_SECONDS", "HttpConnection", "in_parts"]

QUICK_SECONDS = 15.0
"""How long the reply may take if the request makes no proposal."""

ATTEMPT_SECONDS = 60.0
"""How long one attempt waits for a reply. The next attempt has the same key and waits for the same work."""

SERVER_ERROR_ATTEMPTS = 3
"""How often a request is sent if the service answers with status 500: the error may be permanent."""

_PART_BYTES = 3_000_000
"""How much JSON a part may have; the service reads 4 MiB."""

_PASSING = (408, 429, 502, 503, 504)
"""Statuses of temporary errors: the same request may succeed later."""

_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}
"""Detects a dead peer after 40 seconds, on systems that have these options."""


class HttpConnection:
    """Requests to one service; each thread of each process has its own connection.

    Every request carries an Idempotency-Key and may be sent again: the service does its work once per key.
    """

    def __init__(self, url: str, token: str) -> None:
        try:
            parts = urlsplit(str(url))
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServiceError(f"{url!r} is not the address of a service: use http://HOST:PORT")
        if not (token.isascii() and token.isprintable()):
            raise ServiceError("the token contains invalid characters: see 'bough token create'")
        self.where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._secure, self._host = parts.scheme == "https", parts.hostname
        self._port = port or (443 if self._secure else 80)  # without it, http.client finds one in [::1]
        self._prefix = parts.path.rstrip("/").removesuffix("/api/v1") + "/api/v1"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._mine = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_mine"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _mine=threading.local())

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        patience: float,
        timeout: float = QUICK_SECONDS,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON reply; a refusal is raised as the error that the service names.

        patience: for how many seconds after the first failure the request is retried.
        timeout:  seconds that the reply may take. A request whose reply is late is sent at least once more.
        """
        text = None if body is None else _as_json(body)
        headers = {**self._headers, **(headers or {}), "Idempotency-Key": secrets.token_hex(16)}
        if text is not None:
            headers["Content-Type"] = "application/json"
        wait = min(timeout, ATTEMPT_SECONDS)
        began, pause = time.monotonic(), 0.1
        first_failure, late, sent, server_errors = None, False, 0, 0
        while True:
            sent += 1
            try:
                status, reply = self._send(method, self._prefix + path, text, headers, wait)
                server_errors += status == 500
                if status not in _PASSING and not 0 < server_errors < SERVER_ERROR_ATTEMPTS:
                    return self._read(status, reply)
                fault = _message(reply) or f"status {status}"
            except TimeoutError:
                self._close()
                fault, late = f"no reply within {wait:g} s", True
            except (OSError, http.client.HTTPException) as error:
                self._close()
                fault = str(error) or type(error).__name__
            now = time.monotonic()
            first_failure = now if first_failure is None else first_failure
            deadline = max(first_failure + patience, began + timeout if late else 0.0)
            if now + pause > deadline and not (late and sent == 1):
                raise ServiceError(f"{self.where} cannot be reached: {fault}")
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, 5.0)

    def _send(
        self, method: str, path: str, text: str | None, headers: dict[str, str], wait: float
    ) -> tuple[int, bytes]:
        connection = self._connection()
        connection.timeout = wait
        if connection.sock is None:
            connection.connect()
            _detect_dead_peer(connection)
        connection.sock.settimeout(wait)
        connection.request(method, path, text, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def _connection(self) -> http.client.HTTPConnection:
        held: tuple[int, http.client.HTTPConnection] | None = getattr(self._mine, "held", None)
        if held is None or held[0] != os.getpid():
            if self._secure:
                fresh: http.client.HTTPConnection = http.client.HTTPSConnection(
                    self._host, self._port, context=ssl.create_default_context()
                )
            else:
                fresh = http.client.HTTPConnection(self._host, self._port)
            held = self._mine.held = os.getpid(), fresh
        return held[1]

    def _close(self) -> None:
        held = getattr(self._mine, "held", None)
        if held is not None:
            held[1].close()

    def _read(self, status: int, reply: bytes) -> Any:
        if status == 204:
            return None
        if 200 <= status < 300:
            try:
                return json.loads(reply)
            except ValueError:
                raise ServiceError(f"{self.where} did not answer as a bough service does") from None
        raise _error(reply, status, self.where)


def _as_json(body: Any) -> str:
    """The text to send, in ASCII; ServiceError if it is not JSON data."""
    try:
        return json.dumps(body, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise ServiceError(f"this cannot be sent as JSON: {error}") from None


def in_parts(rows: Sequence[Any], most: int) -> list[list[Any]]:
    """The rows of a request that may be too large, in parts of at most ``most`` rows."""
    parts: list[list[Any]] = []
    size = 0
    for row in rows:
        own = len(_as_json(row)) + len(", ")
        if not parts or len(parts[-1]) == most or size + own > _PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(row)
        size += own
    return parts


def _plain(value: Any) -> Any:
    """The number or text in a scalar of NumPy or a tensor, which local studies take as well."""
    plain = value.item() if hasattr(value, "item") else None
    if not isinstance(plain, int | float | str):  # a long double of NumPy is its own item
        raise TypeError(f"{value!r:.80} ({type(value).__name__}) is not JSON data")
    return plain


def _detect_dead_peer(connection: http.client.HTTPConnection) -> None:
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            connection.sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _message(reply: bytes) -> str | None:
    try:
        return str(json.loads(reply)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return None


def _error(reply: bytes, status: int, where: str) -> Exception:
    """The bough error that a reply names."""
    message = _message(reply)
    if message is None:
        return ServiceError(f"{where} answered with status {status}: is it a bough service?")
    name = json.loads(reply)["error"].get("type")
    kind = getattr(errors, name, ServiceError) if name in errors.__all__ else ServiceError
    made: Exception = kind(message)
    return made
