"""Caches of models by content: bounded, and safe to drop."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bough.points import FloatArray, Points

__all__ = ["content", "digest", "keep"]

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
