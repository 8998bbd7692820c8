"""Spaces as JSON or YAML: ``{name: {"type": ..., ...}}``, or with forbidden clauses or required relations
``{"parameters": {...}, "forbid": [...], "require": [...]}``. An unknown key is an error."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from bough.errors import SpaceError
from bough.space.beliefs import likely_json
from bough.space.choice import MAX_DEPTH, Choice, Declared
from bough.space.desugar import MAX_PARAMETERS
from bough.space.parameters import Categorical, Float, Int
from bough.strict_json import JsonError, loads

__all__ = ["from_json", "load", "read", "to_dict", "to_json"]

MAX_BYTES = 16 * 2**20
MAX_JSON_DEPTH = 4 * MAX_DEPTH
"""A choice inside a choice is three levels further down: its options, the label, the name."""

CONFIGSPACE_READER = "bough.integrations.configspace_import"
"""Loaded by name, and only for a file of ConfigSpace, because integrations build on spaces."""

PCS_READER = "bough.integrations.pcs"
"""Likewise, for the parameter files of solvers."""

CLASSES: dict[str, type[Declared]] = {
    "float": Float,
    "int": Int,
    "categorical": Categorical,
    "choice": Choice,
}
"""The class of each type. A file gives the arguments of its constructor by name."""


Parts = tuple[dict[str, Declared], list[str], list[str]]
"""The arguments of ``Space``: parameters, forbidden clauses, required relations."""


def to_json(declared: Mapping[str, Declared], forbid: Sequence[str], require: Sequence[str] = ()) -> str:
    """The space as a JSON text."""
    return json.dumps(to_dict(declared, forbid, require), indent=1, allow_nan=False, ensure_ascii=False)


def to_dict(
    declared: Mapping[str, Declared], forbid: Sequence[str], require: Sequence[str] = ()
) -> dict[str, Any]:
    """The space as JSON-able data."""
    parameters = {name: _describe(parameter) for name, parameter in declared.items()}
    if require:
        return {"parameters": parameters, "forbid": list(forbid), "require": list(require)}
    if forbid or "parameters" in parameters or "hyperparameters" in parameters:
        return {"parameters": parameters, "forbid": list(forbid)}
    return parameters


def _describe(parameter: Declared) -> dict[str, Any]:
    data: dict[str, Any] = {"type": type(parameter).__name__.lower()}
    for field in _arguments(type(parameter)):
        value = getattr(parameter, field.name)
        if isinstance(parameter, Choice) and field.name == "options":
            value = {
                label: {name: _describe(child) for name, child in children.items()}
                for label, children in parameter.options.items()
            }
        if field.name == "likely" and value is not None:
            value = likely_json(value)
        if value is not field.default:
            data[field.name] = list(value) if isinstance(value, tuple) else value
    return data


def _arguments(kind: type[Declared]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.init]


def from_json(text: str | Mapping[str, Any]) -> Parts:
    """The arguments of ``Space`` from a JSON text, or from the data in one."""
    return read(parse(text) if isinstance(text, str) else text)


def load(path: str | os.PathLike[str]) -> Parts:
    """The arguments of ``Space`` from a space file."""
    file = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if file is None or "\0" in file:
        raise SpaceError(f"a space file is named by its path, not {path!r:.80}")
    try:
        size = os.path.getsize(file)
        if size > MAX_BYTES:
            raise SpaceError(f"{file} has {size} bytes; a space file has at most {MAX_BYTES}")
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    except OSError as error:
        raise SpaceError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SpaceError(f"{file} is not UTF-8 text") from None
    suffix = os.path.splitext(file)[1]
    try:
        if suffix == ".pcs":
            parameters, clauses = import_module(PCS_READER).read_pcs(text)
            return parameters, clauses, []
        if suffix not in (".yaml", ".yml"):
            return read(parse(text))
        from bough.space.yaml import parse_yaml  # PyYAML is loaded only for a YAML file

        return read(parse_yaml(text))
    except SpaceError as error:
        raise type(error)(f"{file}: {error}") from None


def read(data: object) -> Parts:
    """The arguments of ``Space`` from the data of a space file."""
    if not isinstance(data, Mapping) or not data:
        raise SpaceError('a space must be an object of at least one parameter: {name: {"type": ...}}')
    if isinstance(data.get("hyperparameters"), list):
        parts: Parts = import_module(CONFIGSPACE_READER).read_configspace(data)
        return parts
    forbid: object = []
    require: object = []
    inner = data.get("parameters")
    if isinstance(inner, Mapping) and not isinstance(inner.get("type"), str):
        unknown = set(data) - {"parameters", "forbid", "require"}
        if unknown:
            raise SpaceError(
                f"unknown key {min(map(str, unknown))!r} beside 'parameters', 'forbid' and 'require'"
            )
        data, forbid, require = inner, data.get("forbid", []), data.get("require", [])
    for key in ("forbid", "require"):
        if isinstance(data.get(key), list):  # a parameter of that name is an object
            raise SpaceError(f"{key!r} goes beside 'parameters': put the parameters below that key")
    if not isinstance(forbid, list) or not all(isinstance(clause, str) for clause in forbid):
        raise SpaceError("'forbid' must be a list of conditions")
    if not isinstance(require, list) or not all(isinstance(relation, str) for relation in require):
        raise SpaceError("'require' must be a list of relations, such as 'sum(a, b) == 1'")
    budget = iter(range(MAX_PARAMETERS))
    parameters = {name: _parameter(str(name), spec, 0, budget) for name, spec in data.items()}
    return parameters, forbid, require


def _parameter(path: str, spec: object, depth: int, budget: Iterator[int]) -> Declared:
    """One parameter and all below it. ``budget`` limits how much YAML's aliases can multiply."""
    if next(budget, None) is None:
        raise SpaceError(f"a space has at most {MAX_PARAMETERS} parameters")
    if depth > MAX_DEPTH:
        raise SpaceError(f"choices nest deeper than {MAX_DEPTH} levels")
    if not isinstance(spec, Mapping) or not isinstance(spec.get("type"), str):
        raise SpaceError(f'parameter {path!r} must be an object with a "type": {", ".join(CLASSES)}')
    kind = spec["type"]
    if kind not in CLASSES:
        raise SpaceError(f"parameter {path!r} has the unknown type {kind!r}: one of {', '.join(CLASSES)}")
    arguments = {key: value for key, value in spec.items() if key != "type"}
    known = {field.name: field.default is dataclasses.MISSING for field in _arguments(CLASSES[kind])}
    for key in arguments:
        if key not in known:
            raise SpaceError(f"parameter {path!r} has the unknown key {key!r}: one of {', '.join(known)}")
    for key, required in known.items():
        if required and key not in arguments:
            raise SpaceError(f"parameter {path!r} of type {kind!r} needs {key!r}")
    if kind == "choice":
        arguments["options"] = _options(path, arguments["options"], depth, budget)
    try:
        return CLASSES[kind](**arguments)
    except SpaceError as error:
        raise type(error)(f"parameter {path!r}: {error}") from None


def _options(path: str, options: object, depth: int, budget: Iterator[int]) -> object:
    if not isinstance(options, Mapping) or not all(isinstance(each, Mapping) for each in options.values()):
        return options  # Choice says what is wrong with them
    return {
        label: {
            name: _parameter(f"{path}={label}/{name}", spec, depth + 1, budget)
            for name, spec in children.items()
        }
        for label, children in options.items()
    }


def parse(text: str) -> object:
    """The data of a JSON text."""
    if len(text) > MAX_BYTES:
        raise SpaceError(f"a space of {len(text)} characters is longer than {MAX_BYTES}")
    try:
        return loads(text, max_depth=MAX_JSON_DEPTH, any_text=True)
    except JsonError as error:
        raise SpaceError(str(error)) from None
