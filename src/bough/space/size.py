"""How many distinct configurations a space holds.

Without forbidden clauses the count follows the tree: deciding a switch splits what remains into parts
that no longer influence each other, whose counts multiply, so that independent choices are never
multiplied out. With clauses, the columns that conditions and clauses read are listed exhaustively, up
to a million rows; beyond that the count without clauses is an upper bound, and says that it is one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bough.points import FloatArray
from bough.space.activity import COMPARE, EncodedView, Pieces, Rules, cut_columns, decide, leaf_nodes
from bough.space.binding import Bound, Relation, Test, columns_read

if TYPE_CHECKING:
    from bough.space.space import Space

__all__ = ["AtMost", "size"]

MAX_ROWS = 1_000_000
MAX_CELLS = 300_000_000
MAX_STEPS = 50_000
MAX_CHAIN = 150
MAX_RELATED_LEVELS = 1000
INACTIVE = -1


class AtMost(int):
    """An upper bound, where the exact number would take too long to count."""

    def __repr__(self) -> str:
        return f"at most {int(self)}"

    __str__ = __repr__


class _TooHard(Exception):
    """Counting exactly would take too long."""


def size(space: Space) -> int | float:
    """The number of configs: an exact int, ``math.inf``, or an ``AtMost``."""
    rules = space.rules
    try:
        total = _Counter(rules).count()
        exact = not rules.clauses
    except _TooHard:
        # Each column may have any value, and those outside the root may also be inactive.
        total = math.prod(
            (d.levels or math.inf) + (g != 0) for d, g in zip(rules.domains, rules.group.tolist())
        )
        exact = False
    if exact:
        return total
    listed = _list_legal(rules)
    if listed is not None:
        return listed
    return total if total == math.inf else AtMost(total)


def _cut(rules: Rules, bounds: Sequence[Bound]) -> dict[int, Pieces]:
    """Pieces of the columns that ``bounds`` read, fine enough to decide all tests and relations."""
    pieces = cut_columns(rules.domains, bounds)
    related = {c for bound in bounds for leaf in leaf_nodes(bound) if isinstance(leaf, Relation)
               for c in columns_read(leaf)}  # fmt: skip
    for column in related:
        domain = rules.domains[column]
        if not 0 < domain.levels <= MAX_RELATED_LEVELS:
            raise _TooHard
        pieces[column] = Pieces.cut(domain, range(domain.levels - 1))
    return pieces


def _widths(rules: Rules, column: int, pieces: Pieces) -> list[int | float]:
    """How many values each piece holds."""
    domain = rules.domains[column]
    if domain.kind == "real":
        low, high = pieces.rank_bounds
        first, last = domain.ends
        single = np.maximum(low, first) == np.minimum(high, last)
        return [1 if one else math.inf for one in single]
    ends = [-1, *pieces.ranks.astype(int).tolist(), domain.levels - 1]
    return [last - first for first, last in pairwise(ends)]


# ---- along the tree --------------------------------------------------------------------------


class _Counter:
    """Counts the configs of a space as if nothing were forbidden."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.bounds = [group.bound for group in rules.groups]
        conditions = [bound for bound in self.bounds if bound is not None]
        self.pieces = _cut(rules, conditions)
        self.widths = {column: _widths(rules, column, cut) for column, cut in self.pieces.items()}
        self.reads = [set[int]() if bound is None else columns_read(bound) for bound in self.bounds]
        self.tables = {
            leaf: self.pieces[leaf.column].table(leaf.intervals).tolist()
            for bound in conditions for leaf in leaf_nodes(bound) if isinstance(leaf, Test)
        }  # fmt: skip
        self.chosen: dict[int, int] = {}
        self.steps = 0

    def count(self) -> int | float:
        columns = [column for group in self.rules.groups for column in group.columns]
        return self._count(columns, 0)

    def _count(self, columns: list[int], depth: int) -> int | float:
        """Configs of ``columns`` (in an order in which conditions read earlier ones), given ``chosen``."""
        self.steps += 1
        if depth > MAX_CHAIN or self.steps > MAX_STEPS:
            raise _TooHard
        total: int | float = 1
        open_columns: list[int] = []
        for column in columns:
            bound = self.bounds[self.rules.group[column]]
            active = True if bound is None else decide(bound, self._truth)
            if active is False:
                self.chosen[column] = INACTIVE
            elif active and column not in self.pieces:
                total *= self.rules.domains[column].levels or math.inf
            else:
                open_columns.append(column)
        for part in self._parts(open_columns):
            total *= self._count_part(part, depth)
        for column in columns:
            self.chosen.pop(column, None)
        return total

    def _count_part(self, part: list[int], depth: int) -> int | float:
        """Sum over the pieces of the first column, whose activity nothing open decides."""
        first, rest = part[0], part[1:]
        total: int | float = 0
        for piece, width in enumerate(self.widths[first]):
            self.chosen[first] = piece
            total += width * self._count(rest, depth + 1)
        del self.chosen[first]
        return total

    def _truth(self, leaf: Test | Relation) -> bool | None:
        if isinstance(leaf, Test):
            piece = self.chosen.get(leaf.column)
            return None if piece is None else piece != INACTIVE and self.tables[leaf][piece]
        left, right = self.chosen.get(leaf.left), self.chosen.get(leaf.right)
        if INACTIVE in (left, right):
            return False
        if left is None or right is None:
            return None
        return bool(COMPARE[leaf.op](self._code(leaf, 0, left), self._code(leaf, 1, right)))

    def _code(self, leaf: Relation, side: int, piece: int) -> float:
        codes = leaf.codes[side]
        if codes is not None:
            return codes[piece]
        return float(self.rules.domains[(leaf.left, leaf.right)[side]].values(np.array([float(piece)]))[0])

    def _parts(self, columns: list[int]) -> Iterator[list[int]]:
        """``columns`` split so that no condition joins two parts; order kept within each."""
        leader = {column: column for column in columns}

        def find(column: int) -> int:
            while leader[column] != column:
                leader[column] = column = leader[leader[column]]
            return column

        for column in columns:
            for read in self.reads[self.rules.group[column]] & leader.keys():
                leader[find(column)] = find(read)
        parts: dict[int, list[int]] = {}
        for column in columns:
            parts.setdefault(find(column), []).append(column)
        yield from parts.values()


# ---- by listing ------------------------------------------------------------------------------


def _list_legal(rules: Rules) -> int | float | None:
    """The number of legal configs, or None where more than a million rows would have to be looked at.

    A row fixes the pieces of all columns that conditions and clauses read, and stands for as many
    configs as the pieces and the other active columns have values."""
    bounds = [*(group.bound for group in rules.groups if group.bound is not None), *rules.clauses]
    try:
        pieces = _cut(rules, bounds)
    except _TooHard:
        return None
    x: FloatArray = np.full((1, len(rules.domains)), 0.5)
    on = np.zeros((1, len(rules.groups)), dtype=bool)
    weight = np.ones(1, dtype=object)
    cells = 0
    for group in rules.groups:
        on[:, group.index] = (
            True if group.bound is None else rules.holds(group.bound, EncodedView(rules, x), on)
        )
        for column in group.columns:
            active = on[:, group.index]
            if column not in pieces:
                weight[active] *= rules.domains[column].levels or math.inf
                continue
            widths = _widths(rules, column, pieces[column])
            count = len(x) + int(active.sum()) * (len(widths) - 1)
            cells += count * len(rules.domains)
            if count > MAX_ROWS or cells > MAX_CELLS:
                return None
            rows = np.repeat(np.arange(len(x)), np.where(active, len(widths), 1))
            first = np.searchsorted(rows, rows)
            piece = np.where(active[rows], np.arange(len(rows)) - first, 0)
            x, on, weight = x[rows], on[rows], weight[rows]
            now = on[:, group.index]
            x[now, column] = _representatives(rules, column, pieces[column])[piece[now]]
            weight[now] *= np.array(widths, dtype=object)[piece[now]]
    legal = ~rules.violations(EncodedView(rules, x), on).any(axis=1)
    total: int | float = sum(weight[legal].tolist())
    return total


def _representatives(rules: Rules, column: int, pieces: Pieces) -> FloatArray:
    """A unit position in each piece."""
    domain = rules.domains[column]
    if domain.kind == "real":
        return rules.pieces[column].unit_bounds[1]
    return domain.position(np.append(pieces.ranks, domain.levels - 1.0))
