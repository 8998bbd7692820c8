"""Signals that end a run, never in the middle of recording a result: Ctrl-C, SIGTERM, a closed terminal."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

__all__ = ["Interruption"]


class Interruption:
    """Keeps a signal, and raises KeyboardInterrupt only where the run allows it, or at a second signal.

    It handles only signals without another handler, and only in the main thread, as Python requires. The old
    handlers are restored afterwards.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._allowed = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            unhandled: dict[int, Any] = {signal.SIGINT: signal.default_int_handler}
            for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):  # Windows has the first only
                if hasattr(signal, name):
                    unhandled[getattr(signal, name)] = signal.SIG_DFL
            for number, default in unhandled.items():
                if signal.getsignal(number) is default or signal.getsignal(number) == default:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.signal = self.signal is not None, number
        if self._allowed or again:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """A block that the signal may interrupt: an evaluation, or a wait."""
        self._allowed = True
        try:
            if self.signal is not None:  # it came just before
                raise KeyboardInterrupt
            yield
        finally:
            self._allowed = False
