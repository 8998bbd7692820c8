"""When to stop a trial of a study with several objectives or limits: if it is dominated or infeasible.

The final value of every measure is predicted from the curves of finished trials (``final_values``), as an
independent normal variable N(m, s²). With all objectives minimised, a trial stops if for some result y on the
front

    P(dominated by y) = Π_j Φ((m_j − y_j) / s_j) > 0.95,

or if the probability of meeting all limits is below 0.05. The safeguards are the same as for one objective:
a trial is judged only at the steps of the rule and by at least three finished curves of its branch, and no
trial stops if the test would have stopped a trial that is now on the front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bough.study.goals import Goals
from bough.study.stopping.final_values import MIN_CURVES, TrialCurve, predicted_final
from bough.study.stopping.rules import FULL_TRUST, Rule, Trust

__all__ = ["MeasuredTrial", "predicted_measures", "reason_to_stop_goals", "trust_goals"]

CERTAIN = 0.95
"""A trial stops once it is dominated, or infeasible, with this probability."""

MAX_REPLAYED_STEPS = 10
"""Steps of a trial on the front that a replay checks, evenly spread; a limit on the time it takes."""


@dataclass(frozen=True)
class MeasuredTrial:
    """The curves of a trial by measure; objectives are minimised. on_front: whether it is on the front."""

    curves: Mapping[str, TrialCurve]
    on_front: bool = False

    @property
    def first(self) -> TrialCurve:
        """The curve of the first measure, for steps and branch: all measures have the same steps."""
        return next(iter(self.curves.values()))

    def until(self, step: int) -> MeasuredTrial:
        """The trial as it was at a step."""
        past = {name: replace(curve, final=None, upto=step) for name, curve in self.curves.items()}
        return MeasuredTrial(past)


def predicted_measures(
    trial: MeasuredTrial, finished: Sequence[MeasuredTrial]
) -> dict[str, tuple[float, float]] | None:
    """The predicted final value and standard deviation of each measure; None without enough curves."""
    found = {}
    for name, curve in trial.curves.items():
        prediction = predicted_final(curve, [other.curves[name] for other in finished])
        if prediction is None:
            return None
        found[name] = prediction
    return found


def reason_to_stop_goals(
    rule: Rule, goals: Goals, trial: MeasuredTrial, finished: Sequence[MeasuredTrial]
) -> str | None:
    """Why the trial should stop at its last step; None if it should go on. finished: trials that are done."""
    step = trial.first.last_step
    branch = [other for other in finished if other.first.branch == trial.first.branch]
    reached = sum(other.first.covers(step) for other in branch)
    longest = max((other.first.last_step for other in branch), default=0)
    if reached < MIN_CURVES or step < 0 or not rule.judges(trial.first, longest):
        return None
    predicted = predicted_measures(trial, finished)
    if predicted is None:
        return None
    feasible = math.prod(
        _normal(
            -limit.slack(predicted[limit.name][0] * trial.curves[limit.name].sign) / predicted[limit.name][1]
        )
        for limit in goals.limits
    )
    if feasible < 1 - CERTAIN:
        return f"at step {step}, the chance to meet the limits was {feasible:.2g}"
    front = [[other.curves[name].result for name in goals.names] for other in finished if other.on_front]
    dominated = max(
        (_dominated([predicted[name] for name in goals.names], each) for each in front), default=0.0
    )
    if goals.objectives and dominated > CERTAIN:
        chance = f"the chance of a trial on the front to be better in everything was {dominated:.2g}"
        return f"at step {step}, {chance}"
    return None


def trust_goals(rule: Rule, goals: Goals, finished: Sequence[MeasuredTrial]) -> Trust:
    """Full trust if the test would have stopped no trial that is on the front now, else none.

    Each of these trials is judged at its steps against all other curves as they are now.
    """
    for trial in (each for each in finished if each.on_front):
        rivals = [other for other in finished if other is not trial]
        steps = trial.first.curve.steps
        thinned = steps[:: math.ceil(len(steps) / MAX_REPLAYED_STEPS) or 1]
        if any(reason_to_stop_goals(rule, goals, trial.until(step), rivals) for step in thinned):
            return Trust(places=False, losers=False)
    return FULL_TRUST


def _dominated(predicted: Sequence[tuple[float, float]], point: Sequence[float]) -> float:
    return math.prod(_normal((mean - value) / sd) for (mean, sd), value in zip(predicted, point))


def _normal(z: float) -> float:
    """The distribution function of a standard normal variable."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
