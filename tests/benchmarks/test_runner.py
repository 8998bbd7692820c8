"""The benchmark runner: what a record holds, what a rerun repeats, and what a broken study does to others."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import bough
from benchmarks import run as command
from benchmarks import spec
from benchmarks.pool import Failure, in_processes
from benchmarks.problems.base import Problem
from benchmarks.runner import Record, Task, parse_method, read, run_all, run_task


def half_broken(name: str, seed: int) -> Problem:
    """Raises in the lower half of x, is NaN above 0.9; the search sees x, the test score is 10 x."""

    def function(config: dict) -> float:
        if config["x"] < 0.5:
            raise RuntimeError("too small")
        return math.nan if config["x"] > 0.9 else config["x"]

    space = bough.Space({"x": bough.Float(0, 1)})
    return Problem(
        name, space, function, None, lambda c: "left" if c["x"] < 0.5 else "right", test=lambda c: 10 * c["x"]
    )


def test_failed_trials_are_null_in_the_file_and_ignored_by_the_best():
    record = run_task(Task("half", "random", 0, 40), half_broken)
    configs = [trial.config["x"] for trial in asked("random", half_broken("half", 0), 40)]
    expected = [x if 0.5 <= x <= 0.9 else math.nan for x in configs]
    assert record.values == pytest.approx(expected, nan_ok=True)
    assert 5 < sum(map(math.isnan, record.values)) < 35
    line = json.loads(record.to_json())
    assert [value is None for value in line["values"]] == [math.isnan(value) for value in expected]
    good = [x for x in configs if 0.5 <= x <= 0.9]
    assert record.best(40) == min(good)
    assert record.best_branch(40) == "right"
    assert record.test == pytest.approx(10 * min(good))


def asked(method: str, problem: Problem, trials: int) -> list[bough.Trial]:
    """What a method that learns nothing asks for."""
    study = bough.Study(problem.space, method=method, seed=0)
    return [study.ask() for _ in range(trials)]


def test_a_record_whose_trials_all_failed_has_no_best():
    record = Record("p", "m", 0, 2, [math.nan, math.nan], ["a", "b"], [1.0, 1.0])
    assert record.best(2) == math.inf
    assert record.best_branch(2) is None
    assert list(record.curve()) == [math.inf, math.inf]


def test_a_curve_holds_the_best_and_goes_on_where_a_study_ended_early():
    record = Record("p", "m", 0, 5, [math.nan, 3.0, 4.0, 1.0], list("abcd"), [0.0] * 4)
    assert list(record.curve()) == [math.inf, 3.0, 3.0, 1.0, 1.0]


def test_noisy_problems_are_judged_without_the_noise():
    def noisy(name: str, seed: int) -> Problem:
        space = bough.Space({"x": bough.Float(0, 1)})
        return Problem(name, space, lambda c: c["x"] + 100, None, lambda c: 0, noiseless=lambda c: c["x"])

    record = run_task(Task("noisy", "random", 0, 5), noisy)
    assert record.values == [trial.config["x"] for trial in asked("random", noisy("noisy", 0), 5)]


def test_a_finite_space_may_be_used_up():
    def small(name: str, seed: int) -> Problem:
        space = bough.Space({"k": bough.Int(1, 3)})
        return Problem(name, space, lambda c: float(c["k"]), None, lambda c: 0)

    record = run_task(Task("small", "grid", 0, 10), small)
    assert sorted(record.values) == [1.0, 2.0, 3.0]
    assert record.curve()[-1] == 1.0


def test_a_record_survives_its_file_at_8_digits():
    record = Record("p", "m", 1, 2, [0.123456789012, math.nan], ["0", "1"], [1.26, 2.0], 0.25, 3.14159)
    again = Record.from_json(record.to_json())
    assert again.values[0] == 0.12345679
    assert math.isnan(again.values[1])
    assert again.ask_ms == [1.3, 2.0]
    assert (again.key, again.test, again.seconds) == (record.key, 0.25, 3.1)


def test_a_rerun_does_only_what_is_missing_and_survives_a_torn_line(tmp_path: Path):
    out = tmp_path / "results.jsonl"
    tasks = [Task("small-shifted", "random", seed, 3) for seed in range(3)]
    first = run_all(tasks[:2], out, workers=1)
    before = out.read_text()
    with out.open("a") as file:
        file.write('{"problem":"small-shi')
    both = run_all(tasks, out, workers=1)
    assert out.read_text().startswith(before)
    assert len(read(out)) == 3
    assert [record.key for record in both] == [task.key for task in tasks]
    assert both[0].values == pytest.approx(first[0].values, rel=1e-7)


def test_a_process_that_dies_takes_only_its_own_item_with_it():
    items = ["1 + 1", "__import__('os')._exit(7)", "1 / 0", "2 + 2"]
    found = dict(in_processes(eval, items, workers=1))
    assert (found[items[0]], found[items[3]]) == (2, 4)
    assert found[items[1]] == Failure("its process died with exit code 7")
    assert found[items[2]].reason == "ZeroDivisionError: division by zero"


SPEC = """
title = "Test"
problems = ["small-shifted", "modes"]
methods = ["random", "sobol"]
seeds = 2
trials = 3
full = {seeds = 4}

[[block]]
[[block]]
problems = ["uneven"]
trials = 2
full = {trials = 5}
"""


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    path = tmp_path / "test.toml"
    path.write_text(SPEC)
    return path


def test_a_spec_is_the_product_of_its_lists_with_seeds_outermost(toml: Path):
    found = spec.load(str(toml))
    tasks = found.tasks()
    assert [task.seed for task in tasks] == [0] * 6 + [1] * 6
    assert {(t.problem, t.trials) for t in tasks} == {("small-shifted", 3), ("modes", 3), ("uneven", 2)}
    assert found.out == toml.with_suffix(".jsonl")
    full = spec.load(str(toml), full=True).tasks()
    assert {(t.problem, t.trials) for t in full} == {("small-shifted", 3), ("modes", 3), ("uneven", 5)}
    assert len(full) == 4 * 6


def test_seeds_may_begin_later(toml: Path):
    toml.write_text(SPEC.replace("seeds = 2", "seeds = 2\nfirst_seed = 10", 1))
    assert {task.seed for task in spec.load(str(toml)).tasks()} == {10, 11}


def test_names_may_be_families_and_patterns():
    assert set(spec.expand("branches")) == {"modes", "rotated", "multiply", "nested", "uneven"}
    assert set(spec.expand("small*-shifted")) >= {"small-shifted", "small-shared-shifted"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Test"', "", "give it a title"),
        ("seeds = 2", "seeds = 0", "seeds must be a whole number of at least 1, not 0"),
        ("trials = 3", "trails = 3", "'trails' is unknown"),
        ('"sobol"', '"sobel"', "no method 'sobel'"),
        ('"sobol"', '"tpe(gama=1)"', "method 'tpe(gama=1)'"),
        ('"modes"', '"nodes"', "no problem 'nodes'"),
        ("full = {seeds = 4}", "full = {sedes = 4}", "'sedes' is unknown"),
        ('problems = ["uneven"]', 'problems = "uneven"', "problems must be a list"),
        ("seeds = 2", "seeds == 2", "test.toml:"),
    ],
)
def test_a_wrong_spec_is_one_line_that_says_what_is_wrong(toml: Path, old: str, new: str, message: str):
    assert old in SPEC
    toml.write_text(SPEC.replace(old, new, 1))
    with pytest.raises(spec.SpecError) as caught:
        spec.load(str(toml))
    assert message in str(caught.value)
    assert str(caught.value).startswith("test.toml: ")
    assert "\n" not in str(caught.value)


def test_the_command_reports_a_broken_study_and_finishes_the_others(
    toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    tasks = [
        Task("small-shifted", "random", 0, 2),
        Task("missing", "random", 0, 2),
        Task("modes", "random", 0, 2),
    ]
    monkeypatch.setattr(spec.Spec, "tasks", lambda self: tasks)
    monkeypatch.setattr(command, "available", lambda missing: missing)
    with pytest.raises(SystemExit) as ended:
        command.main([str(toml), "--workers", "1"])
    assert ended.value.code == 1
    assert {record.problem for record in read(toml.with_suffix(".jsonl"))} == {"small-shifted", "modes"}
    said = capsys.readouterr().err
    assert "random on missing, seed 0: ValueError: no problem 'missing'" in said
    assert "1 of 3 studies broke" in said


def test_what_is_absent_is_left_out_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def build(name: str, seed: int) -> Problem:
        if name.startswith("cash-"):
            raise FileNotFoundError(name)
        return half_broken(name, seed)

    monkeypatch.setattr(command.problems, "build", build)
    monkeypatch.setattr(command, "peer_lacks", lambda name: "not installed" if name == "smac" else None)
    tasks = [Task(p, m, 0, 1) for p in ("modes", "cash-car", "cash-pima") for m in ("random", "smac")]
    assert command.available(tasks) == [Task("modes", "random", 0, 1)]
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("left out: cash-car, cash-pima (no data in ")
    assert said[1] == "left out: smac (not installed)"


def test_the_command_forgets_only_the_methods_that_it_is_told_to(toml: Path):
    out = toml.with_suffix(".jsonl")
    records = [Record("p", method, 0, 1, [1.0], ["a"], [0.0]) for method in ("random", "sobol")]
    out.write_text("".join(record.to_json() + "\n" for record in records))
    command.forget(out, {"sobol"})
    assert [record.method for record in read(out)] == ["random"]


def test_method_lists_may_hold_options():
    assert command.split("auto, tpe(a=1, b=2),random") == ["auto", "tpe(a=1, b=2)", "random"]
    assert parse_method("add-tree(kernel='se')") == bough.method("add-tree", kernel="se")


def test_every_spec_of_the_suite_can_be_read():
    names = sorted(path.stem for path in spec.FOLDER.glob("*.toml"))
    for name in names:
        few, all_of_them = spec.load(name).tasks(), spec.load(name, full=True).tasks()
        assert 0 < len(few) <= len(all_of_them)
