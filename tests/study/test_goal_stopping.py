"""Reports and stopping in studies with several objectives or limits."""

import math

import pytest
from scipy.stats import norm

from bough.errors import ConflictError, TrialError
from bough.space import Float, Space
from bough.study import Study, export_study, import_study
from bough.study.goals import parse_goals
from bough.study.stopping import reporting
from bough.study.stopping.curves import Curve
from bough.study.stopping.final_values import TrialCurve
from bough.study.stopping.goal_stopping import MeasuredTrial, reason_to_stop_goals, trust_goals
from bough.study.stopping.reporting import measured_trial
from bough.study.stopping.rules import FULL_TRUST, RULES

FLAT = Space({"x": Float(0, 1)})
STEPS = 10
GOALS = {"objectives": {"error": "minimize", "speed": "maximize"}, "constraints": ["memory <= 4"]}


def measured(x, step):
    return {"error": (x - 0.3) ** 2 + 1 / step, "speed": -x, "memory": 5 * x + 1 / step}


def objective(config, run):
    for step in range(1, STEPS + 1):
        now = measured(config["x"], step)
        if run.report(now, step):
            break
    return now


def trial(values, done=True, front=False):
    """One that reported these values of (a, b) at steps 1, 2, ..."""
    columns = dict(zip("ab", zip(*values)))
    steps = list(range(1, len(values) + 1))
    curves = {
        name: TrialCurve(b"", Curve(1, steps, list(column)), 1.0, column[-1] if done else None)
        for name, column in columns.items()
    }
    return MeasuredTrial(curves, front)


def course(a, b):
    return [(a + 1 / step, b + 1 / step) for step in range(1, 11)]


FINISHED = [trial(course(0.0, 1.0), front=True), trial(course(1.0, 0.0), front=True), trial(course(1.2, 1.2))]
RULE = RULES["median"]


def test_what_is_dominated_stops_and_what_is_not_goes_on():
    goals = parse_goals(["a", "b"], (), None)
    bad = trial(course(3.0, 3.0)[:5], done=False)
    why = reason_to_stop_goals(RULE, goals, bad, FINISHED)
    assert why is not None and "at step 5" in why and "better in everything" in why
    good_in_one = trial(course(5.0, -1.0)[:5], done=False)
    assert reason_to_stop_goals(RULE, goals, good_in_one, FINISHED) is None
    early = trial(course(3.0, 3.0)[:1], done=False)
    assert reason_to_stop_goals(RULE, goals, early, FINISHED) is None
    assert reason_to_stop_goals(RULE, goals, bad, FINISHED[:2]) is None  # too few curves


@pytest.mark.parametrize(("b", "stops"), [(1.02, False), (1.04, True)])
def test_the_chance_to_be_dominated_is_that_of_independent_normal_values(b, stops):
    goals = parse_goals(["a", "b"], (), None)
    # All curves change alike, so the noise is 0.3 of the distance to the median curve and 0.01 of the range.
    noise = [math.hypot(0.3 * (mean - 1.0), 0.01 * 1.2) for mean in (0.5, b)]
    chance = norm.cdf((0.5 - 0.0) / noise[0]) * norm.cdf((b - 1.0) / noise[1])
    assert (chance > 0.95) == stops and chance > 0.9
    why = reason_to_stop_goals(RULE, goals, trial(course(0.5, b)[:5], done=False), FINISHED)
    assert (why is not None) == stops and (why is None or f"was {chance:.2g}" in why)


def test_a_limit_on_a_maximised_objective():
    goals = {"objectives": {"error": "minimize", "speed": "maximize"}, "constraints": ["speed >= 1"]}
    study = Study(FLAT, method="sobol", seed=0, **goals)
    for speed in (2.0, 2.1, 2.2, 2.3):
        asked, result = study.ask(), {"error": speed, "speed": speed}
        for step in range(1, STEPS + 1):
            study.report(asked, result, step)
        study.tell(asked, result)
    assert not study.report(study.ask(), {"error": 2.0, "speed": 2.5}, 5)
    slow = study.ask()
    assert study.report(slow, {"error": 1.0, "speed": -1.0}, 5)
    assert "limits" in study.trial(slow.number).notes["stopped"]


def test_what_will_miss_a_limit_stops():
    goals = parse_goals(["a"], ["b <= 2"], None)
    over = trial(course(-1.0, 6.0)[:5], done=False)
    why = reason_to_stop_goals(RULE, goals, over, FINISHED)
    assert why is not None and "limits" in why
    assert reason_to_stop_goals(RULE, goals, trial(course(-1.0, 0.5)[:5], done=False), FINISHED) is None


def test_the_first_trial_that_will_meet_a_limit_goes_on():
    goals = parse_goals(["a"], ["b <= 4"], None)
    none_feasible = [trial(course(0.0, memory)) for memory in (6.0, 7.0, 8.0)]
    assert reason_to_stop_goals(RULE, goals, trial(course(0.0, 3.0)[:5], done=False), none_feasible) is None
    assert reason_to_stop_goals(RULE, goals, trial(course(0.0, 6.5)[:5], done=False), none_feasible)


def test_a_test_that_would_have_stopped_a_trial_of_the_front_is_not_trusted():
    goals = parse_goals(["a", "b"], (), None)
    slow = [(3.0, 3.0)] * 9 + [(-1.0, -1.0)]  # hopeless until its last step
    usual = [*FINISHED, trial(course(0.1, 1.1))]
    assert trust_goals(RULE, goals, usual) == FULL_TRUST
    assert trust_goals(RULE, goals, [*usual, trial(slow)]) == FULL_TRUST, "it is not on the front"
    assert trust_goals(RULE, goals, [*usual, trial(slow, front=True)]) != FULL_TRUST


def test_nothing_stops_while_a_trial_of_the_front_would_have():
    study = Study(FLAT, method="sobol", seed=0, **GOALS)
    study.run(objective, trials=8, progress=False)
    hopeless = {"error": 9.0, "speed": -9.0, "memory": 9.0}
    late, last = study.ask(), {"error": 0.0, "speed": 1.0, "memory": 1.0}
    for step in range(1, STEPS + 1):
        study.keep_report(late, last if step == STEPS else hopeless, step)
    asked = study.ask()
    assert study.report(asked, hopeless, 5)
    study.tell(late, last)
    asked = study.ask()
    assert not study.report(asked, hopeless, 5)


def test_reports_between_two_results_read_no_finished_curve(monkeypatch):
    study = Study(FLAT, method="sobol", seed=0, **GOALS)
    study.run(objective, trials=8, progress=False)
    read = []
    monkeypatch.setattr(
        reporting,
        "measured_trial",
        lambda each, *rest: read.append(each.number) or measured_trial(each, *rest),
    )
    asked = study.ask()
    for step in range(1, 1001):
        study.report(asked, {"error": 0.0, "speed": 0.0, "memory": 0.0}, step)
    assert read.count(asked.number) == 1000 and max(map(read[:-1000].count, range(8))) == 1
    assert len(read) < 1000 + 8
    with study._current() as view:
        curve = view.curves.of(view.trials[asked.number])
        assert curve.of_measure("speed") is curve.of_measure("speed"), "a curve is not copied for a decision"


def test_a_run_reports_all_measures_and_stops_early(tmp_path):
    study = Study(FLAT, method="sobol", seed=0, **GOALS)
    study.run(objective, trials=30, progress=False)
    stopped = [each for each in study.trials if each.state == "stopped"]
    assert len(stopped) >= 5 and min(each.config["x"] for each in stopped) > 0.35
    assert all(2 <= len(each.curve) < STEPS for each in stopped)
    first = stopped[0]
    assert first.curves["memory"] == tuple(
        (step, measured(first.config["x"], step)["memory"]) for step, _ in first.curve
    )
    assert first.curve == first.curves["error"]
    export_study(study, tmp_path / "s.jsonl")
    again = import_study(tmp_path / "s.jsonl", f"sqlite:///{tmp_path}/s.db")
    assert [each.curves for each in again.trials] == [each.curves for each in study.trials]


def test_auto_learns_from_trials_that_were_stopped():
    study = Study(FLAT, seed=0, **GOALS)
    study.run(objective, trials=14, progress=False)
    assert study.count_results() == sum(each.state in ("done", "stopped") for each in study.trials)


@pytest.mark.parametrize("stopping", ["none", "asha"])
def test_other_rules_take_reports(stopping):
    study = Study(FLAT, method="sobol", seed=0, stopping=stopping, **GOALS)
    study.run(objective, trials=12, progress=False)
    assert study.status().done + study.status().stopped == 12


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.5, "report a dict of error, speed, memory, not 0.5"),
        ({"error": 1.0, "speed": 1.0}, "lacks 'memory'"),
        ({"error": math.nan, "speed": 1.0, "memory": 1.0}, "'error' .* is nan: it must be finite"),
        ({"error": "low", "speed": 1.0, "memory": 1.0}, "'error'"),
    ],
)
def test_wrong_reports_are_one_line_and_change_nothing(value, message):
    study = Study(FLAT, method="sobol", seed=0, **GOALS)
    asked = study.ask()
    with pytest.raises(TrialError, match=message):
        study.report(asked, value, 1)
    assert study.trial(asked.number).curve == ()


def test_another_value_of_a_measure_at_the_same_step_is_a_conflict(tmp_path):
    for storage in (None, f"sqlite:///{tmp_path}/s.db"):
        study = Study(FLAT, name="s", storage=storage, method="sobol", seed=0, **GOALS)
        asked = study.ask()
        study.report(asked, measured(0.5, 1), 1)
        study.report(asked, measured(0.5, 1), 1)
        with pytest.raises(ConflictError, match="at step 1 already"):
            study.report(asked, {**measured(0.5, 1), "memory": 9.0}, 1)
        assert len(study.trial(asked.number).curve) == 1


def test_workers_report_dicts():
    study = Study(FLAT, method="sobol", seed=0, **GOALS)
    study.run(objective, trials=3, workers=1, progress=False)
    assert all(set(each.curves) == {"error", "speed", "memory"} for each in study.trials)
