"""Stopped trials: their predicted values, and what methods learn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.study.reporting_studies import FLAT, STEPS, course, finished_study, report_until_stopped

from bough.space import Choice, Float, Space
from bough.study import Study

TWO = Space({"model": Choice({"quick": {"a": Float(0, 1)}, "slow": {"b": Float(0, 1)}})})


def stopped_history(study: Study) -> Any:
    with study._current() as view:
        return study._history(view)


def test_stopped_trials_enter_the_history_with_their_noise() -> None:
    study = finished_study()
    number, _ = report_until_stopped(study, 0.9)
    trial = study.ask()
    study.tell(trial, 0.5)
    history = stopped_history(study)
    assert history.done_numbers.tolist() == [0, 1, 2, 3, number, trial.number]
    assert history.stopped.tolist() == [False] * 4 + [True, False]
    assert history.y[4] == pytest.approx(0.9), "the curves of all trials fall alike"
    assert np.isfinite(history.noise).tolist() == [False] * 4 + [True, False]
    again = Study.of_record(study.record, study._storage)
    fresh = stopped_history(again)
    for name in ("y", "noise", "done_numbers", "stopped"):
        np.testing.assert_array_equal(getattr(fresh, name), getattr(history, name))


def test_the_past_of_a_study_has_its_curves() -> None:
    study = finished_study()
    number, step = report_until_stopped(study, 0.9)
    trial = study.ask()
    with study._current() as view:
        past = view.before(trial.number)
        assert past.curves.of(past.trials[number]).steps == list(range(1, step + 1))


def test_a_stopped_trial_is_pending_until_its_end_can_be_predicted() -> None:
    study = finished_study()
    number, _ = report_until_stopped(study, 0.9)
    for other in range(4):
        study.retract(other, "wrong data")
    history = stopped_history(study)
    assert history.done_numbers.tolist() == [] and history.pending_numbers.tolist() == [number]
    trial = study.ask()
    study.tell(trial, 0.5)  # without a curve
    assert stopped_history(study).pending_numbers.tolist() == [number]
    trial = study.ask()
    for step in range(1, STEPS + 1):
        study.report(trial, course(1.5, 0.5, step), step)
    study.tell(trial, 0.5)
    history = stopped_history(study)
    assert number in history.done_numbers.tolist() and not len(history.pending)


def test_a_stopped_trial_lowers_hopes_around_it() -> None:
    study = Study(FLAT, method="auto", seed=5)
    for x in (0.7, 0.5, 0.3, 0.05):
        study.enqueue({"x": x})
        trial = study.ask()
        for step in range(1, STEPS + 1):
            study.report(trial, course(1.0 + x, x, step), step)
        study.tell(trial, x)
    before, _ = study.predict([{"x": 0.95}, {"x": 0.2}])
    study.enqueue({"x": 0.95})
    trial = study.ask()
    assert not study.report(trial, 3.9, 1) and study.report(trial, 3.8, 2)
    after, _ = study.predict([{"x": 0.95}, {"x": 0.2}])
    assert after[0] > before[0] + 0.05, "its predicted final value is about 3, but not certain"
    assert abs(after[1] - before[1]) < 0.3
    assert study.ask().config["x"] < 0.6


def test_methods_without_a_model_go_on_after_a_stop() -> None:
    for method in ("tpe", "random", "sobol"):
        study = finished_study(method=method)
        assert report_until_stopped(study, 0.9)[1] == 2
        assert study.ask().state == "running"
    explained = finished_study(method="auto")
    report_until_stopped(explained, 0.9)
    trial = explained.ask()
    assert "reason" in explained.explain(trial)


def test_a_slow_starting_branch_is_not_lost() -> None:
    """Trials of ``slow`` are far worse than those of ``quick`` at first, and better at the end."""

    def objective(config: dict[str, Any], run: Any) -> float:
        slow = config["model"] == "slow"
        end = config["b"] * 0.3 if slow else 0.5 + config["a"] * 0.3
        for step in range(1, 31):
            value = end + (2.0 if step < 20 else 2.0 * (30 - step) / 10) if slow else end + 0.5 / step
            if run.report(value, step):
                break
        return float(end)

    for rule in ("median", "asha"):
        study = Study(TWO, method="random", seed=2, stopping=rule)
        study.run(objective, trials=40, progress=False)
        slow = [trial for trial in study.trials if trial.config["model"] == "slow"]
        assert study.best.config["model"] == "slow"
        best = min(slow, key=lambda trial: trial.config["b"])
        assert best.state == "done", "the best of the slow ones runs to its end"
        stopped = [trial.config["model"] for trial in study.trials if trial.state == "stopped"]
        assert stopped.count("quick") >= 5


def test_a_told_trial_has_its_curve(sqlite_url: str) -> None:
    study = finished_study(name="s", storage=sqlite_url)
    trial = study.ask()
    study.report(trial, 1.5, 1)
    stored = study.tell(trial, 0.3)
    assert stored == study.trial(trial.number) == study.trials[trial.number]
    assert stored.curve == ((1, 1.5),)
