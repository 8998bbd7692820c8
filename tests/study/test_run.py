"""Running an objective: budgets, bad results, callbacks, progress, interruptions."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.storage.invariants import sound_trials

from bough.errors import StudyError
from bough.space import Categorical, Float, Space
from bough.storage import MemoryStorage
from bough.study import Event, Study, maximize, minimize, open_study
from bough.study.running import loop as study_loop
from bough.trial import Trial

LINE = Space({"x": Float(0, 1)})
FINITE = Space({"a": Categorical(["x", "y", "z"])})


def run(objective: Any, trials: int | None = 5, space: Space = LINE, **more: Any) -> Study:
    return minimize(objective, space, trials, **{"method": "random", "seed": 0, "progress": False, **more})


# ---- results ---------------------------------------------------------------------------------------


def test_minimize_and_maximize() -> None:
    down = run(lambda config: config["x"], 30)
    up = maximize(lambda config: config["x"], LINE, 30, method="random", seed=0)
    values = [trial.value for trial in down.trials]
    assert values == [trial.config["x"] for trial in down.trials] == [trial.value for trial in up.trials]
    assert (down.best.value, up.best.value) == (min(values), max(values))


def test_objectives_may_return_noise_and_cost() -> None:
    trial = run(lambda config: {"value": 1, "noise": 0.5, "cost": 2}, 1).trials[0]
    assert (trial.value, trial.noise, trial.cost) == (1.0, 0.5, 2.0)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (math.nan, "the value is nan"),
        (-math.inf, "the value is -inf"),
        (None, "the objective returned None, not a number: is a 'return' missing"),
        ("0.5", r"returned '0.5' \(str\), not a number"),
        (1j, r"returned 1j \(complex\), not a number"),
        (np.array([1.0, 2.0]), r"returned array.*, not a number"),
        ({"value": math.nan}, "the value is nan"),
        ({"loss": 1.0}, r"returned a dict without 'value' \(it has 'loss'\): name its result 'value'"),
        ({"value": 1.0, "noise": -1}, "noise must be finite and not negative"),
        (ValueError("so bad"), r"^ValueError: so bad \(line \d+ of .*test_run.py\)"),
        (SystemExit(3), "^SystemExit: 3"),
        (KeyError(), r"^KeyError \(line"),
    ],
    ids=repr,
)
def test_bad_results_are_failed_trials_and_the_run_goes_on(bad: Any, reason: str) -> None:
    calls = iter(range(100))

    def objective(config: dict[str, float]) -> Any:
        if next(calls) != 1:
            return 1.0
        if isinstance(bad, BaseException):
            raise bad
        return bad

    study = run(objective, 3)
    assert [trial.state for trial in study.trials] == ["done", "failed", "done"]
    error = study.trials[1].error
    assert error is not None
    assert __import__("re").search(reason, error), error


def test_a_run_in_which_everything_fails_says_so() -> None:
    storage = MemoryStorage()

    def broken(config: dict[str, float]) -> float:
        raise OSError("no data set")

    with pytest.raises(StudyError, match="all 10 trials of study 's' failed, the last one: OSError: no data"):
        run(broken, 100, storage=storage, name="s")
    study = open_study("s", storage)
    assert [trial.state for trial in study.trials] == ["failed"] * 10
    study.run(lambda config: 1.0, 12, progress=False)
    assert study.best.value == 1.0, "when the objective is mended, the study goes on"


def test_the_objective_may_change_its_config() -> None:
    study = run(lambda config: config.pop("x"), 3)
    assert [trial.config["x"] for trial in study.trials] == [trial.value for trial in study.trials]


# ---- budgets ---------------------------------------------------------------------------------------


def test_running_again_continues() -> None:
    study = run(lambda config: config["x"], 4)
    study.add({"x": 0.5}, 9.0)
    study.run(lambda config: math.nan, 4)
    assert len(study.trials) == 5, "4 were finished already; the added one is no trial"
    study.run(lambda config: config["x"], 6)
    assert len(study.trials) == 7
    assert [trial.config for trial in study.trials if not trial.was_added][:4] == [
        trial.config for trial in run(lambda config: 0.0, 4).trials
    ]


def test_a_budget_that_is_used_up_does_nothing() -> None:
    assert run(lambda config: 1.0, 0).trials == []


def test_queued_trials_are_run_first_and_count() -> None:
    study = Study(LINE, method="random", seed=0)
    study.enqueue({"x": 0.125})
    study.run(lambda config: config["x"], 2)
    assert study.trials[0].value == 0.125
    assert len(study.trials) == 2


def test_a_finite_space_ends_the_run() -> None:
    study = run(lambda config: 1.0, None, FINITE)
    assert sorted(trial.config["a"] for trial in study.trials) == ["x", "y", "z"]


def test_timeout() -> None:
    study = run(lambda config: time.sleep(0.05) or 1.0, None, timeout=0.3)
    assert 1 <= len(study.trials) <= 7
    assert all(trial.state == "done" for trial in study.trials), "the last one may end"


@pytest.mark.parametrize(
    "wrong",
    [
        {"trials": -1},
        {"trials": 2.5},
        {"timeout": 0},
        {"trial_timeout": -1.0},
        {"workers": 0},
        {"workers": "many"},
        {"executor": "pool"},
        {"progress": "yes"},
    ],
    ids=str,
)
def test_wrong_arguments_are_named(wrong: dict[str, Any]) -> None:
    study = Study(LINE, method="random", seed=0)
    with pytest.raises(StudyError, match=next(iter(wrong))):
        study.run(lambda config: 1.0, **{"trials": 3, **wrong})
    assert study.trials == []


# ---- callbacks and progress ------------------------------------------------------------------------


def test_callbacks_see_each_trial_and_may_stop() -> None:
    seen: list[int] = []

    def note(study: Study, trial: Trial) -> None:
        assert study.trials[trial.number] == trial
        seen.append(trial.number)

    study = run(lambda config: 1.0, 10, callbacks=[lambda study, trial: trial.number == 3, note])
    assert seen == [0, 1, 2, 3]
    assert len(study.trials) == 4


def test_a_callback_that_raises_ends_the_run_with_all_results() -> None:
    study = Study(LINE, method="random", seed=0)
    with pytest.raises(ZeroDivisionError):
        study.run(lambda config: 1.0, 10, callbacks=[lambda study, trial: 1 // (2 - trial.number) > 1])
    assert [trial.state for trial in study.trials] == ["done"] * 3


def test_progress_is_reported() -> None:
    events: list[Event] = []
    run(lambda config: config["x"] if config["x"] < 0.9 else math.nan, 12, progress=events.append)
    assert [event.kind for event in events] == ["start", *["trial"] * 12, "end"]
    assert [event.finished for event in events] == [0, *range(1, 13), 12]
    assert {(event.limit, event.study, event.direction) for event in events} == {(12, "study", "minimize")}
    assert events[0].best is None
    last = events[-1]
    assert last.best is not None and last.best.value == min(
        event.trial.value for event in events if event.trial and event.trial.value is not None
    )
    assert last.failed == sum(event.trial.state == "failed" for event in events if event.trial)
    assert [event.elapsed for event in events] == sorted(event.elapsed for event in events)


# ---- with others -----------------------------------------------------------------------------------


def test_two_runs_share_a_budget(storage_url: str | None) -> None:
    storage = storage_url or MemoryStorage()
    first = Study(LINE, name="s", storage=storage, method="random", seed=0)
    other = threading.Thread(target=lambda: open_study("s", storage).run(slowly, 12, progress=False))

    def slowly(config: dict[str, float]) -> float:
        time.sleep(0.01)
        return 1.0

    other.start()
    first.run(slowly, 12, progress=False)
    other.join()
    assert [trial.state for trial in first.trials] == ["done"] * 12


def test_a_run_waits_for_the_last_trial_of_a_dead_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lease ends while this run looks on; then the trial is ours."""
    study = Study(LINE, method="random", seed=0)
    study.ask(lease=0.7)
    study.run(lambda config: 1.0, 3, progress=False)
    assert [(trial.state, trial.attempt) for trial in study.trials] == [("done", 2), ("done", 1), ("done", 1)]


def test_trials_asked_by_hand_do_not_hold_up_a_run() -> None:
    study = Study(LINE, method="random", seed=0)
    mine = study.ask()
    study.run(lambda config: 1.0, 3, progress=False)
    assert [trial.state for trial in study.trials] == ["running", "done", "done", "done"]
    study.tell(mine, 1.0)


def test_leases_are_renewed_while_a_trial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    leases = study_loop.Leases
    monkeypatch.setattr(study_loop, "Leases", lambda renew: leases(renew, 0.3))
    study = Study(LINE, method="random", seed=0)
    ends: list[float] = []

    def objective(config: dict[str, float]) -> float:
        while len(ends) < 3:  # the lease as it was handed out, and two renewals
            end = study.trial(0).expires
            if end is not None and end not in ends:
                ends.append(end)
            time.sleep(0.01)
        return 1.0

    study.run(objective, 1, progress=False)
    assert study.trials[0].attempt == 1


def test_leases_are_renewed_after_an_unexpected_error() -> None:
    renewed = threading.Event()
    calls: list[float | None] = []

    def renew(trials: Sequence[Trial], seconds: float | None) -> None:
        calls.append(seconds)
        if len(calls) == 1:
            raise RuntimeError("nobody thought of this one")
        renewed.set()

    with study_loop.Leases(renew, 0.03) as leases:
        leases.hold(Trial(0, {}, "running", attempt=1))
        assert renewed.wait(30)


# ---- interruptions ---------------------------------------------------------------------------------

SCRIPT = """
import sys, time
from pathlib import Path
from bough.space import Float, Space
from bough.study import minimize

def objective(config):
    if len(list(Path({folder!r}).glob("began*"))) >= 3:
        Path({folder!r}, f"long {{config['x']}}").touch()
        time.sleep(60)
    Path({folder!r}, f"began {{config['x']}}").touch()
    return config["x"]

study = minimize(objective, Space({{"x": Float(0, 1)}}), 10, method="random", seed=0, workers={workers},
                 storage={url!r}, name="s", progress=False)
print("finished with", len([trial for trial in study.trials if trial.state == "done"]))
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(sqlite_url: str, tmp_path: Path, workers: int, number: int) -> None:
    folder = tmp_path / "marks"
    folder.mkdir()
    script = textwrap.dedent(SCRIPT).format(folder=str(folder), url=sqlite_url, workers=workers)
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 180
    while len(list(folder.glob("long*"))) < workers:  # then all other results are recorded
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.02)
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert "interrupted: all results are kept" in err
    if number == signal.SIGINT:
        assert (child.returncode, out) == (-signal.SIGINT, ""), "nothing after the run is done"
        assert err.rstrip().endswith("KeyboardInterrupt")
    else:
        assert (child.returncode, out) == (128 + signal.SIGTERM, "")
    states = [trial.state for trial in sound_trials(sqlite_url, "s")]
    assert states.count("done") == len(list(folder.glob("began*"))) >= 3
    assert set(states) == {"done", "queued"}, "what was running waits to be handed out again"


def test_handlers_are_put_back_and_others_respected() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    run(lambda config: 1.0, 1)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    caught: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: caught.append(number))
    try:
        study = run(lambda config: os.kill(os.getpid(), signal.SIGTERM) or 1.0, 2)
    finally:
        signal.signal(signal.SIGTERM, before[1])
    assert caught == [signal.SIGTERM] * 2
    assert [trial.state for trial in study.trials] == ["done", "done"]


def test_no_result_is_lost_to_an_interruption_while_it_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(LINE, method="random", seed=0)
    record = study.record_result

    def interrupted(result: Trial) -> Trial:
        os.kill(os.getpid(), signal.SIGINT)
        return record(result)

    monkeypatch.setattr(study, "record_result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.run(lambda config: 1.0, 5, progress=False)
    assert [trial.state for trial in study.trials] == ["done"]


def test_values_are_kept_that_came_while_a_proposal_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(LINE, method="random", seed=0)
    ask, evaluated = study.ask_within, threading.Event()

    def interrupted(limit: int | None, lease: float | None) -> Trial | None:
        if study.status().trials:
            assert evaluated.wait(30)
            time.sleep(0.1)  # until the executor has noted the result
            os.kill(os.getpid(), signal.SIGINT)
        return ask(limit, lease)

    def objective(config: dict[str, float]) -> float:
        evaluated.set()
        return 1.0

    monkeypatch.setattr(study, "ask_within", interrupted)
    with ThreadPoolExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        study.run(objective, 5, executor=executor, progress=False)
    assert study.trials[0].state == "done"


def test_runs_in_a_thread() -> None:
    studies: list[Study] = []
    thread = threading.Thread(target=lambda: studies.append(run(lambda config: 1.0, 3)))
    thread.start()
    thread.join()
    assert len(studies[0].trials) == 3


def test_a_run_that_waits_for_others_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(study_loop, "_WAIT_SECONDS", 0.0)
    study = Study(LINE, method="random", seed=0)
    study.ask(lease=1.0)  # of a worker that is gone
    study.run(lambda config: config["x"], 2, progress=False)
    assert study.status().finished == 2
    assert [r.message for r in caplog.records if "waiting for 1 trials that other runs hold" in r.message]
    assert sum("waiting" in r.message for r in caplog.records) == 1
