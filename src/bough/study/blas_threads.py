"""One BLAS thread while a model computes.

The matrices of a model have a few hundred rows, and gain little from several threads. Where workers keep all
cores busy, threads cost much: each call waits until the slowest of them gets a core (``benchmarks.busy``).
And another number of threads rounds differently, so a seed would fix the proposals only on machines with the
same number of cores.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from functools import cached_property
from typing import Any

from bough.storage import forks

__all__ = ["one_blas_thread"]


class _OneThread(ContextDecorator):
    """Limits BLAS to one thread. The limit holds for the process, so the last thread to leave restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None
        forks.register(self)

    @cached_property
    def _libraries(self) -> Any:
        """The BLAS libraries of NumPy and SciPy. Finding them takes a few milliseconds."""
        import scipy.linalg  # noqa: F401  only loaded libraries are found
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController().select(user_api="blas")

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = self._libraries.limit(limits=1)
                self._let_others_limit()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()
                self._let_others_limit()

    def _let_others_limit(self) -> None:
        """threadpoolctl lets only the thread that limited first change a limit."""
        from threadpoolctl import OpenBLASController

        OpenBLASController.clear_controlling_thread()

    def before_fork(self) -> None:
        self._lock.acquire()

    def after_fork(self, child: bool) -> None:
        self._lock.release()
        if child and self._inside:  # the threads that are inside do not exist here
            self._inside = 1
            self.__exit__()


one_blas_thread = _OneThread()
"""Wraps a block or a function."""
