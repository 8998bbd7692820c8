"""The goals of a study: its objectives, the limits on its measures, and a reference point.

``Goals`` is immutable. The default is one objective called ``value`` and no limits, and a storage keeps
nothing for it. This module imports only the standard library, so worker processes load it quickly.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bough.errors import MalformedError, StudyError
from bough.study.handles import as_float, is_real
from bough.trial import Trial

if TYPE_CHECKING:
    from bough.space import Space

__all__ = ["VALUE", "Goals", "Limit", "goals_of", "parse_goals"]
__all__ += ["objective_of_text", "reference_of_text"]


DIRECTIONS = ("minimize", "maximize")
RESERVED = ("noise", "cost")
VIOLATED = "violated constraints"
"""What ``trial.value`` is called in a study with constraints but no objectives."""

_LIMIT = r"\s*(?P<name>`[^`]+`|[^<>=!`]+?)\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[^<>=!\s]+)\s*"
_ARITHMETIC = r"^[^`].*([+*()]|\s[-/]\s)"
"""Matches a name without backticks that looks like arithmetic, such as ``memory + cache``."""


@dataclass(frozen=True)
class Limit:
    """A limit on a measure, such as ``memory <= 512``. sign: one of <=, >=, <, >."""

    name: str
    sign: str
    bound: float

    def __str__(self) -> str:
        name = self.name if re.fullmatch(r"\w+", self.name) else f"`{self.name}`"
        short = f"{self.bound:g}"
        return f"{name} {self.sign} {short if float(short) == self.bound else repr(self.bound)}"

    @property
    def is_upper(self) -> bool:
        return self.sign in ("<", "<=")

    def slack(self, measured: float) -> float:
        """By how much the limit is violated; at most 0 if it is met."""
        distance = measured - self.bound if self.is_upper else self.bound - measured
        touches = distance == 0 and self.sign in ("<", ">")
        return math.ulp(0.0) if touches else distance

    @staticmethod
    def parse(text: Any) -> Limit:
        """A limit from ``name <= number``; StudyError if it cannot be read."""
        found = re.fullmatch(_LIMIT, text) if isinstance(text, str) else None
        try:
            bound = float(found["bound"]) if found else math.nan
        except ValueError:
            bound = math.nan
        if found is None or not math.isfinite(bound):
            raise MalformedError(
                f"the constraint {text!r} cannot be read: write 'name <= number' or 'name >= number'"
            )
        if re.search(_ARITHMETIC, found["name"]):
            raise MalformedError(
                f"the constraint {text!r} computes with measures: return the result as another measure "
                "(a name with such characters goes in backticks)"
            )
        return Limit(_checked_name(found["name"].strip("`"), "constraint"), found["sign"], bound)


@dataclass(frozen=True)
class Goals:
    """The goals of a study.

    objectives: (name, direction) of each; the first one is ``trial.value``. Without objectives, the study
    looks for configurations that meet the limits, and ``trial.value`` counts the limits a trial violates.
    limits: limits on measures. reference: (name, value) for the objectives that have one.
    fidelity: name and highest value of the fidelity; results below this value are partial.
    """

    objectives: tuple[tuple[str, str], ...] = (("value", "minimize"),)
    limits: tuple[Limit, ...] = ()
    reference: tuple[tuple[str, float], ...] = ()
    fidelity: tuple[str, float] | None = None

    @cached_property
    def is_plain(self) -> bool:
        """Whether there is one objective called value, and nothing else."""
        return self.names == ("value",) and not self.limits and not self.reference

    @cached_property
    def is_single(self) -> bool:
        """Whether there is one objective, of any name, and no limit: every method supports these goals."""
        return len(self.objectives) == 1 and not self.limits

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.objectives)

    @cached_property
    def direction(self) -> str:
        """The direction of ``trial.value``."""
        return self.objectives[0][1] if self.objectives else "minimize"

    def direction_of(self, measure: str) -> str:
        """The direction of a measure: from its objective, else from a limit on it, else "minimize"."""
        if measure == self.value_name:
            return self.direction
        limits = {limit.name: "minimize" if limit.is_upper else "maximize" for limit in self.limits[::-1]}
        return {**limits, **dict(self.objectives)}.get(measure, "minimize")

    @cached_property
    def sign(self) -> float:
        """1 if ``trial.value`` is minimised, -1 if it is maximised."""
        return 1.0 if self.direction == "minimize" else -1.0

    @property
    def value_name(self) -> str:
        """The name of the measure that ``trial.value`` holds: the first objective."""
        return self.names[0] if self.objectives else VIOLATED

    @cached_property
    def signs(self) -> tuple[float, ...]:
        """For each objective 1 if it is minimised, -1 if it is maximised."""
        return tuple(1.0 if direction == "minimize" else -1.0 for _, direction in self.objectives)

    @property
    def needed(self) -> tuple[str, ...]:
        """Every measure that a goal names."""
        return tuple(dict.fromkeys([*self.names, *(limit.name for limit in self.limits)]))

    def to_dict(self) -> dict[str, Any]:
        """The goals as JSON data; ``parse_goals`` reads it back."""
        limits = [str(limit) for limit in self.limits]
        return {"objectives": dict(self.objectives), "constraints": limits, "reference": dict(self.reference)}

    def to_json(self) -> str | None:
        """The text that a storage keeps; None for the default goals."""
        return None if self.is_plain else json.dumps(self.to_dict())

    def measured(self, trial: Trial, name: str) -> float:
        """The measure of that name of a finished trial."""
        if name in self.names[:1] and trial.value is not None:
            return trial.value
        return trial.measures[name]

    def noise(self, trial: Trial, name: str) -> float | None:
        """The reported standard deviation of that measure; None if it was not reported."""
        return trial.noises.get(name, trial.noise if name in self.names[:1] else None)

    def outcomes(self, trial: Trial) -> tuple[float, ...]:
        """The objectives of a finished trial, each to be minimised."""
        return tuple(sign * self.measured(trial, name) for sign, name in zip(self.signs, self.names))

    def slacks(self, trial: Trial) -> tuple[float, ...]:
        """By how much a finished trial violates each limit; at most 0 for a limit that it meets."""
        return tuple(limit.slack(self.measured(trial, limit.name)) for limit in self.limits)

    def judged(self, trial: Trial) -> Trial:
        """The trial with its fields for violated limits and for a partial result filled in."""
        if self.fidelity is not None:
            name, full = self.fidelity
            trial = replace(trial, partial=trial.config.get(name, full) < full)
        if not self.limits or trial.state != "done":
            return trial
        violated = tuple(str(limit) for limit, slack in zip(self.limits, self.slacks(trial)) if slack > 0)
        return trial if violated == trial.violated else replace(trial, violated=violated)

    def check_limits(self, space: Space) -> None:
        """StudyError if a limit names a parameter: parameters are limited by relations of the space."""
        known = {parameter.name for parameter in space.parameters}
        for limit in self.limits:
            if limit.name in known and limit.name not in self.names:
                raise MalformedError(
                    f"the constraint '{limit}' names a parameter: limit it by Space(..., "
                    f"require=['{limit}']), or give the measure another name"
                )

    def agrees_with(self, other: Goals) -> bool:
        """Whether these are the same goals; the order of the limits does not matter."""
        return self == replace(other, limits=self.limits) and set(self.limits) == set(other.limits)

    @property
    def heading(self) -> str:
        """The goals for display beside a study's name; for the default goals only the direction."""
        return self.direction if self.is_plain else self.describe()

    def describe(self) -> str:
        """The goals in a few words."""
        if not self.objectives:
            return "meet " + ", ".join(map(str, self.limits))
        text = ", ".join(f"{direction} {name}" for name, direction in self.objectives)
        if self.limits:
            text += " with " + ", ".join(map(str, self.limits))
        if self.reference:
            text += " from " + ", ".join(f"{name} = {value:g}" for name, value in self.reference)
        return text


VALUE = Goals()
"""Minimise one objective called value."""


def parse_goals(objectives: Any, constraints: Any, reference: Any, direction: str = "minimize") -> Goals:
    """The goals that a user gave; StudyError, in one line, if anything is wrong with them."""
    if direction not in DIRECTIONS:
        raise MalformedError(f"direction must be 'minimize' or 'maximize', not {direction!r}")
    if objectives is None:
        named: tuple[tuple[str, str], ...] = (("value", direction),)
    elif direction != "minimize":
        raise MalformedError("give the directions in objectives={name: direction}, not in direction=")
    else:
        named = _objectives(objectives)
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise MalformedError(f"constraints must be a list such as ['memory <= 512'], not {constraints!r}")
    limits = tuple(dict.fromkeys(Limit.parse(text) for text in constraints))
    names = [name for name, _ in named]
    if not named and not limits:
        raise MalformedError(
            "objectives must name at least one objective, unless there are constraints to meet"
        )
    if any(limit.name == "value" for limit in limits) and "value" not in names:
        raise MalformedError("a constraint names 'value', but no objective is called that")
    _check_agreement(limits)
    return Goals(named, limits, _reference(reference, names))


def goals_of(stored: str | None, direction: str) -> Goals:
    """The goals in the record of a study; StudyError if the text is damaged."""
    if stored is None:
        return Goals((("value", direction),))
    try:
        return parse_goals(**json.loads(stored))
    except (ValueError, TypeError):
        raise StudyError(f"the goals {stored[:80]!r} are not what bough writes") from None


def objective_of_text(text: str) -> tuple[str, str]:
    """Name and direction of an objective that a person wrote: ``error`` or ``accuracy:maximize``."""
    name, colon, direction = text.rpartition(":")
    return (name.strip(), direction.strip()) if colon else (text, "minimize")


def reference_of_text(text: str) -> tuple[str, float]:
    """Name and worst acceptable value of an objective that a person wrote: ``error=0.5``."""
    name, sign, value = text.rpartition("=")
    try:
        return name.strip(), float(value if sign else "none")
    except ValueError:
        raise StudyError(f"the reference {text!r} cannot be read: write NAME=NUMBER") from None


def _objectives(given: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise MalformedError(
            f"objectives must be a dict of names and directions, or a list of names, not {given!r}"
        )
    pairs = list(given.items()) if isinstance(given, Mapping) else [(name, "minimize") for name in given]
    for name, direction in pairs:
        _checked_name(name, "objective")
        if direction not in DIRECTIONS:
            raise MalformedError(
                f"the direction of {name!r} must be 'minimize' or 'maximize', not {direction!r}"
            )
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise MalformedError(f"objectives names {next(n for n in names if names.count(n) > 1)!r} twice")
    if len(names) > 1 and "value" in names:
        raise MalformedError("with several objectives none can be called 'value': name what it measures")
    return tuple((name, direction) for name, direction in pairs)


def _checked_name(name: Any, what: str) -> str:
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or "`" in name:
        raise MalformedError(f"the name of a measure in an {what} must be printable text, not {name!r}")
    if name in RESERVED:
        raise MalformedError(f"{name!r} is reserved, so no {what} can be called that")
    return name


def _check_agreement(limits: Sequence[Limit]) -> None:
    for upper in (limit for limit in limits if limit.is_upper):
        for lower in (limit for limit in limits if not limit.is_upper and limit.name == upper.name):
            strict = upper.sign == "<" or lower.sign == ">"
            if upper.bound < lower.bound or (strict and upper.bound == lower.bound):
                raise MalformedError(f"the constraints '{lower}' and '{upper}' contradict each other")


def _reference(given: Any, names: list[str]) -> tuple[tuple[str, float], ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise MalformedError(f"reference must be a dict of objectives and values, not {given!r}")
    for name, value in given.items():
        if name not in names:
            there = f"they are {', '.join(names)}" if names else "there are none"
            raise MalformedError(f"reference names {name!r}, which is not an objective: {there}")
        if isinstance(value, bool) or not is_real(value) or not math.isfinite(as_float(value)):
            raise MalformedError(f"the reference of {name!r} must be a finite number, not {str(value)[:40]}")
    return tuple((name, as_float(given[name])) for name in names if name in given)
