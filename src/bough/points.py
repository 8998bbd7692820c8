"""Encoded points, which all layers exchange: values, activity, and the meaning of each column.

Surrogates are fitted to ``Points`` and maximisers return them. ``Layout`` describes the columns, so models
need no names, units or conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "Kind",
    "Layout",
    "Points",
    "distinct",
    "row_hashes",
    "row_keys",
    "rows_among",
    "rows_by_signature",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

Kind = Literal["real", "ordinal", "nominal"]
"""real: any value in [0, 1]; ordinal: a grid with an order (ints, steps, ordered categories);
nominal: categories without an order."""


@dataclass(frozen=True, eq=False, slots=True)
class Points:
    """``n`` encoded configurations.

    x: (n, columns) values in the unit cube, always *snapped*: a grid or category sits exactly on
       its unit position. The value of an inactive column is arbitrary and never read.
    on: (n, groups) whether each group of parameters is active.
    hashes: (n,) the cached result of ``row_hashes``, or None. Long histories keep it, because they only grow.
    """

    x: FloatArray
    on: BoolArray
    hashes: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: slice | Sequence[int] | IntArray | BoolArray) -> Points:
        """The given rows, as new Points."""
        return Points(self.x[rows], self.on[rows], None if self.hashes is None else self.hashes[rows])

    @staticmethod
    def concat(parts: Sequence[Points | None]) -> Points:
        """All rows of ``parts``, in order; None has no rows. If only one part has rows, it is returned."""
        known = [part for part in parts if part is not None]
        some = [part for part in known if len(part)]
        if len(some) == 1:
            return some[0]
        hashes = [part.hashes for part in known if part.hashes is not None]
        return Points(
            np.concatenate([part.x for part in known]),
            np.concatenate([part.on for part in known]),
            np.concatenate(hashes) if len(hashes) == len(known) else None,
        )


@dataclass(frozen=True, eq=False)
class Layout:
    """The meaning of the columns of ``Points``.

    kinds:  (columns,) kind of each column.
    levels: (columns,) number of distinct values; 0 for a real column.
    group:  (columns,) index of the group that switches the column on and off.
    switch: (columns,) whether some condition reads the column.
    groups: number of groups; group 0 is the root and always active.
    """

    kinds: tuple[Kind, ...]
    levels: IntArray
    group: IntArray
    switch: BoolArray
    groups: int

    @cached_property
    def columns(self) -> int:
        return len(self.kinds)

    @cached_property
    def nominal(self) -> BoolArray:
        """(columns,) whether the column holds unordered categories."""
        return np.array([kind == "nominal" for kind in self.kinds], dtype=bool)

    def columns_of(self, group: int) -> IntArray:
        """Columns that belong to ``group``."""
        return np.flatnonzero(self.group == group)

    def active(self, on: BoolArray) -> BoolArray:
        """(n, columns) activity of columns from the (n, groups) activity of groups."""
        return on[:, self.group]


def row_keys(layout: Layout, points: Points) -> list[bytes]:
    """One key per row, equal exactly where activity and all active values are equal."""
    seen = np.where(layout.active(points.on), points.x, -1.0) + 0.0  # -0.0 and 0.0 are one value
    rows = np.hstack([seen, points.on.astype(float)])
    whole, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    return [whole[start : start + width] for start in range(0, len(whole), width)]


def distinct(layout: Layout, points: Points) -> Points:
    """The rows without repeats, in the order of their first occurrence."""
    first: dict[bytes, int] = {}
    for row, key in enumerate(row_keys(layout, points)):
        first.setdefault(key, row)
    return points.take(list(first.values()))


def row_hashes(layout: Layout, points: Points) -> NDArray[np.uint64]:
    """(n,) one number per row: rows with equal keys (``row_keys``) have equal numbers, others hardly ever.

    Keys are exact, but cost a Python object per row. Hashes cost a few array operations, so long histories
    first search by hash, and then compare the keys of the matches.
    """
    if points.hashes is not None:
        return points.hashes
    seen = np.ascontiguousarray(np.where(layout.active(points.on), points.x, -1.0) + 0.0)
    bits = np.hstack([seen.view(np.uint64), np.packbits(points.on, axis=1).astype(np.uint64)])
    bits ^= bits >> np.uint64(32)  # round numbers differ in their first bits only
    return bits @ _factors(bits.shape[1])


def rows_among(hashes: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> IntArray:
    """The rows of ``hashes`` (n,) that occur in ``wanted``; costs little more than reading n numbers.

    A lookup table of the first 16 bits, which are mixed best, leaves few rows to compare.
    """
    table = np.zeros(1 << 16, np.bool_)
    table[wanted >> np.uint64(48)] = True
    rows = np.flatnonzero(table[hashes >> np.uint64(48)])
    if not len(rows):
        return rows
    ordered, found = np.sort(wanted), hashes[rows]
    nearest = np.minimum(np.searchsorted(ordered, found), len(ordered) - 1)
    return np.asarray(rows[ordered[nearest] == found])


@lru_cache(maxsize=16)
def _factors(count: int) -> NDArray[np.uint64]:
    """(count,) random odd factors: sums of products with them tell rows apart (multilinear hashing)."""
    return np.random.default_rng(count).integers(2**64, size=count, dtype=np.uint64) | np.uint64(1)


def rows_by_signature(on: BoolArray) -> dict[bytes, IntArray]:
    """The rows of each signature in ``on`` (n, groups), in order of occurrence; each signature is a key."""
    keys = np.packbits(on, axis=1)
    if (keys == keys[:1]).all():
        return {keys[0].tobytes(): np.arange(len(keys))} if len(keys) else {}
    whole = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1]))).ravel()
    found, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return {found[i].tobytes(): np.flatnonzero(number == i) for i in np.argsort(first)}
