"""One BLAS thread while a model computes.

The matrices of a model have a few hundred rows, and gain little from several threads. Where workers keep all
cores busy, threads cost much: each call waits until the slowest of them gets a core (``benchmarks.busy``).
And another number of threads rounds differently, so a seed would fix the proposals only on machines with the
same number of cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_blas_thread"]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limits BLAS to one thread; also a decorator. If two threads overlap, the first one limits for both."""
    with _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> Any:
    """The BLAS libraries of NumPy and SciPy. Finding them takes a few milliseconds."""
    import scipy.linalg  # noqa: F401  only loaded libraries are found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
