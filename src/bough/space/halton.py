"""Points spread evenly over the unit cube: a Halton sequence with permuted digits and a random rotation.

    h_b(i) = Σ_k π_k(digit k of i in base b) b^(−k−1),      x_i = (h_b(i) + u_b) mod 1

Each column has its prime b. The random permutations π_k are fixed; without them, columns with large
bases would rise together (Owen 2017, arXiv 1706.02808). The caller draws the rotation u.
SciPy's Sobol sequences are hardly more even for a few dozen points, and importing ``scipy.stats`` takes
as long as ten proposals.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bough.points import FloatArray, IntArray

__all__ = ["halton"]

CACHED_ROWS = 2048
"""Rows that are computed once per number of columns; later rows are computed on demand."""


def halton(count: int, rotation: FloatArray, first: int = 0) -> FloatArray:
    """(count, columns) points in [0, 1): rows of the sequence from ``first`` on.

    rotation: (columns,) u above, uniform in [0, 1). The sequence is fixed up to it, so a random first row
    varies short draws.
    """
    columns, end = len(rotation), first + count
    rows = _cached_rows(columns)[first:end] if end <= CACHED_ROWS else _rows(columns, np.arange(first, end))
    unit = rows + rotation
    return np.asarray(unit - np.floor(unit))


@lru_cache(maxsize=16)
def _cached_rows(columns: int) -> FloatArray:
    rows = _rows(columns, np.arange(CACHED_ROWS))
    rows.flags.writeable = False
    return rows


def _rows(columns: int, index: IntArray) -> FloatArray:
    """(len(index), columns) h(i) − h(0) for each index i."""
    out = np.zeros((len(index), columns))
    for column, base in enumerate(_primes(columns)):
        permutations = np.random.default_rng(base)
        left, unit = index, 1.0
        while left.any():
            left, digit = np.divmod(left, base)
            unit /= base
            order = permutations.permutation(base)
            out[:, column] += unit * (order[digit] - order[0])
    return out


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found
