"""Ends statements that a server never answers.

If the network drops packets, or the server hangs while its connection stays open, the driver waits forever.
The watchdog shuts such a connection down from another thread. The driver then reports a lost connection, and
the statement is retried on a new one.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator

__all__ = ["Watchdog"]

CHECK_SECONDS = 0.25


class Watchdog:
    """Watches one connection. Its thread runs while a statement is executing, and a little longer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: tuple[int, float] | None = None  # file descriptor of the connection, deadline
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def limit(self, descriptor: int, seconds: float) -> Iterator[None]:
        """Shut the connection down if the block takes longer than ``seconds``."""
        with self._lock:
            self._watched = descriptor, time.monotonic() + seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="bough-watchdog", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._watched = None

    def _watch(self) -> None:
        idle = 0
        while True:
            time.sleep(CHECK_SECONDS)
            with self._lock:
                idle = 0 if self._watched is not None else idle + 1
                if idle * CHECK_SECONDS > 10:
                    self._thread = None
                    return
                if self._watched is not None and time.monotonic() > self._watched[1]:
                    self._shut_down(self._watched[0])
                    self._watched = None

    @staticmethod
    def _shut_down(descriptor: int) -> None:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
            connection.shutdown(socket.SHUT_RDWR)
