"""The space of a search of scikit-learn: a ``bough.Space`` with estimators as options, or dicts of lists and
SciPy distributions. With it comes a function from a config to parameters of the estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from bough.errors import SpaceError
from bough.space import Categorical, Choice, Float, Int, Space

__all__ = ["ToParams", "readable_space"]

DICT = "dict"
"""The switch between the dicts of a list of spaces."""

ToParams = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Makes parameters of the estimator from a config."""


def readable_space(space: Any, choices: Mapping[str, Mapping[str, Any]]) -> tuple[Space, ToParams]:
    """The space to search, and how a config becomes parameters of the estimator."""
    if isinstance(space, Space):
        return space, _from_space(space, choices)
    tables = [space] if isinstance(space, Mapping) else space
    if (
        not isinstance(tables, Sequence)
        or not tables
        or not all(isinstance(table, Mapping) for table in tables)
    ):
        raise SpaceError(
            f"space must be a bough.Space, a dict or a list of dicts, not {type(space).__name__}"
        )
    columns = [{name: _column(name, given) for name, given in table.items()} for table in tables]
    options = {
        f"{i}": {name: column.domain for name, column in table.items()} for i, table in enumerate(columns)
    }
    found = Space({DICT: Choice(options)}) if len(tables) > 1 else Space(options["0"])

    def to_params(config: Mapping[str, Any]) -> dict[str, Any]:
        table = columns[int(config.get(DICT, 0))]
        return {name: table[name].value(config[name]) for name in table}

    return found, to_params


def _from_space(space: Space, choices: Mapping[str, Mapping[str, Any]]) -> ToParams:
    for name, labels in choices.items():
        domains = [parameter.domain for parameter in space if parameter.name == name]
        choosing = [domain for domain in domains if isinstance(domain, Categorical)]
        if not domains or len(choosing) < len(domains):
            raise SpaceError(f"choices names {name!r}, which is not a choice of the space")
        missing = [label for domain in choosing for label in domain.options if label not in labels]
        if missing:
            raise SpaceError(f"choices[{name!r}] has no estimator for option {missing[0]!r}")

    def to_params(config: Mapping[str, Any]) -> dict[str, Any]:
        active = space.layout.active(space.encode([config]).on)[0]
        params: dict[str, Any] = {}
        for parameter, here in zip(space, active, strict=True):
            value: Any = config.get(parameter.name)
            if here and parameter.name in choices:
                params[parameter.name] = clone(choices[parameter.name][value], safe=False)
            elif here:
                params[_prefixed(parameter.path, parameter.name, choices)] = value
        return params

    return to_params


def _prefixed(path: str, name: str, choices: Mapping[str, Any]) -> str:
    """``clf__C`` for a parameter ``C`` below an option of the choice ``clf``."""
    for step in reversed(path.split("/")[:-1]):
        switch = step.partition("=")[0]
        if switch in choices and not name.startswith(f"{switch}__"):
            return f"{switch}__{name}"
    return name


@dataclass(frozen=True)
class _Column:
    """One parameter of a dict: its domain, and the values that its options stand for (None: itself)."""

    domain: Any
    options: Sequence[Any] | None = None

    def value(self, chosen: Any) -> Any:
        return chosen if self.options is None else self.options[chosen]


def _column(name: str, given: Any) -> _Column:
    if hasattr(given, "rvs"):
        return _Column(_distribution(name, given))
    if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
        raise SpaceError(
            f"parameter {name!r} must be a list of values or a SciPy distribution, not {given!r}"
        )
    values = list(given)
    if not values:
        raise SpaceError(f"parameter {name!r} has no values")
    return _Column(Categorical(list(range(len(values)))), values)


def _distribution(name: str, given: Any) -> Float | Int:
    """A frozen SciPy distribution as a range."""
    kind = getattr(getattr(given, "dist", None), "name", type(given).__name__)
    low, high = (float(end) for end in given.support())
    if kind in ("loguniform", "reciprocal"):
        return Float(low, high, log=True)
    if kind == "uniform":
        return Float(low, high)
    if kind == "randint":
        return Int(int(low), int(high))
    raise SpaceError(
        f"parameter {name!r} has a {kind} distribution: use uniform, loguniform or randint, or a bough.Float"
    )
