"""The benchmark of changed spaces: what it takes out, and that it goes on where it was interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.change import compare, report, without_option, without_parameter
from benchmarks.kept_rows import KeptRows
from benchmarks.problems import build


def test_an_option_is_taken_out() -> None:
    problem = build("clash", 1)
    best, other = (without_option(problem, best=each, seed=1) for each in (True, False))
    whole = set(problem.space.to_dict()["optimiser"]["options"])
    left = [set(space.to_dict()["optimiser"]["options"]) for space in (best, other)]
    assert [len(whole - each) for each in left] == [1, 1]
    assert left[0] != left[1]


def test_a_parameter_is_taken_out_and_its_configs_become_whole() -> None:
    for seed in range(4):
        problem = build("multiply", seed)
        smaller, whole, backfill = without_parameter(problem, seed)
        assert len(smaller) == len(problem.space) - 1
        assert next(iter(backfill)) in {parameter.path for parameter in problem.space.parameters}
        for config in smaller.sample(20, 0):
            problem.space.validate(whole(config))


def test_what_was_computed_is_not_computed_again(tmp_path: Path) -> None:
    rows = KeptRows(tmp_path / "rows.jsonl")
    assert rows.once("a", lambda: [1.0, 2.0]) == [1.0, 2.0]
    again = KeptRows(tmp_path / "rows.jsonl")
    assert again.once("a", lambda: [3.0]) == [1.0, 2.0]
    assert "b" not in again


def test_the_studies_are_compared_after_the_same_number_of_further_trials() -> None:
    found = compare("clash", "branch", seed=1, before=6, after=3)
    for arm in ("going on", "whole", "starting over"):
        assert len(found[arm]) == 3
        assert found[arm] == sorted(found[arm], reverse=True), "the best so far"
    assert found["spread"] > 0


def test_differences_that_do_not_matter_are_ties(capsys: pytest.CaptureFixture[str]) -> None:
    on, over = np.array([0.1, 0.3, 0.5]), np.array([0.2, 0.299, 0.4])
    report("strictly", on, over, np.zeros(3))
    report("by more than a little", on, over, np.full(3, 0.01))
    assert capsys.readouterr().out.splitlines() == [
        "strictly: better 1, worse 2 of 3 runs than starting over",
        "by more than a little: better 1, worse 1 of 3 runs than starting over",
    ]
