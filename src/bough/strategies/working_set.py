"""Which observations a Gaussian process sees when there are too many for all of them.

Inference costs n³. Beyond a limit, the option ``working_set``, the model sees that many observations. Half of
it are the best observations, which show where to refine. A quarter are the latest, so recent trials are not
proposed again. A quarter are spread evenly over the others in time; they represent distant regions and other
branches.
"""

from __future__ import annotations

import numpy as np

from bough.points import FloatArray, IntArray

__all__ = ["LIMIT", "PAPER_LIMIT", "lowest_rows", "working_rows"]

LIMIT = 400
PAPER_LIMIT = 2000
"""Of the papers' methods, which condition on all observations; a fit then takes seconds."""


def working_rows(y: FloatArray, limit: int = LIMIT) -> IntArray:
    """Row numbers of the working set of observations y (n,), in the order in which they came."""
    n = len(y)
    if n <= limit:
        return np.arange(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[lowest_rows(y, limit // 2)] = True
    chosen[n - limit // 4 :] = True
    others = np.flatnonzero(~chosen)
    free = limit - int(chosen.sum())
    chosen[others[np.linspace(0, len(others) - 1, free).astype(np.intp)]] = True
    return np.flatnonzero(chosen)


def lowest_rows(y: FloatArray | IntArray, count: int) -> IntArray:
    """The rows of the ``count`` smallest values, smallest first, and the earlier ones of equals first."""
    rows = np.arange(len(y))
    if 0 < count < len(y):
        rows = np.flatnonzero(y <= np.partition(y, count - 1)[count - 1])
    return rows[np.argsort(y[rows], kind="stable")][:count]
