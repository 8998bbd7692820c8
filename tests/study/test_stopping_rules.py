"""The rules that stop trials, and predicted final values: functions of curves."""

from __future__ import annotations

import numpy as np
import pytest
from tests.study.reporting_studies import STEPS, course, finished_study, report_until_stopped

from bough.study.stopping.curves import Curve
from bough.study.stopping.final_values import TrialCurve, predicted_final, predicted_loser
from bough.study.stopping.rules import RULES, Rule, Trust, reason_to_stop, trust

MEDIAN, ASHA = RULES["median"], RULES["asha"]
assert MEDIAN is not None and ASHA is not None


def curve(values: list[float], final: float | None = None, branch: str = "a", first: int = 1) -> TrialCurve:
    steps = list(range(first, first + len(values)))
    return TrialCurve(branch.encode(), Curve(1, steps, values), 1.0, final)


def falling(start: float, end: float, upto: int = STEPS, branch: str = "a") -> TrialCurve:
    values = [course(start, end, step) for step in range(1, upto + 1)]
    return curve(values, end if upto == STEPS else None, branch)


def stops(rule: Rule | None, trial: TrialCurve, others: list[TrialCurve]) -> bool:
    assert rule is not None
    return reason_to_stop(rule, trial, others) is not None


def test_the_median_rule_against_the_definition() -> None:
    """An independent statement of the rule, on random curves of one branch."""
    rng = np.random.default_rng(0)
    stopped = 0
    for _ in range(300):
        count, longest = int(rng.integers(1, 9)), int(rng.integers(2, 20))
        others = []
        for _ in range(count):
            done = bool(rng.random() < 0.7)
            length = longest if done else int(rng.integers(1, longest + 1))
            values = rng.random(length).round(2).tolist()
            others.append(curve(values, values[-1] if done else None))
        upto = int(rng.integers(1, longest + 1))
        mine = (rng.random(upto) + 0.3).round(2).tolist()
        ends = [len(o.curve.steps) for o in others if o.final is not None]
        reached = [o.curve.values[upto - 1] for o in others if len(o.curve.values) >= upto]
        expected = False
        if ends and 0.2 * max(ends) <= upto <= 0.9 * max(ends) and max(ends) > 0 and len(reached) >= 3:
            rank = sorted([*reached, min(mine)]).index(min(mine))  # how many are strictly better
            expected = rank >= 3 and rank >= (len(reached) + 1) / 2
        assert (reason_to_stop(MEDIAN, curve(mine), others, Trust(losers=False)) is not None) == expected
        stopped += expected
    assert 30 < stopped < 270


def test_few_curves_say_nothing() -> None:
    bad = falling(9, 8, upto=5)
    assert not stops(MEDIAN, bad, [])
    assert not stops(MEDIAN, bad, [falling(1, 0)] * 2)
    assert not stops(MEDIAN, bad, [falling(1, 0, upto=9)] * 5), "nothing is finished yet"
    assert stops(MEDIAN, bad, [falling(1, 0)] * 3)


def test_later_values_of_others_are_not_compared() -> None:
    """Trials that report only from step 5 on say nothing about a trial at step 3."""
    late = [
        curve([course(1, end, step) for step in range(5, 11)], end, first=5) for end in (0.0, 0.1, 0.2, 0.3)
    ]
    young = curve([course(1, 0.05, step) for step in range(1, 4)])
    assert not stops(MEDIAN, young, late) and not stops(ASHA, young, late)
    assert predicted_final(young, late) is None
    assert predicted_final(curve([]), [*late, curve([], 0.5)]) is None
    assert stops(MEDIAN, falling(2, 1.5, upto=5), late)


def test_early_and_late_steps_are_not_judged() -> None:
    others = [falling(1, 0)] * 5
    judged = [step for step in range(1, STEPS + 1) if stops(MEDIAN, falling(9, 8, upto=step), others)]
    assert judged == [2, 3, 4, 5, 6, 7, 8, 9]
    rungs = [step for step in range(1, STEPS + 1) if stops(ASHA, falling(9, 8, upto=step), others)]
    assert rungs == [1, 2, 4], "at or after 1/27, 1/9 and 1/3 of ten steps"


def test_the_best_three_are_never_stopped() -> None:
    others = [falling(1, 0), falling(2, 1), falling(9, 8), falling(9, 8)]
    assert not stops(MEDIAN, falling(3, 2, upto=5), others)


def test_a_test_that_would_have_stopped_the_best_is_not_trusted() -> None:
    assert MEDIAN is not None and ASHA is not None
    usual = [falling(1.0 + i / 10, 0.5 + (3 * i % 5) / 10) for i in range(5)]
    assert trust(MEDIAN, usual) == Trust()
    assert trust(MEDIAN, [*usual, falling(9.0, 0.1)]) == Trust(places=False, losers=False)
    assert trust(MEDIAN, [*usual, falling(9.0, 0.6)]) == Trust(), "it is not the best"
    crossing = [*usual, falling(1.45, 0.45)]
    assert trust(MEDIAN, crossing) == Trust(places=False), "it began in the worse half, not far behind"
    assert trust(ASHA, crossing) == Trust(), "asha has no such safeguard"
    study = finished_study()
    trial = study.ask()
    for step in range(1, STEPS + 1):  # a test that was wrong about the best one stops nobody any more
        study.keep_report(trial, 9.0 if step < STEPS else 0.01, step)
    study.tell(trial, 0.01)
    assert report_until_stopped(study, 0.9)[1] == 0


def test_a_certain_loser_is_stopped_whatever_its_place() -> None:
    others = [falling(1.0 + i / 100, i / 100) for i in range(3)]
    middling = falling(1.6, 0.6, upto=9)
    assert MEDIAN is not None
    worse = [falling(1.8, 0.8) for _ in range(4)]
    fourth = [*others[:3], *worse]
    why = reason_to_stop(MEDIAN, middling, fourth)
    assert why is not None and "far behind the best, 0" in why
    assert reason_to_stop(MEDIAN, middling, fourth, Trust(losers=False)) is None
    assert not stops(MEDIAN, middling, fourth[1:]), "it may become one of the best three"
    assert not stops(MEDIAN, middling, fourth[:2]), "two curves say too little"
    assert not stops(MEDIAN, falling(1.02, 0.02, upto=9), fourth)


def test_raw_values_of_other_branches_are_not_compared() -> None:
    quick = [falling(1, 0.5, branch="quick") for _ in range(5)]
    assert not stops(MEDIAN, falling(9, 0.1, upto=5, branch="slow"), quick), "its first trial runs to the end"
    slow = [*quick, falling(9, 0.1, branch="slow")]
    assert not stops(MEDIAN, falling(9, 0.1, upto=5, branch="slow"), slow)
    assert stops(MEDIAN, falling(14, 5, upto=5, branch="slow"), slow), "this one will not catch up"


def test_predicted_final_values() -> None:
    own = [falling(1.0, end, branch="a") for end in (0.1, 0.2, 0.4)]
    other = [falling(1.0, 3.0, branch="b") for _ in range(6)]
    trial = falling(2.0, 1.0, upto=5)
    changes = [end - course(1.0, end, 5) for end in (0.1, 0.2, 0.4)]
    found = predicted_final(trial, [*own, *other])
    assert found is not None
    value, noise = found
    assert value == pytest.approx(1.5 + np.median(changes))
    gap = 1.5 - np.median([course(1.0, end, 5) for end in (0.1, 0.2, 0.4)])
    assert noise == pytest.approx(np.sqrt(np.var(changes, ddof=1) + (0.3 * gap) ** 2 + (0.01 * 2.9) ** 2))
    assert predicted_final(curve([1.0] * 20), own) is None, "no finished trial got as far"
    assert predicted_final(falling(2.0, 1.0, upto=0), own) is None
    hopeful = falling(0.0, -9.0, upto=5)
    promised, cut = predicted_final(hopeful, own), predicted_loser(hopeful, own)
    assert promised is not None and promised[0] < -4.5
    assert cut == (0.1, promised[1]), "a stopped trial is never better than the best"
    alone = predicted_final(trial, own[:1])
    assert alone is not None and alone[1] > 0


def test_the_change_of_a_little_known_branch_is_uncertain() -> None:
    known = [falling(1.0, 0.5, branch="a") for _ in range(3)]
    alone = falling(9.0, 1.0, branch="b")
    found = predicted_final(falling(9.0, 1.0, upto=5, branch="b"), [*known, alone])
    assert found is not None and found[0] == pytest.approx(1.0)
    assert found[1] == pytest.approx(np.hypot(0.25 * 4.0, 0.01 * 0.5)), "a quarter of the only known change"
