"""Hyperparameters of a prefix of the history: when to fit them, to which rows, and where the search starts.

The lengths of the prefixes follow a fixed sequence that grows by a given fraction, which spreads the cost of
fitting over many trials. A proposal uses the hyperparameters of the longest scheduled prefix, and all the
data. Fits are cached by the content of their prefix (``digest``).
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bough.gp.likelihood import Data
from bough.gp.output_transform import OutputTransform
from bough.history import History
from bough.points import FloatArray, IntArray, Points
from bough.strategies import streams
from bough.strategies.base import WORKING_SET_SIZE, lowest_rows
from bough.surrogates.base import Surrogate

__all__ = [
    "CACHED_FITS",
    "LONGEST_CHAIN",
    "Fitted",
    "Fitter",
    "content",
    "digest",
    "keep",
    "scheduled",
    "start_of",
    "working_rows",
]

K = TypeVar("K")
T = TypeVar("T")

CACHED_FITS = 64

ROUGH_ROWS = (96, 240)
"""Rows of the working set that a rough fit uses: first few, then more."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The output transform and the hyperparameters, fitted to a prefix of the history."""

    transform: OutputTransform
    theta: FloatArray


@dataclass(frozen=True, eq=False)
class Fitter:
    """Fits a surrogate to prefixes of a history. Fits are cached by content, so the cache may be dropped.

    growth: fraction by which scheduled prefixes grow. working_set: most observations that a fit sees.
    """

    surrogate: Surrogate
    fit_transform: Callable[[FloatArray], OutputTransform]
    growth: float
    working_set: int
    cache: dict[bytes, Fitted]

    def fit(self, history: History, length: int, rough: bool = False) -> Fitted:
        """Hyperparameters of the first ``length`` observations: a function of those and the seed alone.

        rough: fit only some rows of the working set, as a start for fits to all rows.
        """
        points, y, noise = history.done.take(slice(0, length)), history.y[:length], history.noise[:length]
        key = digest(points, y, noise, history.seed) + (b"rough" if rough else b"")
        fitted = self.cache.get(key)
        if fitted is None:
            before = None if rough else start_of(length, self.growth, self.working_set)
            start = None if before is None else self.fit(history, *before).theta
            rows, transform = working_rows(y, self.working_set), self.fit_transform(y)
            data = Data(points.take(rows), transform.forward(y[rows]), transform.noise(y[rows], noise[rows]))
            rng = np.random.default_rng([history.seed, length, streams.FIT])
            theta = self._fit_roughly(data, rng) if rough else self.surrogate.fit(data, rng, start)
            fitted = Fitted(transform, theta)
            keep(self.cache, key, fitted, CACHED_FITS)
        return fitted

    def _fit_roughly(self, data: Data, rng: np.random.Generator) -> FloatArray:
        few, more = (
            data.take(np.linspace(0, len(data.y) - 1, min(count, len(data.y))).astype(np.intp))
            for count in ROUGH_ROWS
        )
        return self.surrogate.fit(more, rng, self.surrogate.fit(few, rng))


def working_rows(y: FloatArray, limit: int = WORKING_SET_SIZE) -> IntArray:
    """Row numbers of the working set of observations y (n,), in the order in which they came.

    Inference costs n³. Beyond a limit, the option ``working_set``, a model sees that many observations. Half
    of them are the best ones, which show where to refine. A quarter are the latest, so recent trials are not
    proposed again. A quarter are spread evenly over the others in time; they represent distant regions and
    other branches.
    """
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


FEWEST_TO_START_FROM = 16
"""A fit to fewer observations starts from the median of the prior: what still fewer say is no better."""

LONGEST_CHAIN = 128
"""Up to this many observations each fit starts where the one before it ended."""

LENGTHS_PER_BLOCK = 8
"""Beyond the limit of the working set, the fits of a block start from the same rough fit."""


def scheduled(n: int, growth: float) -> int:
    """The largest scheduled length <= n: 1, then each max(previous + 1, previous * (1 + growth))."""
    lengths = _lengths(growth, n.bit_length())
    return lengths[bisect_right(lengths, n) - 1]


def start_of(length: int, growth: float, limit: int) -> tuple[int, bool] | None:
    """The scheduled prefix from whose hyperparameters the fit to ``length`` observations starts, or None.

    The second value says whether a rough fit to that prefix is enough.

    The latest fit is the best start: a search from it takes a third of the evaluations of one from a fit to
    half of the data. But a reopened study repeats all fits of the chain, and fits to many data are slow. So
    beyond ``LONGEST_CHAIN`` the i-th length starts from the one with number i & (i - 1), which is i without
    its lowest 1 bit: half of the fits start from the one before, and the chain to any fit is short. If i is a
    power of two, the start is number i / 2, and for i = 1 it is a fit in the chain of short lengths.

    limit: how many observations the model sees. Longer prefixes start from a rough fit to the first of their
    block: a chain that began with the first observations may be stuck at a poor maximum of the likelihood.
    """
    if length < FEWEST_TO_START_FROM:
        return None
    if length <= LONGEST_CHAIN:
        return scheduled(length - 1, growth), False
    lengths = _lengths(growth, length.bit_length())
    if length > limit:
        first = bisect_right(lengths, limit)
        number = bisect_right(lengths, length) - 1 - first
        return lengths[first + number // LENGTHS_PER_BLOCK * LENGTHS_PER_BLOCK], True
    first = bisect_right(lengths, LONGEST_CHAIN)
    number = bisect_right(lengths, length) - first
    before = number & (number - 1) or number // 2
    return (lengths[first + before - 1] if before else scheduled(LONGEST_CHAIN // 2, growth)), False


@lru_cache(maxsize=256)
def _lengths(growth: float, bits: int) -> tuple[int, ...]:
    """The scheduled lengths from 1 to the first one beyond 2**bits."""
    lengths = [1]
    while lengths[-1] <= 1 << bits:
        lengths.append(max(lengths[-1] + 1, math.ceil(lengths[-1] * (1 + growth))))
    return tuple(lengths)


def keep(cache: dict[K, T], key: K, value: T, size: int) -> None:
    """Put a value into a cache of at most ``size`` entries; the oldest ones leave."""
    while len(cache) >= size:
        cache.pop(next(iter(cache)), None)  # another thread may have been first
    cache[key] = value


def content(points: Points) -> bytes:
    return digest(points, np.empty(0), np.empty(0), 0)


def digest(points: Points, y: FloatArray, noise: FloatArray, seed: int) -> bytes:
    """A cache key of a history. If rows have hashes, it consists of random linear combinations of them."""
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
"""Odd factors with many bits, different for values and noises."""


@lru_cache(maxsize=8)
def _factors(count: int) -> NDArray[np.uint64]:
    """(2, count) random odd factors, two per row."""
    return np.random.default_rng(count).integers(2**64, size=(2, count), dtype=np.uint64) | np.uint64(1)
