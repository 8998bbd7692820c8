"""Configs to points and back, a whole column at a time.

A round trip is exact for ints, steps and categories, and to 1e-14 of the unit scale for reals, which
never leave their bounds. Values under inactive columns are written as 0.5 and never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.errors import ConfigError
from bough.points import BoolArray, FloatArray, Points
from bough.space.activity import Rules, View, real_values
from bough.space.conditions import Scalar
from bough.space.flatten import Parameter
from bough.space.parameters import Categorical

__all__ = ["Config", "decode", "encode", "encode_exact", "snap"]

Config = dict[str, Scalar]


def snap(rules: Rules, x: FloatArray) -> Points:
    """Points at the legal values nearest to ``x`` (n, columns), with the activity they imply."""
    x = np.array(x, dtype=float, order="F")
    if np.isnan(x.sum()):
        x[np.isnan(x)] = 0.5  # only allowed where inactive, and there nothing is read
    np.clip(x, 0.0, 1.0, out=x)
    even, levels = rules.even_grids
    x[:, even] = (np.clip(np.floor(x[:, even] * levels), 0, levels - 1) + 0.5) / levels
    for column in rules.log_grids:
        domain = rules.domains[column]
        x[:, column] = domain.position(domain.rank_at(x[:, column]))
    on = rules.activity(View(rules, x))
    x[~on[:, rules.group]] = 0.5
    return Points(x, on)


def decode(rules: Rules, parameters: Sequence[Parameter], points: Points) -> list[Config]:
    """The configs that ``points`` encode: active parameters only, in column order."""
    active: BoolArray = points.on[:, rules.group]
    table = np.empty(active.shape, dtype=object)
    for column, domain in enumerate(rules.domains):
        rows = np.flatnonzero(active[:, column])
        if len(rows):
            unit = points.x[rows, column]
            if isinstance(domain, Categorical):
                table[rows, column] = domain.values(domain.rank_at(unit))
            else:
                table[rows, column] = real_values(rules, column, unit).tolist()  # Python numbers
    names = [parameter.name for parameter in parameters]
    flat_names = [names[column] for column in np.nonzero(active)[1].tolist()]
    flat_values = table[active].tolist()
    ends = np.cumsum(active.sum(axis=1)).tolist()
    configs: list[Config] = []
    start = 0
    for end in ends:
        configs.append(dict(zip(flat_names[start:end], flat_values[start:end])))
        start = end
    return configs


def encode(rules: Rules, parameters: Sequence[Parameter], configs: Sequence[Mapping[str, Any]]) -> Points:
    """The points of ``configs``, each of which must have exactly its active parameters."""
    return encode_exact(rules, parameters, configs)[0]


def encode_exact(
    rules: Rules, parameters: Sequence[Parameter], configs: Sequence[Mapping[str, Any]]
) -> tuple[Points, View]:
    """Points, and the view of them that knows the exact numbers (a relation may need them)."""
    count = len(configs)
    x = np.full((len(parameters), count), 0.5).T
    on = np.zeros((len(rules.groups), count), dtype=bool).T
    numbers: dict[int, FloatArray] = {}
    view = View(rules, x, numbers)
    for group in rules.groups:
        on[:, group.index] = True if group.bound is None else rules.holds(group.bound, view, on)
        rows = np.flatnonzero(on[:, group.index])
        chosen = configs if len(rows) == count else [configs[row] for row in rows.tolist()]
        for column in group.columns if chosen else ():
            values = _column_values(parameters[column], chosen)
            x[rows, column] = _units(rules, column, values)
            if not isinstance(rules.domains[column], Categorical):
                numbers[column] = np.full(count, np.nan)
                numbers[column][rows] = values
    given = np.fromiter(map(len, configs), dtype=np.intp, count=count)
    wrong = np.flatnonzero(given != on[:, rules.group].sum(axis=1))
    if len(wrong):
        row = int(wrong[0])
        raise ConfigError(_surplus(parameters, configs[row], on[row][rules.group]))
    return Points(x, on), view


def _column_values(parameter: Parameter, configs: Sequence[Mapping[str, Any]]) -> list[Any]:
    name, check = parameter.name, parameter.domain.check
    try:
        values = [config[name] for config in configs]
    except KeyError:
        reason = f" (it is active: {parameter.condition})" if parameter.condition else ""
        raise ConfigError(f"parameter {name!r} is missing{reason}") from None
    except TypeError:
        raise ConfigError("a config must be a dict of parameter names and values") from None
    try:
        return [check(value) for value in values]
    except ConfigError as error:
        raise ConfigError(f"parameter {parameter.name!r} {error}") from None


def _units(rules: Rules, column: int, values: Sequence[Any]) -> FloatArray:
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
    """Which name of the config does not belong there, and why."""
    wanted = {parameter.name for parameter, is_on in zip(parameters, active) if is_on}
    for name in config:
        if name in wanted:
            continue
        for parameter in parameters:
            if parameter.name == name:
                return f"parameter {name!r} is given but inactive (it needs {parameter.condition})"
        return f"unknown parameter {name!r}"
    raise AssertionError("called without a surplus name")
