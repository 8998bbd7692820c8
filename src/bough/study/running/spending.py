"""The cost of a study's trials, and its budget.

A trial costs what was told with its result. In a study where no cost is told at all, it costs the seconds
from its start to its end by the storage's clock, or its fidelity where the space has one. Where some trials
have a told cost, those without one (failed and stopped ones) count as much as the others on average. Added
results cost nothing.

The budget is an amendment of the study: a proposal depends on what is stored and on nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, SupportsFloat

from bough.errors import StudyError
from bough.storage import Amendment
from bough.trial import Trial

__all__ = ["Costs", "budget_of", "checked_budget", "ended_cost", "new_budget"]

KIND = "budget"


class Costs:
    """Sums over finished trials, counted one by one."""

    def __init__(self, fidelity: str | None = None) -> None:
        self._fidelity = fidelity
        self._told = self._untold = 0.0
        self._with_cost = self._without = 0

    def count(self, trial: Trial) -> None:
        if trial.was_added:
            return
        self._untold += untold_cost(trial, self._fidelity)
        if trial.cost is None:
            self._without += 1
        else:
            self._told += trial.cost
            self._with_cost += 1

    @property
    def spent(self) -> float:
        if not self._with_cost:
            return self._untold
        return self._told * (1 + self._without / self._with_cost)


def untold_cost(trial: Trial, fidelity: str | None) -> float:
    """The cost of a trial in a study where no cost is told: its fidelity if it has one, else seconds.

    0 where it is not known how long the evaluation took.
    """
    if fidelity is not None:
        return float(trial.config.get(fidelity, 0.0))
    if trial.started is None or trial.finished is None:
        return 0.0
    return max(trial.finished - trial.started, 0.0)


def ended_cost(trial: Trial, fidelity: str | None) -> tuple[float | None, float | None]:
    """The told cost of an evaluation and that without one; none if it did not come to its end."""
    ended = trial.state == "done" and not trial.was_added
    return (trial.cost, untold_cost(trial, fidelity) or None) if ended else (None, None)


def checked_budget(budget: Any) -> float:
    if isinstance(budget, bool) or not isinstance(budget, SupportsFloat) or not 0 < float(budget) < math.inf:
        raise StudyError(f"budget must be a positive number (cost, or seconds), not {budget!r}")
    return float(budget)


def new_budget(amendments: Iterable[Amendment], budget: Any) -> Amendment | None:
    """The amendment that sets a budget; None if the study has that one already."""
    wanted = checked_budget(budget)
    return None if budget_of(amendments) == wanted else Amendment(KIND, {"budget": wanted})


def budget_of(amendments: Iterable[Amendment]) -> float | None:
    """The budget that was set last."""
    return next((a.body["budget"] for a in reversed(list(amendments)) if a.kind == KIND), None)
