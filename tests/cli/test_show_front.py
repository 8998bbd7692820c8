"""`bough show` and `bough best` on studies with several objectives."""

from __future__ import annotations

from pathlib import Path

from tests.cli.programs import bough_here

from bough.space import Choice, Float, Space
from bough.study import Study

SPACE = Space({"x": Float(0, 1)})
BRANCHES = Space({"model": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}})})


def test_show_has_a_column_of_best_values_for_each_objective(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    goals = {"error": "minimize", "accuracy of tests": "maximize"}
    study = Study(BRANCHES, name="s", storage=url, method="random", objectives=goals)
    study.add({"model": "a", "x": 0.5}, {"error": 0.25, "accuracy of tests": 0.5})
    study.add({"model": "b", "y": 0.5}, {"error": 0.75, "accuracy of tests": 0.875})
    shown = bough_here("show", "s", "--storage", url, cwd=tmp_path).stdout.splitlines()
    start = next(row for row, line in enumerate(shown) if "trials" in line and "failed" in line)
    assert shown[start].endswith("best error    best accuracy of tests")
    assert [line.split()[-4:] for line in shown[start + 1 : start + 5]] == [
        ["0.25", "*", "0.875", "*"],
        ["model"],
        ["1", "0.25", "*", "0.5"],
        ["1", "0.75", "0.875", "*"],
    ]


def test_show_and_best_print_the_front(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    study = Study(SPACE, name="s", storage=url, method="random", objectives=["error", "time"])
    for x in (0.25, 0.5, 0.75):
        study.add({"x": x}, {"error": x, "time": 1 - x})
    study.add({"x": 1.0}, {"error": 2.0, "time": 2.0})
    shown = bough_here("show", "s", "--storage", url, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "minimize error, minimize time" in shown.stdout
    assert "front: 3 of 4 trials" in shown.stdout
    assert [line.split()[:3] for line in shown.stdout.splitlines() if "x=" in line] == [
        ["0", "0.25", "0.75"],
        ["1", "0.5", "0.5"],
        ["2", "0.75", "0.25"],
    ]
    best = bough_here("best", "s", "--storage", url, cwd=tmp_path)
    assert best.returncode == 0 and "front: 3 of 4 trials" in best.stdout
