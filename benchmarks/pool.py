"""Run many tasks in a few processes: one that fails, or crashes its process, does not stop the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Item = TypeVar("Item")

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Environment variables that must be set before NumPy is loaded."""


@dataclass(frozen=True)
class Failure:
    """Why an item has no result: one line, and the traceback if there is one."""

    reason: str
    details: str = ""


def in_processes(
    function: Callable[[Item], Any], items: Iterable[Item], *, workers: int
) -> Iterator[tuple[Item, Any]]:
    """``(item, function(item))`` as they finish, started in the given order; a Failure if it failed.

    Processes are spawned, with one BLAS thread each. When the caller stops iterating, or presses Ctrl-C, they
    are killed at once.
    """
    os.environ.update(ONE_THREAD)
    waiting = iter(items)
    busy: dict[Connection, tuple[Any, Item]] = {}

    def start(process: Any, connection: Connection | None) -> None:
        """Give the process (a new one if there is none) the next item; end it if there is no item left."""
        for item in waiting:
            if connection is None:
                process, connection = _new_process(function)
            connection.send(item)
            busy[connection] = process, item
            return
        if connection is not None:
            connection.close()
            process.join()

    try:
        for _ in range(max(1, workers)):
            start(None, None)
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                process, item = busy.pop(ready)
                try:
                    answer = ready.recv()
                except EOFError:
                    process.join()
                    ready.close()
                    answer = Failure(f"its process died with exit code {process.exitcode}")
                    start(None, None)
                else:
                    start(process, ready)
                yield item, answer
    finally:
        for process, _ in busy.values():
            process.terminate()
        for process, _ in busy.values():
            process.join()


def _new_process(function: Callable[[Any], Any]) -> tuple[Any, Connection]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(function, theirs))
    process.start()
    theirs.close()
    return process, ours


def _serve(function: Callable[[Any], Any], connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    while True:
        try:
            item = connection.recv()
        except EOFError:
            return
        try:
            answer = function(item)
        except (Exception, SystemExit) as error:
            answer = Failure(f"{type(error).__name__}: {error}", traceback.format_exc())
        try:
            connection.send(answer)
        except BrokenPipeError:
            return
