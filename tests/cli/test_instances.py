"""``bough run --instances``: a program raced over instances, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bough.cli.instances import read_instances
from bough.cli.placeholders import check_command
from bough.cli.run import run
from bough.errors import BoughError
from bough.space import Float, Space
from bough.study import open_study

from .programs import script

SPACE = Space({"x": Float(0, 1)})
PROGRAM = f"""#!{sys.executable} -IS
import sys
if sys.argv[2] == "broken":
    sys.exit("no such data")
print('{{"step": 1, "value": 7}}')
print(float(sys.argv[1]) + 10 * float(sys.argv[2]))
"""


@pytest.fixture
def solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The end of a command that runs the program, in a folder with a space."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.yaml").write_text("x: {type: float, low: 0, high: 1}\n")
    return "--", script(tmp_path, "solve", PROGRAM), "{x}", "{instance}"


def bough_run(trials: int, *arguments: str) -> None:
    options = ["space.yaml", "--method", "sobol", "--seed", "1", "-q", "-n", str(trials)]
    run.main([*options, *arguments], standalone_mode=False)


def test_a_program_is_raced_and_goes_on(tmp_path: Path, solver: tuple[str, ...]) -> None:
    (tmp_path / "files.txt").write_text("\n".join(map(str, range(7))) + "\n\n")
    bough_run(3, "--instances", "files.txt", *solver)
    trials = open_study("space", f"sqlite:///{tmp_path}/bough.db").trials
    assert len(trials[0].curve) == 7 and trials[0].notes["instances"] == 7
    assert trials[0].value == pytest.approx(trials[0].config["x"] + 30)
    dropped = [trial for trial in trials if trial.state == "stopped"]
    assert dropped and all(len(trial.curve) == 3 for trial in dropped)  # x alone decides
    with pytest.raises(BoughError, match="races over 7 instances, and they changed"):
        bough_run(4, "--instances", "1,2", *solver)
    with pytest.raises(BoughError, match="the space has no parameter 'instance'; --instances FILE gives"):
        bough_run(4, *solver)
    with pytest.raises(BoughError, match="races over 7 instances: give them again"):
        bough_run(4, *solver[:-1])


def test_a_dropped_trial_runs_on_no_further_instance(tmp_path: Path, solver: tuple[str, ...]) -> None:
    count = tmp_path / "count"
    counting = script(tmp_path, "counting", f'#!/bin/sh\necho >> {count}\nexec {solver[1]} "$@"\n')
    bough_run(3, "--instances", ",".join(map(str, range(9))), "--", counting, "{x}", "{instance}")
    trials = open_study("space", f"sqlite:///{tmp_path}/bough.db").trials
    assert "stopped" in [trial.state for trial in trials]
    assert len(count.read_text()) == sum(len(trial.curve) for trial in trials)


def test_a_dry_run_shows_instances(solver: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    bough_run(1, "--dry-run", "--instances", "1,2", *solver)
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["1", "2", "1"]


def test_a_failing_instance_is_named(tmp_path: Path, solver: tuple[str, ...]) -> None:
    bough_run(1, "--instances", "1,broken", *solver)
    (trial,) = open_study("space", f"sqlite:///{tmp_path}/bough.db").trials
    assert str(trial.error).startswith("on instance broken: ") and "no such data" in str(trial.error)


def test_lists_and_files_of_instances(tmp_path: Path) -> None:
    (tmp_path / "two").write_text("a b \n\nc\n")
    assert read_instances(str(tmp_path / "two")) == ["a b", "c"]
    assert read_instances("a, b,c") == ["a", "b", "c"]
    with pytest.raises(BoughError, match=r"'files.tx' is neither a file nor a list such as a,b,c"):
        read_instances("files.tx")


def test_the_placeholder_of_an_instance() -> None:
    assert len(check_command(["echo", "{x}", "{instance}"], SPACE, instances=True)) == 3
    with pytest.raises(BoughError, match=r"--instances needs \{instance\} in the command"):
        check_command(["echo", "{x}"], SPACE, instances=True)
    with pytest.raises(BoughError, match="the space has a parameter 'instance': rename it"):
        check_command(["echo", "{instance}"], Space({"instance": Float(0, 1)}), instances=True)
