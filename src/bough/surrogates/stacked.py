"""Many small Gaussian likelihoods at once: blocks of rows, stacked by size and factorised together.

A treed model asks for the likelihoods of some dozens of sets of rows, most of them a handful, thousands
of times: calling anything for each of them would cost far more than the arithmetic. Blocks of similar
size are put into one array (blocks, size, size), filled up with rows that are far from everything.

Each matrix carries two more rows, y and 1, so that its factorisation also gives L⁻¹y and L⁻¹1:

    [ M       ]   [ L          ] [ L          ]ᵀ
    [ yᵀ c    ] = [ (L⁻¹y)ᵀ ·  ] [ (L⁻¹y)ᵀ ·  ]
    [ 1ᵀ 0  c ]   [ (L⁻¹1)ᵀ · ·] [ (L⁻¹1)ᵀ · ·]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.likelihood import Data
from bough.gp.solvers import factor_lower
from bough.points import BoolArray, FloatArray, IntArray

__all__ = ["Block", "Stack", "by_size"]

NUGGET = 1e-12
"""Of the variance, on every diagonal: more than rounding errors, so that factorisations hardly ever fail."""

CORNER = 1e30
"""c above: larger than any |L⁻¹y|², so that the last pivots are positive. Nothing else depends on it."""

FAR = 1e9
"""Squared distance of a row that only fills up a block: its covariance underflows to zero."""

STACK_COST, BLOCK_COST, CELL_COST, PIVOT_COST = 8e4, 2e3, 8.0, 0.15
"""Rough nanoseconds of a stack, of a block, of an entry of its matrix, and of a factorisation over size³."""

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of the data, the model they belong to, and the exponent of their likelihood.

    numeric, nominal: which of the model's columns are active in them, each counted from 0.
    """

    owner: int
    weight: float
    rows: IntArray
    numeric: IntArray
    nominal: IntArray


@dataclass(frozen=True, eq=False)
class Stack:
    """B blocks of at most s rows, with K active numeric and H active nominal columns at most.

    owner, weight: (B,) as in ``Block``.  real: (B, s) whether a row is one of the block.
    values_at: (K, B, s) where the values of numeric columns are found in an array (owners, numeric, n).
    row, other: (P,) the pairs of rows below the diagonal.
    numeric_at, nominal_at: (K, B), (H, B) where the inverse length-scales are found in an array
        (owners, numeric + nominal + 1), whose last column is zero, for blocks with fewer columns.
    unequal: (H, B, P) whether the categories of a pair differ.  apart: (B, P) zero, or FAR where a row of
        the pair only fills up.  told, untold: (B, s) as in ``Data``.
    matrix: (B, s + 2, s + 2) to be factorised, of which only the lower triangle is read. In its leading
        (s, s) blocks that is overwritten in every call.
    """

    owner: IntArray
    weight: FloatArray
    real: BoolArray
    values_at: IntArray
    row: IntArray
    other: IntArray
    numeric_at: IntArray
    nominal_at: IntArray
    unequal: BoolArray
    told: FloatArray
    untold: FloatArray
    apart: FloatArray
    matrix: FloatArray

    @staticmethod
    def of(blocks: Sequence[Block], data: Data, numeric: int, nominal: tuple[int, ...]) -> Stack:
        """numeric: how many numeric columns the models have; nominal: where in the data the others are."""
        count, size = len(blocks), max(len(block.rows) for block in blocks)
        columns = numeric + len(nominal)
        rows = np.zeros((count, size), dtype=np.intp)
        real = np.zeros((count, size), dtype=bool)
        some = np.full((max(len(block.numeric) for block in blocks), count), columns)
        others = np.full((max(len(block.nominal) for block in blocks), count), columns)
        for i, block in enumerate(blocks):
            rows[i, : len(block.rows)], real[i, : len(block.rows)] = block.rows, True
            some[: len(block.numeric), i] = block.numeric
            others[: len(block.nominal), i] = numeric + block.nominal
        owner = np.array([block.owner for block in blocks])
        # of a column that is not there any other may be read: it counts with an inverse length-scale of 0
        column = np.minimum(some, numeric - 1)[:, :, None] + numeric * owner[:, None]
        kind = np.append(np.array(nominal, dtype=np.intp), 0)[others - numeric]
        categories = data.points.x[rows, kind[:, :, None]]
        matrix = np.zeros((count, size + 2, size + 2))
        matrix[:, size, :size] = np.where(real, data.y[rows], 0.0)
        matrix[:, size + 1, :size] = real
        matrix[:, [size, size + 1], [size, size + 1]] = CORNER
        row, other = np.tril_indices(size, -1)
        return Stack(
            owner=owner,
            weight=np.array([block.weight for block in blocks]),
            real=real,
            values_at=column * len(data.y) + rows,
            numeric_at=some + (columns + 1) * owner,
            nominal_at=others + (columns + 1) * owner,
            row=row,
            other=other,
            unequal=categories[..., row] != categories[..., other],
            told=np.where(real, data.told[rows], 0.0),
            untold=np.where(real, data.untold[rows], 0.0),
            apart=np.where(real[:, row] & real[:, other], 0.0, FAR),
            matrix=matrix,
        )

    @cached_property
    def _constant(self) -> FloatArray:
        return np.asarray(self.real.sum(axis=1) * (0.5 * LOG_2PI))

    def terms(
        self, values: FloatArray, inverse: FloatArray, variance: FloatArray, noise: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(B,) a, b, c of each block, where weight · log N(y | m·1, M) = a + b m − ½ c m².

        M is a Matérn-5/2 covariance plus noise. values: (owners, numeric, n) of numeric columns;
        inverse: (owners, columns + 1) √5 / ℓ and a zero; variance, noise: (owners,).
        """
        size = self.real.shape[1]
        z = values.take(self.values_at)
        z *= inverse.take(self.numeric_at)[:, :, None]
        s2 = self.apart.copy()
        for column in z:
            difference = column.take(self.row, axis=1)
            difference -= column.take(self.other, axis=1)
            difference *= difference
            s2 += difference
        for scale, unequal in zip(inverse.take(self.nominal_at) ** 2, self.unequal):
            s2 += scale[:, None] * unequal
        height = variance[self.owner]
        s = np.sqrt(s2)  # √5 r;  v k = (1 + s + s²/3) e^{log v − s}
        s2 *= 1.0 / 3.0
        s2 += s
        s2 += 1.0
        s2 *= np.exp(np.subtract(np.log(height)[:, None], s, out=s), out=s)
        self.matrix[:, self.row, self.other] = s2
        np.einsum("bii->bi", self.matrix)[:, :size] = (
            self.told + self.untold * noise[self.owner, None] + (1 + NUGGET) * height[:, None]
        )
        lower = _factor(self.matrix, height)
        white, one = lower[:, size, :size], lower[:, size + 1, :size]
        logdet = np.einsum("bs,bs->b", np.log(np.einsum("bii->bi", lower)[:, :size]), self.real)
        a = -0.5 * np.einsum("bs,bs->b", white, white) - logdet - self._constant
        b, c = np.einsum("bs,bs->b", white, one), np.einsum("bs,bs->b", one, one)
        return self.weight * a, self.weight * b, self.weight * c


def _factor(matrices: FloatArray, scales: FloatArray) -> FloatArray:
    """Cholesky factors of a stack (B, n, n); with jitter relative to ``scales`` (B,) where one fails."""
    try:
        return np.asarray(np.linalg.cholesky(matrices), dtype=float)
    except np.linalg.LinAlgError:
        full = np.tril(matrices) + np.tril(matrices, -1).swapaxes(1, 2)
        return np.stack([factor_lower(matrix, float(scale)) for matrix, scale in zip(full, scales)])


def by_size(blocks: Sequence[Block]) -> list[list[Block]]:
    """Blocks in groups of similar size, so that the expected cost of stacks that are filled up is least."""
    ordered = sorted(blocks, key=lambda block: len(block.rows))
    sizes = np.array([len(block.rows) for block in ordered], dtype=float)
    each = BLOCK_COST + CELL_COST * sizes**2 + PIVOT_COST * sizes**3
    # best[j]: the least cost of the first j blocks; a stack ends only after all blocks of its size
    ends = np.flatnonzero(np.append(np.diff(sizes) > 0, True)) + 1
    best, before = {0: 0.0}, {0: 0}
    for end in ends.tolist():
        costs = {start: best[start] + STACK_COST + (end - start) * each[end - 1] for start in best}
        before[end] = min(costs, key=costs.__getitem__)
        best[end] = costs[before[end]]
    groups, end = [], len(ordered)
    while end:
        groups.append(ordered[before[end] : end])
        end = before[end]
    return groups
