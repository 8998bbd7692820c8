"""How a user names a trial, and what a user gets of one."""

from __future__ import annotations

import math
import operator
import os
from dataclasses import replace

from bough.errors import TrialError
from bough.trial import Trial

__all__ = ["check_lease", "checked_count", "number_and_attempt", "of_place", "own_copy", "this_process"]


def number_and_attempt(trial: Trial | int) -> tuple[int, int]:
    """Number and attempt of a trial; attempt 0, the current one, if only its number is given."""
    if isinstance(trial, Trial):
        return trial.number, trial.attempt
    try:
        number = operator.index(trial)
    except TypeError:
        raise TrialError(f"a trial is named by its number or a Trial, not {trial!r}") from None
    if not 0 <= number < 2**62:
        raise TrialError(f"there is no trial {number}")
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


def own_copy(trial: Trial) -> Trial:
    """The trial with dicts that the user may change."""
    return replace(trial, config=dict(trial.config), measures=dict(trial.measures), notes=dict(trial.notes))


def check_lease(lease: float | None) -> None:
    """TrialError unless the lease is None or a positive number of seconds."""
    if lease is None:
        return
    number = isinstance(lease, (int, float)) and not isinstance(lease, bool)
    if not (number and 0 < lease < math.inf):
        raise TrialError(f"lease must be a positive number of seconds or None, not {lease!r}")


def of_place(request: str, place: int) -> str:
    """The mark of one of the trials that a request asks for; that of the first one is the request's."""
    return f"{request}:{place}" if place else request


def this_process() -> str:
    """Host and process, as the worker of a trial."""
    import socket

    return f"{socket.gethostname()}:{os.getpid()}"
