"""`bough run`, `best`, `show`, `export` and `report` on studies with several objectives and constraints."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.cli.programs import script, write_space

from bough.cli.main import main
from bough.space import Float, Int, Space
from bough.study import Study, open_study

PROGRAM = """#!/bin/sh
echo training
echo "{\\"error\\": $1, \\"speed\\": $1, \\"memory\\": $1, \\"epochs\\": 3, \\"host\\": \\"a\\"}"
"""
GOALS = ("--objective", "error:minimize", "--objective", "speed:maximize", "--constraint", "memory <= 0.7")


class Terminal:
    """Calls bough in a folder, without the seconds that a new process takes."""

    def __init__(self, printed: pytest.CaptureFixture[str]) -> None:
        self._printed = printed

    def bough(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, output and errors."""
        self._printed.readouterr()
        code = main(arguments)
        return code, *self._printed.readouterr()

    def run(self, name: str, *options: str, program: str = "./program.sh") -> tuple[int, str, str]:
        call = ("run", "space.yaml", "-n", "8", "--method", "random", "--seed", "1", "--name", name, "-q")
        return self.bough(*call, *options, "--", program, "{x}")

    def out(self, *arguments: str) -> str:
        return self.bough(*arguments)[1]


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    write_space(tmp_path)
    script(tmp_path, "program.sh", PROGRAM)
    monkeypatch.chdir(tmp_path)
    return Terminal(capsys)


def test_the_reason_why_no_trial_has_a_value(terminal: Terminal, tmp_path: Path) -> None:
    script(tmp_path, "broken.sh", "#!/bin/sh\necho no disk >&2; exit 3")
    terminal.run("broken", *GOALS, program="./broken.sh")
    code, _, err = terminal.bough("best", "broken")
    assert code == 2
    assert "has no trial with a value in its space yet: the last one failed, " in err and "no disk" in err


def test_a_program_prints_an_object_and_the_front_is_shown(terminal: Terminal) -> None:
    code, out, _ = terminal.run("several", *GOALS, "--reference", "error=2")
    assert code == 0
    study = open_study("several", "sqlite:///bough.db")
    assert study.goals.describe() == ("minimize error, maximize speed with memory <= 0.7 from error = 2")
    assert out.startswith(f"8 trials; front: {len(study.front)} of 8 trials\n")
    assert "hypervolume" in out
    first = study.trials[0]
    assert first.measures["epochs"] == 3 and first.notes["host"] == "a"
    assert first.feasible == (first.config["x"] <= 0.7)

    assert terminal.out("best", "several").startswith(f"front: {len(study.front)} of 8 trials")
    best = json.loads(terminal.out("best", "several", "--json"))
    assert [each["number"] for each in best["front"]] == [trial.number for trial in study.front]
    shown = terminal.out("show", "several")
    assert "minimize error, maximize speed with memory <= 0.7" in shown and "front: " in shown
    worst = max(study.trials, key=lambda trial: trial.measures["memory"])
    assert "violates memory <= 0.7" in terminal.out("show", "several", "--trial", str(worst.number))
    rows = list(csv.DictReader(terminal.out("export", "several").splitlines()))
    assert [row["feasible"] for row in rows] == [str(trial.feasible) for trial in study.trials]
    assert float(rows[0]["speed"]) == first.measures["speed"]
    assert terminal.bough("report", "several", "-o", "r.html")[0] == 0
    assert '"front"' in Path("r.html").read_text()
    assert terminal.bough("report", "several", "-o", "r.html", "--measure", "epochs")[0] == 0
    assert '<select id="measure"><option>epochs</option><option>error</option>' in Path("r.html").read_text()


def test_one_objective_under_constraints(terminal: Terminal) -> None:
    code, out, _ = terminal.run("one", "--objective", "error", "--constraint", "memory >= 0.3", "--json")
    found = json.loads(out)
    assert code == 0 and found["measures"]["memory"] >= 0.3
    shown = terminal.out("show", "one")
    assert ["trial", "error", "memory", "feasible", "config"] in [line.split() for line in shown.splitlines()]
    assert json.loads(terminal.out("best", "one", "--json"))["number"] == found["number"]


def test_constraints_that_nothing_meets(terminal: Terminal) -> None:
    code, _, err = terminal.run("none", "--objective", "error", "--constraint", "memory <= -1")
    assert code == 1 and "no trial that meets its constraints yet; trial" in err
    assert "memory is" in terminal.out("show", "none")
    assert "is closest" in terminal.bough("best", "none")[2]


def test_the_same_command_continues_and_other_goals_are_refused(terminal: Terminal) -> None:
    assert terminal.run("again", *GOALS)[0] == 0
    assert "has 8 trials already" in terminal.run("again", *GOALS)[2]
    code, _, err = terminal.run("again", "--objective", "error")
    assert code != 0 and "its goal is to minimize error, maximize speed with memory <= 0.7" in err


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
        (("--reference", "error"), "the reference 'error' cannot be read: write NAME=NUMBER"),
        (("--objective", "a", "--reference", "b=1"), "reference names 'b', which is not an objective"),
    ],
)
def test_wrong_goals_are_one_clear_line(terminal: Terminal, options: tuple[str, ...], message: str) -> None:
    code, _, err = terminal.run("wrong", *options)
    assert code != 0 and message in err
    assert not Path("bough.db").exists()


def test_what_a_program_lacks_is_named(terminal: Terminal) -> None:
    script(Path(), "number.sh", "#!/bin/sh\necho 0.5\n")
    script(Path(), "lacks.sh", "#!/bin/sh\necho '{\"error\": 1}'\n")
    err = terminal.run("number", *GOALS, program="./number.sh")[2]
    assert 'ends with a number, 0.5: print a JSON object with "error", "speed", "memory"' in err
    err = terminal.run("lacks", *GOALS, program="./lacks.sh")[2]
    assert 'the JSON object on standard output has no "speed", "memory"' in err


def test_the_demo_of_two_objectives(terminal: Terminal) -> None:
    pytest.importorskip("sklearn")
    call = ("demo", "--objectives", "-n", "6", "--method", "random", "--progress", "none")
    code, out, _ = terminal.bough(*call)
    assert code == 0 and "The front" in out
    study = open_study("demo-objectives", "sqlite:///bough-demo/demo.db")
    assert study.goals.names == ("error", "log10_kilobytes")
    assert all(trial.measures["kilobytes"] > 0 for trial in study.trials)
    assert 'id="front"' in Path("bough-demo/objectives.html").read_text()


def test_an_empty_front_says_why(terminal: Terminal) -> None:
    space = Space({"x": Float(0, 1), "epochs": Int(1, 9, fidelity=True)})
    goals = {"objectives": ["error", "size"], "constraints": ["memory <= 1"]}
    study = Study(space, name="s", storage="sqlite:///bough.db", method="random", **goals)
    assert "no trial with a value" in terminal.bough("best", "s")[2]
    study.add({"x": 0.5, "epochs": 1}, {"error": 1, "size": 1, "memory": 0})
    assert "no result at epochs=9 yet" in terminal.bough("best", "s")[2]
    study.add({"x": 0.5, "epochs": 9}, {"error": 1, "size": 1, "memory": 2})
    code, _, why = terminal.bough("best", "s")
    assert code == 2 and "trial 1 is closest: memory is 2, not <= 1" in why
    assert "1 done, 1 at a lower fidelity\n" in terminal.out("show", "s")
    study.change(Space({"x": Float(0.6, 1), "epochs": Int(1, 9, fidelity=True)}))
    assert "no trial with a value" in terminal.bough("best", "s")[2]
