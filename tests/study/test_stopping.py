"""Reports of running trials: what is stored, which trials stop, and how objectives report."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.study.reporting_studies import FLAT, STEPS, course, finished_study, report_until_stopped, trained

from bough.errors import BoughError, ConflictError, StudyError, TrialError
from bough.storage import MemoryStorage
from bough.study import (
    Study,
    copy_study,
    export_study,
    import_study,
    maximize,
    minimize,
    open_study,
    optimize,
)
from bough.study.running.progress import log_lines
from bough.study.running.report_channel import ReportServer
from bough.trial import Report, Trial


def test_a_hopeless_trial_is_stopped_and_stored(storage_url: str | None) -> None:
    storage = storage_url or MemoryStorage()
    study = finished_study(storage=storage, name="s")
    number, step = report_until_stopped(study, 0.9)
    assert step == 2, "judged from 20 % of the finished curves on"
    trial = open_study("s", storage).trial(number)
    assert (trial.state, trial.value, trial.is_finished) == ("stopped", None, True)
    assert trial.curve == ((1, course(1.9, 0.9, 1)), (2, course(1.9, 0.9, 2)))
    assert "at step 2" in trial.notes["stopped"] and trial.error is None
    status = study.status()
    assert (status.finished, status.stopped, status.failed, status.done) == (5, 1, 0, 4)
    assert study.best.value == 0.1
    with pytest.raises(ConflictError, match=rf"trial {number} is already finished \(stopped\)"):
        study.tell(number, 0.5)
    with pytest.raises(TrialError, match="is stopped already, so it cannot report step 3"):
        study.report(number, 0.5, 3)


@pytest.mark.parametrize("meanwhile", ["told", "handed out again"])
def test_a_report_that_would_stop_a_trial_while_it_is_told(
    monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    study = finished_study()
    study.enqueue({"x": 0.9})
    trial = study.ask(lease=600.0)
    finish = study._storage.finish

    def finish_late(number: int, result: Trial) -> Trial:
        monkeypatch.undo()
        if meanwhile == "told":
            finish(number, Trial(trial.number, {}, "done", value=9.0))
        else:
            study.renew([trial], None)
            assert study.ask().attempt == 2
        return finish(number, result)

    monkeypatch.setattr(study._storage, "finish", finish_late)
    steps = range(1, STEPS + 1)
    stopped_at = next(step for step in steps if study.report(trial, course(0.9, 0.9, step), step))
    assert 1 < stopped_at < STEPS
    assert study.trial(trial.number).state == ("done" if meanwhile == "told" else "running")


def test_a_promising_trial_goes_on() -> None:
    study = finished_study()
    assert report_until_stopped(study, 0.15)[1] == 0


def test_running_trials_are_compared_too() -> None:
    study = finished_study((0.4, 0.3))
    for x in (0.2, 0.1):
        trial = study.ask()
        for step in range(1, 6):
            study.report(trial, course(1.0 + x, x, step), step)
    assert report_until_stopped(study, 0.9)[1] == 2, "two finished curves alone would say nothing"


def test_failed_trials_are_not_compared() -> None:
    study = finished_study()
    for _ in range(3):
        trial = study.ask()
        for step in range(1, 6):
            study.report(trial, 0.0, step)
        study.fail(trial, "out of memory")
    assert report_until_stopped(study, 0.15)[1] == 0


def test_retracted_trials_are_not_compared() -> None:
    study = finished_study()
    trial = study.ask()
    assert not study.report(trial, 1.8, 1)
    for number in (0, 1):
        study.retract(number, "wrong data")
    assert not study.report(trial, 1.7, 2), "two curves say nothing"


def test_stopped_trials_are_compared_from_then_on() -> None:
    study = finished_study((0.4, 0.3, 0.2))
    for _ in range(3):
        assert report_until_stopped(study, 0.9)[1] == 2
    assert report_until_stopped(study, 0.45)[1] == 3, "at step 2 it is the fourth of seven, then of four"


def test_rule_none_stops_nothing() -> None:
    study = finished_study(stopping="none")
    assert report_until_stopped(study, 9.0)[1] == 0
    assert len(study.trials[-1].curve) == STEPS


def test_asha_keeps_the_best_third() -> None:
    study = finished_study(stopping="asha")
    assert report_until_stopped(study, 0.25)[1] == 1, "at the first rung, two of four are ahead"
    assert report_until_stopped(study, 0.05)[1] == 0


def test_maximised_values_are_compared_the_other_way() -> None:
    study = Study(FLAT, method="random", seed=1, direction="maximize")
    for level in (0.6, 0.7, 0.8, 0.9):
        trial = study.ask()
        for step in range(1, STEPS + 1):
            assert not study.report(trial, level * step / STEPS, step)
        study.tell(trial, level)
    bad, good = study.ask(), study.ask()
    assert study.report(bad, 0.01, 2)
    assert not study.report(good, 0.3, 2)


def test_the_rule_is_part_of_the_study(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = Study(FLAT, name="s", storage=url, stopping="asha")
    assert (
        study.stopping
        == "asha"
        == open_study("s", url).stopping
        == Study(FLAT, name="s", storage=url).stopping
    )
    with pytest.raises(StudyError, match=r"rule is 'asha', not 'median' \(leave stopping out"):
        Study(FLAT, name="s", storage=url, stopping="median")
    with pytest.raises(StudyError, match="stopping must be one of 'median', 'asha', 'none', not 'hyperband'"):
        Study(FLAT, stopping="hyperband")
    assert Study(FLAT).stopping == "median"
    for call in (minimize, maximize, optimize):
        assert call(trained, FLAT, 2, method="random", stopping="none", progress=False).stopping == "none"


def test_a_restart_decides_the_same(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = finished_study(name="s", storage=url)
    trial = study.ask()
    assert not study.report(trial, 1.8, 1)
    again = open_study("s", url)
    copy = copy_study(study, "copy", MemoryStorage())
    for each in (again, copy):
        each.ask() if each is copy else None
    assert again.report(trial.number, 1.7, 2)
    assert not copy.report(trial.number, 1.8, 1), "the next attempt begins its own curve"
    assert copy.report(trial.number, 1.7, 2)


@pytest.mark.parametrize(
    ("value", "step", "error", "words"),
    [
        (0.5, 4, TrialError, "trial 0 reported step 5 already, so step 4 is too late: steps must grow"),
        (0.6, 5, ConflictError, r"trial 0 reported 0\.5 at step 5 already, so it cannot report 0\.6 there"),
        (float("nan"), 6, TrialError, "the value that trial 0 reports at step 6 is nan: it must be finite"),
        (float("inf"), 6, TrialError, "is inf: it must be finite"),
        ("low", 6, TrialError, r"the value that trial 0 reports must be a number, not 'low' \(str\)"),
        (None, 6, TrialError, "must be a number, not None"),
        (0.5, True, TrialError, "a step must be an integer from 0 on, not True"),
        (0.5, "7", TrialError, "a step must be an integer from 0 on, not '7'"),
        (0.5, 1.5, TrialError, r"a step must be an integer from 0 on, not 1\.5"),
        (0.5, -1, TrialError, "a step must be an integer from 0 on, not -1"),
        (0.5, 2**62, TrialError, "a step must be an integer from 0 on"),
    ],
)
def test_bad_reports_change_nothing(value: Any, step: Any, error: type[BoughError], words: str) -> None:
    study = Study(FLAT, method="random", seed=1)
    trial = study.ask()
    study.report(trial, 0.5, np.int64(5))
    study.report(trial, np.float32(0.5), 5)
    with pytest.raises(error, match=words):
        study.report(trial, value, step)
    assert study.trial(0).curve == ((5, 0.5),) and study.trial(0).state == "running"


def test_reports_of_trials_that_do_not_run() -> None:
    study = Study(FLAT, method="random", seed=1)
    with pytest.raises(TrialError, match="has no trial 3"):
        study.report(3, 0.5, 1)
    with pytest.raises(TrialError, match="there is no trial -1"):
        study.report(-1, 0.5, 1)
    with pytest.raises(TrialError, match="named by its number or a Trial"):
        study.report("0", 0.5, 1)  # type: ignore[arg-type]
    study.enqueue({"x": 0.5})
    with pytest.raises(TrialError, match="trial 0 is queued: only a running trial can report"):
        study.report(0, 0.5, 1)
    trial = study.ask()
    study.tell(trial, 1.0)
    with pytest.raises(TrialError, match="trial 0 is done already, so it cannot report step 1"):
        study.report(trial, 0.5, 1)


def test_one_named_objective_may_report() -> None:
    study = Study(FLAT, method="auto", seed=1, objectives={"error": "minimize"})
    for x in (0.4, 0.3, 0.2, 0.1):
        trial = study.ask()
        for step in range(1, STEPS + 1):
            study.report(trial, course(1.0 + x, x, step), step)
        study.tell(trial, {"error": x})
    assert report_until_stopped(study, 0.9)[1] == 2
    assert study.ask().state == "running"


def test_the_next_attempt_begins_its_own_curve() -> None:
    study = Study(FLAT, method="random", seed=1)
    first = study.ask(lease=60.0)
    study.report(first, 0.5, 8)
    study.renew([first], None)
    second = study.ask()
    assert study.trial(0).curve == ()
    with pytest.raises(TrialError, match="attempt 2 decides"):
        study.report(first, 0.4, 9)
    study.report(second, 0.9, 1)
    assert study.trial(0).curve == ((1, 0.9),) and second.attempt == 2


def test_curves_and_stopped_trials_travel_in_files(tmp_path: Path) -> None:
    study = finished_study(stopping="asha")
    number, _ = report_until_stopped(study, 0.9)
    export_study(study, tmp_path / "s.jsonl")
    again = import_study(tmp_path / "s.jsonl", MemoryStorage())
    assert again.trials == study.trials and again.stopping == "asha"
    assert [trial.curve for trial in again.trials] == [trial.curve for trial in study.trials]
    assert again.trial(number).state == "stopped"
    lines = (tmp_path / "s.jsonl").read_text().splitlines()
    for change, words in (
        ({"curve": [[1, 0.5], [1, 0.4]]}, "the steps in 'curve' must grow, but 1 comes after 1"),
        ({"curve": [[1, None]]}, "'curve at step 1' must be a number"),
        ({"curve": [[True, 0.5]]}, "a step in 'curve' must be an integer"),
        ({"curve": {"1": 2}}, "'curve' must be a list of"),
        ({"state": "paused"}, "the state 'paused' is not one of queued, running, done, failed, stopped"),
        ({"value": 1.0}, "a trial that is stopped has a value"),
    ):
        damaged = json.dumps({**json.loads(lines[-1]), **change})
        (tmp_path / "damaged.jsonl").write_text("\n".join([*lines[:-1], damaged]) + "\n")
        with pytest.raises(StudyError, match=words):
            import_study(tmp_path / "damaged.jsonl", MemoryStorage())


def test_stopped_trials_in_tables() -> None:
    study = finished_study()
    study.run(lambda config, run: trained({"x": 0.9}, run), trials=6, progress=False)
    frame = study.frame()
    assert list(frame["state"]) == ["done"] * 4 + ["stopped"] * 2
    assert frame["value"].isna().tolist() == [False] * 4 + [True] * 2


def test_a_log_line_says_that_a_trial_was_stopped() -> None:
    study, lines = finished_study(), io.StringIO()
    study.run(lambda config, run: trained({"x": 0.9}, run), trials=5, progress=log_lines(lines))
    assert "trial 4: stopped, best 0.1 (trial 3), 5/5" in lines.getvalue()


# ---- run -------------------------------------------------------------------------------------------


def test_an_objective_that_takes_a_run_reports() -> None:
    study = Study(FLAT, method="random", seed=3)
    events: list[Any] = []
    study.run(trained, trials=30, progress=events.append)
    states = [trial.state for trial in study.trials]
    assert len(states) == 30 and states.count("stopped") >= 5 and "failed" not in states
    assert events[-1].stopped == states.count("stopped") == study.status().stopped
    for trial in study.trials:
        assert len(trial.curve) == STEPS if trial.state == "done" else 2 <= len(trial.curve) < STEPS
    best = sorted(trial.config["x"] for trial in study.trials)[:3]
    assert [t.state for t in study.trials if t.config["x"] in best] == ["done"] * 3


@pytest.mark.parametrize("leave", ["raise", "return"])
def test_nothing_matters_after_the_stop(leave: str) -> None:
    study, ended = finished_study(), []

    def objective(config: dict[str, Any], run: Any) -> Any:
        for step in range(1, STEPS + 1):
            if run.report(9.0, step) and leave == "raise":
                raise ValueError("I am out")
        ended.append(run.stop)
        return "no number"

    study.run(objective, trials=5, on_error="raise", progress=False)
    assert study.trial(4).state == "stopped"
    assert study.trial(4).curve == ((1, 9.0), (2, 9.0)), "later reports are not stored"
    assert ended == ([True] if leave == "return" else []), "later reports are no error"


def test_what_counts_as_taking_a_run() -> None:
    seen: list[int] = []
    study = Study(FLAT, method="random", seed=3)
    study.run(lambda config, scale=3.0: scale, trials=1, progress=False)
    study.run(lambda config, run=None: seen.append(run.trial.number) or 1.0, trials=2, progress=False)
    study.run(lambda *both: float(len(both)), trials=3, progress=False)
    assert [trial.value for trial in study.trials] == [3.0, 1.0, 1.0] and seen == [1]


def test_a_bad_report_fails_its_trial_with_a_clear_line() -> None:
    study = Study(FLAT, method="random", seed=3)
    study.run(lambda config, run: run.report(float("nan"), 1), trials=1, progress=False)
    assert "the value that trial 0 reports at step 1 is nan" in str(study.trial(0).error)


def test_reports_from_worker_processes() -> None:
    study = finished_study()

    def objective(config: dict[str, Any], run: Any) -> float:
        if run.trial.number == 5:
            run.report("low", 1)
        if run.trial.number == 6:
            run.report(0.5, 3)
            run.report(0.5, 2)
        for step in range(1, 11):
            if run.report(1.9 - step / 10, step):
                break
        return 0.9

    study.run(objective, trials=8, workers=2, progress=False)
    states = [trial.state for trial in study.trials]
    assert states == ["done"] * 4 + ["stopped", "failed", "failed", "stopped"]
    assert "must be a number, not 'low'" in str(study.trial(5).error)
    assert "so step 2 is too late" in str(study.trial(6).error)
    assert len(study.trial(7).curve) == 2
    assert not [thread for thread in threading.enumerate() if thread.name == "bough-reports"]


def test_reports_from_executors() -> None:
    study = finished_study()
    with ThreadPoolExecutor(2) as executor:
        study.run(lambda config, run: trained({"x": 0.9}, run), trials=6, executor=executor, progress=False)
    assert [trial.state for trial in study.trials[4:]] == ["stopped"] * 2

    class Elsewhere(Executor):
        def submit(self, call: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
            raise AssertionError("nothing may be started")

    with pytest.raises(StudyError, match=r"executor must be a concurrent\.futures\.Executor, not int"):
        study.run(trained, trials=8, executor=3, progress=False)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="objectives cannot report from Elsewhere"):
        study.run(trained, trials=8, executor=Elsewhere(), workers=1, progress=False)


def test_ten_thousand_reports_do_not_slow_asks() -> None:
    study = finished_study()
    trial = study.ask()
    for step in range(11, 10_011):
        study._storage.report(study.record.id, Report(trial.number, step, 0.1))
    view = study._view
    study.status()
    shown = view.curves._shown
    assert trial.number not in shown, "a curve is copied only for a user who looks"
    study.ask()
    assert trial.number not in shown
    assert len(study.trial(trial.number).curve) == 10_000
    first = study.trials[trial.number].curve
    assert study.trials[trial.number].curve is first


def test_a_worker_that_hangs_in_its_greeting_holds_up_nobody() -> None:
    heard: list[tuple[int, float, int]] = []

    def report(trial: Trial, value: float, step: int) -> bool:
        heard.append((trial.number, value, step))
        return False

    with ReportServer(report) as server:
        hanging = Client(server.client._address)  # connects, and never answers the challenge
        assert server.client(Trial(3, {}, "running"), 0.5, 1) is False
    hanging.close()
    assert heard == [(3, 0.5, 1)]
