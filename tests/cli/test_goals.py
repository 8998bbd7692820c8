"""`bough run`, `best`, `show`, `export` and `report` on studies with several objectives and constraints."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.cli.programs import bough, script, write_space

from bough.study import open_study

PROGRAM = """#!/usr/bin/env python3
import json, sys
x = json.load(open(sys.argv[1]))["x"]
print("training")
print(json.dumps({"error": x, "speed": 2 * x, "memory": 1000 * x, "epochs": 3, "host": "a"}))
"""
GOALS = ("--objective", "error:minimize", "--objective", "speed:maximize", "--constraint", "memory <= 700")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("goals")
    write_space(made)
    script(made, "program.py", PROGRAM)
    return made


def run(folder: Path, name: str, *options: str, program: str = "./program.py") -> tuple[int, str, str]:
    done = bough(
        "run", "space.yaml", "-n", "8", "--method", "random", "--seed", "1", "--name", name, "-q", *options,
        "--", program, "{config}", cwd=folder,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_a_program_prints_an_object_and_the_front_is_shown(folder: Path) -> None:
    code, out, _ = run(folder, "several", *GOALS, "--reference", "error=2")
    assert code == 0
    study = open_study("several", f"sqlite:///{folder}/bough.db")
    assert study.goals.describe() == ("minimize error, maximize speed with memory <= 700 from error = 2")
    assert out.startswith(f"8 trials; front: {len(study.front)} of 8 trials\n")
    assert "hypervolume" in out
    first = study.trials[0]
    assert first.measures["epochs"] == 3 and first.notes["host"] == "a"
    assert first.feasible == (first.config["x"] <= 0.7)

    assert bough("best", "several", cwd=folder).stdout.startswith(f"front: {len(study.front)} of 8 trials")
    best = json.loads(bough("best", "several", "--json", cwd=folder).stdout)
    assert [each["number"] for each in best["front"]] == [trial.number for trial in study.front]
    shown = bough("show", "several", cwd=folder).stdout
    assert "minimize error, maximize speed with memory <= 700" in shown and "front: " in shown
    worst = max(study.trials, key=lambda trial: trial.measures["memory"])
    assert (
        "violates memory <= 700" in bough("show", "several", "--trial", str(worst.number), cwd=folder).stdout
    )
    rows = list(csv.DictReader(bough("export", "several", cwd=folder).stdout.splitlines()))
    assert [row["feasible"] for row in rows] == [str(trial.feasible) for trial in study.trials]
    assert float(rows[0]["speed"]) == first.measures["speed"]
    assert bough("report", "several", "-o", "r.html", cwd=folder).returncode == 0
    assert '"front"' in (folder / "r.html").read_text()


def test_one_objective_under_constraints(folder: Path) -> None:
    code, out, _ = run(folder, "one", "--objective", "error", "--constraint", "memory >= 300", "--json")
    found = json.loads(out)
    assert code == 0 and found["measures"]["memory"] >= 300
    shown = bough("show", "one", cwd=folder).stdout
    assert "trial     error  memory  feasible  config" in " ".join(shown.split("\n")) or "feasible" in shown
    assert json.loads(bough("best", "one", "--json", cwd=folder).stdout)["number"] == found["number"]


def test_constraints_that_nothing_meets(folder: Path) -> None:
    code, _, err = run(folder, "none", "--objective", "error", "--constraint", "memory <= -1")
    assert code == 1 and "no trial that meets its constraints yet; trial" in err
    assert "memory is" in bough("show", "none", cwd=folder).stdout
    assert "is closest" in bough("best", "none", cwd=folder).stderr


def test_the_same_command_continues_and_other_goals_are_refused(folder: Path) -> None:
    assert run(folder, "again", *GOALS)[0] == 0
    assert "has 8 trials already" in run(folder, "again", *GOALS)[2]
    code, _, err = run(folder, "again", "--objective", "error")
    assert code != 0 and "its goal is to minimize error, maximize speed with memory <= 700" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--objective", "error:down"),
            "the direction of 'error' must be 'minimize' or 'maximize', not 'down'",
        ),
        (("--objective", "a", "--objective", "a"), "--objective names 'a' twice"),
        (("--objective", "a", "--maximize"), "write --objective NAME:maximize"),
        (("--constraint", "memory"), "the constraint 'memory' cannot be read"),
        (("--constraint", "m <= 1", "--constraint", "m >= 2"), "contradict each other"),
        (("--reference", "error"), "--reference 'error' cannot be read: write NAME=NUMBER"),
        (("--objective", "a", "--reference", "b=1"), "reference names 'b', which is no objective"),
    ],
)
def test_wrong_goals_are_one_clear_line(folder: Path, options: tuple[str, ...], message: str) -> None:
    code, _, err = run(folder, "wrong", *options)
    assert code != 0 and message in err
    assert "there is no study 'wrong'" in bough("show", "wrong", cwd=folder).stderr


def test_what_a_program_lacks_is_named(folder: Path) -> None:
    script(folder, "number.sh", "#!/bin/sh\necho 0.5\n")
    script(folder, "lacks.sh", "#!/bin/sh\necho '{\"error\": 1}'\n")
    err = run(folder, "number", *GOALS, program="./number.sh")[2]
    assert 'ends with a number, 0.5: print a JSON object with "error", "speed", "memory"' in err
    err = run(folder, "lacks", *GOALS, program="./lacks.sh")[2]
    assert 'the JSON object on standard output has no "speed", "memory"' in err
