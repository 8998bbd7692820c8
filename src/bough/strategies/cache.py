"""Caches of models by content: bounded, and safe to drop."""

from __future__ import annotations

import hashlib
from typing import TypeVar

import numpy as np

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
    whole = hashlib.blake2b(digest_size=16)
    rows = [points.x, points.on] if points.hashes is None else [points.hashes]
    for array in (*rows, y, noise, np.array([seed, len(y)])):
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.digest()
