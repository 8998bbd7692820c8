"""Conditions bound to columns: their meaning, independent of their spelling.

A bound condition has two kinds of leaf. ``Test`` says "the rank of this column lies in one of these
intervals". So ``model != 'bayes'`` and ``model in ('svm', 'forest')`` are the same condition, and
parameters with either are in the same group. ``Relation`` compares two columns. Both are false where a
column that they read is inactive.

``conditions.py`` has a separate tree because it keeps names and spelling, which errors, files and
drawings show. This one keeps meaning: it merges tests of one column and ignores the order of parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bough.errors import ConditionError, ConfigError
from bough.space import conditions
from bough.space.conditions import MIRRORED, Compare, Condition, Relate
from bough.space.parameters import Categorical, Domain
from bough.space.scalars import Scalar, as_number, shown

__all__ = [
    "ALWAYS", "Bound", "Conjunction", "Disjunction", "Interval", "Negation", "Relation", "Test",
    "bind", "columns_read", "complement", "identity", "implies", "leaf_nodes", "needed_active",
]  # fmt: skip

Interval: TypeAlias = tuple[float, float]
"""Ranks r with low < r <= high; -inf and inf where it reaches the end of the domain."""


@dataclass(frozen=True)
class Test:
    """The column is active and its rank lies in one of the disjoint, ascending intervals."""

    __test__ = False  # not a pytest class

    column: int
    intervals: tuple[Interval, ...]


@dataclass(frozen=True)
class Relation:
    """Both columns are active and ``left op right``.

    codes: for each side the number that represents each rank of a categorical; None for a numeric
    column, whose values are compared directly.
    """

    left: int
    op: str
    right: int
    codes: tuple[tuple[float, ...] | None, tuple[float, ...] | None]


@dataclass(frozen=True, eq=False)
class _Joined:
    """Equality ignores the order of the parts."""

    parts: tuple[Bound, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and set(self.parts) == set(other.parts)

    def __hash__(self) -> int:
        return hash((type(self), frozenset(self.parts)))


class Conjunction(_Joined):
    """All parts hold."""


class Disjunction(_Joined):
    """Some part holds."""


@dataclass(frozen=True)
class Negation:
    part: Bound


Bound: TypeAlias = Test | Relation | Conjunction | Disjunction | Negation

ALWAYS = Conjunction(())
"""The condition of a parameter that has none."""


def bind(condition: Condition, column: Callable[[str], int], domains: Sequence[Domain]) -> Bound:
    """``condition`` over columns. Raises if a value does not fit the parameter it is compared with."""
    match condition:
        case Compare(name, op, value):
            index = column(name)
            return Test(index, _intervals(name, domains[index], op, value))
        case Relate(left, op, right):
            return _relation(condition, column(left), column(right), domains)
        case conditions.All(parts):
            return _merge(Conjunction, [bind(part, column, domains) for part in parts])
        case conditions.Any(parts):
            return _merge(Disjunction, [bind(part, column, domains) for part in parts])
        case conditions.Not(part):
            return Negation(bind(part, column, domains))


def leaf_nodes(condition: Bound) -> Iterator[Test | Relation]:
    """The tests and relations of a condition."""
    match condition:
        case Conjunction(parts) | Disjunction(parts):
            for part in parts:
                yield from leaf_nodes(part)
        case Negation(part):
            yield from leaf_nodes(part)
        case _:
            yield condition


def columns_read(condition: Bound) -> set[int]:
    """Every column the condition reads."""
    found: set[int] = set()
    for leaf in leaf_nodes(condition):
        found |= {leaf.column} if isinstance(leaf, Test) else {leaf.left, leaf.right}
    return found


def needed_active(condition: Bound) -> set[int]:
    """Columns that must be active for the condition to be true."""
    match condition:
        case Test() | Relation():
            return columns_read(condition)
        case Conjunction(parts):
            return set[int]().union(*map(needed_active, parts))
        case Disjunction(parts):
            return set.intersection(*map(needed_active, parts))
        case Negation():
            return set()


def implies(left: Bound, right: Bound) -> bool:
    """Whether ``left`` is the same as ``right``, or a narrower test of the same column."""
    if isinstance(left, Test) and isinstance(right, Test) and left.column == right.column:
        return _intersection([left.intervals, right.intervals]) == left.intervals
    return left == right


def identity(condition: Bound, names: Sequence[str]) -> object:
    """A hashable value, equal for equal conditions of equal spaces in any order of columns."""
    match condition:
        case Test(column, intervals):
            return names[column], intervals
        case Relation(left, op, right, codes):
            sides = (names[left], op, names[right], codes)
            mirrored = (names[right], MIRRORED[op], names[left], codes[::-1])
            return min(sides, mirrored, key=lambda side: (side[0], side[1]))
        case Conjunction(parts):
            return "and", frozenset(identity(part, names) for part in parts)
        case Disjunction(parts):
            return "or", frozenset(identity(part, names) for part in parts)
        case Negation(part):
            return "not", identity(part, names)


# ---- comparisons with a value ----------------------------------------------------------------


def _intervals(
    name: str, domain: Domain, op: str, value: Scalar | tuple[Scalar, ...]
) -> tuple[Interval, ...]:
    """The ranks for which ``name op value`` holds."""
    if op in ("==", "!=", "in", "not in"):
        values = value if isinstance(value, tuple) else (value,)
        ranks = sorted({_rank(name, domain, each) for each in values})
        equal = [(_before(domain, rank), rank) for rank in ranks]
        return _tidy(domain, equal if op in ("==", "in") else complement(equal))
    if isinstance(domain, Categorical) and not domain.ordered:
        raise ConditionError(f"{name!r} is not ordered: {op} needs a number or Categorical(ordered=True)")
    assert not isinstance(value, tuple)
    edge = _threshold(name, domain, op, value)
    return _tidy(domain, [(-math.inf, edge)] if op in ("<", "<=") else [(edge, math.inf)])


def _rank(name: str, domain: Domain, value: Scalar) -> float:
    try:
        return float(domain.ranks([domain.check(value)])[0])
    except ConfigError as error:
        allowed = str(error).removesuffix(f", not {shown(value)}")
        raise ConditionError(f"{value!r} is not a value of {name!r}, which {allowed}") from None


def _threshold(name: str, domain: Domain, op: str, value: Scalar) -> float:
    """The rank r such that ``op`` divides the ranks <= r from those > r."""
    if isinstance(domain, Categorical):
        rank = _rank(name, domain, value)
        return rank if op in ("<=", ">") else rank - 1
    number = as_number(value)
    if number is None or not domain.low <= number <= domain.high:
        raise ConditionError(
            f"{value!r} is not a value of {name!r}, "
            f"which must be a number in [{domain.low!r}, {domain.high!r}]"
        )
    if domain.kind == "real":
        return float(number) if op in ("<=", ">") else float(np.nextafter(number, -math.inf))
    rank = (number - domain.low) / (domain.step or 1)
    if abs(rank - round(rank)) < 1e-9:  # on the grid, up to the rounding of a float step
        rank = round(rank)
    return float(math.floor(rank) if op in ("<=", ">") else math.ceil(rank) - 1)


def _before(domain: Domain, rank: float) -> float:
    return float(np.nextafter(rank, -math.inf)) if domain.kind == "real" else rank - 1


def _tidy(domain: Domain, intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Neighbours joined, empty ones dropped, the ends of the domain written as infinite."""
    first, last = domain.ends
    inside = [(low, high) for low, high in intervals if low < high and low < last and high >= first]
    ended = [(-math.inf if low < first else low, math.inf if high >= last else high) for low, high in inside]
    return _union([ended])


def _merge(kind: type[Conjunction] | type[Disjunction], parts: Sequence[Bound]) -> Bound:
    """One condition of ``parts``: tests of one column become one test, repetitions disappear."""
    join = _union if kind is Disjunction else _intersection
    tests: dict[int, list[tuple[Interval, ...]]] = {}
    for part in parts:
        if isinstance(part, Test):
            tests.setdefault(part.column, []).append(part.intervals)
    joined = {column: Test(column, join(sets)) for column, sets in tests.items()}
    merged = dict.fromkeys(joined[part.column] if isinstance(part, Test) else part for part in parts)
    return kind(tuple(merged)) if len(merged) > 1 else next(iter(merged))


def _union(sets: Iterable[Iterable[Interval]]) -> tuple[Interval, ...]:
    joined: list[Interval] = []
    for low, high in sorted(interval for each in sets for interval in each):
        if joined and low <= joined[-1][1]:
            low, high = joined[-1][0], max(high, joined.pop()[1])
        joined.append((low, high))
    return tuple(joined)


def _intersection(sets: Iterable[Sequence[Interval]]) -> tuple[Interval, ...]:
    return tuple(complement(_union(complement(each) for each in sets)))


def complement(intervals: Sequence[Interval]) -> list[Interval]:
    """The ranks outside of disjoint, ascending intervals."""
    edges = [-math.inf, *(edge for interval in intervals for edge in interval), math.inf]
    return [(low, high) for low, high in zip(edges[::2], edges[1::2]) if low < high]


# ---- comparisons of two parameters -----------------------------------------------------------


def _relation(condition: Relate, left: int, right: int, domains: Sequence[Domain]) -> Relation:
    if left == right:
        raise ConditionError(f"{condition.left!r} is compared with itself")
    codes = _codes(condition, domains[left], domains[right])
    if left < right:
        return Relation(left, condition.op, right, codes)
    return Relation(right, MIRRORED[condition.op], left, codes[::-1])


def _codes(
    condition: Relate, left: Domain, right: Domain
) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    """Numbers that compare as the values of the two parameters do."""
    sides = tuple(_number_codes(domain) for domain in (left, right))
    ordered = condition.op not in ("==", "!=")
    comparable = all(not isinstance(d, Categorical) or d.ordered or not ordered for d in (left, right))
    if () not in sides and comparable:
        return sides[0], sides[1]
    if isinstance(left, Categorical) and isinstance(right, Categorical):
        same = list(left.index) == list(right.index)
        if not ordered or (same and left.ordered and right.ordered):
            codes = {key: float(i) for i, key in enumerate(dict.fromkeys([*left.index, *right.index]))}
            return tuple(codes[k] for k in left.index), tuple(codes[k] for k in right.index)
    raise ConditionError(
        f"{condition.left!r} {condition.op} {condition.right!r} does not compare: both must be numbers, "
        "or categoricals (for an ordering: ordered=True and the same options)"
    )


def _number_codes(domain: Domain) -> tuple[float, ...] | None:
    """None for a numeric parameter, the numbers of an all-number categorical, () for any other."""
    if not isinstance(domain, Categorical):
        return None
    if any(isinstance(o, bool) or not isinstance(o, int | float) for o in domain.options):
        return ()
    return tuple(float(o) for o in domain.options if o is not None)
