"""Checks a report, and decides from all curves whether its trial should stop."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

from bough.errors import TrialError
from bough.study.goals import Goals
from bough.study.results import real_number
from bough.study.stopping.curves import Branches, Curve
from bough.study.stopping.final_values import TrialCurve
from bough.study.stopping.goal_stopping import MeasuredTrial, reason_to_stop_goals, trust_goals
from bough.study.stopping.rules import FULL_TRUST, RULES, Rule, Trust, reason_to_stop, trust
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
    """Decides for one study whether a trial should stop.

    It caches what follows from the finished trials, which change much less often than reports arrive.
    """

    def __init__(self, rule: str, goals: Goals, branches: Branches) -> None:
        self._rule: Rule | None = RULES[rule]
        self._goals, self._branches = goals, branches
        self._moment = (-1, -1)  # the numbers of trials and of corrections that the cache includes
        self._curves: list[TrialCurve] = []  # of finished trials, in a study with one goal
        self._measured: list[MeasuredTrial] = []  # of done trials, in a study with several
        self._trust: Trust | None = None  # None: not known yet

    def reason(self, view: TrialIndex, number: int) -> str | None:
        """Why a running trial should stop; None if it should go on."""
        if self._rule is None:
            return None
        known = len(view.over) if self._goals.is_single else view.done  # stopped trials count in the former
        if (moment := (known, view.corrections)) != self._moment:
            self._moment, self._trust = moment, None
            self._read_finished(view)
        trial = view.trials[number]
        if not self._goals.is_single:
            return self._by_goals(self._rule, self._measured_trial(view, trial))
        running = [each for each in view.open.values() if each.number != number and view.curves.has(each)]
        curve, others = self._curve(view, trial), [*self._curves, *(self._curve(view, r) for r in running)]
        if reason_to_stop(self._rule, curve, others) is None:
            return None
        if self._trust is None:
            self._trust = trust(self._rule, self._curves)
        return reason_to_stop(self._rule, curve, others, self._trust)

    def _by_goals(self, rule: Rule, trial: MeasuredTrial) -> str | None:
        why = reason_to_stop_goals(rule, self._goals, trial, self._measured)
        if why is not None and self._trust is None:
            self._trust = trust_goals(rule, self._goals, self._measured)
        return why if self._trust == FULL_TRUST else None

    def _read_finished(self, view: TrialIndex) -> None:
        known = [trial for trial in map(view.trials.__getitem__, sorted(view.over)) if _counts(trial, view)]
        if self._goals.is_single:
            self._curves = [self._curve(view, trial) for trial in known]
            return
        from bough.study.analysis.fronts import front_of  # array functions, which one objective does without

        front = {each.number for each in front_of(self._goals, known)}
        self._measured = [
            self._measured_trial(view, each, each.number in front) for each in known if each.state == "done"
        ]

    def _curve(self, view: TrialIndex, trial: Trial) -> TrialCurve:
        return TrialCurve.of(trial, view.curves.of(trial), self._goals.sign, self._branches.of(trial))

    def _measured_trial(self, view: TrialIndex, trial: Trial, on_front: bool = False) -> MeasuredTrial:
        curve, branch = view.curves.of(trial), self._branches.of(trial)
        return measured_trial(trial, curve, branch, self._goals, on_front)


def _counts(trial: Trial, view: TrialIndex) -> bool:
    """Whether a finished trial is compared with others: it has a value or a curve, and was not retracted."""
    known = trial.value is not None or view.curves.has(trial)
    return known and trial.state != "failed" and trial.retracted is None
