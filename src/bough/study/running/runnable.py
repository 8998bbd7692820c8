"""The interfaces that the loop needs: of a study, local or served, and of an evaluation.

A local ``Study`` and a served one (``client.RemoteStudy``) are both runnable. ``run_trials`` runs either of
them; the command line passes its own ``Evaluate`` to it, which starts a program for each trial.
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
        """The next trial; None if the finished trials and those under a lease make up ``limit`` already."""
        ...

    def record_result(self, result: Trial) -> Trial:
        """Store a result; returns the trial as stored."""
        ...

    def report(self, trial: Trial | int, value: float, step: int) -> bool:
        """Store what a running trial reports; whether it should stop."""
        ...

    def renew(self, trials: Sequence[Trial], lease: float | None) -> None:
        """Let the leases end ``lease`` seconds from now; None gives the trials back."""
        ...

    def set_budget(self, budget: float) -> None:
        """Store what the trials may cost together."""
        ...

    def status(self) -> Status:
        """How far the study is."""
        ...
