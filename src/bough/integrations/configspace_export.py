"""Write a Space as ConfigSpace's JSON (format 0.4).

ConfigSpace has no negation and no ``>=`` in conditions, and its NEQ is true for an inactive parent in
one place and false in another. So conditions are first rewritten without negation: a negated comparison
becomes "the parameter is inactive, or it has one of the other values". "Inactive" is in turn the negated
condition of that parameter, which is rewritten in the same way.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bough.errors import SpaceError
from bough.integrations.configspace_import import digest
from bough.space.activity import COMPARE
from bough.space.beliefs import beliefs_of
from bough.space.binding import (
    ALWAYS,
    Bound,
    Conjunction,
    Disjunction,
    Interval,
    Negation,
    Relation,
    Test,
    complement,
)
from bough.space.parameters import Categorical, Domain, Float, Int, Unset

if TYPE_CHECKING:
    from bough.space.space import Space

__all__ = ["to_configspace_dict"]

Words: TypeAlias = tuple[Any, ...]
"""A positive condition: ("AND" | "OR", *words), ("IN", column, values), ("RELATION", relation), or
(op, column, value) with an op of EQ LT GT."""

COMPLEMENT = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
RELATIONS = {"==": "EQ", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}
MAX_LISTED = 10_000
"""The most values, or pairs of values, that are written out."""


def to_configspace_dict(space: Space) -> dict[str, Any]:
    """``space`` as a ConfigSpace JSON document.

    Reused names are replaced by paths, steps become ordinals. If reading the document would not give an
    equal space, the key "bough" holds the space in bough's format as well.
    """
    if space.require:
        raise SpaceError(
            f"ConfigSpace cannot express require={list(space.require)!r:.120}; save bough's own JSON"
        )
    writer = _Writer(space)
    data: dict[str, Any] = {
        "name": None,
        "hyperparameters": list(writer.hyperparameters()),
        "conditions": list(writer.conditions()),
        "forbiddens": [writer.clause(writer.positive(clause)) for clause in space.rules.clauses],
        "python_module_version": "1.2.0",
        "format_version": 0.4,
    }
    if not _reads_back(data, space):
        data["bough"] = {"space": space.to_dict(), "digest": digest(data)}
    return data


def _reads_back(data: dict[str, Any], space: Space) -> bool:
    """Whether reading ``data`` gives an equal space with equal beliefs; a long condition may not parse."""
    try:
        again = type(space).from_json(data)
        return again == space and beliefs_of(again) == beliefs_of(space)
    except SpaceError:
        return False


class _Writer:
    """The data of the translation: names, domains and conditions by column."""

    def __init__(self, space: Space) -> None:
        self.space = space
        uses = Counter(parameter.name for parameter in space.parameters)
        self.names = [p.name if uses[p.name] == 1 else p.path for p in space.parameters]
        self.domains = space.rules.domains

    def guard(self, column: int) -> Bound:
        """The condition under which the column is active."""
        return self.space.rules.conditions[int(self.space.rules.group[column])]

    # ---- the three lists ---------------------------------------------------------------------

    def hyperparameters(self) -> Iterator[dict[str, Any]]:
        for name, domain, default in zip(self.names, self.domains, _defaults(self.space)):
            item: dict[str, Any] = {"name": name}
            match domain:
                case Float(step=None) | Int(step=None):
                    item["type"] = "uniform_float" if isinstance(domain, Float) else "uniform_int"
                    item.update(lower=domain.low, upper=domain.high, log=domain.log, default_value=default)
                case Categorical(ordered=False, default=Unset()) if domain.levels == 1:
                    item.update(type="constant", value=domain.options[0])
                case Categorical(ordered=False):
                    item.update(type="categorical", choices=_every(name, domain), weights=None)
                    item["default_value"] = default
                case _:
                    item.update(type="ordinal", sequence=_every(name, domain), default_value=default)
            yield {**item, "meta": None}

    def conditions(self) -> Iterator[dict[str, Any]]:
        for column, name in enumerate(self.names):
            bound = self.guard(column)
            if bound != ALWAYS:
                yield self.condition(name, self.positive(bound))

    def condition(self, child: str, words: Words) -> dict[str, Any]:
        """``words`` as ConfigSpace writes the condition of ``child``."""
        match words:
            case ("AND" | "OR" as kind, *parts):
                return {"type": kind, "child": child, "conditions": [self.condition(child, p) for p in parts]}
            case ("RELATION", relation):
                return self.condition(child, self.pairs(relation, f"the condition of {child!r}"))
            case ("IN", column, values):
                return {"type": "IN", "child": child, "parent": self.names[column], "values": values}
            case (op, column, value):
                return {"type": op, "child": child, "parent": self.names[column], "value": value}
        raise AssertionError(words)

    def clause(self, words: Words) -> dict[str, Any]:
        """``words`` as ConfigSpace writes a forbidden clause."""
        match words:
            case ("AND" | "OR" as kind, *parts):
                return {"type": kind, "clauses": [self.clause(part) for part in parts]}
            case ("RELATION", Relation(left, op, right) as relation):
                if not (_is_number(self.domains[left]) and _is_number(self.domains[right])):
                    return self.clause(self.pairs(relation, "a forbidden clause"))
                names = {"left": self.names[left], "right": self.names[right]}
                if op == "!=":
                    return {
                        "type": "OR",
                        "clauses": [{"type": f"RELATION_{o}", **names} for o in ("LT", "GT")],
                    }
                return {"type": f"RELATION_{RELATIONS[op]}", **names}
            case ("IN", column, values):
                return {"type": "IN", "name": self.names[column], "values": values}
            case (op, column, value):
                kind = "EQUALS" if op == "EQ" else f"CLAUSE_{op}"
                return {"type": kind, "name": self.names[column], "value": value}
        raise AssertionError(words)

    # ---- the positive form ---------------------------------------------------------------------

    def positive(self, bound: Bound, negated: bool = False) -> Words:
        """``bound``, or its negation, without any negation in it."""
        match bound:
            case Negation(part):
                return self.positive(part, not negated)
            case Conjunction(parts) | Disjunction(parts):
                kind = "AND" if isinstance(bound, Conjunction) != negated else "OR"
                return _join(kind, [self.positive(part, negated) for part in parts])
            case Test(column, intervals) if negated:
                return _join("OR", [*self.inactive(column), self.within(column, complement(intervals))])
            case Test(column, intervals):
                return self.within(column, intervals)
            case Relation(left, op, right) if negated:
                opposite = ("RELATION", replace(bound, op=COMPLEMENT[op]))
                return _join("OR", [*self.inactive(left), *self.inactive(right), opposite])
            case Relation():
                return ("RELATION", bound)

    def inactive(self, column: int) -> list[Words]:
        """The conditions under which the column is inactive; empty if it never is."""
        bound = self.guard(column)
        return [] if bound == ALWAYS else [self.positive(bound, negated=True)]

    def within(self, column: int, intervals: Sequence[Interval]) -> Words:
        """The rank of the column lies in one of ``intervals``."""
        domain = self.domains[column]
        if isinstance(domain, Categorical) or domain.step is not None:
            values = _every(self.names[column], domain)
            ranks = [
                rank for rank in range(len(values)) if any(low < rank <= high for low, high in intervals)
            ]
            return _among(column, [values[rank] for rank in ranks])
        ranges = [_sides(domain, low, high) for low, high in intervals]
        points = [sides[0][1] for sides in ranges if sides[0][0] == "EQ"]
        wide = [
            _join("AND", [_words(op, column, value) for op, value in sides])
            for sides in ranges
            if sides[0][0] != "EQ"
        ]
        return _join("OR", [*wide, _among(column, points)] if points or not wide else wide)

    def pairs(self, relation: Relation, where: str) -> Words:
        """A relation as the list of value pairs that satisfy it."""
        left, right = relation.left, relation.right
        if not 0 < self.domains[left].levels * self.domains[right].levels <= MAX_LISTED:  # reals have 0
            names = f"{self.names[left]!r} {relation.op} {self.names[right]!r}"
            raise SpaceError(
                f"ConfigSpace cannot say {names} in {where}: the parameters have too many values"
            )
        lefts, rights = (_every(self.names[side], self.domains[side]) for side in (left, right))
        codes = [given or values for given, values in zip(relation.codes, (lefts, rights))]
        compare = COMPARE[relation.op]
        found: list[Words] = []
        for a, code in zip(lefts, codes[0]):
            partners = [b for b, other in zip(rights, codes[1]) if compare(code, other)]
            if partners:
                found.append(("AND", ("EQ", left, a), _among(right, partners)))
        return _join("OR", found) if found else ("IN", left, [])


# ---- helpers -----------------------------------------------------------------------------------


def _join(kind: str, parts: Iterable[Words]) -> Words:
    """``parts`` under one AND or OR, those of the same kind merged into it."""
    flat: list[Words] = []
    for part in parts:
        flat += part[1:] if part[0] == kind else (part,)
    return (kind, *flat) if len(flat) > 1 else flat[0]


def _words(op: str, column: int, value: float) -> Words:
    """A comparison. ``<=`` and ``>=`` are spelled out: ConfigSpace has no such conditions, and 1.2.2 samples
    the wrong side of CLAUSE_LE."""
    if op in ("LE", "GE"):
        return ("OR", ("LT" if op == "LE" else "GT", column, value), ("EQ", column, value))
    return (op, column, value)


def _among(column: int, values: Sequence[Any]) -> Words:
    return ("EQ", column, values[0]) if len(values) == 1 else ("IN", column, list(values))


def _sides(domain: Float | Int, low: float, high: float) -> list[tuple[str, float]]:
    """Comparisons that hold together exactly for the ranks in ``(low, high]``."""
    sides: list[tuple[str, float]] = []
    if domain.kind == "real":
        above_low, above_high = float(np.nextafter(low, math.inf)), float(np.nextafter(high, math.inf))
        if above_low == high:
            return [("EQ", high)]
        # x > a and x >= b are equal if b is the next float after a; the user wrote the shorter number.
        if low > -math.inf:
            sides.append(("GE", above_low) if len(repr(above_low)) < len(repr(low)) else ("GT", low))
        if high < math.inf:
            sides.append(("LT", above_high) if len(repr(above_high)) < len(repr(high)) else ("LE", high))
    else:
        first = domain.low if low == -math.inf else domain.low + int(low) + 1
        last = domain.high if high == math.inf else domain.low + int(high)
        if first == last:
            return [("EQ", first)]
        sides += [("GT", first - 1)] if low > -math.inf else []
        sides += [("LT", last + 1)] if high < math.inf else []
    return sides or [("LE", domain.high)]


def _every(name: str, domain: Domain) -> list[Any]:
    """Every value of a finite parameter, in order."""
    if domain.levels > MAX_LISTED:
        raise SpaceError(f"ConfigSpace would have to list the {domain.levels} values of {name!r}: too many")
    values: list[Any] = domain.values(np.arange(float(domain.levels))).tolist()
    if len(set(values)) < len(values):
        raise SpaceError(f"ConfigSpace cannot tell the options of {name!r} apart: {values!r}")
    return values


def _is_number(domain: Domain) -> bool:
    options = domain.options if isinstance(domain, Categorical) else ()
    return all(isinstance(option, int | float) and not isinstance(option, bool) for option in options)


def _defaults(space: Space) -> list[Any]:
    """A default for every column. Together they must be a legal config, or ConfigSpace refuses the space."""
    values = [_default(domain) for domain in space.rules.domains]
    units = [domain.position(domain.ranks([value])) for domain, value in zip(space.rules.domains, values)]
    point = space.snap(np.array(units).T)
    if not space.legal(point)[0]:
        (config,) = space.sample(1, np.random.default_rng(0))
        active = space.layout.active(space.encode([config]).on)[0]
        for column in np.flatnonzero(active):
            values[column] = config[space.parameters[column].name]
    return values


def _default(domain: Domain) -> Any:
    """The parameter's own default, else its first option or middle value."""
    if isinstance(domain, Categorical):
        return domain.options[0] if isinstance(domain.default, Unset) else domain.default
    return domain.values(domain.rank_at(np.array([0.5]))).item() if domain.default is None else domain.default
