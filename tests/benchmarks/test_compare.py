"""Paired comparisons: wins, losses and their effect size, counted by hand."""

from __future__ import annotations

import math

import pytest

from benchmarks.compare import best_at, compare
from benchmarks.runner import Record


def record(method: str, problem: str, seed: int, values: list[float]) -> Record:
    return Record(problem, method, seed, len(values), values, ["b"] * len(values), [1.0] * len(values))


def test_the_best_value_after_a_share_of_the_budget() -> None:
    study = record("a", "p", 0, [math.nan, 3.0, 2.0, 1.0])
    assert [best_at(study, share) for share in (0.25, 0.5, 1.0)] == [math.inf, 3.0, 1.0]


def test_pairs_are_counted_by_problem_and_seed() -> None:
    records = [
        record("a", "p", 0, [1.0]), record("b", "p", 0, [2.0]),
        record("a", "p", 1, [1.0]), record("b", "p", 1, [1.0]),
        record("a", "q", 0, [5.0]), record("b", "q", 0, [4.0]),
        record("a", "q", 9, [0.0]),
    ]  # fmt: skip
    found = compare(records, "a", "b", 1.0)
    assert found is not None
    assert (found.wins, found.losses) == (1, 1)
    assert found.superiority == pytest.approx((0.75 + 0.0) / 2)
    assert compare(records, "a", "c", 1.0) is None


def test_a_difference_below_the_tolerance_is_a_tie() -> None:
    # the first quarters hold 1, 3, 2, 4: quartiles 1.75 and 3.25, so the spread is 1.5
    one = record("a", "p", 0, [1.0, 3.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.50])
    two = record("b", "p", 0, [2.0, 4.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.51])
    strict, tied, beyond = (compare([one, two], "a", "b", 1.0, share) for share in (0.0, 0.007, 0.006))
    assert strict is not None and (strict.wins, strict.losses) == (1, 0)
    assert tied is not None and (tied.wins, tied.losses) == (0, 0)
    assert beyond is not None and (beyond.wins, beyond.losses) == (1, 0)
