"""What a study does with a report: check it, and decide by all curves whether its trial should stop."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

from bough.errors import StudyError, TrialError
from bough.study.curves import Branches
from bough.study.final_values import TrialCurve
from bough.study.goals import Goals
from bough.study.results import real_number
from bough.study.stopping import RULES, Rule, Trust, reason_to_stop, trust
from bough.study.trial_index import TrialIndex
from bough.trial import Report, Trial

__all__ = ["StoppingDecision", "checked_report"]


def checked_report(number: int, attempt: int, value: Any, step: Any, goals: Goals, study: str) -> Report:
    """A report to be stored; an error in one line if it is not a finite number at a step."""
    if len(goals.objectives) > 1 or goals.limits:
        raise StudyError(
            f"study {study!r} has several objectives or constraints: trials can report values of a single "
            "objective only"
        )
    try:
        at = None if isinstance(step, bool) else operator.index(step)
    except TypeError:
        at = None
    if at is None or not 0 <= at < 2**62:
        raise TrialError(f"a step must be an integer from 0 on, not {step!r}")
    reported = real_number(value, f"the value that trial {number} reports")
    if not math.isfinite(reported):
        raise TrialError(
            f"the value that trial {number} reports at step {at} is {reported}: it must be finite"
        )
    return Report(number, at, reported, attempt)


class StoppingDecision:
    """Decides for one study whether a trial should stop. It remembers only what the view says anyway."""

    def __init__(self, rule: str, goals: Goals, branches: Branches) -> None:
        self._rule: Rule | None = RULES[rule]
        self._sign, self._branches = goals.sign, branches
        self._replayed = (-1, -1)  # how many trials were over, and how many corrected, at the last replay
        self._trust = Trust()

    def reason(self, view: TrialIndex, number: int) -> str | None:
        """Why a running trial should stop; None if it should go on."""
        if self._rule is None:
            return None
        others = [trial for trial in self._comparable(view) if trial.number != number]
        trial, curves = self._curve(view, view.trials[number]), [self._curve(view, t) for t in others]
        if reason_to_stop(self._rule, trial, curves) is None:
            return None
        if (moment := (len(view.over), view.corrections)) != self._replayed:
            over = [curve for other, curve in zip(others, curves) if other.is_finished]
            self._replayed, self._trust = moment, trust(self._rule, over)
        return reason_to_stop(self._rule, trial, curves, self._trust)

    def _comparable(self, view: TrialIndex) -> Iterator[Trial]:
        """Trials with a value or a curve; one that failed or was retracted says nothing about the others."""
        for trial in view.trials:
            known = trial.value is not None or view.curves.has(trial)
            if known and trial.state != "failed" and trial.retracted is None:
                yield trial

    def _curve(self, view: TrialIndex, trial: Trial) -> TrialCurve:
        final = None if trial.value is None else self._sign * trial.value
        return TrialCurve(self._branches.of(trial), view.curves.of(trial), self._sign, final)
