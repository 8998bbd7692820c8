"""Checks the definition of an experiment from SigOpt's clients, completes it, and makes its ``Space``.

A conditional is a categorical parameter that only switches others on and off. A feature that bough lacks is
refused with a message that names it, never ignored silently.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from bough import Categorical, Float, Int, Space
from bough.errors import SpaceError, about_parameter
from bough.integrations.priors import beta_range, normal_range
from bough.service.sigopt.errors import SigOptError, known_keys, number, object_of, one_of, text
from bough.service.sigopt.metrics import checked_metrics

__all__ = ["METHODS", "as_space", "checked"]

Json = dict[str, Any]

METHODS = {"offline": "auto", "random": "random", "grid": "grid"}
"""SigOpt's types of experiments, and the methods of bough for them."""

_EXPERIMENT = {
    "name", "type", "observation_budget", "budget", "parallel_bandwidth", "project", "metadata", "metrics",
    "metric", "conditionals", "parameters", "linear_constraints", "tasks", "num_solutions", "runs_only",
    "development", "training_monitor",
}  # fmt: skip
_PARAMETER = {
    "name", "type", "bounds", "categorical_values", "conditions", "transformation", "prior", "default_value",
    "grid", "precision", "tunable", "object",
}  # fmt: skip
_UNSUPPORTED = {
    "linear_constraints": "linear constraints",
    "tasks": "tasks",
    "training_monitor": "training monitors",
}
_MOST_COMBINATIONS = 10_000


def checked(body: Json) -> Json:
    """The definition with all its fields, or ``SigOptError``."""
    known_keys(body, _EXPERIMENT, "experiment")
    for key, what in _UNSUPPORTED.items():
        if body.get(key):
            raise SigOptError(f"bough does not support {what}: leave {key!r} out")
    if body.get("num_solutions") not in (None, 1):
        raise SigOptError("bough does not support more than one solution: leave 'num_solutions' out")
    kind = one_of(body.get("type") or "offline", METHODS, "type")
    conditionals = [_conditional(each) for each in _list(body, "conditionals")]
    parameters = [_parameter(each, conditionals) for each in _list(body, "parameters")]
    if not parameters:
        raise SigOptError('Missing required json key "parameters": an experiment needs at least one')
    _check_names(conditionals, parameters)
    _check_reached(conditionals, parameters)
    definition = {
        "name": text(body.get("name"), "name"),
        "type": kind,
        "budget": _count(body.get("observation_budget") or body.get("budget"), "budget"),
        "parallel_bandwidth": _count(body.get("parallel_bandwidth"), "parallel_bandwidth"),
        "project": None if body.get("project") is None else text(body["project"], "project"),
        "metadata": object_of(body.get("metadata"), "metadata"),
        "metrics": _metrics(body),
        "conditionals": conditionals,
        "parameters": parameters,
    }
    as_space(definition)
    return definition


def as_space(definition: Json) -> Space:
    """The space of an experiment."""
    declared: dict[str, Any] = {
        each["name"]: Categorical(each["values"]) for each in definition["conditionals"]
    }
    try:
        for each in definition["parameters"]:
            with about_parameter(each["name"]):
                declared[each["name"]] = _declared(each)
        return Space(declared)
    except SpaceError as error:
        raise SigOptError(f"Invalid parameters: {error}") from None


def _declared(parameter: Json) -> Any:
    when = " and ".join(
        f"`{name}` in ({', '.join(map(repr, values))},)" for name, values in parameter["conditions"].items()
    )
    extra = {"when": when or None, "default": parameter["default_value"]}
    if parameter["default_value"] is None:
        del extra["default"]
    if parameter["type"] == "categorical":
        return Categorical([each["name"] for each in parameter["categorical_values"]], **extra)
    if parameter["grid"]:
        return Categorical(parameter["grid"], ordered=True, **extra)
    low, high = parameter["bounds"]["min"], parameter["bounds"]["max"]
    log = parameter["transformation"] == "log"
    if parameter["type"] == "int":
        return Int(low, high, log=log, **extra)
    return Float(low, high, log=log, likely=_likely(parameter.get("prior"), low, high), **extra)


def _likely(prior: Json | None, low: float, high: float) -> tuple[float, float] | None:
    """The central 80 % of a prior. None without a prior, or if it lies completely out of bounds."""
    if prior is None:
        return None
    if prior["name"] == "beta":
        return beta_range(prior["shape_a"], prior["shape_b"], low, high)
    width = high - low
    return normal_range((prior["mean"] - low) / width, prior["scale"] / width, low, high)


def _conditional(body: Any) -> Json:
    if not isinstance(body, Mapping):
        raise SigOptError("Invalid value for conditionals: expected objects with name and values")
    name = _name(body.get("name"), "the name of a conditional")
    values = body.get("values")
    if not isinstance(values, list) or len(values) < 2 or len(set(map(str, values))) < len(values):
        raise SigOptError(f"Conditional {name} needs a list of at least 2 distinct values")
    return {"name": name, "values": [text(value, f"a value of conditional {name}") for value in values]}


def _parameter(body: Any, conditionals: Sequence[Json]) -> Json:
    if not isinstance(body, Mapping):
        raise SigOptError("Invalid value for parameters: expected objects with name and type")
    name = _name(body.get("name"), "the name of a parameter")
    known_keys(body, _PARAMETER, f"parameter {name}")
    kind = one_of(body.get("type"), ("int", "double", "categorical"), f"the type of parameter {name}")
    transformation = one_of(
        body.get("transformation") or "none", ("none", "log"), f"the transformation of parameter {name}"
    )
    grid, bounds = body.get("grid"), body.get("bounds")
    categories: list[Json] = []
    if kind == "categorical":
        categories = _categories(body.get("categorical_values"), name)
    elif grid:
        grid = _grid(grid, kind, name)
    else:
        bounds = _bounds(bounds, kind, transformation, name)
    if (prior := body.get("prior")) and (kind != "double" or grid or transformation == "log"):
        raise SigOptError(f"Parameter {name}: a prior needs a double with bounds and without transformation")
    return {
        "name": name,
        "type": kind,
        "bounds": bounds if kind != "categorical" and not grid else None,
        "categorical_values": categories,
        "grid": grid or None,
        "transformation": transformation,
        "prior": _prior(prior, name) if prior else None,
        "default_value": body.get("default_value"),
        "conditions": _conditions(body.get("conditions"), conditionals, name),
    }


def _bounds(bounds: Any, kind: str, transformation: str, name: str) -> Json:
    if not isinstance(bounds, Mapping) or not {"min", "max"} <= set(bounds):
        raise SigOptError(f"Parameter {name} needs bounds with min and max")
    low, high = (number(bounds[key], f"bound {key} of parameter {name}") for key in ("min", "max"))
    if not low < high:
        raise SigOptError(f"Parameter {name}: bounds max must be greater than min")
    if transformation == "log" and low <= 0:
        raise SigOptError(f"Parameter {name}: a log transformation needs a positive min")
    if kind == "int":
        if low != int(low) or high != int(high):
            raise SigOptError(f"Parameter {name}: bounds of an int must be integers")
        low, high = int(low), int(high)
    return {"min": low, "max": high}


def _prior(body: Any, name: str) -> Json:
    prior = object_of(body, f"prior of parameter {name}")
    kind = one_of(prior.get("name"), ("normal", "beta"), f"the prior of parameter {name}")
    keys = ("mean", "scale") if kind == "normal" else ("shape_a", "shape_b")
    values = {key: number(prior.get(key), f"{key} in the prior of parameter {name}") for key in keys}
    if any(values[key] <= 0 for key in keys if key != "mean"):
        raise SigOptError(f"Parameter {name}: scale and shapes of a prior must be above 0")
    return {"name": kind, **values}


def _grid(grid: Any, kind: str, name: str) -> list[Any]:
    if not isinstance(grid, list) or len(grid) < 2:
        raise SigOptError(f"Parameter {name}: a grid is a list of at least 2 values")
    values = sorted({number(value, f"the grid of parameter {name}") for value in grid})
    return [int(value) if kind == "int" else float(value) for value in values]


def _categories(values: Any, name: str) -> list[Json]:
    if not isinstance(values, list) or len(values) < 2:
        raise SigOptError(f"Parameter {name} needs at least 2 categorical_values")
    names = [value.get("name") if isinstance(value, Mapping) else value for value in values]
    if len(set(map(str, names))) < len(names):
        raise SigOptError(f"Parameter {name}: categorical_values must be distinct")
    return [
        {"name": text(each, f"a categorical value of parameter {name}"), "enum_index": index}
        for index, each in enumerate(names, start=1)
    ]


def _conditions(conditions: Any, conditionals: Sequence[Json], name: str) -> dict[str, list[str]]:
    """The condition of a parameter: each of the conditionals has one of the values."""
    known = {each["name"]: each["values"] for each in conditionals}
    found = {}
    for conditional, wanted in object_of(conditions, f"conditions of parameter {name}").items():
        values = wanted if isinstance(wanted, list) else [wanted]
        if conditional not in known:
            raise SigOptError(f"Parameter {name}: there is no conditional {conditional!r}")
        for value in values:
            if value not in known[conditional]:
                raise SigOptError(f"Parameter {name}: conditional {conditional!r} has no value {value!r}")
        if not values:
            raise SigOptError(f"Parameter {name}: the condition on {conditional!r} lists no value")
        found[conditional] = list(values)
    return found


def _metrics(body: Json) -> list[Json]:
    given = _list(body, "metrics") or ([body["metric"]] if body.get("metric") else [{"name": None}])
    return checked_metrics(given)


def _check_names(conditionals: Sequence[Json], parameters: Sequence[Json]) -> None:
    seen = set()
    for each in [*conditionals, *parameters]:
        if each["name"] in seen:
            raise SigOptError(f"Duplicate name: {each['name']} is used by two parameters or conditionals")
        seen.add(each["name"])


def _check_reached(conditionals: Sequence[Json], parameters: Sequence[Json]) -> None:
    """SigOptError if some combination of conditional values has no active parameter."""
    if any(not each["conditions"] for each in parameters):
        return
    combinations = itertools.product(*(each["values"] for each in conditionals))
    names = [each["name"] for each in conditionals]
    for values in itertools.islice(combinations, _MOST_COMBINATIONS):
        chosen = dict(zip(names, values, strict=True))
        if not any(
            all(chosen[name] in wanted for name, wanted in each["conditions"].items()) for each in parameters
        ):
            raise SigOptError("Need at least one parameter that satisfies each conditional value")


def _name(value: Any, what: str) -> str:
    name = text(value, what)
    if "`" in name:
        raise SigOptError(f"Invalid value for {what}: it may not contain a backtick")
    return name


def _list(body: Json, key: str) -> list[Any]:
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise SigOptError(f"Invalid value for {key}: expected a list")
    return value


def _count(value: Any, what: str) -> int | float | None:
    if value is None:
        return None
    if number(value, what) < 0:
        raise SigOptError(f"Invalid value for {what}: expected a number that is not negative")
    return value  # type: ignore[no-any-return]
