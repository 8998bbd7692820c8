"""Assignments, SigOpt's word for the values of a config, with SigOpt's error messages."""

from __future__ import annotations

from typing import Any

from bough.errors import ConfigError
from bough.service.sigopt.errors import SigOptError
from bough.study import Study
from bough.study.revising.revisions import SPACE_KINDS
from bough.trial import Config

__all__ = ["config_of"]

Json = dict[str, Any]


def config_of(definition: Json, assignments: Any, study: Study) -> Config:
    """The config for the assignments; ``SigOptError`` names the wrong one.

    The study's space counts. If it was changed since the experiment was defined, the definition does not say
    any more which parameters there are.
    """
    if not isinstance(assignments, dict):
        raise SigOptError("Invalid value for assignments: expected an object")
    changed = any(each.kind in SPACE_KINDS for each in study.amendments)  # also reads changes by others
    config = assignments if changed else _as_defined(definition, assignments)
    try:
        return study.space.validate(config)
    except ConfigError as error:
        raise SigOptError(f"Invalid value: {error}") from None


def _as_defined(definition: Json, assignments: Json) -> Config:
    """The config in the space that the definition describes."""
    for conditional in definition["conditionals"]:
        name = conditional["name"]
        if name not in assignments:
            raise SigOptError(f"Missing assignment for conditional {name}")
        if assignments[name] not in conditional["values"]:
            raise SigOptError(f"Invalid value for conditional {name}: {assignments[name]!r}")
    config = {each["name"]: assignments[each["name"]] for each in definition["conditionals"]}
    for parameter in definition["parameters"]:
        name = parameter["name"]
        satisfied = all(assignments[key] in values for key, values in parameter["conditions"].items())
        if satisfied and name not in assignments:
            raise SigOptError(f"Missing assignment for parameter {name}")
        if not satisfied and name in assignments:
            raise SigOptError(f"Do not provide assignment for unsatisfied parameter {name}")
        if satisfied:
            config[name] = _value(parameter, assignments[name])
    unknown = next((name for name in assignments if name not in config), None)
    if unknown is not None:
        raise SigOptError(f"Invalid value for assignments: there is no parameter {unknown}")
    return config


def _value(parameter: Json, value: Any) -> Any:
    """SigOpt's clients may write an integer as 3.0, and a double as 3."""
    if parameter["type"] == "categorical":
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SigOptError(
            f"Invalid value for parameter {parameter['name']}: expected a number, not {value!r}"
        )
    if parameter["type"] == "int":
        if value != int(value):
            raise SigOptError(f"Invalid value for parameter {parameter['name']}: expected an integer")
        return int(value)
    return float(value)
