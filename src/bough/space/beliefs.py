"""Beliefs: where a user expects good values of a parameter, given by ``likely=`` or ``study.believe``.

A number has a likely range ``(low, high)``, read as its central 80 %. A categorical has weights by option; a
list of options gives each of them the same weight. A belief never excludes a value. Two spaces that differ
only in beliefs are equal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bough.errors import ConfigError, SpaceError
from bough.space.scalars import Scalar, as_number, scalar_key, shown

if TYPE_CHECKING:
    from bough.space.parameters import Categorical, Domain
    from bough.space.space import Space

__all__ = ["Belief", "Likely", "beliefs_of", "checked_likely", "likely_json", "likely_text"]

Likely: TypeAlias = tuple[float, float] | tuple[tuple[Scalar, float], ...]
"""A range of numbers, or pairs of an option and its weight."""


@dataclass(frozen=True)
class Belief:
    """A belief about one column of a space.

    since: the number of trials that there were when the belief was given.
    """

    column: int
    path: str
    likely: Likely
    since: int = 0


def beliefs_of(space: Space, told: Mapping[str, tuple[Any, int]] | None = None) -> tuple[Belief, ...]:
    """The beliefs of a space by column; ``told`` (likely and since, by path) replaces declared ones."""
    found = []
    for column, parameter in enumerate(space.parameters):
        given, since = (told or {}).get(parameter.path, (parameter.domain.likely, 0))
        likely = checked_likely(parameter.domain, given, parameter.path)
        if likely is not None:
            found.append(Belief(column, parameter.path, likely, since))
    return tuple(found)


def checked_likely(domain: Domain, likely: Any, what: str) -> Likely | None:
    """``likely`` in its stored form, or a SpaceError that says what would be right."""
    if likely is None:
        return None
    from bough.space.parameters import Categorical  # it imports this module

    if isinstance(domain, Categorical):
        return _weights(domain, likely, what)
    values = list(likely) if isinstance(likely, Sequence) and not isinstance(likely, str) else []
    low, high = (as_number(values[0]), as_number(values[1])) if len(values) == 2 else (None, None)
    if low is None or high is None:
        raise SpaceError(f"{what} likely must be a range (low, high), not {shown(likely)}")
    if not domain.low <= low <= high <= domain.high:
        raise SpaceError(
            f"{what} likely=({shown(values[0])}, {shown(values[1])}) must be a range inside "
            f"[{domain.low!r}, {domain.high!r}], the lower end first"
        )
    if low == high and domain.kind == "real":
        raise SpaceError(f"{what} likely=({shown(values[0])}, {shown(values[1])}) must have some width")
    return low, high


def _weights(domain: Categorical, likely: Any, what: str) -> Likely:
    if isinstance(likely, Mapping):
        pairs = list(likely.items())
    elif isinstance(likely, Iterable) and not isinstance(likely, str):
        # JSON keys are strings, so a file writes other options as pairs.
        pairs = [tuple(each) if isinstance(each, list | tuple) else (each, 1.0) for each in likely]
    else:
        pairs = []
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise SpaceError(
            f"{what} likely must be {{option: weight}} or a list of options, not {shown(likely)}"
        )
    found: dict[object, tuple[Scalar, float]] = {}
    for option, weight in pairs:
        try:
            known = domain.check(option)
        except ConfigError as error:
            raise SpaceError(f"{what} likely: an option {error}") from None
        number = as_number(weight)
        if number is None or not 0 <= number <= sys.float_info.max:
            raise SpaceError(
                f"{what} likely: the weight of {known!r} must be a number >= 0, not {shown(weight)}"
            )
        if scalar_key(known) in found:
            raise SpaceError(f"{what} likely: option {known!r} is given twice")
        found[scalar_key(known)] = known, float(number)
    if not any(weight for _, weight in found.values()):
        raise SpaceError(f"{what} likely: at least one weight must be above 0")
    return tuple(found.values())


def _pairs(likely: Any) -> list[tuple[Scalar, float]]:
    """The options and their weights; none for a range."""
    return [each for each in likely if isinstance(each, tuple)]


def likely_json(likely: Any) -> Any:
    """The belief as JSON-able data: a list of two numbers, an object of weights, or a list of pairs."""
    pairs = _pairs(likely)
    if not pairs:
        return list(likely)
    if all(isinstance(option, str) for option, _ in pairs):
        return dict(pairs)
    return [list(pair) for pair in pairs]


def likely_text(likely: Any) -> str:
    """The belief as a user would write it."""
    pairs = _pairs(likely)
    if not pairs:
        return f"({likely[0]!r}, {likely[1]!r})"
    return "{" + ", ".join(f"{option!r}: {weight:g}" for option, weight in pairs) + "}"
