"""Checks of a user's arguments about trials and configs: which ones, how many, and for how long."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from bough.errors import ConfigError, TrialError
from bough.space.scalars import shown
from bough.trial import Config, Trial

__all__ = [
    "as_float",
    "as_index",
    "checked_branch",
    "checked_configs",
    "checked_count",
    "checked_lease",
    "is_positive",
    "is_real",
    "number_and_attempt",
]


def number_and_attempt(trial: Trial | int) -> tuple[int, int]:
    """Number and attempt of a trial; attempt 0, the current one, if only its number is given."""
    if isinstance(trial, Trial):
        return trial.number, trial.attempt
    try:
        number = as_index(trial)
    except TypeError:
        raise TrialError(f"a trial is named by its number or a Trial, not {trial!r}") from None
    if not 0 <= number < 2**62:
        raise TrialError(f"there is no trial {shown(number)}")
    return number, 0


def checked_count(n: int) -> int:
    """How many trials are asked for; TrialError unless it is a positive whole number."""
    try:
        count = as_index(n)
    except TypeError:
        raise TrialError(f"ask for a whole number of trials, not {n!r}") from None
    if count < 1:
        raise TrialError(f"ask for at least 1 trial, not {count}")
    return count


def checked_configs(configs: Sequence[Config]) -> Sequence[Config]:
    """The configs to predict; ConfigError if it is one config instead of a list."""
    if isinstance(configs, Mapping):
        raise ConfigError("predict takes a list of configs: write predict([config])")
    return configs


def checked_branch(branch: Mapping[str, Any]) -> Mapping[str, Any]:
    """A branch, given by its switches; ConfigError if it is no dict."""
    if not isinstance(branch, Mapping):
        raise ConfigError(f"a branch is a dict of switches and their values, not {str(branch)[:40]!r}")
    return branch


def is_real(value: Any) -> bool:
    """Whether it is a real number of any type: Python's, NumPy's, a scalar array, a tensor."""
    return isinstance(value, numbers.Real) or (
        hasattr(value, "__float__")
        and getattr(value, "shape", ()) == ()
        and not isinstance(value, (numbers.Complex, str))
        and getattr(getattr(value, "dtype", None), "kind", "f") in "fiub"
    )


def as_index(number: Any) -> int:
    """A whole number of any type; TypeError for anything else, such as True."""
    if isinstance(number, bool):
        raise TypeError("a truth value is not a number")
    return operator.index(number)


def as_float(number: Any) -> float:
    """A real number of any type as a float, since databases take no other: infinite if it is too large."""
    try:
        return float(number)
    except OverflowError:  # an int too large for a float
        return math.inf if number > 0 else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def is_positive(number: Any, *, infinite: bool = False) -> bool:
    """Whether it is a positive number that a float can hold, of any type; ``infinite``: or infinity."""
    value = as_float(number) if is_real(number) and not isinstance(number, bool) else math.nan
    return 0 < value < math.inf or (infinite and number == math.inf)


def checked_lease(lease: float) -> float:
    """A lease in seconds; TrialError unless it is a positive number."""
    if not is_positive(lease):
        raise TrialError(f"lease must be a positive number of seconds or None, not {shown(lease)}")
    return as_float(lease)
