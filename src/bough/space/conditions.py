"""The expression language of ``when=`` and ``forbid=``: parsed once, never evaluated as Python.

    condition  := conjunction ("or" conjunction)*
    conjunction:= negation ("and" negation)*
    negation   := "not" negation | "(" condition ")" | comparison
    comparison := operand (("==" | "!=" | "<" | "<=" | ">" | ">=") operand)+
                | name ("in" | "not" "in") "(" literal ("," literal)* [","] ")"
    operand    := name | `any name` | literal

A comparison with an inactive parameter is false, also ``!=``. ``not`` negates the result, so the
canonical form never turns ``not (a == 1)`` into ``a != 1``.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, overload

from bough.errors import ConditionError
from bough.space.scalars import Scalar

__all__ = [
    "All", "Any", "Compare", "Condition", "Not", "Parser", "Relate",
    "canonical", "comparisons", "parse", "quote", "rename",
]  # fmt: skip

MAX_LENGTH = 100_000
MAX_DEPTH = 100

MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, eq=False)
class Compare:
    """``name op value``; for ``in`` and ``not in`` the value is a tuple."""

    name: str
    op: str
    value: Scalar | tuple[Scalar, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compare) and str(self) == str(other)  # the text tells 1 from True

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        if isinstance(self.value, tuple):
            comma = "," if len(self.value) == 1 else ""
            return f"{quote(self.name)} {self.op} ({', '.join(map(repr, self.value))}{comma})"
        return f"{quote(self.name)} {self.op} {self.value!r}"


@dataclass(frozen=True)
class Relate:
    """``left op right`` between two parameters."""

    left: str
    op: str
    right: str

    def __str__(self) -> str:
        return f"{quote(self.left)} {self.op} {quote(self.right)}"


@dataclass(frozen=True)
class All:
    """True when every part is."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, Any) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Any:
    """True when some part is."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.parts))


@dataclass(frozen=True)
class Not:
    """True when the part is false, also where it is false because a parameter is inactive."""

    part: Condition

    def __str__(self) -> str:
        return f"not ({self.part})"


Condition: TypeAlias = Compare | Relate | All | Any | Not


def quote(name: str) -> str:
    """``name`` as an expression writes it: in backticks unless it is an identifier."""
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"`{name}`"


@overload
def canonical(text: str) -> str: ...
@overload
def canonical(text: None) -> None: ...
def canonical(text: str | None) -> str | None:
    """``text`` parsed and printed back: the same condition in one spelling; None stays None."""
    return None if text is None else str(parse(text))


def rename(condition: Condition, new: Callable[[str], str]) -> Condition:
    """The same condition with every name replaced by ``new(name)``."""
    match condition:
        case Compare(name, op, value):
            return Compare(new(name), op, value)
        case Relate(left, op, right):
            return Relate(new(left), op, new(right))
        case All(parts):
            return All(tuple(rename(part, new) for part in parts))
        case Any(parts):
            return Any(tuple(rename(part, new) for part in parts))
        case Not(part):
            return Not(rename(part, new))


def comparisons(condition: Condition) -> Iterator[Compare | Relate]:
    """The comparisons in a condition, from left to right."""
    match condition:
        case All(parts) | Any(parts):
            for part in parts:
                yield from comparisons(part)
        case Not(part):
            yield from comparisons(part)
        case _:
            yield condition


def join(kind: type[All] | type[Any], parts: list[Condition]) -> Condition:
    """``parts`` joined by one All or Any. Nested ones of the same kind are flattened, repetitions dropped."""
    flat: dict[Condition, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    return kind(tuple(flat)) if len(flat) > 1 else next(iter(flat))


# ---- parser ----------------------------------------------------------------------------------


class Token(NamedTuple):
    kind: str
    text: str
    at: int


TOKEN = r"""(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>[^\W\d]\w*)
      | `(?P<quoted>[^`]+)`
      | (?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
      | (?P<op>==|!=|<=|>=|[<>()\[\],+-])"""
"""A verbose pattern. Parsers compile it when they first need it, which takes a while."""

WORDS = {"and", "or", "not", "in"}
CONSTANTS = {"True": True, "False": False, "None": None}
SYMBOLS = {"&": "and", "|": "or", "!": "not"}

_NO_ARITHMETIC = "arithmetic is possible only in require=, such as require=['a + b <= 1']"


def parse(text: str) -> Condition:
    """The condition that ``text`` describes, or a ConditionError that locates the mistake."""
    if not isinstance(text, str):
        raise ConditionError(f"a condition must be a string such as \"model == 'svm'\", not {_shown(text)}")
    if len(text) > MAX_LENGTH:
        raise ConditionError(f"condition {text[:40]!r}... is longer than {MAX_LENGTH} characters")
    return Parser(text).parse()


def _shown(value: object) -> str:
    return "a function" if callable(value) else repr(value)


class Parser:
    """Recursive descent over the tokens of one expression; ``space.relations`` has one for sums."""

    noun = "condition"
    pattern = TOKEN

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokenise())
        self.at = 0

    def _tokenise(self) -> Iterator[Token]:
        pattern = re.compile(self.pattern, re.VERBOSE)
        at, end = 0, len(self.text)
        while at < end:
            if self.text[at].isspace():
                at += 1
                continue
            found = pattern.match(self.text, at)
            if found is None:
                raise self.error(self._why_not(at), at)
            kind = str(found.lastgroup)
            word = found.group(kind)
            if kind == "name" and word in WORDS:
                kind = "op"
            yield Token(kind, word, at)
            at = found.end()
        yield Token("end", "the end", end)

    def _why_not(self, at: int) -> str:
        char = self.text[at]
        if char == ".":
            return "attribute access is not allowed (names with dots go in backticks: `a.b`)"
        if char == "=":
            return "'=' does not compare; write '=='"
        if char in SYMBOLS:
            symbol = char * 2 if self.text.startswith(char * 2, at) else char
            return f"{symbol!r} is not an operator, write {SYMBOLS[char]!r} instead"
        if char in "'\"`":
            return f"{char} is never closed"
        if char in "*/%":
            return f"unexpected {char!r}; {_NO_ARITHMETIC}"
        return f"unexpected {char!r}"

    def error(self, what: str, at: int) -> ConditionError:
        shown = self.text if len(self.text) <= 120 else self.text[:117] + "..."
        return ConditionError(f"{self.noun} {shown!r} at character {at + 1}: {what}")

    def parse(self) -> Condition:
        condition = self.disjunction(0)
        if self.peek.kind != "end":
            raise self.error(self.surprise("'and', 'or' or the end"), self.peek.at)
        return condition

    @property
    def peek(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def accept(self, *operators: str) -> Token | None:
        return self.take() if self.peek.kind == "op" and self.peek.text in operators else None

    def expect(self, operator: str) -> None:
        if not self.accept(operator):
            raise self.error(self.surprise(repr(operator)), self.peek.at)

    def surprise(self, wanted: str) -> str:
        if self.peek.text in ("(", "["):
            before = self.tokens[self.at - 1] if self.at else None
            if before is not None and before.kind in ("name", "quoted"):
                return f"calls and indexing are not allowed ({before.text!r}), expected {wanted}"
        found = "the end" if self.peek.kind == "end" else repr(self.peek.text)
        hint = f"; {_NO_ARITHMETIC}" if self.noun == "condition" and self.peek.text in ("+", "-") else ""
        return f"expected {wanted}, found {found}{hint}"

    def disjunction(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels", self.peek.at)
        parts = [self.conjunction(depth)]
        while self.accept("or"):
            parts.append(self.conjunction(depth))
        return join(Any, parts)

    def conjunction(self, depth: int) -> Condition:
        parts = [self.negation(depth)]
        while self.accept("and"):
            parts.append(self.negation(depth))
        return join(All, parts)

    def negation(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels", self.peek.at)
        if self.accept("not"):
            # The canonical form adds the parentheses, so they count even if the user left them out.
            inner = self.negation(depth + 1 if self.peek.text == "(" else depth + 2)
            return inner.part if isinstance(inner, Not) else Not(inner)
        if self.accept("("):
            condition = self.disjunction(depth + 1)
            self.expect(")")
            return condition
        return self.comparison()

    def comparison(self) -> Condition:
        left = self.operand()
        if left.kind == "name" and (self.peek.text == "in" or self.peek.text == "not"):
            op = "in" if self.take().text == "in" else "not in"
            if op == "not in":
                self.expect("in")
            return Compare(left.text, op, self.collection())
        parts: list[Condition] = []
        while operator := self.accept(*MIRRORED):
            right = self.operand()
            parts.append(self.compare(left, operator, right))
            left = right
        if not parts:
            raise self.error(self.surprise("a comparison such as == or in"), self.peek.at)
        return join(All, parts)

    def compare(self, left: _Operand, operator: Token, right: _Operand) -> Condition:
        match left.kind, right.kind:
            case "name", "name":
                return Relate(left.text, operator.text, right.text)
            case "name", "literal":
                return Compare(left.text, operator.text, right.value)
            case "literal", "name":
                return Compare(right.text, MIRRORED[operator.text], left.value)
        raise self.error("a comparison needs a parameter on one side", operator.at)

    def operand(self) -> _Operand:
        if self.peek.kind == "quoted" or (self.peek.kind == "name" and self.peek.text not in CONSTANTS):
            return _Operand("name", self.take().text)
        return _Operand("literal", value=self.literal())

    def literal(self) -> Scalar:
        sign = -1 if self.accept("-") else 1
        if sign == 1:
            self.accept("+")
        token = self.take()
        match token.kind:
            case "number":
                return self.number(token, sign)
            case "string" if sign == 1:
                try:
                    return str(ast.literal_eval(token.text))
                except (SyntaxError, ValueError):
                    raise self.error(f"{token.text} is not a valid string", token.at) from None
            case "name" if sign == 1 and token.text in CONSTANTS:
                return CONSTANTS[token.text]
        self.at -= 1
        raise self.error(self.surprise("a parameter or a value"), token.at)

    def number(self, token: Token, sign: int) -> float:
        if token.text.isdigit():
            if len(token.text) > 30:
                raise self.error("a number of more than 30 digits", token.at)
            return sign * int(token.text)
        value = float(token.text)
        if not math.isfinite(value):
            raise self.error(f"{token.text} is too large a number", token.at)
        return sign * value

    def collection(self) -> tuple[Scalar, ...]:
        opening = self.accept("(", "[")
        if opening is None:
            raise self.error(self.surprise("a list of values in parentheses"), self.peek.at)
        closing = ")" if opening.text == "(" else "]"
        values: dict[str, Scalar] = {}
        while not self.accept(closing):
            value = self.literal()
            values[repr(value)] = value
            if not self.accept(","):
                self.expect(closing)
                break
        if not values:
            raise self.error("an empty list of values", opening.at)
        return tuple(values.values())


class _Operand(NamedTuple):
    kind: str
    text: str = ""
    value: Scalar = None
