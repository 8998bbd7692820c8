"""Evaluate conditions over whole columns: which groups are active, which points are forbidden, and which
point is nearest to a position in the unit cube.

Each column that a condition or clause reads is cut into *pieces* at the thresholds it is compared
with (a nominal column at every option). A test is then a boolean table over pieces. The piece numbers
of a column are computed once, for all tests that read it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space.binding import (
    Bound,
    Conjunction,
    Disjunction,
    Interval,
    Negation,
    Relation,
    Test,
    columns_read,
    leaf_nodes,
)
from bough.space.grids import Grids
from bough.space.groups import Group
from bough.space.parameter_constraints import ParameterConstraint
from bough.space.parameters import Domain, Float

__all__ = ["COMPARE", "EncodedView", "Pieces", "Rules", "cut_columns", "decide", "values_at"]

COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pieces:
    """A column cut into ``k + 1`` pieces: piece i holds ``ranks[i-1] < rank <= ranks[i]``, and
    likewise ``units[i-1] < unit <= units[i]``.

    The unit cuts of a real column are rounded. So ``values_at`` here and ``units`` in encoding.py clip
    with ``rank_bounds`` and ``unit_bounds``, which keeps a number and its unit position in one piece.
    """

    ranks: FloatArray
    units: FloatArray

    @staticmethod
    def cut(domain: Domain, edges: Iterable[float]) -> Pieces:
        if domain.kind == "nominal":
            edges = range(domain.levels - 1)
        ranks = np.array(sorted({float(edge) for edge in edges if math.isfinite(edge)}))
        if domain.kind != "real":
            return Pieces(ranks, domain.position(ranks + 0.5))
        units = domain.position(ranks)
        for i in range(1, len(units)):  # strictly ascending, also where rounding made cuts coincide
            units[i] = max(units[i], np.nextafter(units[i - 1], 2.0))
        ceiling = 1.0
        for i in reversed(range(len(units))):
            ceiling = float(np.nextafter(ceiling, -1.0))
            units[i] = ceiling = min(units[i], ceiling)
        return Pieces(ranks, units)

    def __len__(self) -> int:
        return len(self.ranks) + 1

    def index(self, unit: FloatArray) -> IntArray:
        """The piece of each unit position."""
        return np.searchsorted(self.units, unit, side="left")

    def index_of_ranks(self, ranks: FloatArray) -> IntArray:
        """The piece of each rank."""
        return np.searchsorted(self.ranks, ranks, side="left")

    def table(self, intervals: Sequence[Interval]) -> BoolArray:
        """(k + 1,) whether each piece lies in one of the intervals."""
        ends = np.append(self.ranks, math.inf)
        inside = np.zeros(len(ends), dtype=bool)
        for low, high in intervals:
            inside |= (ends > low) & (ends <= high)
        return inside

    def rank_range(self, piece: int, domain: Domain) -> tuple[float, float]:
        """First and last rank in a piece of a grid or a list of options."""
        first = 0.0 if piece == 0 else self.ranks[piece - 1] + 1.0
        return float(first), float(self.ranks[piece] if piece < len(self.ranks) else domain.levels - 1)

    @cached_property
    def rank_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest real of each piece."""
        return _bounds(self.ranks, -math.inf, math.inf)

    @cached_property
    def unit_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest unit position of each piece of a real column."""
        return _bounds(self.units, 0.0, 1.0)


def _bounds(cuts: FloatArray, first: float, last: float) -> tuple[FloatArray, FloatArray]:
    return np.append(first, np.nextafter(cuts, math.inf)), np.append(cuts, last)


@dataclass(frozen=True, eq=False)
class Rules:
    """Everything that decides activity and legality of encoded points.

    group: (columns,) index of each column's group. constraints: relations between parameters.
    """

    domains: tuple[Domain, ...]
    groups: tuple[Group, ...]
    clauses: tuple[Bound, ...]
    group: IntArray
    constraints: tuple[ParameterConstraint, ...] = ()

    @cached_property
    def grids(self) -> Grids:
        return Grids(self.domains)

    @cached_property
    def conditions(self) -> tuple[Bound, ...]:
        """The condition of each group."""
        return tuple(group.bound for group in self.groups)

    @cached_property
    def grid(self) -> BoolArray:
        """(columns,) whether the column has a finite number of values."""
        return np.array([domain.kind != "real" for domain in self.domains])

    @cached_property
    def pieces(self) -> dict[int, Pieces]:
        """The pieces of every column that a condition or clause reads."""
        return cut_columns(self.domains, [*self.conditions, *self.clauses])

    @cached_property
    def _tables(self) -> dict[Test, BoolArray]:
        return self.tables(self.pieces)

    def tables(self, pieces: Mapping[int, Pieces]) -> dict[Test, BoolArray]:
        """For every test of a column in ``pieces``: (pieces,) whether it holds in each piece."""
        leaves = (leaf for bound in (*self.conditions, *self.clauses) for leaf in leaf_nodes(bound))
        tests = (leaf for leaf in leaves if isinstance(leaf, Test) and leaf.column in pieces)
        return {test: pieces[test.column].table(test.intervals) for test in tests}

    def holds(self, bound: Bound, view: EncodedView, on: BoolArray) -> BoolArray:
        """(n,) whether the condition is true; ``on`` must be final for every group it reads."""
        match bound:
            case Test(column, _):
                return on[:, self.group[column]] & self._tables[bound][view.piece(column)]
            case Relation(left, op, right, codes):
                active = on[:, self.group[left]] & on[:, self.group[right]]
                result: BoolArray = COMPARE[op](view.code(left, codes[0]), view.code(right, codes[1]))
                return active & result
            case Conjunction(parts):
                both: BoolArray = np.logical_and.reduce([self.holds(part, view, on) for part in parts])
                return both
            case Disjunction(parts):
                either: BoolArray = np.logical_or.reduce([self.holds(part, view, on) for part in parts])
                return either
            case Negation(part):
                return ~self.holds(part, view, on)

    def activity(self, view: EncodedView) -> BoolArray:
        """(n, groups) which groups are active."""
        on = np.empty((len(self.groups), len(view.x)), dtype=bool).T  # columns are contiguous
        for group in self.groups:
            on[:, group.index] = self.holds(group.bound, view, on)
        return on

    def snap(self, x: FloatArray) -> Points:
        """Points at the legal values nearest to ``x`` (n, columns), with the activity they imply."""
        columns = np.array(np.asarray(x, dtype=float).T, order="C")  # (columns, n): each column contiguous
        if np.isnan(columns.sum()):
            columns[np.isnan(columns)] = 0.5  # allowed only where inactive, where nothing reads it
        np.clip(columns, 0.0, 1.0, out=columns)
        grids = self.grids
        levels = grids.levels[grids.even, None]
        ranks = columns[grids.even]
        ranks *= levels
        np.floor(ranks, out=ranks)
        np.minimum(ranks, levels - 1, out=ranks)
        columns[grids.even] = (ranks + 0.5) / levels
        if len(grids.log):
            columns[grids.log] = grids.log_position(grids.log_rank_at(columns[grids.log].T)).T
        on = self.activity(EncodedView(self, columns.T))
        np.copyto(columns, 0.5, where=~on.T[self.group])
        return Points(columns.T, on)

    def violations(self, view: EncodedView, on: BoolArray) -> BoolArray:
        """(n, clauses + constraints) which forbidden clauses are true, and which relations do not hold."""
        found = np.empty((len(self.clauses) + len(self.constraints), len(view.x)), dtype=bool).T
        for i, clause in enumerate(self.clauses):
            found[:, i] = self.holds(clause, view, on)
        for i, constraint in enumerate(self.constraints, start=len(self.clauses)):
            found[:, i] = constraint.violated(view.number, on[:, self.group])
        return found

    def meets_relations(self, x: FloatArray, on: BoolArray) -> BoolArray:
        """(n,) whether every relation between parameters holds; forbidden clauses do not count."""
        numbers, active = EncodedView(self, x).number, on[:, self.group]
        violated = [constraint.violated(numbers, active) for constraint in self.constraints]
        return np.asarray(~np.logical_or.reduce(violated))


@dataclass(frozen=True, eq=False)
class EncodedView:
    """Encoded points as conditions read them. Each column's pieces and numbers are computed once.

    x: (n, columns) snapped. numbers: exact values of some columns, where they are known.
    """

    rules: Rules
    x: FloatArray
    numbers: dict[int, NDArray[Any]] = field(default_factory=dict)
    _pieces: dict[int, IntArray] = field(default_factory=dict, init=False)

    def piece(self, column: int) -> IntArray:
        if column not in self._pieces:
            self._pieces[column] = self.rules.pieces[column].index(self.x[:, column])
        return self._pieces[column]

    def _unit(self, column: int) -> FloatArray:
        return np.nan_to_num(self.x[:, column], nan=0.5)  # NaN only where inactive, where nothing reads it

    def code(self, column: int, codes: tuple[float, ...] | None) -> NDArray[Any]:
        """(n,) the numbers that a relation compares."""
        if codes is not None:
            return np.array(codes)[self.rules.domains[column].rank_at(self._unit(column)).astype(np.intp)]
        return self.number(column)

    def number(self, column: int) -> NDArray[Any]:
        """(n,) the values of a numeric column."""
        if column not in self.numbers:
            self.numbers[column] = values_at(self.rules, column, self._unit(column))
        return self.numbers[column]


def values_at(rules: Rules, column: int, unit: FloatArray) -> NDArray[Any]:
    """(n,) values of a column, on the same side of every threshold as the unit positions."""
    domain = rules.domains[column]
    ranks = domain.rank_at(unit)
    if isinstance(domain, Float) and domain.kind == "real" and column in rules.pieces:
        pieces = rules.pieces[column]
        index = pieces.index(unit)
        low, high = pieces.rank_bounds
        ranks = np.clip(np.clip(ranks, low[index], high[index]), domain.low, domain.high)
    return domain.values(ranks)


def decide(bound: Bound, truth: Callable[[Test | Relation], bool | None]) -> bool | None:
    """Kleene's three-valued logic: a condition's truth from the truth of its leaves; None = undecided."""
    match bound:
        case Conjunction(parts):
            truths = {decide(part, truth) for part in parts}
            return False if False in truths else None if None in truths else True
        case Disjunction(parts):
            truths = {decide(part, truth) for part in parts}
            return True if True in truths else None if None in truths else False
        case Negation(part):
            inner = decide(part, truth)
            return None if inner is None else not inner
        case _:
            return truth(bound)


def cut_columns(domains: Sequence[Domain], bounds: Iterable[Bound]) -> dict[int, Pieces]:
    """The pieces of every column that ``bounds`` read."""
    edges: dict[int, set[float]] = {}
    for bound in bounds:
        for column in columns_read(bound):
            edges.setdefault(column, set())
        for leaf in leaf_nodes(bound):
            if isinstance(leaf, Test):
                edges[leaf.column].update(edge for interval in leaf.intervals for edge in interval)
    return {column: Pieces.cut(domains[column], cuts) for column, cuts in edges.items()}
