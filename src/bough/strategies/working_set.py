"""Which results a Gaussian process sees when there are too many for all of them.

Inference costs n³. Beyond LIMIT results the model sees a working set: half of it the best results,
which say where to look closer; a quarter the latest, so that nothing is proposed again because it was
forgotten; and a quarter spread evenly over all others in the order of their coming, which keep the
far regions and the other branches from being forgotten.
"""

from __future__ import annotations

import numpy as np

from bough.points import FloatArray, IntArray

__all__ = ["LIMIT", "working_rows"]

LIMIT = 400


def working_rows(y: FloatArray, limit: int = LIMIT) -> IntArray:
    """Increasing row numbers of the working set of results y (n,), in the order of their coming."""
    n = len(y)
    if n <= limit:
        return np.arange(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[np.argsort(y, kind="stable")[: limit // 2]] = True
    chosen[n - limit // 4 :] = True
    others = np.flatnonzero(~chosen)
    free = limit - int(chosen.sum())
    chosen[others[np.linspace(0, len(others) - 1, free).astype(np.intp)]] = True
    return np.flatnonzero(chosen)
