"""The second argument of ``objective(config, run)``: reports values while the evaluation goes on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bough.errors import StudyError
from bough.study.other_names import RUN_NAMES, no_attribute
from bough.trial import Trial

__all__ = ["ReportTo", "Run", "check_objective", "takes_run"]

ReportTo = Callable[[Trial, Any, int], bool]
"""Stores a report of a trial and says whether the trial should stop, as ``Study.report`` does."""


class Run:
    """One evaluation of a trial.

    ``report`` says how it is doing; once ``stop`` is true, the objective should return. Its result
    does not matter then, because the trial is stored as stopped.
    """

    def __init__(self, trial: Trial, report: ReportTo) -> None:
        self.trial = trial
        self._report = report
        self._stop = False

    def report(self, value: float | Mapping[str, float], step: int) -> bool:
        """Report the value at a step, such as the error after an epoch; returns ``stop``.

        value: a dict of all objectives and limited measures where the study has several.
        """
        if not self._stop:
            self._stop = self._report(self.trial, value, step)
        return self._stop

    @property
    def stop(self) -> bool:
        """Whether the objective should return."""
        return self._stop

    if not TYPE_CHECKING:  # a type checker is to find names that do not exist

        def __getattr__(self, name: str) -> Any:
            return no_attribute(self, name, RUN_NAMES)


def check_objective(objective: Any, argument: str = "a config") -> None:
    """StudyError, before any trial, if the objective cannot be called with its argument and perhaps a run."""
    if not callable(objective):
        raise StudyError(
            f"the objective must be a function of {argument}, not {type(objective).__name__}; it comes "
            "first, then the space"
        )
    try:
        signature = inspect.signature(objective)
    except (TypeError, ValueError):  # some builtins have no signature
        return
    try:
        signature.bind(*[None] * (2 if takes_run(objective) else 1))
    except TypeError as error:
        only = [each.kind for each in signature.parameters.values()]
        by_name = argument == "a config" and only == [inspect.Parameter.VAR_KEYWORD]
        why = "write lambda config: objective(**config)" if by_name else error
        raise StudyError(
            f"the objective is called with {argument}, and with a run if it has a second parameter: {why}"
        ) from None


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
