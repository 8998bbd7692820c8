"""The language of ``require=``: arithmetic relations between numeric parameters, parsed and never evaluated
as Python.

    relation := sum (("<" | "<=" | "==" | ">=" | ">") sum)+
    sum      := product (("+" | "-") product)*
    product  := factor (("*" | "/") factor)*
    factor   := "-" factor | number | name | `any name` | "(" sum ")" | "sum" "(" sum ("," sum)* ")"

Only a number may divide, so each side is a polynomial (``space.parameter_constraints``).
``sum(...)`` counts its active members only. Any other parameter must be active for a relation to apply: a
relation that names an inactive one outside ``sum``, or whose ``sum`` has no active member, does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from bough.errors import ConditionError, SpaceError
from bough.space.conditions import MAX_DEPTH, MAX_LENGTH, TOKEN, Parser, quote
from bough.space.parameters import Float
from bough.space.scalars import as_number

if TYPE_CHECKING:
    from bough.space.desugar import Parameter

__all__ = [
    "Arithmetic", "Expression", "Mixture", "Name", "Number", "Relation", "Sum",
    "check_mixtures", "names_in", "parse_relation", "relation_text", "rename_relation",
]  # fmt: skip

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
COMPARISONS = ("<=", "<", "==", ">=", ">")
MAX_OPERATORS = 200
"""Additions and products in one relation; ``sum(...)`` takes any number of members."""


@dataclass(frozen=True)
class Number:
    value: float

    def __str__(self) -> str:
        return f"{self.value:g}" if float(f"{self.value:g}") == self.value else repr(self.value)


@dataclass(frozen=True)
class Name:
    name: str

    def __str__(self) -> str:
        return quote(self.name)


@dataclass(frozen=True)
class Sum:
    """The sum of those members whose parameters are active."""

    members: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"sum({', '.join(map(str, self.members))})"


@dataclass(frozen=True)
class Arithmetic:
    """``left op right`` with one of + - * /."""

    op: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        weaker = PRECEDENCE[self.op]
        left, right = str(self.left), str(self.right)
        if isinstance(self.left, Arithmetic) and PRECEDENCE[self.left.op] < weaker:
            left = f"({left})"
        if isinstance(self.right, Arithmetic) and PRECEDENCE[self.right.op] <= weaker:
            right = f"({right})"
        if isinstance(self.right, Number) and self.right.value < 0:
            right = f"({right})"
        return f"{left} {self.op} {right}"


Expression: TypeAlias = Number | Name | Sum | Arithmetic


@dataclass(frozen=True)
class Relation:
    """A chain such as ``1 <= a + b <= 10``: one more operand than operators."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]

    def __str__(self) -> str:
        parts = [str(self.operands[0])]
        for op, operand in zip(self.operators, self.operands[1:]):
            parts += [op, str(operand)]
        return " ".join(parts)


@dataclass(frozen=True)
class Mixture:
    """Floats that sum to ``total``: shares of a recipe, a portfolio or a budget.

    It goes into ``Space(parameters, require=[Mixture(["flour", "water", "salt"])])`` and means the same as
    "sum(flour, water, salt) == 1". Where some members are inactive, the active ones sum to the total.
    """

    names: Sequence[str]
    total: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.names, str) or not all(isinstance(name, str) for name in self.names):
            raise SpaceError(f"Mixture needs a list of parameter names, not {self.names!r:.80}")
        names = tuple(self.names)
        if len(set(names)) < 2 or len(set(names)) < len(names):
            raise SpaceError(f"Mixture needs at least two different names, not {list(names)!r:.80}")
        total = as_number(self.total)
        if total is None or not math.isfinite(total):
            raise SpaceError(f"Mixture total must be a finite number, not {self.total!r}")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "total", float(total))

    def __str__(self) -> str:
        return f"sum({', '.join(map(quote, self.names))}) == {Number(self.total)}"


def check_mixtures(members: Iterable[Parameter]) -> None:
    """SpaceError for a member of a Mixture that is not a Float without steps."""
    for member in members:
        if not isinstance(member.domain, Float) or member.domain.step is not None:
            raise SpaceError(
                f"Mixture needs Float parameters without step=, but {member.path!r} is {member.domain!r}"
            )


def relation_text(given: Any) -> str:
    """A relation or a Mixture in its canonical spelling."""
    return str(given) if isinstance(given, Mixture) else str(parse_relation(given))


def parse_relation(text: Any) -> Relation:
    """The relation that ``text`` describes, or a ConditionError that locates the mistake."""
    if not isinstance(text, str):
        raise ConditionError(f"a relation must be a string such as 'a + b <= 10' or a Mixture, not {text!r}")
    if len(text) > MAX_LENGTH:
        raise ConditionError(f"relation {text[:40]!r}... is longer than {MAX_LENGTH} characters")
    return _RelationParser(text).relation()


def rename_relation(relation: Relation, new: Callable[[str], str]) -> Relation:
    """The same relation with every name replaced by ``new(name)``."""

    def renamed(expression: Expression) -> Expression:
        match expression:
            case Name(name):
                return Name(new(name))
            case Sum(members):
                return Sum(tuple(map(renamed, members)))
            case Arithmetic(op, left, right):
                return Arithmetic(op, renamed(left), renamed(right))
            case _:
                return expression

    return Relation(tuple(map(renamed, relation.operands)), relation.operators)


def names_in(expression: Expression, sums: bool = True) -> list[str]:
    """The names in an expression, in order; without ``sums`` only those outside of ``sum(...)``."""
    match expression:
        case Name(name):
            return [name]
        case Sum(members):
            return [name for member in members for name in names_in(member)] if sums else []
        case Arithmetic(_, left, right):
            return [*names_in(left, sums), *names_in(right, sums)]
        case _:
            return []


class _RelationParser(Parser):
    noun = "relation"
    pattern = TOKEN.replace(",+-]", ",+*/-]")

    def relation(self) -> Relation:
        if sum(token.kind == "op" and token.text in PRECEDENCE for token in self.tokens) > MAX_OPERATORS:
            raise self.error(f"more than {MAX_OPERATORS} operators, use sum(...)", len(self.text) - 1)
        operands, operators = [self.total(0)], []
        while token := self.accept(*COMPARISONS):
            operators.append(token.text)
            operands.append(self.total(0))
        if self.peek.text == "!=":
            raise self.error("'!=' is not a limit; forbid=['a == b'] excludes equal values", self.peek.at)
        if self.peek.text in ("and", "or", "not", "in"):
            raise self.error(
                f"{self.peek.text!r} cannot join relations; give each its own entry", self.peek.at
            )
        if not operators:
            raise self.error(self.surprise("a comparison such as <= or =="), self.peek.at)
        if self.peek.kind != "end":
            raise self.error(self.surprise("an operator or the end"), self.peek.at)
        for left, right in pairwise(operands):
            if not names_in(left) and not names_in(right):
                raise self.error("a comparison needs a parameter on one side", 0)
        return Relation(tuple(operands), tuple(operators))

    def total(self, depth: int) -> Expression:
        found = self.product(depth)
        while token := self.accept("+", "-"):
            found = Arithmetic(token.text, found, self.product(depth))
        return found

    def product(self, depth: int) -> Expression:
        found = self.factor(depth)
        while token := self.accept("*", "/"):
            right = self.factor(depth)
            if token.text == "/" and (not isinstance(right, Number) or right.value == 0):
                raise self.error(
                    "only a number other than 0 may divide: write a <= 2 * b, not a / b <= 2", token.at
                )
            found = Arithmetic(token.text, found, right)
        return found

    def factor(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels", self.peek.at)
        if self.accept("-"):
            inner = self.factor(depth + 1)
            return Number(-inner.value) if isinstance(inner, Number) else Arithmetic("*", Number(-1.0), inner)
        if self.accept("("):
            inner = self.total(depth + 1)
            self.expect(")")
            return inner
        token = self.peek
        if token.kind == "number":
            return Number(float(self.number(self.take(), 1)))
        if token.kind == "name" and token.text == "sum" and self.tokens[self.at + 1].text == "(":
            self.take()
            return self.sum(depth)
        if token.kind == "quoted" or token.kind == "name":
            return Name(self.take().text)
        raise self.error(self.surprise("a parameter, a number or sum(...)"), token.at)

    def sum(self, depth: int) -> Expression:
        opening = self.take()
        members: list[Expression] = []
        while not self.accept(")"):
            members.append(self.total(depth + 1))
            if not self.accept(","):
                self.expect(")")
                break
        if not members or not all(map(names_in, members)):
            raise self.error("every member of sum(...) needs a parameter", opening.at)
        return Sum(tuple(members))
