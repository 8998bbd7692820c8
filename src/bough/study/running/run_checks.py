"""Before a run begins: whether its options are right, and warnings about what the user may not have meant."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, SupportsIndex

from bough.errors import StudyError
from bough.study.running.events import ProgressOption, reporter
from bough.study.running.executors import check_pool
from bough.study.running.objective import OnError
from bough.study.running.runnable import RunnableStudy
from bough.study.running.settling import check_until
from bough.study.running.spending import checked_budget

__all__ = ["Budget", "check_run", "warn_at_start"]

MAX_PATHS = 256
"""In a space with more paths, no one looks for parameters that are never active."""

_log = logging.getLogger("bough")


@dataclass(frozen=True)
class Budget:
    """trials: how many the study is to have in the end, cost: how much they may cost together; timeout,
    trial_timeout: seconds. None: no limit."""

    trials: int | None = None
    timeout: float | None = None
    trial_timeout: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if self.trials is not None and (not isinstance(self.trials, SupportsIndex) or self.trials < 0):
            raise StudyError(f"trials must be a number of trials or None, not {self.trials!r}")
        for name in ("timeout", "trial_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise StudyError(f"{name} must be a positive number of seconds or None, not {seconds!r}")
        if self.cost is not None:
            checked_budget(self.cost)


def check_run(
    study: object,
    trials: int | None = None,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    callbacks: Any = (),
    progress: ProgressOption = None,
    on_error: OnError = "record",
    budget: float | None = None,
    until: str | None = None,
) -> Budget:
    """The limits of a run; StudyError if its options are wrong. Stores nothing."""
    limits = Budget(trials, timeout, trial_timeout, budget)
    check_until(until, study)
    reporter(progress)
    if on_error not in ("record", "raise"):
        raise StudyError(f"on_error must be 'record' or 'raise', not {on_error!r}")
    if not isinstance(callbacks, Iterable) or not all(map(callable, callbacks)):
        raise StudyError(f"callbacks must be a list of functions, not {callbacks!r:.80}")
    check_pool(workers, executor, trial_timeout)
    return limits


def warn_at_start(study: RunnableStudy, limits: Budget, until: str | None, callbacks: Sequence[Any]) -> None:
    """Log parameters that are never active, and a run that only an interruption ends."""
    space = study.space
    for column in space.tree.never_active(MAX_PATHS):
        path, condition = space.parameters[column].path, space.parameters[column].condition
        _log.warning("parameter %r is never active: no configuration meets %s", path, condition)
    limited = until is not None or callbacks or {limits.trials, limits.timeout, limits.cost} != {None}
    if not limited and space.size == math.inf:
        _log.warning(
            "this run has no limit, such as trials= or timeout=: Ctrl-C ends it and keeps all results"
        )
