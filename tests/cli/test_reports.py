"""Programs that report while they run: what is stored, and that a stopped one ends with its children."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from bough.cli.command import Command
from bough.cli.placeholders import units_of
from bough.cli.reported_lines import ReportedLines
from bough.space import Float, Space
from bough.study import Study, open_study
from bough.study.running.orphans import Guardian
from bough.trial import Report, Trial

from .programs import STUBBORN_PARENT, alive, bough, pid_in, script

SPACE = Space({"x": Float(0, 1)})


def finished(study: Study) -> Study:
    """Four trials that ran to their ends in ten steps."""
    for level in (0.4, 0.3, 0.2, 0.1):
        trial = study.ask()
        for step in range(1, 11):
            study.report(trial, level + 1 - step / 10, step)
        study.tell(trial, level)
    return study


def test_a_stopped_program_ends_with_its_children(tmp_path: Path) -> None:
    study = finished(Study(SPACE, method="random", seed=0))
    hopeless = STUBBORN_PARENT.replace(
        "time.sleep(100)",
        "if os.getppid() and not os.path.exists(sys.argv[1]): time.sleep(1)\n"
        'print(\'{"step": 2, "value": 9}\', flush=True)\ntime.sleep(100)',
    )
    program = script(tmp_path, "train", hopeless)
    trial = study.ask()
    with Guardian() as guardian:
        result = Command(units_of([program, str(tmp_path / "pid")]), study, tmp_path, guardian)(trial)
    assert result.state == "stopped" and study.record_result(result).state == "stopped"
    assert study.trial(trial.number).curve == ((2, 9.0),)
    assert not alive(pid_in(tmp_path / "pid"))


def test_children_of_a_stopped_program_have_time_to_end(tmp_path: Path) -> None:
    """A shell ends at once on SIGTERM; its child, which saves something first, is not killed with it."""
    study = finished(Study(SPACE, method="random", seed=0))
    child = script(
        tmp_path,
        "child",
        f"#!{sys.executable} -IS\n"
        "import signal, sys, time\n"
        "def save(*_):\n    time.sleep(1)\n    open(sys.argv[1], 'w').close()\n    sys.exit()\n"
        "signal.signal(signal.SIGTERM, save)\n"
        'print(\'{"step": 2, "value": 9}\', flush=True)\ntime.sleep(100)\n',
    )
    program = script(tmp_path, "train", f"#!/bin/sh\n{child} $1\necho done\n")
    trial, saved = study.ask(), tmp_path / "saved"
    with Guardian() as guardian:
        result = Command(units_of([program, str(saved)]), study, tmp_path, guardian)(trial)
    assert result.state == "stopped" and saved.exists()


def test_a_program_that_reports_without_end_is_stopped_after_its_time(tmp_path: Path) -> None:
    study = Study(SPACE, method="random", seed=0)
    keep = study._storage.report

    def slowly(number: int, report: Report) -> Trial:
        time.sleep(0.01)
        return keep(number, report)

    study._storage.report = slowly  # type: ignore[method-assign]
    endless = (
        f"#!{sys.executable} -IS\nimport itertools\n"
        "for step in itertools.count():\n"
        '    print(\'{"step": %d, "value": 0.5}\' % step)\n'
    )
    program, trial = script(tmp_path, "train", endless), study.ask()
    with Guardian() as guardian:
        result = Command(units_of([program]), study, tmp_path, guardian, timeout=0.5)(trial)
    assert (result.state, len(study.trial(0).curve) > 1) == ("failed", True)
    assert "stopped after 0.5 s (--trial-timeout)" in str(result.error)


def test_a_program_that_has_ended_is_not_stopped_any_more(tmp_path: Path) -> None:
    """All reports are read after its end: they are kept, and its result counts."""
    study = finished(Study(SPACE, method="random", seed=0))
    lines = "\n".join(json.dumps({"step": step, "value": 9.0}) for step in range(1, 11))
    program = script(tmp_path, "train", f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\n")
    trial = study.ask()
    with Guardian() as guardian:
        result = Command(units_of([program]), study, tmp_path, guardian)(trial)
    assert (result.state, result.value, result.measures) == ("done", 9.0, {})
    study.record_result(result)
    assert len(study.trial(trial.number).curve) == 10


@pytest.mark.parametrize(
    ("text", "curve"),
    [
        ('epoch 1\n{"step": 1, "value": 0.5}\n{"step": 2, "val', ((1, 0.5),)),
        ('{"step": 1}\n{"value": 3}\n[1, 2]\n{broken\n{"step": 2, "value": 0.25}\n', ((2, 0.25),)),
        ('{"step": 3, "value": 0.5}\n{"step": 2, "value": 0.5}\n{"step": 4, "value": 0.5}\n', ((3, 0.5),)),
        ('{"step": "3", "value": 0.5}\n', ()),
        ('{"step": 1, "value": NaN}\n', ()),
        ("{" * 20_000 + "\n" + '{"step": 2, "value": 0.25}\n', ((2, 0.25),)),
    ],
)
def test_lines_that_are_reports(
    text: str, curve: tuple[tuple[int, float], ...], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    study = Study(SPACE, method="random", seed=0)
    trial, output = study.ask(), tmp_path / "out"
    output.write_text(text)
    reported = ReportedLines(study, trial, output)
    assert not reported.should_stop() and not reported.should_stop()
    assert study.trial(0).curve == curve and study.trial(0).state == "running"
    refused = [record.message for record in caplog.records if "its reports are ignored" in record.message]
    assert len(refused) == (text.count("\n") > 0 and any(w in text for w in ('"3"', "NaN", '"step": 3')))


def test_a_line_is_read_once_it_is_complete(tmp_path: Path) -> None:
    study = Study(SPACE, method="random", seed=0)
    trial, output = study.ask(), tmp_path / "out"
    reported = ReportedLines(study, trial, output)
    text = '{"step": 1, "value": 0.5}\n{"step": 2, "value": 0.25}\n'
    for written in (30, 40, len(text)):
        output.write_text(text[:written])
        assert not reported.should_stop()
        assert len(study.trial(0).curve) == (2 if written == len(text) else 1)


def test_lines_with_several_measures_are_judged_together(tmp_path: Path) -> None:
    study = Study(SPACE, objectives=["error", "size"], constraints=["heat <= 5"], method="random", seed=0)
    for level in (0.4, 0.3, 0.2, 0.1):
        trial = study.ask()
        for step in range(1, 11):
            study.report(trial, {"error": level + 1 - step / 10, "size": level, "heat": 1.0}, step)
        study.tell(trial, {"error": level, "size": level, "heat": 1.0})
    trial, output = study.ask(), tmp_path / "out"
    reported = ReportedLines(study, trial, output)
    lines = [
        {"step": 1, "error": 9.0, "size": 9.0},  # lacks a measure, so it is no report
        {"step": 1, "value": 9.0},
        {"step": 2, "error": 9.0, "size": 9.0, "heat": 1.0, "note": "kept out"},
    ]
    output.write_text("".join(json.dumps(line) + "\n" for line in lines[:2]))
    assert not reported.should_stop() and study.trial(trial.number).curve == ()
    output.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert reported.should_stop()
    stored = study.trial(trial.number)
    assert stored.state == "stopped"
    assert stored.curves == {"error": ((2, 9.0),), "size": ((2, 9.0),), "heat": ((2, 1.0),)}


@pytest.mark.slow
def test_a_study_is_run_with_reports(tmp_path: Path) -> None:
    (tmp_path / "space.yaml").write_text("x: {type: float, low: 0, high: 1}\n")
    train = (
        "import sys, time\n"
        "x, waits = float(sys.argv[1]), int(sys.argv[2]) > 4\n"
        "for step in range(1, 11):\n"
        '    print(\'{"step": %d, "value": %r}\' % (step, x + 1 - step / 10))\n'
        "    time.sleep(1.0 if waits and step == 2 else 0)\n"
    )
    (tmp_path / "train.py").write_text(train)
    done = bough(
        "run", "space.yaml", "-n", "10", "-w", "2", "--method", "sobol", "--seed", "1", "--stopping", "asha",
        "--", "python3", "train.py", "{x}", "{trial}", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    study = open_study("space", f"sqlite:///{tmp_path}/bough.db")
    stopped = [trial for trial in study.trials if trial.state == "stopped"]
    assert study.stopping == "asha" and 1 <= len(stopped) <= 5
    assert f"best of 10 trials, {len(stopped)} stopped" in done.stdout
    assert {len(trial.curve) for trial in study.trials if trial.state == "done"} == {10}
    shown = bough("show", "space", "--trial", str(stopped[0].number), cwd=tmp_path).stdout
    assert "stopped" in shown and "curve" in shown and "step 1:" in shown
    assert f"{len(stopped)} stopped" in bough("show", "space", cwd=tmp_path).stdout
