"""Many small Gaussian likelihoods at once: blocks of rows, their covariances together, factorised by size.

A treed model needs the likelihoods of dozens of small sets of rows, thousands of times. A function call per
set would cost far more than the arithmetic. So the pairs of rows of all blocks are in one array, and their
covariances are computed together. Blocks of similar size then form one array (blocks, size, size), padded
with rows that are far from everything.

With variance v the matrices are M = v R. Each R carries two more rows, y and 1, so that its factorisation
also gives L⁻¹y and L⁻¹1:

    [ R       ]   [ L          ] [ L          ]ᵀ
    [ yᵀ c    ] = [ (L⁻¹y)ᵀ ·  ] [ (L⁻¹y)ᵀ ·  ]
    [ 1ᵀ 0  c ]   [ (L⁻¹1)ᵀ · ·] [ (L⁻¹1)ᵀ · ·]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np

from bough.gp.likelihood import Data
from bough.gp.solvers import factor_stack
from bough.points import BoolArray, FloatArray, IntArray

__all__ = ["Block", "Blocks", "Stack", "by_size"]

NUGGET = 1e-12
"""Share of the variance added to every diagonal: above rounding errors, so factorisations rarely fail."""

CORNER = 1e30
"""c above: larger than any |L⁻¹y|², so the last pivots are positive. Nothing else depends on it."""

STACK_COST, BLOCK_COST, CELL_COST, PIVOT_COST = 5e4, 1e3, 1.5, 0.1
"""Rough cost in nanoseconds: per stack, per block, per matrix entry, and of a factorisation per size³."""

NONE = np.empty(0, dtype=np.intp)
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


Profile = Callable[[FloatArray], FloatArray]
"""Correlations (P,) as a function of s² = (unit · r)² (P,), which it may overwrite."""


def matern52(s2: FloatArray) -> FloatArray:
    """(1 + s + s²/3) e^{−s}, s = √5 r."""
    s = np.sqrt(s2)
    s2 *= 1.0 / 3.0
    s2 += s
    s2 += 1.0
    s2 *= np.exp(np.negative(s, out=s), out=s)
    return s2


def matern32(s2: FloatArray) -> FloatArray:
    """(1 + s) e^{−s}, s = √3 r."""
    s = np.sqrt(s2)
    return np.asarray((1.0 + s) * np.exp(-s))


def squared_exponential(s2: FloatArray) -> FloatArray:
    """e^{−s²/2}, s = r."""
    return np.exp(-0.5 * s2)


PROFILES: dict[str, tuple[float, Profile]] = {
    "matern52": (5.0**0.5, matern52),
    "matern32": (3.0**0.5, matern32),
    "se": (1.0, squared_exponential),
}
"""The unit and the profile of each kernel that the leaves may have."""


@dataclass(frozen=True, eq=False)
class Stack:
    """B blocks of at most s rows, to be factorised together.

    owner, weight: (B,) as in ``Block``.  real: (B, s) False for rows that are padding.
    reported, unreported: (B, s) as in ``Data``.
    at: where in the matrices the pairs of rows below the diagonal belong, block by block.
    matrix: (B, s + 2, s + 2), of which only the lower triangle is read. In every call the covariances of
        pairs and the diagonal are overwritten; the rest stays, zero for padding rows.
    """

    owner: IntArray
    weight: FloatArray
    real: BoolArray
    reported: FloatArray
    unreported: FloatArray
    at: IntArray
    matrix: FloatArray

    @staticmethod
    def of(blocks: Sequence[Block], data: Data) -> Stack:
        count, size = len(blocks), max(len(block.rows) for block in blocks)
        rows = np.zeros((count, size), dtype=np.intp)
        real = np.zeros((count, size), dtype=bool)
        for i, block in enumerate(blocks):
            rows[i, : len(block.rows)], real[i, : len(block.rows)] = block.rows, True
        matrix = np.zeros((count, size + 2, size + 2))
        matrix[:, size, :size] = np.where(real, data.y[rows], 0.0)
        matrix[:, size + 1, :size] = real
        matrix[:, [size, size + 1], [size, size + 1]] = CORNER
        width = size + 2
        pairs = [_below(len(block.rows)) for block in blocks]
        return Stack(
            owner=np.array([block.owner for block in blocks]),
            weight=np.array([block.weight for block in blocks]),
            real=real,
            reported=np.where(real, data.reported[rows], 0.0),
            unreported=np.where(real, np.isnan(data.noise[rows]), 0.0),
            at=np.concatenate([width * (width * i + a) + b for i, (a, b) in enumerate(pairs)]),
            matrix=matrix,
        )

    @cached_property
    def _count(self) -> FloatArray:
        return np.asarray(self.real.sum(axis=1), dtype=float)

    def terms(
        self, correlations: FloatArray, variance: FloatArray, noise: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(B,) a, b, c of each block, where weight · log N(y | m·1, M) = a + b m − ½ c m².

        correlations: of its pairs; variance, noise: (owners,).
        """
        size = self.real.shape[1]
        height = variance[self.owner]
        self.matrix.reshape(-1)[self.at] = correlations
        diagonal = self.unreported * noise[self.owner, None]
        diagonal += self.reported
        diagonal /= height[:, None]
        diagonal += 1 + NUGGET
        np.einsum("bii->bi", self.matrix)[:, :size] = diagonal
        lower = factor_stack(self.matrix, scale=1.0)
        white, one = lower[:, size, :size], lower[:, size + 1, :size]
        logdet = np.einsum("bs,bs->b", np.log(np.einsum("bii->bi", lower)[:, :size]), self.real)
        share = self.weight / height
        a = (-0.5 * share) * np.vecdot(white, white)
        a -= self.weight * (logdet + self._count * (0.5 * (LOG_2PI + np.log(height))))
        return a, share * np.vecdot(white, one), share * np.vecdot(one, one)


@dataclass(frozen=True, eq=False)
class Blocks:
    """The P pairs of rows in all blocks, and the stacks to which they belong, in their order.

    first, second: (K, P) indices of the numeric values of a pair's two rows in an array
        (owners, numeric, n); equal where a column is inactive.
    unequal: (H, P) index of the inverse length-scale of a nominal column in an array
        (owners, columns + 1) if the pair's categories differ, else of a zero, in the last column.
    """

    first: IntArray
    second: IntArray
    unequal: IntArray
    stacks: tuple[Stack, ...]

    @staticmethod
    def of(blocks: Sequence[Block], data: Data, numeric: int, nominal: tuple[int, ...]) -> Blocks:
        """numeric: how many numeric columns the models have; nominal: the nominal columns of the data."""
        n, columns = len(data.y), numeric + len(nominal)
        groups = by_size(blocks)
        ordered = [block for group in groups for block in group]
        pairs = [_below(len(block.rows)) for block in ordered]
        a, b = (
            np.concatenate([NONE, *(block.rows[pair[side]] for block, pair in zip(ordered, pairs))])
            for side in (0, 1)
        )
        # the block of each pair, then its owner and active columns
        of = np.repeat(np.arange(len(ordered)), [len(pair[0]) for pair in pairs])
        owner = np.array([block.owner for block in ordered], dtype=np.intp)[of]
        active = np.zeros((columns, len(ordered)), dtype=bool)
        for i, block in enumerate(ordered):
            active[block.numeric, i] = active[numeric + block.nominal, i] = True
        active = active[:, of]
        first = n * (numeric * owner + np.arange(numeric)[:, None]) + a
        categories = data.points.x[:, list(nominal)].T
        differ = (categories[:, a] != categories[:, b]) & active[numeric:]
        column = np.where(differ, np.arange(numeric, columns)[:, None], columns)
        return Blocks(
            first=first,
            second=first + np.where(active[:numeric], b - a, 0),
            unequal=(columns + 1) * owner + column,
            stacks=tuple(Stack.of(group, data) for group in groups),
        )

    @cached_property
    def owner(self) -> IntArray:
        """(B,) of all blocks, stack by stack."""
        return np.concatenate([NONE, *(stack.owner for stack in self.stacks)])

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *accumulate(len(stack.at) for stack in self.stacks)]

    def terms(
        self,
        values: FloatArray,
        inverse: FloatArray,
        variance: FloatArray,
        noise: FloatArray,
        profile: Profile = matern52,
    ) -> tuple[FloatArray, ...]:
        """(B,) a, b, c of all blocks, stack by stack (see ``Stack.terms``).

        M is a stationary covariance plus noise. values: (owners, numeric, n) of numeric columns;
        inverse: (owners, columns + 1) unit / ℓ and a zero; variance, noise: (owners,); profile: of PROFILES.
        """
        scaled = values * inverse[:, : values.shape[1], None]
        difference = scaled.take(self.first)
        difference -= scaled.take(self.second)
        difference *= difference
        s2 = difference.sum(axis=0)
        if len(self.unequal):
            s2 += np.square(inverse).take(self.unequal).sum(axis=0)
        correlations = profile(s2)
        ends = self._ends
        parts = [
            stack.terms(correlations[start:end], variance, noise)
            for stack, start, end in zip(self.stacks, ends, ends[1:])
        ]
        return tuple(np.concatenate([np.empty(0), *part]) for part in zip(*parts)) or (np.empty(0),) * 3


@lru_cache(maxsize=64)
def _below(size: int) -> tuple[IntArray, IntArray]:
    """The pairs below the diagonal."""
    row, column = np.tril_indices(size, -1)
    return row, column


def by_size(blocks: Sequence[Block]) -> list[list[Block]]:
    """Blocks in groups of similar size that minimise the expected cost of the padded stacks."""
    if not blocks:
        return []
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
