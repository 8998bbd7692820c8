"""The interfaces that the loop needs: a study, local or served, and an evaluation.

A local ``Study`` and a served one (``client.RemoteStudy``) are both runnable. ``run_trials`` runs either of
them; the command line passes an ``Evaluate`` that starts a program for each trial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from bough.space import Space
from bough.study.goals import Goals
from bough.study.trial_index import Status
from bough.trial import Trial

__all__ = ["Evaluate", "RunnableStudy"]

Evaluate = Callable[[Trial], Trial]
"""Evaluates a trial and returns its result, as made by ``results.outcome`` or ``results.failure``."""


class RunnableStudy(Protocol):
    """A study that can be run."""

    @property
    def name(self) -> str: ...
    @property
    def direction(self) -> str: ...
    @property
    def space(self) -> Space: ...
    @property
    def goals(self) -> Goals: ...

    def ask_within(
        self, limit: int | None, lease: float | None, *, worker: str | None = None
    ) -> Trial | None:
        """The next trial; None if the finished and the leased trials together already reach ``limit``."""
        ...

    def record_result(self, result: Trial) -> Trial:
        """Store a result; returns the trial as stored."""
        ...

    def report(self, trial: Trial | int, value: float, step: int) -> bool:
        """Store a report of a running trial; returns whether the trial should stop."""
        ...

    def renew(self, trials: Sequence[Trial], lease: float | None) -> None:
        """Let the leases end ``lease`` seconds from now; None puts the trials into the queue."""
        ...

    def set_budget(self, budget: float) -> None:
        """Store the total cost that the trials may have."""
        ...

    def status(self) -> Status:
        """The progress of the study in numbers."""
        ...
