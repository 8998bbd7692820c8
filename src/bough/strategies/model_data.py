"""The observations that a model sees, and a key by which a model of them is found again.

Inference costs n³. Beyond a limit, the option ``working_set``, the model sees that many observations. Half of
them are the best ones, which show where to refine. A quarter are the latest, so recent trials are not
proposed again. A quarter are spread evenly over the others in time; they represent distant regions and other
branches.

``digest`` tells histories apart by their content. Models are cached by it, at most a few (``keep``); dropping
one changes no proposal.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bough.points import FloatArray, IntArray, Points

__all__ = ["LIMIT", "PAPER_LIMIT", "content", "digest", "keep", "lowest_rows", "working_rows"]

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


K = TypeVar("K")
T = TypeVar("T")


def keep(cache: dict[K, T], key: K, value: T, size: int) -> None:
    """Put a value into a cache of at most ``size`` entries; the oldest ones leave."""
    while len(cache) >= size:
        cache.pop(next(iter(cache)), None)  # another thread may have been first
    cache[key] = value


def content(points: Points) -> bytes:
    return digest(points, np.empty(0), np.empty(0), 0)


def digest(points: Points, y: FloatArray, noise: FloatArray, seed: int) -> bytes:
    """A key of a history. Where rows have hashes, sums of their products with random factors make it."""
    last = np.array([seed, len(y)]).tobytes()
    if points.hashes is None or len(y) != len(points):
        arrays = (points.x, points.on) if points.hashes is None else (points.hashes,)
        whole = hashlib.blake2b(digest_size=16)
        for array in (*arrays, y, noise):
            whole.update(np.ascontiguousarray(array).tobytes())
        return whole.digest() + last
    rows = points.hashes.copy()
    for array, factor in ((y, _BY_VALUE), (noise, _BY_NOISE)):
        bits = np.ascontiguousarray(array).view(np.uint64)
        rows += (bits ^ bits >> np.uint64(32)) * factor
    rows ^= rows >> np.uint64(32)
    return (_factors(1 << len(y).bit_length())[:, : len(y)] @ rows).tobytes() + last


_BY_VALUE, _BY_NOISE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
"""Odd factors with many bits: values and noises count differently."""


@lru_cache(maxsize=8)
def _factors(count: int) -> NDArray[np.uint64]:
    """(2, count) the factors of as many rows."""
    return np.random.default_rng(count).integers(2**64, size=(2, count), dtype=np.uint64) | np.uint64(1)
