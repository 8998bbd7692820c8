"""Makes the space of a scikit-learn search, from a ``bough.Space`` with estimators as options or from dicts
of lists and SciPy distributions, and a function that turns a config into the estimator's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from bough.errors import SpaceError, about_parameter
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.parameters import Domain

__all__ = ["ToParams", "check_parameters", "readable_space"]

DICT = "dict"
"""The name of the switch between the dicts of a list of spaces."""

CHECKED = 50
"""Sampled configs whose parameters are checked, enough to meet the branches of most spaces."""

NO_STEP = ("passthrough", "drop")
"""Texts that scikit-learn takes in place of an estimator."""

ToParams = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Makes parameters of the estimator from a config."""


def readable_space(space: Any, choices: Mapping[str, Mapping[str, Any]]) -> tuple[Space, ToParams]:
    """The space to search, and how a config becomes parameters of the estimator."""
    if not isinstance(choices, Mapping) or not all(isinstance(each, Mapping) for each in choices.values()):
        raise SpaceError(f"choices must be a dict of dicts, {{'clf': {{'svc': SVC()}}}}, not {choices!r:.80}")
    if isinstance(space, Space):
        return space, _from_space(space, choices)
    if choices:
        raise SpaceError("choices needs a bough.Space: in a dict, list the estimators themselves")
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
        return {name: column.value(config[name]) for name, column in table.items() if name in config}

    return found, to_params


def check_parameters(estimator: Any, space: Space, to_params: ToParams) -> None:
    """Refuse a space with parameters that the estimator does not have, before anything is stored."""
    current = estimator.get_params()
    for config in space.sample(CHECKED, np.random.default_rng(0)):
        params = to_params(config)
        for name, value in params.items():
            if isinstance(value, str) and value not in NO_STEP and hasattr(current.get(name), "fit"):
                raise SpaceError(
                    f"parameter {name!r} replaces an estimator by the text {value!r}: "
                    f"choices={{{name!r}: {{{value!r}: ...}}}} says which estimator that is"
                )
        try:
            clone(estimator).set_params(**clone(params, safe=False))
        except ValueError as error:
            raise SpaceError(" ".join(str(error).split())) from None


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
    """One parameter of a dict: its domain, and the values of its options (None: the options themselves)."""

    domain: Domain
    values: Sequence[Any] | None = None

    def value(self, chosen: Any) -> Any:
        return chosen if self.values is None else self.values[int(self.domain.ranks([chosen])[0])]


def _column(name: str, given: Any) -> _Column:
    if isinstance(given, (Float, Int, Categorical)):
        return _Column(given)
    if hasattr(given, "rvs"):
        with about_parameter(name):
            return _distribution(given)
    if isinstance(given, Choice):
        raise SpaceError(f"parameter {name!r} is a Choice: make the dict a bough.Space")
    if isinstance(given, (str, bytes, Mapping, set, frozenset)) or not hasattr(given, "__len__"):
        raise SpaceError(
            f"parameter {name!r} must be a list of values, a SciPy distribution or a bough.Float, not "
            f"{given!r:.80}"
        )
    values = list(given)
    if not values:
        raise SpaceError(f"parameter {name!r} has no values")
    labels = [_label(value) for value in values]
    try:
        return _Column(Categorical(labels), values)
    except SpaceError:  # two are equal, or one is NaN
        return _Column(Categorical([f"{i}: {label}" for i, label in enumerate(labels)]), values)


def _label(value: Any) -> Any:
    """The option for a value: itself, or a text that is the same in every process, for stored studies."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    text = " ".join(repr(value).split())
    return (getattr(value, "__name__", type(value).__name__) if " at 0x" in text else text)[:100]


def _distribution(given: Any) -> _Column:
    """A frozen SciPy distribution as a range."""
    kind = getattr(getattr(given, "dist", None), "name", type(given).__name__)
    low, high = (float(end) for end in given.support())
    if kind in ("loguniform", "reciprocal"):
        return _Column(Float(low, high, log=True))
    if kind == "uniform":
        return _Column(Float(low, high))
    if kind == "randint" and low == high:  # a single value
        return _Column(Categorical([int(low)]))
    if kind == "randint":
        return _Column(Int(int(low), int(high)))
    raise SpaceError(f"a {kind} distribution is not uniform, loguniform or randint: use a bough.Float")
