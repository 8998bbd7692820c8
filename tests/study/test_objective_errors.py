"""Objectives that raise: what is kept, what is said, and that a run goes on."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from bough import minimize
from bough.errors import StudyError, TrialError
from bough.space import Choice, Float, Space
from bough.study import Study

LINE = Space({"x": Float(0, 1)})
BRANCHES = Space({"model": Choice({"svm": {"C": Float(0, 1)}, "forest": {}}), "x": Float(0, 1)})
HERE = Path(__file__).name


class Own(BaseException):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Any:
    """An objective that raises the error in about every second trial."""

    def objective(config: dict[str, Any]) -> float:
        if config["x"] < 0.5:
            raise error
        return 1.0

    return objective


def test_an_objective_that_asks_for_its_parameters_takes_no_space() -> None:
    study = Study(LINE, method="random", seed=0)
    study.run(lambda trial: trial.float("x", 0, 1), 1, progress=False)
    assert "no attribute 'float'; an objective that asks a trial for its parameters takes no space" in str(
        study.trials[0].error
    )


@pytest.mark.parametrize("workers", [None, 1])
def test_reading_an_inactive_parameter_says_when_it_is_active(workers: int | None) -> None:
    study = Study(BRANCHES, seed=0)
    study.enqueue({"model": "forest", "x": 0.5})
    study.run(lambda config: config["C"], 1, workers=workers, progress=False)
    hint = "'C' is inactive in this trial (it needs model == 'svm'): use config.get('C') (line "
    assert str(study.trials[0].error).startswith(f"KeyError: 'C'; {hint}")


@pytest.mark.parametrize("name", ["D", "x", 3])
def test_other_missing_keys_get_no_such_hint(name: Any) -> None:
    study = Study(BRANCHES, seed=0)
    study.run(lambda config: {}[name], 1, progress=False)
    assert "inactive" not in str(study.trials[0].error)


class TrialPruned(Exception):
    """Optuna's exception, by its name."""


def test_an_objective_that_prunes_as_with_optuna_is_told_what_to_do_instead() -> None:
    study = Study(LINE, method="sobol", seed=0)
    study.run(raising(TrialPruned()), 4, progress=False)
    (error, *_) = [trial.error for trial in study.trials if trial.error]
    assert error.startswith(
        "TrialPruned; bough stops a trial by run.report(value, step): return once run.stop"
    )


@pytest.mark.parametrize("workers", [None, 2])
@pytest.mark.parametrize(
    "error", [asyncio.CancelledError(), Own("own"), GeneratorExit(), SystemExit(3), Mute()]
)
def test_whatever_is_raised_fails_the_trial_and_the_run_goes_on(
    error: BaseException, workers: int | None
) -> None:
    if workers and isinstance(error, (Own, Mute)):
        pytest.skip("a worker cannot import the classes of a test")
    study = Study(LINE, method="sobol", seed=0)
    study.run(raising(error), 4, workers=workers, progress=False)
    failed = [trial for trial in study.trials if trial.state == "failed"]
    assert len(study.trials) == 4 and len(failed) >= 1
    assert all(trial.attempt == 1 for trial in study.trials)
    assert all(trial.error.startswith(type(error).__name__) for trial in failed if trial.error)


def test_a_keyboard_interrupt_raised_in_a_worker_fails_its_trial() -> None:
    study = Study(LINE, method="sobol", seed=0)
    study.run(raising(KeyboardInterrupt()), 4, workers=2, progress=False)
    assert {trial.state for trial in study.trials} == {"done", "failed"}


def test_ctrl_c_is_raised_again_after_everything_is_kept() -> None:
    study = Study(LINE, method="random", seed=0)
    calls: list[int] = []

    def objective(config: dict[str, Any]) -> float:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(KeyboardInterrupt):
        study.run(objective, 5, progress=False)
    assert [trial.state for trial in study.trials] == ["done", "done", "queued"]
    study.run(objective, 5, progress=False)
    assert [trial.state for trial in study.trials] == ["done"] * 5


def test_the_users_own_line_is_named_and_the_whole_traceback_kept(shared_url: str) -> None:
    study = Study(LINE, name="s", storage=shared_url, method="random", seed=0)

    def objective(config: dict[str, Any]) -> float:
        return float(json.loads("no json"))  # the user's line

    study.run(objective, 1, progress=False)
    trial = study.trials[0]
    line = next(
        i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "# the user's line" in text
    )
    assert trial.error is not None and trial.error.startswith("JSONDecodeError: Expecting value")
    assert trial.error.endswith(f"(line {line} of {__file__})")
    assert trial.traceback is not None and "decoder.py" in trial.traceback
    assert trial.traceback.startswith("Traceback (most recent call last)")
    assert "bough/study" not in trial.traceback


def test_a_mistake_in_a_call_of_bough_is_at_the_users_line() -> None:
    def objective(trial: Any) -> float:
        return float(trial.float("x", 2, 1))  # the user's mistake

    study = minimize(objective, trials=1, method="random", seed=0, progress=False)
    line = next(
        i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "# the user's mis" in text
    )
    assert str(study.trials[0].error).endswith(f"(line {line} of {__file__})")


def test_a_long_traceback_is_cut_in_the_middle() -> None:
    def objective(config: dict[str, Any]) -> float:
        raise ValueError("x" * 100_000)

    trial = minimize(objective, LINE, trials=1, method="random", progress=False).trials[0]
    assert trial.traceback is not None and len(trial.traceback) < 21_000 and "[...]" in trial.traceback


# ---- on_error="raise" -------------------------------------------------------------------------------


def test_the_exception_itself_is_raised_after_it_is_recorded() -> None:
    study = Study(LINE, method="random", seed=0)
    with pytest.raises(ZeroDivisionError):
        study.run(lambda config: 1 / 0, 5, on_error="raise", progress=False)
    assert [trial.state for trial in study.trials] == ["failed"]
    assert study.trials[0].traceback is not None


def test_from_a_worker_comes_a_trial_error() -> None:
    study = Study(LINE, method="random", seed=0)
    with pytest.raises(TrialError, match=r"trial [01] failed: ZeroDivisionError"):
        study.run(lambda config: 1 / 0, 5, workers=2, on_error="raise", progress=False)
    states = {trial.state for trial in study.trials}
    assert "failed" in states and states <= {"failed", "queued"}


def test_a_result_that_is_no_number_is_raised_too() -> None:
    with pytest.raises(TrialError, match="trial 0 failed: the objective returned None"):
        minimize(lambda config: None, LINE, trials=5, method="random", on_error="raise", progress=False)


def test_odd_values_of_on_error() -> None:
    with pytest.raises(StudyError, match="on_error must be 'record' or 'raise', not 'ignore'"):
        minimize(lambda config: 1.0, LINE, trials=1, on_error="ignore")  # type: ignore[arg-type]


# ---- bugs are loud ----------------------------------------------------------------------------------


def test_a_branch_that_always_fails_in_the_same_way_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    def objective(config: dict[str, Any]) -> float:
        if config["model"] == "svm":
            raise KeyError(f"gamma at {config['x']}")
        return config["x"]

    with caplog.at_level(logging.WARNING, "bough"):
        minimize(objective, BRANCHES, trials=16, method="random", seed=0, progress=False)
    loud = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(loud) == 1
    assert "all 3 trials with model='svm' failed in the same way: KeyError" in loud[0]
    assert "looks like a bug" in loud[0]
    with_traceback = [record for record in caplog.records if "Traceback" in record.getMessage()]
    assert len(with_traceback) == 1, "the traceback is logged once"


def test_failures_that_differ_or_only_some_are_no_bug(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "bough"):
        minimize(raising(ValueError("odd")), LINE, trials=12, method="random", seed=0, progress=False)
    assert not [record for record in caplog.records if record.levelno == logging.ERROR]


def test_an_objective_that_cannot_be_sent_is_refused_at_once() -> None:
    lock = threading.Lock()
    study = Study(LINE, method="random", seed=0)
    with pytest.raises(StudyError, match="the objective cannot be sent to a worker process"):
        study.run(lambda config: lock.locked() + 1.0, 5, workers=2, progress=False)
    assert not study.trials


# ---- silence ----------------------------------------------------------------------------------------

SCRIPT = """
import logging, sys
from bough import Float, Space, minimize
{setup}
minimize(lambda config: config["x"], Space({{"x": Float(0, 1)}}), trials=3, method="random", seed=0)
"""


@pytest.mark.parametrize(
    ("setup", "lines"),
    [
        ("", 3),
        ("logging.getLogger('bough').setLevel(logging.WARNING)", 0),
        ("logging.basicConfig(level=logging.INFO)", 3),
        ("logging.basicConfig(level=logging.WARNING)", 0),
    ],
)
def test_without_a_terminal_each_trial_is_a_line(setup: str, lines: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(setup=setup)], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    found = done.stderr.splitlines()
    assert len(found) == lines
    assert all("best" in line and f"{i + 1}/3" in line for i, line in enumerate(found))


def test_a_warning_quotes_only_the_start_of_a_long_error(caplog: pytest.LogCaptureFixture) -> None:
    def fail(config: dict) -> float:
        raise ValueError("long " * 1000)

    with caplog.at_level("WARNING", logger="bough"):
        minimize(fail, LINE, trials=4, method="random", progress=False)
    loud = [text for text in caplog.messages if "looks like a bug" in text]
    assert len(loud) == 1 and len(loud[0]) < 500
