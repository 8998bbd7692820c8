"""Options of a method: fields of a frozen dataclass that check themselves.

``samples: int = option(10, at_least(1))`` declares a field with a default and a check. ``Options`` runs the
checks of all fields when an instance is made, and raises one MethodError that says what to give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any

from bough.errors import MethodError, MissingExtraError
from bough.strategies.base import PAPER_WORKING_SET_SIZE, WORKING_SET_SIZE
from bough.strategies.initial import KINDS

__all__ = [
    "INITIAL",
    "POSITIVE",
    "SAMPLES",
    "SHARE",
    "WORKING_SET",
    "Check",
    "ModelOptions",
    "Options",
    "PaperOptions",
    "at_least",
    "flag",
    "one_of",
    "option",
    "require",
]


@dataclass(frozen=True)
class Check:
    """Whether a value is acceptable, and what to give instead."""

    holds: Callable[[Any], bool]
    wanted: str


def option(default: Any, check: Check) -> Any:
    """A dataclass field with a default and a check."""
    return field(default=default, metadata={"check": check})


def at_least(smallest: int, wanted: str | None = None, *, or_none: bool = False) -> Check:
    """A whole number, or None where that is allowed."""
    text = wanted or f"a whole number, at least {smallest}" + (", or None" if or_none else "")
    return Check(lambda v: (v is None and or_none) or (_whole(v) and v >= smallest), text)


def one_of(names: Iterable[str], *, or_none: bool = False) -> Check:
    """One of some names, or None where that is allowed."""
    known = tuple(names)
    text = f"one of {', '.join(known)}" + (", or None" if or_none else "")
    return Check(lambda v: (v is None and or_none) or (isinstance(v, str) and v in known), text)


def flag(wanted: str) -> Check:
    """True or False."""
    return Check(lambda v: isinstance(v, bool), wanted)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _real(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


POSITIVE = Check(lambda v: _real(v) and 0 < v < 1e6, "a positive number")
SHARE = Check(lambda v: _real(v) and 0 < v < 1, "a number between 0 and 1")
REFIT_GROWTH = Check(
    lambda v: _real(v) and 0 <= v < 10,
    "the fraction by which the data grow before a refit, 0 to refit at every trial",
)
INITIAL = Check(
    lambda v: (
        _count(v) or v in KINDS or (isinstance(v, (tuple, list)) and len(v) == 2 and _kind_and_count(*v))
    ),
    "a number of initial points, None for one per path (4 to 16), a design "
    f"({', '.join(KINDS)}), or both as in ('sobol', 10)",
)
SAMPLES = at_least(0, "a number of slice samples of the hyperparameters, 0 for the mode")
WORKING_SET = at_least(16, "how many observations a model sees at most, at least 16")


def _count(value: Any) -> bool:
    return value is None or (_whole(value) and value >= 1)


def _kind_and_count(kind: Any, count: Any) -> bool:
    return kind in KINDS and _whole(count) and count >= 1


@dataclass(frozen=True)
class Options:
    """Base of the built-in methods: every field is checked when an instance is made."""

    def __post_init__(self) -> None:
        for declared in fields(self):
            check: Check | None = declared.metadata.get("check")
            value = getattr(self, declared.name)
            if check is not None and not check.holds(value):
                raise MethodError(f"option {declared.name!r} is {value!r}: give {check.wanted}")


@dataclass(frozen=True, kw_only=True)
class ModelOptions(Options):
    """Options that all methods with a Gaussian process share.

    working_set: with more observations than this, the model sees only this many (``working_rows``).
    """

    refit_growth: float = option(0.05, REFIT_GROWTH)
    initial: int | str | tuple[str, int] | None = option(None, INITIAL)
    working_set: int = option(WORKING_SET_SIZE, WORKING_SET)


@dataclass(frozen=True, kw_only=True)
class PaperOptions(ModelOptions):
    """Options of the papers' methods and baselines. The papers condition on every observation.

    samples: how many slice samples of the hyperparameters EI is averaged over; 0 uses the mode.
    """

    working_set: int = option(PAPER_WORKING_SET_SIZE, WORKING_SET)
    samples: int = option(0, SAMPLES)


def require(module: str, hint: str) -> None:
    """Raise MissingExtraError with a hint if an optional dependency cannot be imported."""
    try:
        import_module(module)
    except ImportError:
        raise MissingExtraError(hint) from None
