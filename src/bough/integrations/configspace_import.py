"""Read ConfigSpace's JSON (format 0.4) as the parameters of a Space. The ConfigSpace package is not needed.

The meaning is preserved exactly. One case needs care: ConfigSpace represents an inactive parent by NaN,
which differs from every value, so a NEQ condition *activates its child* while its parent is inactive. In
bough every comparison with an inactive parameter is false, even ``!=``. So NEQ on a parent that can be
inactive is read as ``not (parent == value)``, which is true in the same cases, and as
``parent != value`` only if the parent is always active.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from bough.errors import SpaceError, about_parameter
from bough.integrations.priors import beta_range, normal_range
from bough.space import serialise
from bough.space.activity import COMPARE
from bough.space.choice import Declared
from bough.space.conditions import quote
from bough.space.parameters import UNSET, Categorical, Float, Int

__all__ = ["digest", "read_configspace"]

Item = Mapping[str, Any]

OPERATORS = {"EQ": "==", "EQUALS": "==", "NEQ": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
CONDITIONS = ("EQ", "NEQ", "LT", "GT")
CLAUSES = ("EQUALS", "CLAUSE_LT", "CLAUSE_LE", "CLAUSE_GT", "CLAUSE_GE")


def read_configspace(data: Item) -> tuple[dict[str, Declared], list[str], list[str]]:
    """The parameters, forbidden clauses and relations of a Space, from a ConfigSpace JSON document.

    One warning names everything that a Space cannot hold (``meta``, ``q``, the name).
    Priors and weights become beliefs (``likely``), which keep the central 80 % of a distribution.
    """
    own = _own_description(data)
    if own is not None:
        return serialise.read(own)
    try:
        if lost := _lost(data):
            message = f"left out, since a Space cannot hold it: {', '.join(lost)}"
            warnings.warn(message, UserWarning, stacklevel=5)  # at the caller of Space.load or from_json
        return _read(data)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        what = f"an entry lacks {error}" if isinstance(error, KeyError) else str(error)
        raise SpaceError(f"malformed ConfigSpace description: {what}") from None


def _own_description(data: Item) -> Item | None:
    """bough's description in a document that bough wrote, unless the document was edited later."""
    own = data.get("bough")
    if isinstance(own, Mapping) and own.get("digest") == digest(data):
        space: Item | None = own.get("space")
        return space
    return None


def digest(data: Item) -> str:
    """A fingerprint of the lists that ConfigSpace reads in ``data``, independent of their order.

    Numbers are rounded to 13 decimals, as ConfigSpace rounds them.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(each) for key, each in value.items() if each is not None and each != {}}
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        return float(np.round(value, 13)) if isinstance(value, float) else value

    parts = [
        sorted(json.dumps(plain(item), sort_keys=True) for item in data.get(key, ()))
        for key in ("hyperparameters", "conditions", "forbiddens")
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _read(data: Item) -> tuple[dict[str, Declared], list[str], list[str]]:
    items = {item["name"]: item for item in data["hyperparameters"]}
    if len(items) < len(data["hyperparameters"]):
        raise SpaceError("malformed ConfigSpace description: two hyperparameters have the same name")
    conditions = data.get("conditions", ())
    conditional = {condition["child"] for condition in conditions}
    when: dict[str, str] = {}
    for condition in conditions:
        child = condition["child"]
        if child in when:
            raise SpaceError(f"{child!r} has two conditions: join them with AND or OR")
        if child not in items:
            raise SpaceError(f"a condition has the unknown child {child!r}")
        when[child] = _condition(condition, items, conditional)
    parameters = {}
    for name, item in items.items():
        with about_parameter(name):
            parameters[name] = _parameter(item, when.get(name))
    return parameters, [_clause(clause, items) for clause in data.get("forbiddens", ())], []


def _parameter(item: Item, when: str | None) -> Declared:
    kind = item["type"]
    given = "default_value" if "default_value" in item else "default"
    extra: Item = {"default": item.get(given), "when": when}
    if kind in ("uniform_float", "normal_float", "beta_float"):
        return Float(item["lower"], item["upper"], bool(item.get("log")), likely=_likely(item), **extra)
    if kind in ("uniform_int", "normal_int", "beta_int"):
        return Int(item["lower"], item["upper"], bool(item.get("log")), likely=_likely(item), **extra)
    if kind in ("categorical", "ordinal"):
        extra = {"default": item.get(given, UNSET), "when": when}
        return Categorical(_values(item), kind == "ordinal", likely=_likely_options(item), **extra)
    if kind == "constant":
        return Categorical(_values(item), when=when)
    raise SpaceError(f"it has the unknown type {kind!r}")


def _likely(item: Item) -> tuple[float, float] | None:
    """The central 80 % of a prior. On a log scale ConfigSpace reads sigma as |log(lower + sigma)|."""
    low, high, log = item["lower"], item["upper"], bool(item.get("log"))
    if item["type"].startswith("beta"):
        return beta_range(item["alpha"], item["beta"], low, high, log)
    if not item["type"].startswith("normal"):
        return None
    width = math.log(high / low) if log else high - low
    mean = (math.log(item["mu"] / low) if log else item["mu"] - low) / width
    sd = (abs(math.log(low + item["sigma"])) if log else item["sigma"]) / width
    return normal_range(mean, sd, low, high, log) if sd > 0 else None


def _likely_options(item: Item) -> list[tuple[Any, float]] | None:
    """The weights of a categorical; None if all are equal."""
    weights = item.get("weights") or item.get("probabilities")
    if not weights or len(set(weights)) == 1:
        return None
    return list(zip(_values(item), weights, strict=True))


def _values(item: Item) -> tuple[Any, ...]:
    """The options of a hyperparameter that lists them."""
    if item["type"] == "constant":
        return (item["value"],)
    return tuple(item["choices"] if item["type"] == "categorical" else item["sequence"])


def _lost(data: Item) -> list[str]:
    """Everything in ``data`` that a Space cannot hold, by name."""
    lost = [f"the name {data['name']!r}"] if data.get("name") else []
    for item in data["hyperparameters"]:
        name = item["name"]
        lost += [f"{key} of {name!r}" for key in ("meta", "q") if item.get(key)]
    return lost


# ---- conditions and clauses, in bough's language -----------------------------------------------


def _condition(item: Item, items: Mapping[str, Item], conditional: set[str]) -> str:
    """``conditional`` holds the parameters that can be inactive."""
    kind = item["type"]
    if kind in ("AND", "OR"):
        return _joined(kind, [_condition(part, items, conditional) for part in item["conditions"]])
    parent = item["parent"]
    if kind == "IN":
        return _member(items[parent], item["values"])
    if kind == "NEQ" and parent in conditional:
        return f"not ({quote(parent)} == {item['value']!r})"
    if kind in CONDITIONS:
        return f"{quote(parent)} {OPERATORS[kind]} {item['value']!r}"
    raise SpaceError(f"the condition of {item['child']!r} has the unknown type {kind!r}")


def _clause(item: Item, items: Mapping[str, Item]) -> str:
    kind = item["type"]
    if kind in ("AND", "OR"):
        return _joined(kind, [_clause(part, items) for part in item["clauses"]])
    if kind == "IN":
        return _member(items[item["name"]], item["values"])
    if kind in CLAUSES:
        return f"{quote(item['name'])} {OPERATORS[kind.removeprefix('CLAUSE_')]} {item['value']!r}"
    comparison = item["lambda"] if kind == "RELATION" else kind.removeprefix("RELATION_")
    if kind.startswith("RELATION") and comparison in OPERATORS:
        return _relation(items[item["left"]], OPERATORS[comparison], items[item["right"]])
    raise SpaceError(f"a forbidden clause has the unknown type {kind!r}")


def _joined(kind: str, parts: Sequence[str]) -> str:
    return f" {kind.lower()} ".join(f"({part})" for part in parts)


def _member(item: Item, values: Sequence[Any]) -> str:
    name = quote(item["name"])
    if values:
        return f"{name} in ({', '.join(map(repr, values))},)"
    some = item["lower"] if "lower" in item else _values(item)[0]
    return f"{name} == {some!r} and {name} != {some!r}"  # in an empty set: never true


def _relation(left: Item, op: str, right: Item) -> str:
    """``left op right``. ConfigSpace compares the values themselves, even of ordinals and categories; for
    these, the pairs that satisfy the relation are written out."""
    if not (_listed(left) and _listed(right)):
        return f"{quote(left['name'])} {op} {quote(right['name'])}"
    pairs = product(_values(left), _values(right))
    try:
        true = [(a, b) for a, b in pairs if COMPARE[op](a, b)]
    except TypeError:
        names = f"{left['name']!r} {op} {right['name']!r}"
        raise SpaceError(f"the forbidden relation {names} compares values of different types") from None
    return _joined(
        "OR", [f"{_member(left, [a])} and {_member(right, [b])}" for a, b in true] or [_member(left, [])]
    )


def _listed(item: Item) -> bool:
    return item["type"] in ("categorical", "ordinal", "constant")
