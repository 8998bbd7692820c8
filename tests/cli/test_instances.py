"""``bough run --instances``: a program raced over instances, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.cli.instances import read_instances
from bough.cli.placeholders import check_command
from bough.errors import BoughError
from bough.space import Float, Space
from bough.study import open_study

from .programs import bough, script

SPACE = Space({"x": Float(0, 1)})
PROGRAM = """#!/usr/bin/env python3
import sys
if sys.argv[2] == "broken":
    sys.exit("no such data")
print('{"step": 1, "value": 7}')
print(float(sys.argv[1]) + 10 * float(sys.argv[2]))
"""


def test_a_program_is_raced_and_goes_on(tmp_path: Path) -> None:
    program = script(tmp_path, "solve", PROGRAM)
    (tmp_path / "space.yaml").write_text("x: {type: float, low: 0, high: 1}\n")
    (tmp_path / "files.txt").write_text("\n".join(map(str, range(7))) + "\n\n")
    common = ("run", "space.yaml", "--method", "sobol", "--seed", "1", "-q", "-n")
    command = ("--", program, "{x}", "{instance}")
    done = bough(*common, "4", "--instances", "files.txt", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    trials = open_study("space", f"sqlite:///{tmp_path}/bough.db").trials
    assert len(trials[0].curve) == 7 and trials[0].notes["instances"] == 7
    assert trials[0].value == pytest.approx(trials[0].config["x"] + 30)
    dropped = [trial for trial in trials if trial.state == "stopped"]
    assert dropped and all(len(trial.curve) == 3 for trial in dropped)  # x alone decides
    for options, message in (
        (("--instances", "1,2"), "races over 7 instances, and they changed"),
        ((), "the command has {instance}, but the space has no parameter"),
    ):
        refused = bough(*common, "5", *options, *command, cwd=tmp_path)
        assert refused.returncode == 2 and message in refused.stderr
    refused = bough(*common, "5", "--", program, "{x}", "1", cwd=tmp_path)
    assert refused.returncode == 2 and "races over 7 instances: give them again" in refused.stderr
    shown = bough(*common, "5", "--dry-run", "--instances", "1,2", *command, cwd=tmp_path)
    assert [line.split()[-1] for line in shown.stdout.splitlines()] == ["1", "2", "1"]


def test_a_failing_instance_is_named(tmp_path: Path) -> None:
    program = script(tmp_path, "solve", PROGRAM)
    (tmp_path / "space.yaml").write_text("x: {type: float, low: 0, high: 1}\n")
    bough(
        "run", "space.yaml", "-n", "1", "-q", "--instances", "1,broken", "--", program, "{x}", "{instance}",
        cwd=tmp_path,
    )  # fmt: skip
    (trial,) = open_study("space", f"sqlite:///{tmp_path}/bough.db").trials
    assert str(trial.error).startswith("on instance broken: ") and "no such data" in str(trial.error)


def test_lists_and_files_of_instances(tmp_path: Path) -> None:
    (tmp_path / "two").write_text("a b \n\nc\n")
    assert read_instances(str(tmp_path / "two")) == ["a b", "c"]
    assert read_instances("a, b,c") == ["a", "b", "c"]
    with pytest.raises(BoughError, match=r"'files.tx' is no file, and no list such as a,b,c"):
        read_instances("files.tx")


def test_the_placeholder_of_an_instance() -> None:
    assert len(check_command(["echo", "{x}", "{instance}"], SPACE, instances=True)) == 3
    with pytest.raises(BoughError, match=r"--instances needs \{instance\} in the command"):
        check_command(["echo", "{x}"], SPACE, instances=True)
    with pytest.raises(BoughError, match="the space has a parameter 'instance': rename it"):
        check_command(["echo", "{instance}"], Space({"instance": Float(0, 1)}), instances=True)
