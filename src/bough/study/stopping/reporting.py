"""Checks a report, and decides from all curves whether its trial should stop."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from typing import Any

from bough.errors import TrialError
from bough.study.goals import Goals
from bough.study.results import real_number
from bough.study.stopping.curves import Branches, Curve
from bough.study.stopping.final_values import TrialCurve
from bough.study.stopping.goal_stopping import MeasuredTrial, reason_to_stop_goals
from bough.study.stopping.rules import RULES, Rule, Trust, reason_to_stop, trust
from bough.study.trial_index import TrialIndex
from bough.trial import Report, Trial

__all__ = ["StoppingDecision", "checked_report", "measured_trial"]


def checked_report(number: int, attempt: int, value: Any, step: Any, goals: Goals, study: str) -> Report:
    """A report to be stored; TrialError if it is not a finite number at a step."""
    try:
        at = None if isinstance(step, bool) else operator.index(step)
    except TypeError:
        at = None
    if at is None or not 0 <= at < 2**62:
        raise TrialError(f"a step must be an integer from 0 on, not {step!r}")
    if goals.is_single:
        if isinstance(value, Mapping) and set(value) == set(goals.names):
            value = value[goals.names[0]]
        return Report(number, at, _finite(value, f"the value that trial {number} reports", at), attempt)
    if not isinstance(value, Mapping):
        names = ", ".join(goals.needed)
        raise TrialError(
            f"study {study!r} has several objectives or constraints: report a dict of {names}, not "
            f"{value!r:.60}"
        )
    missing = [name for name in goals.needed if name not in value]
    if missing:
        raise TrialError(f"the report of trial {number} at step {at} lacks {missing[0]!r}")
    measures = {
        name: _finite(value[name], f"{name!r} that trial {number} reports", at) for name in goals.needed
    }
    violated = sum(limit.slack(measures[limit.name]) > 0 for limit in goals.limits)
    first = measures[goals.names[0]] if goals.names else float(violated)
    return Report(number, at, first, attempt, measures)


def _finite(value: Any, what: str, step: int) -> float:
    number = real_number(value, what)
    if not math.isfinite(number):
        raise TrialError(f"{what} at step {step} is {number}: it must be finite")
    return number


def measured_trial(
    trial: Trial, curve: Curve, branch: bytes, goals: Goals, on_front: bool = False
) -> MeasuredTrial:
    """The curves of a trial by measure, for studies with several objectives or limits."""
    signs = {**dict.fromkeys(goals.needed, 1.0), **dict(zip(goals.names, goals.signs))}
    ended = trial.state == "done"
    return MeasuredTrial(
        {
            name: TrialCurve(
                branch, curve.of_measure(name), sign, sign * goals.measured(trial, name) if ended else None
            )
            for name, sign in signs.items()
        },
        on_front,
    )


class StoppingDecision:
    """Decides for one study whether a trial should stop. It only caches what follows from the view."""

    def __init__(self, rule: str, goals: Goals, branches: Branches) -> None:
        self._rule: Rule | None = RULES[rule]
        self._goals, self._branches = goals, branches
        self._replayed = (-1, -1)  # the numbers of finished and of corrected trials at the last replay
        self._trust = Trust()

    def reason(self, view: TrialIndex, number: int) -> str | None:
        """Why a running trial should stop; None if it should go on."""
        if self._rule is None:
            return None
        others = [trial for trial in self._comparable(view) if trial.number != number]
        if not self._goals.is_single:
            return self._by_goals(self._rule, view, view.trials[number], others)
        trial, *curves = [
            TrialCurve.of(each, view.curves.of(each), self._goals.sign, self._branches.of(each))
            for each in (view.trials[number], *others)
        ]
        if reason_to_stop(self._rule, trial, curves) is None:
            return None
        if (moment := (len(view.over), view.corrections)) != self._replayed:
            over = [curve for other, curve in zip(others, curves) if other.is_finished]
            self._replayed, self._trust = moment, trust(self._rule, over)
        return reason_to_stop(self._rule, trial, curves, self._trust)

    def _by_goals(self, rule: Rule, view: TrialIndex, trial: Trial, others: list[Trial]) -> str | None:
        from bough.study.analysis.fronts import front_of  # array functions, which one objective does without

        front = {each.number for each in front_of(self._goals, others)}

        def measured(each: Trial) -> MeasuredTrial:
            curve, branch = view.curves.of(each), self._branches.of(each)
            return measured_trial(each, curve, branch, self._goals, each.number in front)

        finished = [measured(each) for each in others if each.state == "done"]
        return reason_to_stop_goals(rule, self._goals, measured(trial), finished)

    def _comparable(self, view: TrialIndex) -> Iterator[Trial]:
        """Trials with a value or a curve, without failed and retracted ones."""
        for trial in view.trials:
            known = trial.value is not None or view.curves.has(trial)
            if known and trial.state != "failed" and trial.retracted is None:
                yield trial
