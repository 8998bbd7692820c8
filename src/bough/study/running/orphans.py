"""Kills programs that would outlive bough, even if bough itself is killed by ``kill -9``.

A small process, started from this file, reads the ids of process groups from a pipe that only bough
writes to. When bough ends, for any reason, the pipe closes and the process kills the remaining groups.
This reaches the children of a program too, works on every POSIX system, and runs no code between fork
and exec, which would be unsafe with threads. This file imports only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from typing import IO

__all__ = ["KILL", "Guardian", "group_exists", "signal_group"]

END = "end\n"
KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL


class Guardian:
    """Holds process groups that must not outlive this process. Use it as a context manager."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        if os.name == "posix":
            # A separate session: neither Ctrl-C nor a closed terminal reaches it.
            with contextlib.suppress(OSError):  # no Python executable (embedded in a program): no guardian
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", __file__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    text=True,
                )

    def __enter__(self) -> Guardian:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hold(self, group: int) -> None:
        """Kill this process group when the current process ends."""
        self._write(f"+{group}\n")

    def release(self, group: int) -> None:
        """Forget a process group that has ended."""
        self._write(f"-{group}\n")

    def close(self) -> None:
        """End the guardian; groups that are still held are killed."""
        if self._process is not None:
            self._write(END)  # a forked child may hold the pipe open, so closing it is not enough
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.wait()

    def _write(self, line: str) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            with self._lock, contextlib.suppress(OSError):  # the guardian may have been killed
                self._process.stdin.write(line)
                self._process.stdin.flush()


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group; nothing happens if it has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(group, number)
        else:
            os.kill(group, number)


def group_exists(group: int) -> bool:
    """Whether a process group has processes left; false where there are no groups."""
    if os.name != "posix":
        return False
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _guard(lines: IO[str]) -> None:
    """Read groups until the pipe closes, then kill the remaining ones."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    held: set[int] = set()
    for line in lines:
        if line == END:
            break
        (held.add if line.startswith("+") else held.discard)(int(line[1:]))
    for group in held:
        signal_group(group, KILL)


if __name__ == "__main__":
    _guard(sys.stdin)
