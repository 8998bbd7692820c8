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

from bough.points import FloatArray

__all__ = ["halton"]


def halton(columns: int, rng: np.random.Generator) -> Callable[[int], FloatArray]:
    """Draws the next points (count, columns) in [0, 1) of one sequence."""
    rotation, start = rng.random(columns), 0

    def draw(count: int) -> FloatArray:
        nonlocal start
        rows = _table(columns, (start + count).bit_length())[start : start + count]
        start += count
        return np.asarray((rows + rotation) % 1.0)

    return draw


@lru_cache(maxsize=16)
def _table(columns: int, bits: int) -> FloatArray:
    """(2^bits, columns) h of the module's docstring, but for a constant: the same at every size."""
    table = np.zeros((1 << bits, columns))
    for column, base in enumerate(_primes(columns)):
        permutations = np.random.default_rng(base)
        left, unit = np.arange(len(table)), 1.0
        while left.any():
            left, digit = np.divmod(left, base)
            unit /= base
            order = permutations.permutation(base)
            table[:, column] += unit * (order[digit] - order[0])
    table.flags.writeable = False
    return table


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found
