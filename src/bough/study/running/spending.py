"""The cost of a study's trials, and its budget.

The cost of a trial is reported with its result. If no trial of the study reports a cost, a trial costs its
fidelity, or without a fidelity the seconds from its start to its end by the storage's clock. If some trials
report a cost, the others (such as failed ones) cost the average of the reported costs. A stopped trial then
costs a share of it: its steps, divided by those of the longest finished trial with the same parameters. An
epoch of one branch says nothing about a step of another. Added results cost nothing.

The budget is stored as an amendment of the study, because proposals depend only on what is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from bough.errors import StudyError
from bough.storage import Amendment
from bough.study.handles import as_float, is_positive
from bough.trial import Trial

__all__ = ["Costs", "budget_of", "checked_budget", "ended_cost", "new_budget"]

KIND = "budget"


class Costs:
    """Sums over finished trials, counted one by one."""

    def __init__(self, fidelity: str | None = None) -> None:
        self._fidelity = fidelity
        self._told = self._untold = 0.0
        self._with_cost = self._without = 0
        # By the parameters of their configs: the most steps of a trial that is done; how many trials were
        # stopped without a cost, and the sum of their steps.
        self._longest: Counter[frozenset[str]] = Counter()
        self._stopped: Counter[frozenset[str]] = Counter()
        self._steps: Counter[frozenset[str]] = Counter()

    def count(self, trial: Trial, steps: int) -> None:
        """Add a trial. steps: how many it made, 0 without a report."""
        if trial.was_added:
            return
        self._untold += untold_cost(trial, self._fidelity)
        parameters = frozenset(trial.config)
        if trial.state == "done":
            self._longest[parameters] = max(self._longest[parameters], steps)
        if trial.cost is not None:
            self._told += trial.cost
            self._with_cost += 1
        elif trial.state == "stopped":
            self._stopped[parameters] += 1
            self._steps[parameters] += steps
        else:
            self._without += 1

    @property
    def spent(self) -> float:
        if not self._with_cost:
            return self._untold
        stopped = sum(
            self._steps[parameters] / self._longest[parameters] if self._longest[parameters] else trials
            for parameters, trials in self._stopped.items()
        )
        return self._told * (1 + (self._without + stopped) / self._with_cost)


def untold_cost(trial: Trial, fidelity: str | None) -> float:
    """The cost of a trial in a study without reported costs: its fidelity if it has one, else seconds.

    0 if the duration of the evaluation is not known.
    """
    if fidelity is not None:
        return float(trial.config.get(fidelity, 0.0))
    if trial.started is None or trial.finished is None:
        return 0.0
    return max(trial.finished - trial.started, 0.0)


def ended_cost(trial: Trial, fidelity: str | None) -> tuple[float | None, float | None]:
    """The reported cost of a trial, and its ``untold_cost``; both None if it is not done, or was added."""
    ended = trial.state == "done" and not trial.was_added
    return (trial.cost, untold_cost(trial, fidelity) or None) if ended else (None, None)


def checked_budget(budget: Any) -> float:
    if not is_positive(budget):
        raise StudyError(f"budget must be a positive number (cost, or seconds), not {budget!r}")
    return as_float(budget)


def new_budget(amendments: Iterable[Amendment], budget: Any) -> Amendment | None:
    """The amendment that sets a budget, or with None removes it; None if the study has that one already."""
    wanted = None if budget is None else checked_budget(budget)
    return None if budget_of(amendments) == wanted else Amendment(KIND, {"budget": wanted})


def budget_of(amendments: Iterable[Amendment]) -> float | None:
    """The budget that was set last; None if there is none, or it was removed."""
    return next((a.body["budget"] for a in reversed(list(amendments)) if a.kind == KIND), None)
