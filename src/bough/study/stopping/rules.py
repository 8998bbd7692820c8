"""When to stop a trial early: rules that are functions of what all trials have reported.

A trial is compared with the trials of its branch at the same step, and with all branches by its predicted
final value. Raw values of different branches are never compared: an epoch of one model and a boosting round
of another are not comparable. The first trial of a branch always runs to its end, because nothing is known
about the curves of that branch.

* ``median`` stops a trial that is in the worse half, or that is a certain loser: its predicted final value
  is two standard deviations worse than the third best. The safeguards are those of Ax: the rule acts only at
  steps between 20 % and 90 % of the longest finished curve, compares with at least three curves, never
  stops one of the best three, and ignores a test that would have stopped the trial that is now best.
* ``asha`` stops all but the best third at each rung, at 1/27, 1/9 and 1/3 of the longest finished curve (Li
  et al. 2020, the variant that stops).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bough.study.stopping.final_values import MIN_CURVES, TrialCurve, predicted_final

__all__ = ["FULL_TRUST", "RULES", "Rule", "Trust", "reason_to_stop", "trust"]

CERTAIN_SDS = 2.0
"""Standard deviations by which a prediction must be worse to count as a certain loser."""

MAX_REPLAYED_STEPS = 50
"""Steps of the best curve that a replay checks, evenly spread; a limit on the time it takes."""


@dataclass(frozen=True)
class Rule:
    """Which trials go on.

    share:  the share of the compared trials that may go on; kept: how many go on in any case.
    window: the part of the longest finished curve in which trials are judged. rungs: judge a trial only when
    it passes one of these fractions of that curve; empty: judge at every step. replays: whether ``trust``
    checks the rule. stops_losers: whether certain losers stop, whatever their rank among the trials so far.
    """

    share: float
    kept: int
    window: tuple[float, float] = (0.0, 1.0)
    rungs: tuple[float, ...] = ()
    replays: bool = False
    stops_losers: bool = False

    def judges(self, trial: TrialCurve, longest: int) -> bool:
        """Whether a trial is judged at its last step."""
        step = trial.last_step
        if not self.window[0] * longest <= step <= self.window[1] * longest:
            return False
        if not self.rungs:
            return True
        place = trial.curve.place(step)
        before = trial.curve.steps[place - 2] if place > 1 else -1
        return any(before < rung * longest <= step for rung in self.rungs)


RULES: dict[str, Rule | None] = {
    "median": Rule(share=1 / 2, kept=3, window=(0.2, 0.9), replays=True, stops_losers=True),
    "asha": Rule(share=1 / 3, kept=1, window=(0.0, 0.9), rungs=(1 / 27, 1 / 9, 1 / 3)),
    "none": None,
}


@dataclass(frozen=True)
class Trust:
    """Which tests of a rule are trusted: the test by rank, and the test for certain losers."""

    places: bool = True
    losers: bool = True


FULL_TRUST = Trust()


def reason_to_stop(
    rule: Rule, trial: TrialCurve, others: Sequence[TrialCurve], trust: Trust = FULL_TRUST
) -> str | None:
    """Why the trial should stop at its last step; None if it should go on."""
    branch = [other for other in others if other.branch == trial.branch]
    longest = max((other.last_step for other in branch if other.final is not None), default=0)
    if longest < 1 or trial.last_step < 0 or not rule.judges(trial, longest):
        return None
    why = None
    if trust.places:
        why = _within_branch(rule, trial, branch) or _across_branches(rule, trial, others)
    if why is None and rule.stops_losers and trust.losers:
        why = _loses(rule, trial, others)
    return why


def _within_branch(rule: Rule, trial: TrialCurve, branch: Sequence[TrialCurve]) -> str | None:
    step, value = trial.last_step, trial.best()
    values = [other.at(step) for other in branch if other.covers(step)]
    ahead = sum(other < value for other in values)
    if not _is_behind(rule, ahead, len(values)):
        return None
    place = f"{ahead} of {len(values)} trials of its branch were ahead"
    return f"at step {step}, {place}: its best value was {trial.sign * value:.6g}"


def _across_branches(rule: Rule, trial: TrialCurve, others: Sequence[TrialCurve]) -> str | None:
    finished = [other for other in others if other.final is not None]
    if all(other.branch == trial.branch for other in finished):
        return None
    predicted = predicted_final(trial, finished)
    if predicted is None:
        return None
    value, noise = predicted
    ahead = sum(other.final < value - noise for other in finished if other.final is not None)
    if not _is_behind(rule, ahead, len(finished)):
        return None
    place = f"{ahead} of {len(finished)} finished trials are ahead"
    return f"at step {trial.last_step}, {place} of its predicted value {trial.sign * value:.6g} ± {noise:.2g}"


def _is_behind(rule: Rule, ahead: int, compared: int) -> bool:
    return compared >= MIN_CURVES and ahead >= max(rule.kept, rule.share * (compared + 1))


def _loses(rule: Rule, trial: TrialCurve, others: Sequence[TrialCurve]) -> str | None:
    """Why the trial will not be among the best: its predicted final value is far behind theirs.

    None also if its branch has too few finished curves.
    """
    finished = [other for other in others if other.final is not None]
    reached = sum(other.branch == trial.branch and other.covers(trial.last_step) for other in finished)
    predicted = predicted_final(trial, finished) if reached >= MIN_CURVES else None
    if predicted is None:
        return None
    (value, noise), best = predicted, sorted(other.result for other in finished)
    if value - CERTAIN_SDS * noise <= best[rule.kept - 1]:
        return None
    expected = f"its predicted value {trial.sign * value:.6g} ± {noise:.2g}"
    return f"at step {trial.last_step}, {expected} was far behind the best, {trial.sign * best[0]:.6g}"


def trust(rule: Rule, others: Sequence[TrialCurve]) -> Trust:
    """Which tests to trust: those that would not have stopped the trial that is now the best.

    The best trial is judged at its steps against all other curves as they are now.
    """
    done = (other for other in others if other.final is not None)
    best = min(done, key=lambda other: other.result, default=None)
    if not rule.replays or best is None or not best.curve.steps:
        return FULL_TRUST
    steps = best.curve.steps[:: math.ceil(len(best.curve.steps) / MAX_REPLAYED_STEPS)]
    rivals = [other for other in others if other is not best]
    past = [replace(best, final=None, upto=step) for step in steps]
    return Trust(
        places=not any(reason_to_stop(rule, each, rivals, Trust(losers=False)) for each in past),
        losers=not any(reason_to_stop(rule, each, rivals, Trust(places=False)) for each in past),
    )
