"""The second argument of ``objective(config, run)``: reports values while the evaluation goes on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from bough.trial import Trial

__all__ = ["ReportTo", "Run", "takes_run"]

ReportTo = Callable[[Trial, float, int], bool]
"""Stores a report of a trial and says whether the trial should stop, as ``Study.report`` does."""


class Run:
    """One evaluation of a trial.

    ``report`` says how it is doing; once ``stop`` is true, the objective should return. What it returns then
    does not matter, because the trial is stored as stopped.
    """

    def __init__(self, trial: Trial, report: ReportTo) -> None:
        self.trial = trial
        self._report = report
        self._stop = False

    def report(self, value: float, step: int) -> bool:
        """Report the value at a step, such as the error after an epoch; returns ``stop``."""
        if not self._stop:
            self._stop = self._report(self.trial, value, step)
        return self._stop

    @property
    def stop(self) -> bool:
        """Whether the objective should return."""
        return self._stop


def takes_run(objective: Callable[..., Any]) -> bool:
    """Whether the objective has a second parameter for the run: one without a default, or one called run."""
    try:
        parameters = list(inspect.signature(objective).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        return False
    return positional[1].default is positional[1].empty or positional[1].name == "run"
