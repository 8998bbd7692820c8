"""Facts about a ConfigSpace that adapters need: active parameters, legal configs, dependencies."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Mapping
from typing import Any, TypeAlias

from ConfigSpace import (
    CategoricalHyperparameter,
    Configuration,
    ConfigurationSpace,
    Constant,
    OrdinalHyperparameter,
    UniformIntegerHyperparameter,
)
from ConfigSpace.conditions import AndConjunction, Condition, Conjunction
from ConfigSpace.exceptions import ForbiddenValueError
from ConfigSpace.types import NotSet

Config: TypeAlias = dict[str, Any]
Optimiser: TypeAlias = Generator[Config, float | None, None]
"""Yields configs; the value of each comes back by ``send``, None if the evaluation failed."""

Places: TypeAlias = dict[str, list[tuple[str, Any]]]

MAX_REDRAWS = 20
"""How often a peer that does not support forbidden clauses is asked again; then a legal config is drawn."""
MAX_BRANCHES = 12
"""The most values of an integer parameter on which others can depend as on a choice."""


def read_space(document: Mapping[str, Any]) -> ConfigurationSpace:
    """The space of a ConfigSpace JSON document."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        return ConfigurationSpace.from_json(file.name)


def plain(value: Any) -> Any:
    """A NumPy scalar as the Python value that JSON can write."""
    return value.item() if hasattr(value, "item") else value


def is_active(space: ConfigurationSpace, name: str, config: Mapping[str, Any]) -> bool:
    """Whether a parameter is active, given the preceding ones; those missing in ``config`` are inactive."""
    known = {other: config.get(other, NotSet) for other in space}
    return all(condition.satisfied_by_value(known) for condition in space.parent_conditions_of[name])


def only_active(space: ConfigurationSpace, values: Mapping[str, Any]) -> Config:
    """The config with only the active ones of ``values``; constants need not be given."""
    config: Config = {}
    for name, parameter in space.items():  # parents come first
        if is_active(space, name, config):
            config[name] = plain(parameter.value if isinstance(parameter, Constant) else values[name])
    return config


def is_legal(space: ConfigurationSpace, config: Mapping[str, Any]) -> bool:
    """Whether no forbidden clause holds."""
    try:
        Configuration(space, values=dict(config))
    except ForbiddenValueError:
        return False
    return True


def random_config(space: ConfigurationSpace) -> Config:
    """A legal config, drawn by the space's own generator."""
    return {name: plain(value) for name, value in space.sample_configuration().items()}


def levels(parameter: Any) -> list[Any] | None:
    """All values of a categorical, ordinal, constant or small integer parameter; None for any other."""
    match parameter:
        case CategoricalHyperparameter():
            return [plain(value) for value in parameter.choices]
        case OrdinalHyperparameter():
            return [plain(value) for value in parameter.sequence]
        case Constant():
            return [plain(parameter.value)]
        case UniformIntegerHyperparameter() if parameter.upper - parameter.lower < MAX_BRANCHES:
            return list(range(int(parameter.lower), int(parameter.upper) + 1))
    return None


def places(space: ConfigurationSpace) -> Places:
    """For each parameter the (parent, value) pairs any of which activates it; [] if it is a root.

    A parameter whose condition is not such a list has no entry: it depends on two parents at once, or on one
    with too many values.
    """
    found: Places = {}
    for name in space:
        conditions = space.parent_conditions_of[name]
        below = _places(conditions[0]) if conditions else []
        if below is not None:
            found[name] = below
    return found


def tree(space: ConfigurationSpace) -> dict[str, dict[Any, list[str]]]:
    """``{parent: {value: children}}``, for libraries where a parameter depends on one value of one parent.

    Parameters with several such pairs, or without an entry in ``places``, are left out: they become roots.
    """
    found: dict[str, dict[Any, list[str]]] = {}
    for name, below in places(space).items():
        if len(below) == 1:
            ((parent, value),) = below
            found.setdefault(parent, {}).setdefault(value, []).append(name)
    return found


def _places(condition: Condition | Conjunction) -> list[tuple[str, Any]] | None:
    if isinstance(condition, Condition):
        values = levels(condition.parent)
        name = condition.parent.name
        if values is None:
            return None
        return [(name, value) for value in values if condition.satisfied_by_value({name: value})]
    parts = [_places(part) for part in condition.components]
    if None in parts:
        return None
    if isinstance(condition, AndConjunction):
        if len({parent.name for parent in condition.parents}) > 1:
            return None
        return [place for place in parts[0] if all(place in part for part in parts)]
    return list(dict.fromkeys(place for part in parts for place in part))
