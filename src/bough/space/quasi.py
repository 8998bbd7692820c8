"""Numbers spread evenly over a unit cube: a Halton sequence, its digits permuted and the whole of it rotated.

    h_b(i) = Σ_k π_k(digit k of i in base b) b^(−k−1),      x_i = (h_b(i) + u_b) mod 1

with one prime b per column, fixed random permutations π_k (without which columns with large bases rise in
step; Owen 2017, arXiv 1706.02808) and a rotation u drawn afresh. SciPy has Sobol sequences, but to load
``scipy.stats`` takes as long as ten proposals, and a few dozen of their points are hardly more even.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from bough.points import FloatArray, IntArray

__all__ = ["halton"]

KEPT = 2048
"""So many rows are computed once; what lies beyond is computed when it is asked for."""


def halton(columns: int, rng: np.random.Generator, start: int = 0) -> Callable[[int], FloatArray]:
    """Draws the next points (count, columns) in [0, 1) of one sequence, beginning with row ``start``.

    Rows lie to each other as they always do; a few of them should not always be the same few.
    """
    rotation, row = rng.random(columns), start

    def draw(count: int) -> FloatArray:
        nonlocal row
        first, row = row, row + count
        rows = _kept(columns)[first:row] if row <= KEPT else _rows(columns, np.arange(first, row))
        return np.asarray((rows + rotation) % 1.0)

    return draw


@lru_cache(maxsize=16)
def _kept(columns: int) -> FloatArray:
    rows = _rows(columns, np.arange(KEPT))
    rows.flags.writeable = False
    return rows


def _rows(columns: int, index: IntArray) -> FloatArray:
    """(len(index), columns) h of the module's docstring, less h(0)."""
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
