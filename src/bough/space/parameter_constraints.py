"""Relations between parameters, bound to columns: which points violate them, and by how much.

A comparison ``left <= right`` becomes ``g <= 0`` for the polynomial g = left - right in the values of numeric
columns; ``>=`` swaps the sides. ``space.projection`` moves points to where all of them hold.

Rounding: ``g <= 0`` holds up to TOLERANCE times the magnitude of its terms, ``g < 0`` must hold by that much,
and ``g == 0`` allows EQUAL_TOLERANCE, since people type shares such as 0.333. Relations between whole numbers
are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bough.errors import ConditionError
from bough.points import BoolArray, FloatArray
from bough.space.parameters import Categorical, Domain, Float, Int
from bough.space.relations import Arithmetic, Expression, Name, Number, Relation, Sum, names_in

__all__ = ["ParameterConstraint", "Term", "bind_relation", "soft_values"]

TOLERANCE = 1e-9
EQUAL_TOLERANCE = 1e-6
SMALLEST_GAP = 5e-324
"""Smallest gap that ``g < 0`` needs: where all terms are 0, a share of their magnitude is 0, too."""

SHARE_OF_LARGEST = 1e-12
"""Share of the largest magnitude of g by which a point is moved away from where all terms are 0."""

MAX_TERMS = 10_000


class Term(NamedTuple):
    """``weight`` times the product of ``columns`` (with repeats). It counts where all of ``when`` are active.
    Outside of ``sum(...)``, ``when`` is empty, because the whole relation needs those columns."""

    weight: float
    columns: tuple[int, ...]
    when: frozenset[int]


@dataclass(frozen=True, eq=False)
class ParameterConstraint:
    """``g op 0`` with op one of <=, <, ==.

    text: the relation, for messages.  integral: whether g takes only whole values.
    needed: columns that must be active for it to apply.  sums: sets of which some column must be active.
    largest: the largest magnitude that g may have.
    """

    text: str
    op: str
    terms: tuple[Term, ...]
    needed: frozenset[int]
    sums: tuple[frozenset[int], ...]
    integral: bool
    largest: float

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The columns that g reads."""
        return tuple(sorted({column for term in self.terms for column in term.columns}))

    @property
    def is_linear(self) -> bool:
        return all(len(term.columns) <= 1 for term in self.terms)

    def is_straight(self, domains: Sequence[Domain]) -> bool:
        """Whether g is linear in unit positions too: no log scale."""
        return self.is_linear and not any(getattr(domains[column], "log", False) for column in self.columns)

    @cached_property
    def _weights(self) -> tuple[FloatArray, float] | None:
        """The weight of each column and the constant, where g is a plain weighted sum of active columns."""
        own = [not t.when or t.when == {*t.columns} for t in self.terms]
        simple = self.is_linear and all(own)
        if not simple or len({t.columns for t in self.terms}) < len(self.terms):
            return None
        weight = {t.columns: t.weight for t in self.terms}
        return np.array([weight[(column,)] for column in self.columns]), weight.get((), 0.0)

    def identity(self, names: Sequence[str]) -> object:
        """Equal for constraints that mean the same in equal spaces."""
        terms = frozenset(
            (weight, tuple(sorted(names[c] for c in columns)), frozenset(names[c] for c in when))
            for weight, columns, when in self.terms
        )
        return self.op, terms, frozenset(names[c] for c in self.needed)

    def applies(self, active: BoolArray) -> BoolArray:
        """(n,) whether the relation says anything about rows with that activity (n, columns)."""
        applies: BoolArray = np.asarray(active[:, sorted(self.needed)].all(axis=1))
        for members in self.sums:
            applies &= active[:, sorted(members)].any(axis=1)
        return applies

    def evaluate(
        self, values: Callable[[int], FloatArray], active: BoolArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n,) g, (n,) the sum of the magnitudes of its terms, (n, own columns) the derivatives by values."""
        if self._weights is not None:
            weights, constant = self._weights
            counted = weights * active[:, self.columns] if self.sums else np.tile(weights, (len(active), 1))
            parts = counted * np.stack([values(column) for column in self.columns], axis=1)
            return parts.sum(axis=1) + constant, np.abs(parts).sum(axis=1) + abs(constant), counted
        place = {column: i for i, column in enumerate(self.columns)}
        total, magnitude = np.zeros(len(active)), np.zeros(len(active))
        slope = np.zeros((len(active), len(place)))
        for weight, columns, when in self.terms:
            counted = weight * np.asarray(active[:, sorted(when)].all(axis=1), dtype=float)
            product = np.prod([counted, *(values(c) for c in columns)], axis=0)
            total += product
            magnitude += np.abs(product)
            for i, column in enumerate(columns):
                others = (values(c) for c in columns[:i] + columns[i + 1 :])
                slope[:, place[column]] += np.prod([counted, *others], axis=0)
        return total, magnitude, slope

    def excess(self, total: FloatArray, magnitude: FloatArray) -> FloatArray:
        """(n,) by how much g is too large (for == also: too small, negative); 0 where the relation holds."""
        if self.op == "==":
            within = 0.0 if self.integral else EQUAL_TOLERANCE * magnitude
            return np.where(np.abs(total) <= within, 0.0, total)
        if self.op == "<=":
            return np.where(total <= (0.0 if self.integral else TOLERANCE * magnitude), 0.0, total)
        needed = 1.0 if self.integral else np.maximum(TOLERANCE * magnitude, SMALLEST_GAP)
        return np.where(total <= -needed, 0.0, total + needed)

    def margin(self, magnitude: FloatArray) -> FloatArray:
        """(n,) how far below 0 a point is placed when it moves to the limit, so rounding keeps it legal."""
        if self.op == "==":
            return np.zeros_like(magnitude)
        if self.op == "<":
            apart = np.where(magnitude > 0, 2 * TOLERANCE * magnitude, SHARE_OF_LARGEST * self.largest)
            return np.ones_like(magnitude) if self.integral else apart
        return np.zeros_like(magnitude) if self.integral else 1e-13 * magnitude

    def violated(self, values: Callable[[int], FloatArray], active: BoolArray) -> BoolArray:
        """(n,) whether rows violate the relation."""
        total, magnitude, _ = self.evaluate(values, active)
        return np.asarray(self.applies(active) & ~(self.excess(total, magnitude) == 0.0))


def bind_relation(
    relation: Relation, column: Callable[[str], int], domains: Sequence[Domain]
) -> list[ParameterConstraint]:
    """The constraints of a chain of comparisons."""
    found = []
    for left, op, right in zip(relation.operands, relation.operators, relation.operands[1:]):
        if op in (">", ">="):
            left, right, op = right, left, op.replace(">", "<")
        difference = Arithmetic("-", left, right)
        names = names_in(difference)
        for name in names:
            if isinstance(domains[column(name)], Categorical):
                raise ConditionError(f"{name!r} is a category: relations need numeric parameters")
        integers = all(isinstance(domains[column(name)], Int) for name in names)
        terms = _merged(_expand(difference, column))
        if not any(term.columns for term in terms):
            raise ConditionError("the parameters cancel each other out")
        found.append(
            ParameterConstraint(
                text=str(relation),
                op=op,
                terms=terms,
                needed=frozenset(column(name) for name in names_in(difference, sums=False)),
                sums=tuple(frozenset(map(column, names_in(each))) for each in _sums(difference)),
                integral=integers and all(float(term.weight).is_integer() for term in terms),
                largest=sum(_largest(term, domains) for term in terms),
            )
        )
    return found


def _largest(term: Term, domains: Sequence[Domain]) -> float:
    """The largest magnitude of a term."""
    ends = (soft_values(domains[column], np.array([0.0, 1.0]))[0] for column in term.columns)
    return abs(term.weight) * math.prod(float(np.abs(each).max()) for each in ends)


def soft_values(domain: Domain, unit: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values at unit positions and their derivatives; a grid counts as the line through its values."""
    assert not isinstance(domain, Categorical)
    if domain.log:
        half = 0.5 if isinstance(domain, Int) else 0.0
        low, high = math.log(domain.low - half), math.log(domain.high + half)
        value = np.exp(low + unit * (high - low))
        return np.clip(value, domain.low, domain.high), value * (high - low)
    if isinstance(domain, Float) and domain.step is None:
        width = domain.high - domain.low
        return domain.low + unit * width, np.full_like(unit, width)
    step = float(domain.step or 1)
    last = domain.low + step * (domain.levels - 1)
    value = np.clip(domain.low + step * (unit * domain.levels - 0.5), domain.low, last)
    return value, np.full_like(unit, step * domain.levels)


def _sums(expression: Expression) -> Iterable[Sum]:
    match expression:
        case Sum():
            yield expression
        case Arithmetic(_, left, right):
            yield from _sums(left)
            yield from _sums(right)


def _expand(expression: Expression, column: Callable[[str], int]) -> list[Term]:
    """The expression as a polynomial."""
    match expression:
        case Number(value):
            return [Term(value, (), frozenset())]
        case Name(name):
            return [Term(1.0, (column(name),), frozenset())]
        case Sum(members):
            found = []
            for member in members:
                when = frozenset(map(column, names_in(member)))
                found += [term._replace(when=when) for term in _expand(member, column)]
            return found
    left, right = _expand(expression.left, column), _expand(expression.right, column)
    match expression.op:
        case "+":
            return left + right
        case "-":
            return left + [term._replace(weight=-term.weight) for term in right]
        case "/":
            return [term._replace(weight=term.weight / right[0].weight) for term in left]
    if len(left) * len(right) > MAX_TERMS:
        raise ConditionError(f"a product of sums has more than {MAX_TERMS} terms")
    return [
        Term(a.weight * b.weight, tuple(sorted(a.columns + b.columns)), a.when | b.when)
        for a in left
        for b in right
    ]


def _merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Like terms added up; those that vanish are dropped."""
    weights: dict[tuple[tuple[int, ...], frozenset[int]], float] = {}
    for weight, columns, when in terms:
        weights[columns, when] = weights.get((columns, when), 0.0) + weight
    return tuple(Term(weight, *key) for key, weight in weights.items() if weight != 0.0)
