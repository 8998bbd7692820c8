"""Converts Hyperopt's search spaces: ``space_of(hp_space)``, and ``arguments_of`` for the way back.

The labels of ``hp`` expressions become parameter names. An ``hp.choice`` of plain values becomes a
categorical; with expressions inside, it becomes a ``Choice``. The label of an option is its text, the first
text inside it, or ``option 0``, ``option 1``, ...

A Space needs bounds, so normal distributions are cut at three standard deviations. Their middle 80 % becomes
a belief.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bough.errors import MissingExtraError, SpaceError, about_parameter
from bough.space import Categorical, Float, Int, Space
from bough.space.conditions import quote
from bough.space.discovery import nested
from bough.space.parameters import Domain

try:
    from hyperopt.pyll import as_apply
except ModuleNotFoundError:
    raise MissingExtraError("bough.integrations.hyperopt needs Hyperopt: pip install hyperopt") from None

__all__ = ["arguments_of", "space_of"]

WIDTH = 3.0
"""Standard deviations from the mean at which a normal distribution is cut."""

MIDDLE = 1.2815515594
"""Standard deviations around the mean that contain 80 % of a normal distribution."""


def space_of(space: Any) -> Space:
    """The bough space of a Hyperopt space: an ``hp`` expression, or dicts, lists and tuples of them."""
    found = _Found()
    found.walk(as_apply(space), None)
    if not found.domains:
        raise SpaceError("the Hyperopt space has no hp expression")
    parameters = {}
    for name, domain in found.domains.items():
        rules = found.rules[name]
        when = None if None in rules else " or ".join(str(rule) for rule in rules)
        parameters[name] = replace(domain, when=when)
    return Space(nested(parameters, found.choices))


def arguments_of(space: Any, config: Mapping[str, Any]) -> Any:
    """The argument that Hyperopt would pass to an objective: the space, filled with a config's values."""
    return _evaluated(as_apply(space), config)


@dataclass
class _Found:
    """Parameters by label, the conditions under which each occurs (None: always), and which are choices."""

    domains: dict[str, Domain] = field(default_factory=dict)
    rules: dict[str, list[str | None]] = field(default_factory=dict)
    choices: set[str] = field(default_factory=set)

    def walk(self, node: Any, rule: str | None) -> None:
        if node.name == "hyperopt_param":
            with about_parameter(_label(node)):
                self._add(_label(node), _domain(node), rule)
        elif node.name == "switch":
            label, options = _label(node.pos_args[0]), node.pos_args[1:]
            labels = _option_labels(options)
            with about_parameter(label):
                self._add(label, Categorical(labels, likely=_weights(node.pos_args[0], labels)), rule)
            if not _is_plain(options):
                self.choices.add(label)
                for name, option in zip(labels, options, strict=True):
                    self.walk(option, f"{quote(label)} == {name!r}")
        else:
            for child in node.inputs():
                self.walk(child, rule)

    def _add(self, label: str, domain: Domain, rule: str | None) -> None:
        if self.domains.setdefault(label, domain) != domain:
            raise SpaceError("two hp expressions have this label: rename one")
        self.rules.setdefault(label, [])
        if rule not in self.rules[label]:
            self.rules[label].append(rule)


def _label(node: Any) -> str:
    while node.name in ("float", "int"):
        node = node.pos_args[0]
    return str(node.pos_args[0].obj)


def _is_plain(options: list[Any]) -> bool:
    """Whether the options are values that a categorical can have."""
    return all(
        option.name == "literal" and (option.obj is None or isinstance(option.obj, (str, int, float, bool)))
        for option in options
    )


def _option_labels(options: list[Any]) -> list[Any]:
    if _is_plain(options):
        return [option.obj for option in options]
    texts = [_first_text(option) for option in options]
    return [
        text if text is not None and texts.count(text) == 1 else f"option {i}" for i, text in enumerate(texts)
    ]


def _first_text(node: Any) -> str | None:
    """The option's text, or its first text before any hp expression; the name of a function or class."""
    if node.name == "literal":
        named = getattr(node.obj, "__name__", None)
        return named or (str(node.obj) if isinstance(node.obj, (str, int, float)) else None)
    if node.name == "dict":
        texts = [value for _, value in node.named_args if value.name == "literal"]
    else:
        texts = [value for value in node.pos_args if value.name == "literal"]
    return next((value.obj for value in texts if isinstance(value.obj, str)), None)


def _weights(chooser: Any, labels: list[Any]) -> Any:
    """The probabilities of an hp.pchoice as a belief; None for an hp.choice."""
    distribution = chooser.pos_args[1]
    if distribution.name != "categorical":
        return None
    probabilities = [float(each.obj) for each in distribution.pos_args[0].pos_args]
    return dict(zip(labels, probabilities, strict=True))


def _domain(node: Any) -> Domain:
    label, distribution = _label(node), node.pos_args[1]
    names = {"quniform": ("low", "high", "q"), "qloguniform": ("low", "high", "q")}
    given = [argument.obj for argument in distribution.pos_args]
    named = {key: argument.obj for key, argument in distribution.named_args}
    kind = distribution.name
    wanted = names.get(kind, ("mu", "sigma", "q"))
    numbers = [*given, *(named[name] for name in wanted[len(given) :] if name in named)]
    if kind == "randint":
        low, high = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
        return Int(int(low), int(high) - 1)
    makers: dict[str, Callable[..., Domain]] = {
        "uniform": lambda low, high: Float(low, high),
        "loguniform": lambda low, high: Float(math.exp(low), math.exp(high), log=True),
        "quniform": lambda low, high, q: _grid(low, high, q),
        "qloguniform": lambda low, high, q: _log_grid(label, math.exp(low), math.exp(high), q),
        "normal": _normal,
        "lognormal": _lognormal,
        "qnormal": lambda mu, sd, q: _grid(mu - WIDTH * sd, mu + WIDTH * sd, q),
        "qlognormal": lambda mu, sd, q: _log_grid(
            label, math.exp(mu - WIDTH * sd), math.exp(mu + WIDTH * sd), q
        ),
    }
    if kind not in makers:
        raise SpaceError(f"the hp expression is {kind!r}, which has no counterpart in a Space")
    try:
        return makers[kind](*numbers)
    except OverflowError:
        raise SpaceError(f"the range of {kind} is too wide for floating point") from None


def _normal(mu: float, sd: float) -> Float:
    return Float(mu - WIDTH * sd, mu + WIDTH * sd, likely=(mu - MIDDLE * sd, mu + MIDDLE * sd))


def _lognormal(mu: float, sd: float) -> Float:
    likely = math.exp(mu - MIDDLE * sd), math.exp(mu + MIDDLE * sd)
    return Float(math.exp(mu - WIDTH * sd), math.exp(mu + WIDTH * sd), log=True, likely=likely)


def _grid(low: float, high: float, q: float) -> Domain:
    """Multiples of q, to which Hyperopt rounds; integers if q is an integer."""
    first, last = round(low / q), round(high / q)
    if float(q).is_integer():
        return Int(int(first * q), int(last * q), step=None if q == 1 else int(q))
    return Float(first * q, last * q, step=q)


def _log_grid(label: str, low: float, high: float, q: float) -> Domain:
    if q == 1 and round(low) >= 1:
        return Int(round(low), round(high), log=True)
    warnings.warn(
        f"{label!r} has a log scale and steps of {q:g}: a Space has one of them, so the scale is left out",
        UserWarning,
        stacklevel=2,
    )
    return _grid(low, high, q)


def _evaluated(node: Any, config: Mapping[str, Any]) -> Any:
    if node.name == "literal":
        return node.obj
    if node.name == "dict":
        return {key: _evaluated(value, config) for key, value in node.named_args}
    if node.name == "pos_args":
        return tuple(_evaluated(value, config) for value in node.pos_args)
    if node.name == "switch":
        label, options = _label(node.pos_args[0]), node.pos_args[1:]
        return _evaluated(options[_option_labels(options).index(config[label])], config)
    if node.name == "hyperopt_param":
        return config[_label(node)]
    if node.name in ("float", "int"):
        value = _evaluated(node.pos_args[0], config)
        return float(value) if node.name == "float" else int(value)
    raise SpaceError(f"the Hyperopt space computes {node.name!r}, which has no counterpart in a Space")
