"""Reads PCS files, in which solvers describe their parameters, as the parameters of a Space.

Old and new syntax may be mixed, line by line:

    name {a, b, c} [a]                      name categorical {a, b, c} [a]      name ordinal {a, b, c} [a]
    name [1, 10] [5]      i: integer        name integer [1, 10] [5] log
    name [0.1, 10] [1]l   l: log scale      name real [0.1, 10] [1] log
    child | parent in {a, b}                child | parent == a && other > 3 || third != x
    {name = a, other = 5}                   (forbidden together)

Options are texts, as passed to a solver. If several lines have conditions for one child, all must hold.
``&&`` has precedence over ``||``. A comparison with an inactive parent is false, in PCS as in bough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bough.errors import SpaceError
from bough.space.choice import Declared
from bough.space.conditions import quote
from bough.space.parameters import Categorical, Domain, Float, Int

__all__ = ["read_pcs"]

_NAME = r"(?P<name>[^\s{}\[\]|]+)"
_OPTIONS = re.compile(
    _NAME + r"\s*(?P<kind>categorical|ordinal)?\s*\{(?P<options>[^{}]*)\}\s*\[(?P<default>[^\[\]]*)\]"
)
_RANGE = re.compile(
    _NAME + r"\s*(?P<kind>integer|real)?\s*\[(?P<low>[^,\[\]]+),(?P<high>[^,\[\]]+)\]"
    r"\s*\[(?P<default>[^\[\]]*)\]\s*(?P<flags>[il]*|log)\s*"
)
_COMPARISON = re.compile(
    r"\s*(?P<name>[^\s{}=!<>&|]+)\s*(?:(?P<op>==|!=|<|>)\s*(?P<value>[^\s{}]+)|in\s*\{(?P<values>[^{}]*)\})\s*"
)
_SECTIONS = ("conditionals:", "conditions:", "forbidden:", "parameters:")


def read_pcs(text: str) -> tuple[dict[str, Declared], list[str]]:
    """Parameters and forbidden clauses; SpaceError with the line of the first mistake."""
    domains: dict[str, Domain] = {}
    conditions: dict[str, list[str]] = {}
    forbid: list[str] = []
    lines = list(_lines(text))
    for number, line in lines:
        if "|" not in line.split("{")[0] and not line.startswith("{"):
            name, domain = _parameter(number, line)
            if name in domains:
                raise SpaceError(f"line {number}: parameter {name!r} is declared twice")
            domains[name] = domain
    for number, line in lines:
        if line.startswith("{"):
            forbid.append(_clause(number, line, domains))
        elif "|" in line.split("{")[0]:
            child, _, condition = (part.strip() for part in line.partition("|"))
            if child not in domains:
                raise SpaceError(f"line {number}: the conditional parameter {child!r} is not declared")
            conditions.setdefault(child, []).append(_condition(number, condition, domains))
    parameters: dict[str, Declared] = {}
    for name, domain in domains.items():
        rules = conditions.get(name)
        when = None if rules is None else " and ".join(f"({rule})" for rule in rules)
        parameters[name] = replace(domain, when=when)
    return parameters, forbid


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line and line.lower() not in _SECTIONS:
            yield number, line


def _parameter(number: int, line: str) -> tuple[str, Domain]:
    if found := _OPTIONS.fullmatch(line):
        options = [option.strip() for option in found["options"].split(",")]
        make: Any = Categorical
        arguments = {"options": options, "default": found["default"].strip()}
        arguments["ordered"] = found["kind"] == "ordinal"
    elif found := _RANGE.fullmatch(line):
        flags = found["flags"]
        if found["kind"] and flags not in ("", "log"):
            raise SpaceError(f"line {number}: {found['kind']} takes 'log' after the default, not {flags!r}")
        whole = found["kind"] == "integer" or (not found["kind"] and "i" in flags)
        make = Int if whole else Float
        read = _whole if whole else _real
        arguments = {
            "low": read(number, found["low"]),
            "high": read(number, found["high"]),
            "default": read(number, found["default"]),
            "log": "l" in flags,
        }
    else:
        raise SpaceError(
            f"line {number}: {line[:60]!r} is none of 'name {{a, b}} [a]', 'name [low, high] [default]', a "
            "condition 'child | parent in {a}' and a forbidden '{name = value}'"
        )
    try:
        return found["name"], make(**arguments)
    except SpaceError as error:
        raise SpaceError(f"line {number}: parameter {found['name']!r}: {error}") from None


def _condition(number: int, text: str, domains: Mapping[str, Domain]) -> str:
    either = []
    for alternative in text.split("||"):
        parts = [_comparison(number, part, domains) for part in alternative.split("&&")]
        either.append(" and ".join(parts))
    return " or ".join(either)


def _comparison(number: int, text: str, domains: Mapping[str, Domain]) -> str:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        raise SpaceError(
            f"line {number}: the condition {text.strip()[:60]!r} cannot be read: write 'parent in {{a, b}}', "
            "'parent == a', or one with !=, < or >"
        )
    name = found["name"]
    if name not in domains:
        raise SpaceError(f"line {number}: the condition reads {name!r}, which is not declared")
    if found["op"]:
        return f"{quote(name)} {found['op']} {_literal(number, found['value'], name, domains)}"
    values = [_literal(number, value, name, domains) for value in found["values"].split(",")]
    return f"{quote(name)} == {values[0]}" if len(values) == 1 else f"{quote(name)} in ({', '.join(values)})"


def _clause(number: int, line: str, domains: Mapping[str, Domain]) -> str:
    """A forbidden clause: all its pairs together."""
    if not line.endswith("}"):
        raise SpaceError(f"line {number}: a forbidden clause ends with '}}'")
    parts = []
    for pair in line[1:-1].split(","):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or name not in domains or value.startswith("="):
            raise SpaceError(
                f"line {number}: a forbidden clause has pairs 'name = value' of declared parameters, not "
                f"{pair.strip()[:60]!r}; write arithmetic as forbid= or require= of a Space"
            )
        parts.append(f"{quote(name)} == {_literal(number, value, name, domains)}")
    return " and ".join(parts)


def _literal(number: int, text: str, name: str, domains: Mapping[str, Domain]) -> str:
    domain, text = domains[name], text.strip()
    if isinstance(domain, Categorical):
        return repr(text)
    return repr(_whole(number, text) if isinstance(domain, Int) else _real(number, text))


def _real(number: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SpaceError(f"line {number}: {text.strip()[:40]!r} must be a number") from None


def _whole(number: int, text: str) -> int:
    value = _real(number, text)
    if value != int(value):
        raise SpaceError(f"line {number}: {text.strip()[:40]!r} must be an integer")
    return int(value)
