"""Every method by name: a short composition of surrogate, acquisition, maximiser and initial design."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bough.errors import MethodError
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.designs import RandomSearch

__all__ = ["Method", "method", "methods", "resolve", "strategy_for"]


@dataclass(frozen=True)
class Method:
    """A method's name with the options that differ from its defaults; what a study stores."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Entry:
    """One row of the table of methods."""

    summary: str
    source: str
    build: Callable[..., Strategy]
    defaults: Mapping[str, Any] = field(default_factory=dict)


def methods() -> dict[str, str]:
    """Every method's name, with one line on what it is and where it comes from."""
    return {name: f"{entry.summary} ({entry.source})" for name, entry in _TABLE.items()}


def method(name: str, **options: Any) -> Method:
    """A method with options, for ``method=``; an unknown name or option is an error that says what exists."""
    return resolve(Method(name, options))


def resolve(chosen: str | Method) -> Method:
    """Check a name or Method against the table."""
    if isinstance(chosen, str):
        chosen = Method(chosen)
    if not isinstance(chosen, Method):
        raise MethodError(f"method must be a name or bough.method(...), not {type(chosen).__name__}")
    if chosen.name not in _TABLE:
        near = difflib.get_close_matches(chosen.name, _TABLE, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(_TABLE)}"
        raise MethodError(f"unknown method {chosen.name!r}: {hint}")
    known = _TABLE[chosen.name].defaults
    for option in chosen.options:
        if option not in known:
            raise MethodError(
                f"method {chosen.name!r} has no option {option!r}: it takes {', '.join(known) or 'none'}"
            )
    return chosen


def strategy_for(chosen: Method, space: Space) -> Strategy:
    """The strategy that a checked method stands for, on a space."""
    entry = _TABLE[chosen.name]
    return entry.build(space, **{**entry.defaults, **chosen.options})


def _random(space: Space) -> Strategy:
    return RandomSearch()


_TABLE: dict[str, _Entry] = {
    "random": _Entry("uniform random search", "baseline", _random),
}
