"""One point at a time: the same draws, activity and values as for many, without the cost of arrays.

An ask needs one point, and NumPy takes longer to set up its operations on one row than plain Python takes
to do them. So what is done per column is compiled once per space. Everything here gives, to the bit, what
its counterpart for many points gives for one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.points import Points
from bough.space.binding import Bound, Conjunction, Negation, Relation, Test
from bough.space.parameters import Categorical, Domain, Float, Int
from bough.space.scalars import Scalar

if TYPE_CHECKING:
    from bough.space.activity import Rules

__all__ = ["Draw", "Reader", "drawer", "reader"]

Reader = Callable[[float], Scalar]
"""The value at a unit position."""

Draw = Callable[[np.random.Generator], Points]
"""Draws one legal point, uniformly."""

_Predicate = Callable[[Sequence[float], Sequence[bool]], bool]
"""Whether a condition holds, from unit positions by column and activity by group."""


def reader(domain: Domain) -> Reader:
    """The counterpart of ``domain.values(domain.rank_at(unit))``."""
    if isinstance(domain, Categorical):
        options, count = domain.options, domain.levels
        return lambda unit: options[min(int(unit * count), count - 1)]
    if isinstance(domain, Int) and not domain.log:
        first, step, levels = domain.low, domain.step or 1, domain.levels
        return lambda unit: first + step * min(int(unit * levels), levels - 1)
    if isinstance(domain, Float) and domain.step is None:
        return _real_reader(domain.low, domain.high, domain.log)
    numeric = domain
    return lambda unit: numeric.values(numeric.rank_at(np.array([unit]))).tolist()[0]


def drawer(rules: Rules) -> Draw | None:
    """The counterpart of ``sample_points`` for one point; None where that may reject what it drew, or
    where a condition compares two parameters."""
    predicates = [_predicate(rules, group.bound) for group in rules.groups]
    if rules.clauses or None in predicates:
        return None
    snappers = [_snapper(domain) for domain in rules.domains]
    first = [(column, snappers[column]) for column in rules.pieces]
    groups = [
        (
            predicate,
            [column for column in group.columns if column in rules.pieces],
            [(column, snappers[column]) for column in group.columns if column not in rules.pieces],
        )
        for group, predicate in zip(rules.groups, predicates)
        if predicate is not None
    ]

    def draw(rng: np.random.Generator) -> Points:
        x = [0.5] * len(snappers)
        on: list[bool] = []
        for column, snap in first:
            x[column] = snap(rng.random())
        for predicate, _, _ in groups:
            on.append(predicate(x, on))
        for is_on, (_, drawn, others) in zip(on, groups):
            if is_on:
                for column, snap in others:
                    x[column] = snap(rng.random())
            else:
                for column in drawn:
                    x[column] = 0.5
        return Points(np.array([x]), np.array([on]))

    return draw


def _real_reader(low: float, high: float, log: bool) -> Reader:
    start, end = (math.log(low), math.log(high)) if log else (low, high)

    def read(unit: float) -> float:
        if unit <= 0.0:  # the ends exactly: exp(log(x)) may miss x by a rounding
            return low
        if unit >= 1.0:
            return high
        number = start + unit * (end - start)
        if log:
            number = float(np.exp(number))  # math.exp may round in another way
        return min(max(number, low), high)

    return read


def _snapper(domain: Domain) -> Callable[[float], float]:
    """The counterpart of ``domain.position(domain.rank_at(unit))``."""
    if domain.kind == "real":
        return lambda unit: unit
    if getattr(domain, "log", False):
        return lambda unit: float(domain.position(domain.rank_at(np.array([unit])))[0])
    levels = domain.levels
    return lambda unit: (min(int(unit * levels), levels - 1) + 0.5) / levels


def _predicate(rules: Rules, bound: Bound | None) -> _Predicate | None:
    """The counterpart of ``rules.holds``; None if there is a relation in the condition."""
    match bound:
        case None:
            return lambda x, on: True
        case Test(column, intervals):
            pieces, group = rules.pieces[column], int(rules.group[column])
            cuts, table = pieces.units.tolist(), pieces.table(intervals).tolist()
            return lambda x, on: on[group] and table[bisect_left(cuts, x[column])]
        case Relation():
            return None
        case Negation(part):
            inner = _predicate(rules, part)
            return None if inner is None else lambda x, on: not inner(x, on)
    quantifier: Any = all if isinstance(bound, Conjunction) else any
    inners = [inner for part in bound.parts if (inner := _predicate(rules, part)) is not None]
    if len(inners) < len(bound.parts):
        return None
    return lambda x, on: quantifier(inner(x, on) for inner in inners)
