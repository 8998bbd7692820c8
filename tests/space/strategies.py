"""Random branching spaces, described twice: as a ``bough.Space``, and as plain data for an oracle.

The oracle (``holds``, ``activity``, ``enumerate_configs``) is written from the documented semantics
and shares no code with bough: a comparison with an inactive parameter is false, ``not`` negates the
result, and a parameter is active when its own condition and the ``Choice`` option around it hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from bough.errors import SpaceError
from bough.space import Categorical, Choice, Float, Int, Space

T = TypeVar("T")
Scalar = str | int | float | bool | None
Config = dict[str, Scalar]
Expr = tuple[Any, ...]
"""("==", knob, value), ("in", knob, values), ("rel", op, knob, knob), ("and"|"or", *exprs), ("not", expr)"""

ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, eq=False, repr=False)
class Knob:
    """One parameter as the oracle sees it. ``values`` lists every legal value of a finite parameter."""

    name: str
    path: str
    kind: str  # "float" | "int" | "categorical" | "ordered" | "choice"
    low: float = 0.0
    high: float = 0.0
    values: tuple[Scalar, ...] | None = None
    guard: tuple[Expr, ...] = ()

    def __repr__(self) -> str:  # short, since hypothesis prints its strategies
        return self.path

    @property
    def numeric(self) -> bool:
        return self.kind in ("float", "int")

    @property
    def orderable(self) -> bool:
        return self.numeric or self.kind == "ordered"


@dataclass
class World:
    """A space and the same thing as data; ``knobs`` stand after everything their conditions read."""

    knobs: list[Knob] = field(default_factory=list)
    forbids: list[Expr] = field(default_factory=list)
    space: Space = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.space)


# --- the oracle ---------------------------------------------------------------------------------


def same(a: Scalar, b: Scalar) -> bool:
    """Equality that keeps 1, True and "1" apart, but not 1 and 1.0."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def holds(expr: Expr, values: dict[Knob, Scalar]) -> bool:
    """Whether ``expr`` is true, where ``values`` holds the active parameters only."""
    match expr:
        case ("and", *parts):
            return all(holds(part, values) for part in parts)
        case ("or", *parts):
            return any(holds(part, values) for part in parts)
        case ("not", part):
            return not holds(part, values)
        case ("rel", op, left, right):
            return left in values and right in values and ORDER[op](values[left], values[right])
        case (op, knob, _) if knob not in values:
            return False
        case ("==", knob, value):
            return same(values[knob], value)
        case ("!=", knob, value):
            return not same(values[knob], value)
        case ("in", knob, options):
            return any(same(values[knob], option) for option in options)
        case ("not in", knob, options):
            return not any(same(values[knob], option) for option in options)
        case (op, knob, value):
            return ORDER[op](rank(knob, values[knob]), rank(knob, value))
    raise AssertionError(expr)


def rank(knob: Knob, value: Scalar) -> Any:
    """What an ordering comparison compares: the position of an ordered category, else the number."""
    if knob.kind != "ordered":
        return value
    assert knob.values is not None
    return next(i for i, option in enumerate(knob.values) if same(option, value))


def activity(world: World, config: Config) -> dict[Knob, Scalar]:
    """The active parameters of ``config`` with their values, found by evaluating every condition."""
    values: dict[Knob, Scalar] = {}
    for knob in world.knobs:
        if all(holds(condition, values) for condition in knob.guard):
            values[knob] = config[knob.name]
    return values


def is_legal(world: World, values: dict[Knob, Scalar]) -> bool:
    return not any(holds(forbid, values) for forbid in world.forbids)


def enumerate_configs(world: World) -> Iterator[Config]:
    """Every legal config of a finite space, by trying all values of each active parameter in turn."""

    def extend(values: dict[Knob, Scalar], rest: list[Knob]) -> Iterator[Config]:
        if not rest:
            if is_legal(world, values):
                yield {knob.name: value for knob, value in values.items()}
            return
        knob, *rest = rest
        if not all(holds(condition, values) for condition in knob.guard):
            yield from extend(values, rest)
            return
        assert knob.values is not None
        for value in knob.values:
            yield from extend({**values, knob: value}, rest)

    return extend({}, world.knobs)


def typed(config: Config) -> frozenset[tuple[str, str, Scalar]]:
    """A hashable form that keeps 1, 1.0, True and "1" apart."""
    return frozenset((name, type(value).__name__, value) for name, value in config.items())


# --- writing conditions ---------------------------------------------------------------------------


def text(expr: Expr, world: World, scopes: tuple[list[Knob], ...] = ()) -> str:
    """``expr`` in bough's condition language; ``scopes`` lists the enclosing blocks, innermost first."""

    def name(knob: Knob) -> str:
        nearest = [[other for other in scope if other.name == knob.name] for scope in scopes]
        visible = next((found for found in nearest if found), None)
        if visible is None:
            visible = [other for other in world.knobs if other.name == knob.name]
        written = knob.name if visible == [knob] else knob.path
        return written if written.isidentifier() else f"`{written}`"

    match expr:
        case ("and" | "or" as op, *parts):
            return f" {op} ".join(f"({text(part, world, scopes)})" for part in parts)
        case ("not", part):
            return f"not ({text(part, world, scopes)})"
        case ("rel", op, left, right):
            return f"{name(left)} {op} {name(right)}"
        case ("in" | "not in" as op, knob, options):
            return f"{name(knob)} {op} ({''.join(f'{option!r}, ' for option in options)})"
        case (op, knob, value):
            return f"{name(knob)} {op} {value!r}"
    raise AssertionError(expr)


# --- strategies -----------------------------------------------------------------------------------

OPTION_POOLS: tuple[tuple[Scalar, ...], ...] = (
    ("red", "green", "blue"),
    (1, True, "1", None),
    ("it's", 'a "quote"', "back`tick", "ü"),
    (0.5, -2, False),
    ("only",),
)


class Dice:
    """Draws from hypothesis by ready-made strategies: building them anew each time is what takes long."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def upto(self, high: int) -> int:
        """0 to ``high``, inclusive; hypothesis shrinks towards 0."""
        return self._draw(integers_upto(high))

    def one_in(self, n: int) -> bool:
        return self.upto(n - 1) == n - 1

    def pick(self, values: Sequence[T]) -> T:
        return values[self.upto(len(values) - 1)]

    def shuffled(self, values: list[T]) -> list[T]:
        rest = list(values)
        return [rest.pop(self.upto(len(rest) - 1)) for _ in values]


@cache
def integers_upto(high: int) -> st.SearchStrategy[int]:
    return st.integers(0, high)


def leaf(dice: Dice, finite: bool) -> tuple[type, dict[str, Any], Knob]:
    """A parameter without children: its bough class, its arguments, its knob (still without a name)."""
    kind = dice.pick(("int", "categorical", "ordered", "step") + ("float", "float", "float") * (not finite))
    cls: type = Categorical
    if kind in ("categorical", "ordered"):
        pool = dice.pick(OPTION_POOLS)
        options = pool[: 1 + dice.upto(len(pool) - 1)]
        args: dict[str, Any] = {"options": list(options), "ordered": kind == "ordered"}
        knob = Knob("", "", kind, values=options)
    elif kind == "int":
        cls, log = Int, dice.one_in(2)
        low, width = (1 if log else -4) + dice.upto(5), 1 + dice.upto(2 if finite else 40)
        step = None if log else dice.pick((None, None, 1, 2))
        high = low + width * (step or 1)
        args = {"low": low, "high": high, "log": log, "step": step}
        knob = Knob("", "", "int", low, high, tuple(range(low, high + 1, step or 1)))
    elif kind == "step":
        cls, low, count, step = Float, dice.upto(5) - 3, 1 + dice.upto(3), dice.pick((0.25, 0.5, 2.0))
        args = {"low": float(low), "high": low + step * count, "step": step}
        knob = Knob("", "", "float", low, low + step * count, tuple(low + step * i for i in range(count + 1)))
    else:
        cls, log = Float, dice.one_in(2)
        start = dice.pick((1e-9, 0.1, 3.0) if log else (-1e6, -0.3, 0.0))
        end = dice.pick((start * 2, start * 1e6) if log else (start + 0.7, start + 1e3))
        args = {"low": start, "high": end, "log": log}
        knob = Knob("", "", "float", start, end)
    if dice.one_in(4):
        args["default"] = knob.values[-1] if knob.values else knob.high
    return cls, args, knob


def value_of(dice: Dice, knob: Knob) -> Scalar:
    """A value that a condition may compare ``knob`` with."""
    if knob.values is not None:
        return dice.pick(knob.values)
    return knob.low + dice.pick((1 / 8, 1 / 3, 0.9)) * (knob.high - knob.low)


def comparison(dice: Dice, knobs: list[Knob]) -> Expr:
    knob = dice.pick(knobs)
    numeric = [other for other in knobs if other.numeric and other is not knob]
    ops = ["==", "!=", "in", "not in"] if knob.values is not None else []
    ops += list(ORDER) if knob.orderable else []
    ops += ["rel"] if knob.numeric and numeric else []
    op = dice.pick(ops)
    if op == "rel":
        return ("rel", dice.pick(tuple(ORDER)), knob, dice.pick(numeric))
    if op in ("in", "not in"):
        values = {repr(value): value for value in (value_of(dice, knob) for _ in range(1 + dice.upto(2)))}
        return (op, knob, tuple(values.values()))
    return (op, knob, value_of(dice, knob))


def expression(dice: Dice, knobs: list[Knob], depth: int = 2) -> Expr:
    """A condition over ``knobs``, with ``and``, ``or`` and ``not`` nested up to ``depth``."""
    word = dice.pick(("compare", "compare", "and", "or", "not")) if depth else "compare"
    if word == "compare":
        return comparison(dice, knobs)
    return (word, *(expression(dice, knobs, depth - 1) for _ in range(1 if word == "not" else 2)))


@dataclass
class Draft:
    """A drawn parameter whose condition is written once all names are known."""

    knob: Knob
    cls: type
    args: dict[str, Any]
    when: Expr | None
    scopes: tuple[list[Knob], ...]

    def build(self, world: World) -> Any:
        when = None if self.when is None else text(self.when, world, self.scopes)
        if self.cls is Choice:
            options = {label: build(drafts, world) for label, drafts in self.args.items()}
            return Choice(options, when=when)
        return self.cls(**self.args, when=when)


def build(drafts: list[Draft], world: World) -> dict[str, Any]:
    return {draft.knob.name: draft.build(world) for draft in drafts}


@st.composite
def worlds(draw: st.DrawFn, *, finite: bool = False, depth: int = 2, forbid: bool = True) -> World:
    """A random branching space with its plain description."""
    dice = Dice(draw)
    world = World()
    fresh = (f"p{i}" if i % 3 else f"p:{i}" for i in range(10**6))

    def block(
        prefix: str, guard: tuple[Expr, ...], names: Iterator[str], outer: tuple[list[Knob], ...]
    ) -> list[Draft]:
        """Draw the parameters of one block; what a condition reads is always drawn before it."""
        drafts: list[Draft] = []
        scopes: tuple[list[Knob], ...] = ([], *outer)
        for _ in range(dice.upto(2) if outer else 1 + dice.upto(1 if finite else 3)):
            name = next(names)
            when = expression(dice, world.knobs) if world.knobs and dice.one_in(3) else None
            conditions = guard if when is None else (*guard, when)
            if len(outer) < depth and dice.one_in(3):
                labels = ("a", "b b", "c")[: 1 + dice.upto(2)]
                knob = Knob(name, prefix + name, "choice", values=labels, guard=conditions)
                draft = Draft(knob, Choice, {}, when, scopes)
            else:
                cls, args, bare = leaf(dice, finite)
                knob = replace(bare, name=name, path=prefix + name, guard=conditions)
                draft = Draft(knob, cls, args, when, scopes)
            scopes[0].append(knob)
            world.knobs.append(knob)
            drafts.append(draft)
            if draft.cls is Choice:
                reused = [f"r{len(world.knobs)}", f"s.{len(world.knobs)}"]
                for label in labels:
                    inner_names = iter(reused) if dice.one_in(2) else fresh
                    inner_guard = (("==", knob, label),)
                    draft.args[label] = block(f"{knob.path}={label}/", inner_guard, inner_names, scopes)
        return dice.shuffled(drafts)

    drafts = block("", (), fresh, ())
    if forbid:
        world.forbids += [expression(dice, world.knobs) for _ in range(dice.upto(2))]
    parameters = build(drafts, world)
    try:
        world.space = Space(parameters, forbid=[text(expr, world) for expr in world.forbids])
    except SpaceError as error:  # nothing is legal: go on without clauses, if the oracle agrees
        if "forbid excludes every configuration" not in str(error):
            raise
        world.space = Space(parameters)
        for config in world.space.sample(40, np.random.default_rng(0)):
            values = activity(world, config)
            assert any(holds(expr, values) for expr in world.forbids), config
        world.forbids.clear()
    return world
