"""Checks of a user's arguments about trials and configs: which ones, how many, and for how long."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from bough.errors import ConfigError, TrialError
from bough.space.scalars import shown
from bough.trial import Config, Trial

__all__ = ["check_lease", "checked_configs", "checked_count", "is_positive", "number_and_attempt"]


def number_and_attempt(trial: Trial | int) -> tuple[int, int]:
    """Number and attempt of a trial; attempt 0, the current one, if only its number is given."""
    if isinstance(trial, Trial):
        return trial.number, trial.attempt
    try:
        number = operator.index(trial)
    except TypeError:
        raise TrialError(f"a trial is named by its number or a Trial, not {trial!r}") from None
    if not 0 <= number < 2**62:
        raise TrialError(f"there is no trial {shown(number)}")
    return number, 0


def checked_count(n: int) -> int:
    """How many trials are asked for; TrialError unless it is a positive whole number."""
    try:
        count = operator.index(n)
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


def is_positive(number: Any, *, infinite: bool = False) -> bool:
    """Whether it is a positive number that a float can hold, of any type; ``infinite``: or infinity."""
    real = isinstance(number, Real) and not isinstance(number, bool)
    return real and (0 < number <= sys.float_info.max or (infinite and number == math.inf))


def check_lease(lease: float) -> None:
    """TrialError unless the lease is a positive number of seconds."""
    if not is_positive(lease):
        raise TrialError(f"lease must be a positive number of seconds or None, not {shown(lease)}")
