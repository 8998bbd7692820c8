"""A ConfigSpace as columns in [0, 1], for libraries that support only numbers.

Ranges are scaled (log ones by their logarithm), ordinals are equally spaced, options are one-hot. A parameter
on which others depend has one column, as conditional kernels need it, even if it has many options.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ConfigSpace import (
    CategoricalHyperparameter,
    ConfigurationSpace,
    Constant,
    OrdinalHyperparameter,
    UniformIntegerHyperparameter,
)

from .space import Config, levels


class Columns:
    """The columns of each parameter and its values there; a constant has none unless others depend on it."""

    def __init__(self, space: ConfigurationSpace, parents: Collection[str]) -> None:
        self.space = space
        self.parents = parents
        self.of: dict[str, list[int]] = {}
        self.width = 0
        for name, parameter in space.items():
            many = len(parameter.choices) if isinstance(parameter, CategoricalHyperparameter) else 0
            width = many if many > 2 and name not in parents else 1
            if isinstance(parameter, Constant) and name not in parents:
                width = 0
            self.of[name] = list(range(self.width, self.width + width))
            self.width += width

    def encode(self, name: str, value: Any) -> list[float]:
        """The entries of a value in the parameter's columns."""
        parameter = self.space[name]
        options = self._options(parameter)
        if options is None:
            low, high, at = (
                _scaled(number, parameter.log) for number in (parameter.lower, parameter.upper, value)
            )
            return [(at - low) / (high - low)]
        if len(self.of[name]) > 1:
            return [float(option == value) for option in options]
        return [options.index(value) / max(1, len(options) - 1)] * len(self.of[name])

    def decode(self, row: Sequence[float]) -> Config:
        """The values of all parameters that are nearest to a row (width,)."""
        return {name: self._decode(name, [row[column] for column in at]) for name, at in self.of.items()}

    def row(self, values: Mapping[str, Any]) -> list[float]:
        """The row of the values of all parameters."""
        return [entry for name in self.of for entry in self.encode(name, values[name])]

    def _decode(self, name: str, entries: list[float]) -> Any:
        parameter = self.space[name]
        options = self._options(parameter)
        if options is None:
            low, high = _scaled(parameter.lower, parameter.log), _scaled(parameter.upper, parameter.log)
            number = low + min(max(entries[0], 0.0), 1.0) * (high - low)
            number = math.exp(number) if parameter.log else number
            number = min(max(number, float(parameter.lower)), float(parameter.upper))
            return round(number) if isinstance(parameter, UniformIntegerHyperparameter) else number
        if len(entries) > 1:
            return options[entries.index(max(entries))]
        return options[round(entries[0] * (len(options) - 1))] if entries else options[0]

    def _options(self, parameter: Any) -> list[Any] | None:
        """The options of a parameter; None for a number."""
        listed = CategoricalHyperparameter | OrdinalHyperparameter | Constant
        return levels(parameter) if isinstance(parameter, listed) else None


def _scaled(number: float, log: bool) -> float:
    return math.log(number) if log else float(number)
