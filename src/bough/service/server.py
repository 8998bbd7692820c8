"""Runs the application under uvicorn, with limits for unauthenticated clients and a graceful shutdown.

A connection belongs to a *stranger* until one of its requests has a valid token or session. A request head
must be complete in time, and an address may have a limited number of strangers. So nobody without a token can
exhaust the connections.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["ConnectionLimits", "Server", "limited_protocol", "make_server", "run_server"]

MAX_CONNECTIONS = 1000


@dataclass
class ConnectionLimits:
    """head_seconds: time for a complete request head; proxies: addresses that act for many clients."""

    head_seconds: float = 10.0
    strangers_per_address: int = 250
    proxies: frozenset[str] = frozenset()
    strangers: Counter[str] = field(default_factory=Counter)


def limited_protocol(limits: ConnectionLimits) -> type[H11Protocol]:
    """uvicorn's HTTP protocol with the limits."""

    class LimitedProtocol(H11Protocol):
        stranger: str | None = None  # the address under which this connection is counted
        head_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            address = self.client[0] if self.client else ""
            if address not in limits.proxies:
                if limits.strangers[address] >= limits.strangers_per_address:
                    transport.abort()
                    return
                limits.strangers[address] += 1
                self.stranger = address
            self._expect_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._idle() and self.head_timer is None:
                self._expect_head()

        def handle_events(self) -> None:
            before = self.cycle
            super().handle_events()
            if self.cycle is not before:  # a request head is complete; its task has not started yet
                self._stop_timer()
                self.scope["known"] = self._known  # type: ignore[typeddict-unknown-key]

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._stop_timer()
            self._known()

        def _known(self) -> None:
            """Stop counting this connection among the strangers."""
            if self.stranger is not None:
                limits.strangers[self.stranger] -= 1
                if not limits.strangers[self.stranger]:
                    del limits.strangers[self.stranger]
                self.stranger = None

        def _idle(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _expect_head(self) -> None:
            self.head_timer = self.loop.call_later(limits.head_seconds, self._head_is_late)

        def _head_is_late(self) -> None:
            self.head_timer = None
            if self._idle():
                self.transport.abort()

        def _stop_timer(self) -> None:
            if self.head_timer is not None:
                self.head_timer.cancel()
                self.head_timer = None

    return LimitedProtocol


class Server(uvicorn.Server):
    """A server that first ends the event streams of its application when it stops."""

    overran = False
    """Whether requests were still running when the grace period ended."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app: Any = self.config.app
        app.state.watchers.close()
        began = time.monotonic()
        await super().shutdown(sockets)
        self.overran = time.monotonic() - began >= (self.config.timeout_graceful_shutdown or 0)


def make_server(
    app: FastAPI, *, grace: int = 8, proxies: Sequence[str] = (), limits: ConnectionLimits | None = None
) -> Server:
    """A server for the application.

    grace:   seconds that requests may take after the server was told to stop; later ones are answered 503.
    proxies: addresses whose X-Forwarded-For and X-Forwarded-Proto headers are trusted.
    """
    limits = limits or ConnectionLimits(proxies=frozenset(proxies))
    config = uvicorn.Config(
        app,
        http=limited_protocol(limits),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=grace,
    )
    return Server(config)


def run_server(server: Server, listening: socket.socket) -> None:
    """Serve until a signal stops the server."""
    try:
        server.run(sockets=[listening])
    finally:
        if server.overran:
            # Threads may still compute proposals that nobody waits for. Exiting now is as safe as a kill:
            # what was acknowledged is stored, and clients resend the rest.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130 if isinstance(sys.exception(), KeyboardInterrupt) else 0)
