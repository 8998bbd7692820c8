"""Encode configs as points and decode points, a whole column at a time.

A round trip is exact for ints, steps and categories. Reals keep 1e-14 of the unit scale and never leave
their bounds. Inactive columns hold 0.5, which nothing reads.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.errors import ConfigError
from bough.points import BoolArray, FloatArray, Points
from bough.space.activity import EncodedView, Rules, values_at
from bough.space.desugar import Parameter
from bough.space.parameters import Categorical, Domain, Float, Int
from bough.space.scalars import Scalar

__all__ = ["Config", "decode", "encode_exact", "units"]

Config = dict[str, Scalar]


def decode(rules: Rules, parameters: Sequence[Parameter], points: Points) -> list[Config]:
    """The configs that ``points`` encode: active parameters only, in column order."""
    configs: list[Config] = [{} for _ in range(len(points))]
    rows_of_group = [active.nonzero()[0] for active in points.on.T]
    for column, parameter in enumerate(parameters):
        rows = rows_of_group[rules.group[column]]
        if not len(rows):
            continue
        values = values_at(rules, column, points.x[rows, column])
        for row, value in zip(rows.tolist(), values.tolist()):
            configs[row][parameter.name] = value
    return configs


def encode_exact(
    rules: Rules,
    parameters: Sequence[Parameter],
    configs: Sequence[Mapping[str, Any]],
    fill: Mapping[str, Any] | None = None,
) -> tuple[Points, EncodedView]:
    """Configs as points, and a view of these with the exact numbers, which a relation may need.

    Each config must have exactly its active parameters.
    fill: values of active parameters that a config lacks.
    """
    fill = fill or {}
    count = len(configs)
    x = np.full((len(parameters), count), 0.5).T
    on = np.zeros((len(rules.groups), count), dtype=bool).T
    filled = np.zeros(count, dtype=np.intp)  # how many values of each config come from ``fill``
    numbers: dict[int, FloatArray] = {}
    view = EncodedView(rules, x, numbers)
    for group in rules.groups:
        is_root = group.condition is None
        on[:, group.index] = is_root or rules.holds(group.bound, view, on)
        rows = on[:, group.index].nonzero()[0]
        chosen = configs if len(rows) == count else [configs[row] for row in rows.tolist()]
        for column in group.columns if chosen else ():
            name = parameters[column].name
            if name in fill:
                filled[rows] += [name not in config for config in chosen]
            values = _column_values(parameters, column, chosen, fill)
            x[rows, column] = units(rules, column, values)
            if not isinstance(rules.domains[column], Categorical):
                numbers[column] = np.full(count, np.nan)
                numbers[column][rows] = values
    given = np.fromiter(map(len, configs), dtype=np.intp, count=count) + filled
    wrong = np.flatnonzero(given != on[:, rules.group].sum(axis=1))
    if len(wrong):
        row = int(wrong[0])
        raise ConfigError(_surplus(parameters, configs[row], on[row][rules.group]))
    return Points(x, on), view


def _column_values(
    parameters: Sequence[Parameter],
    column: int,
    configs: Sequence[Mapping[str, Any]],
    fill: Mapping[str, Any],
) -> list[Any]:
    parameter = parameters[column]
    name = parameter.name
    try:
        if name in fill:
            values = [config.get(name, fill[name]) for config in configs]
        else:
            values = [config[name] for config in configs]
    except KeyError:
        reason = f" (it is active: {parameter.condition})" if parameter.condition else ""
        config = next(config for config in configs if name not in config)
        unknown = [str(each) for each in config if each not in {p.name for p in parameters}]
        if near := difflib.get_close_matches(name, unknown, n=1):
            reason = f": is {near[0]!r} misspelt?"
        raise ConfigError(f"parameter {name!r} is missing{reason}") from None
    except TypeError:
        raise ConfigError("a config must be a dict of parameter names and values") from None
    try:
        return _checked(parameter.domain, values)
    except ConfigError as error:
        raise ConfigError(f"parameter {parameter.name!r} {error}") from None


def _checked(domain: Domain, values: list[Any]) -> list[Any]:
    """``domain.check`` of each value; each option and int once, floats as an array."""
    kinds = set(map(type, values))
    if kinds == {str} and isinstance(domain, Categorical):
        if all(value in domain.index for value in set(values)):  # a string is its own key
            return values
    elif kinds == {int} and isinstance(domain, Int):
        low, high, step = domain.low, domain.high, domain.step or 1
        if all(low <= value <= high and (value - low) % step == 0 for value in set(values)):
            return values
    if kinds == {float} and isinstance(domain, Float) and domain.step is None:
        numbers = np.array(values)
        if ((numbers >= domain.low) & (numbers <= domain.high)).all():
            return values
    return [domain.check(value) for value in values]


def units(rules: Rules, column: int, values: Sequence[Any]) -> FloatArray:
    """(n,) unit positions, on the same side of every threshold as the values."""
    domain = rules.domains[column]
    ranks = domain.ranks(values)
    unit = domain.position(ranks)
    if domain.kind == "real" and column in rules.pieces:
        pieces = rules.pieces[column]
        index = pieces.index_of_ranks(ranks)
        low, high = pieces.unit_bounds
        unit = np.clip(unit, low[index], high[index])
    return unit


def _surplus(parameters: Sequence[Parameter], config: Mapping[str, Any], active: BoolArray) -> str:
    """An error message about the first name in the config that does not belong there."""
    wanted = {parameter.name for parameter, is_on in zip(parameters, active) if is_on}
    for name in config:
        if name in wanted:
            continue
        for parameter in parameters:
            if parameter.name == name:
                return f"parameter {name!r} is given but inactive (it needs {parameter.condition})"
        return f"unknown parameter {name!r}"
    raise AssertionError("called without a surplus name")
