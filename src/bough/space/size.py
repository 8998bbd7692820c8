"""How many distinct configurations a space holds, and whether it holds any.

Both follow from a walk over the groups and pieces that conditions and forbidden clauses distinguish. Each
combination stands for as many configurations as its pieces and its other active columns have values. A
walk of more than ``MAX_COMBINATIONS`` ends early, and the answer is an upper bound that says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bough.points import BoolArray, FloatArray
from bough.space.activity import Pieces, Rules
from bough.space.binding import Bound, Relation, columns_read, leaf_nodes
from bough.space.parameter_constraints import ParameterConstraint, Term, soft_values
from bough.space.walk import Walk

__all__ = ["AtMost", "is_empty", "size", "why_empty"]

MAX_COMBINATIONS = 20_000
MAX_LEVELS = 1000
"""A column with more values is not split into single values for a comparison with another column."""


class AtMost(int):
    """An upper bound, where counting exactly would take too long."""

    def __repr__(self) -> str:
        return f"at most {int(self)}"

    __str__ = __repr__


def size(rules: Rules) -> int | float:
    """The number of configurations: an exact int, ``math.inf``, or an ``AtMost``."""
    if _least_combinations(rules) > MAX_COMBINATIONS:
        return _bound(rules)
    total: int | float = 0
    exact = True
    for count, (weight, legal) in enumerate(_combinations(rules)):
        if count == MAX_COMBINATIONS:
            return _bound(rules)
        if legal is not False:
            total += weight
        if total == math.inf:
            return total
        exact &= legal is not None
    return total if exact else AtMost(total)


def is_empty(rules: Rules) -> bool:
    """Whether forbidden clauses certainly exclude every configuration; False also if the walk ends early."""
    if not rules.clauses and not rules.constraints:
        return False
    for count, (_, legal) in enumerate(_combinations(rules)):
        if legal is not False or count == MAX_COMBINATIONS:
            return False
    return True


def _least_combinations(rules: Rules) -> int:
    """A lower bound of the combinations that a walk visits: the ones of columns that are always active."""
    return math.prod(len(cut) for column, cut in _pieces(rules).items() if rules.group[column] == 0)


def _bound(rules: Rules) -> int | float:
    """An upper bound: any column may have any value, and outside the root it may be inactive."""
    levels = ((d.levels or math.inf) + (g != 0) for d, g in zip(rules.domains, rules.group.tolist()))
    total = math.prod(levels)
    return total if total == math.inf else AtMost(total)


def _combinations(rules: Rules) -> Iterator[tuple[int | float, bool | None]]:
    """For each combination: how many configurations it stands for, and whether they are legal.

    None: by a comparison of two columns some are legal and others are not, or the combination itself may not
    occur.
    """
    pieces = _pieces(rules)
    widths = {column: _widths(rules, column, cut) for column, cut in pieces.items()}
    levels = [1 if c in pieces else domain.levels or math.inf for c, domain in enumerate(rules.domains)]
    free = [math.prod(levels[column] for column in group.columns) for group in rules.groups]
    related = [bound for bound in rules.conditions if _relations(bound)]
    walk = Walk(rules, pieces)
    for on, chosen in walk:
        weight = math.prod(free[group] for group in np.flatnonzero(on).tolist())
        weight *= math.prod(widths[column][piece] for column, piece in chosen.items())
        forbidden = {walk.holds(clause, chosen) for clause in rules.clauses}
        forbidden |= {_missed(rules, constraint, pieces, on, chosen) for constraint in rules.constraints}
        unsure = None in forbidden or any(walk.holds(bound, chosen) is None for bound in related)
        yield weight, False if True in forbidden else None if unsure else True


def _pieces(rules: Rules) -> dict[int, Pieces]:
    """Pieces that decide all comparisons with a value, and between two columns with few values."""
    pieces = dict(rules.pieces)
    bounds = (*rules.conditions, *rules.clauses)
    related = [columns_read(relation) for bound in bounds for relation in _relations(bound)]
    for column in set[int]().union(*related, *(constraint.columns for constraint in rules.constraints)):
        domain = rules.domains[column]
        if 0 < domain.levels <= MAX_LEVELS:
            pieces[column] = Pieces.cut(domain, range(domain.levels - 1))
        else:
            pieces.setdefault(column, Pieces.cut(domain, ()))
    return pieces


def _missed(
    rules: Rules,
    constraint: ParameterConstraint,
    pieces: dict[int, Pieces],
    on: BoolArray,
    chosen: Mapping[int, int],
) -> bool | None:
    """Whether a combination violates a relation; None if that may depend on the configuration."""
    active = on[None, rules.group]
    if not constraint.applies(active)[0]:
        return False
    values: dict[int, FloatArray] = {}
    for column in constraint.columns:
        domain, values[column] = rules.domains[column], np.zeros(1)
        if column not in chosen:
            continue
        first, last = (0.0, 1.0)
        if domain.kind != "real":
            first, last = pieces[column].rank_range(chosen[column], domain)
        if first != last:
            return None
        values[column] = np.asarray(domain.values(np.array([first])), dtype=float)
    return bool(constraint.violated(values.__getitem__, active)[0])


def why_empty(rules: Rules, relations: Sequence[str]) -> str:
    """Why no configuration meets the relations, in one line."""
    for constraint in rules.constraints:
        if constraint.is_linear and not constraint.sums:
            ends = [_least(rules, term) for term in constraint.terms]
            if sum(ends) > 0:
                return f"require {constraint.text!r} cannot be met: at best it is missed by {sum(ends):g}"
    return f"no configuration was found that meets require={list(relations)!r:.200}"


def _least(rules: Rules, term: Term) -> float:
    """The smallest value of a linear term."""
    if not term.columns:
        return term.weight
    low, high = soft_values(rules.domains[term.columns[0]], np.array([0.0, 1.0]))[0]
    return float(min(term.weight * low, term.weight * high))


def _relations(bound: Bound) -> list[Relation]:
    return [leaf for leaf in leaf_nodes(bound) if isinstance(leaf, Relation)]


def _widths(rules: Rules, column: int, pieces: Pieces) -> list[int | float]:
    """How many values each piece holds."""
    domain = rules.domains[column]
    if domain.kind == "real":
        low, high = pieces.rank_bounds
        first, last = domain.ends
        return [1 if max(a, first) == min(b, last) else math.inf for a, b in zip(low, high)]
    ranges = (pieces.rank_range(piece, domain) for piece in range(len(pieces)))
    return [int(last - first) + 1 for first, last in ranges]
