"""A solver for block-diagonal covariances: independent groups of observations, in O(Σ n_p³).

Observations on different branches do not covary under the conditional kernel (Lévesque et al. 2017, eq.
9-10), nor under the additive tree where the root has no parameter (Ma & Blaschko 2020, eq. 10 and App. B).
Each block is then factorised alone, and a prediction reads only the rows of its own block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.solvers import Dense, factor
from bough.points import FloatArray, IntArray

__all__ = ["Blocks", "factor_blocks"]


@dataclass(frozen=True, eq=False)
class Blocks:
    """A block-diagonal matrix. ``rows[p]`` are the positions of block p, ``parts[p]`` its solver."""

    rows: tuple[IntArray, ...]
    parts: tuple[Dense, ...]

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.rows)

    @cached_property
    def logdet(self) -> float:
        return sum(part.logdet for part in self.parts)

    def solve(self, b: FloatArray) -> FloatArray:
        return self.unwhiten(self.whiten(b))

    def whiten(self, b: FloatArray) -> FloatArray:
        out = np.zeros_like(b)
        for rows, part in zip(self.rows, self.parts):
            mine = b[rows]
            if b.ndim == 1:
                out[rows] = part.whiten(mine)
            elif (own := mine.any(axis=0)).any():  # a new point covaries with the rows of one block only
                out[np.ix_(rows, own)] = part.whiten(mine[:, own])
        return out

    def unwhiten(self, h: FloatArray) -> FloatArray:
        out = np.empty_like(h)
        for rows, part in zip(self.rows, self.parts):
            out[rows] = part.unwhiten(h[rows])
        return out

    def inverse(self) -> FloatArray:
        out = np.zeros((len(self), len(self)))
        for rows, part in zip(self.rows, self.parts):
            out[np.ix_(rows, rows)] = part.inverse()
        return out

    def append(self, cross: FloatArray, corner: FloatArray) -> Blocks:
        """New rows join the blocks with which they covary; those become one block."""
        n, m = cross.shape
        touched = [bool(cross[rows].any()) for rows in self.rows]
        merged = _merge([part for part, hit in zip(self.parts, touched) if hit])
        joined = np.concatenate(
            [np.empty(0, np.intp), *(rows for rows, hit in zip(self.rows, touched) if hit)]
        )
        grown = merged.append(cross[joined], corner)
        return Blocks(
            (*(rows for rows, hit in zip(self.rows, touched) if not hit), np.append(joined, range(n, n + m))),
            (*(part for part, hit in zip(self.parts, touched) if not hit), grown),
        )


def _merge(parts: Sequence[Dense]) -> Dense:
    """Independent blocks as one dense solver."""
    if len(parts) == 1:
        return parts[0]
    size = sum(len(part) for part in parts)
    root, start = np.zeros((size, size), order="F"), 0
    for part in parts:
        stop = start + len(part)
        root[start:stop, start:stop] = part.root
        start = stop
    return Dense(root, sum(part.logdet for part in parts))


def factor_blocks(rows: Sequence[IntArray], matrices: Sequence[FloatArray]) -> Blocks:
    """Factorise a block-diagonal matrix. Block p is ``matrices[p]``, at the positions ``rows[p]``."""
    return Blocks(tuple(rows), tuple(factor(matrix) for matrix in matrices))
