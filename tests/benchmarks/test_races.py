"""The sorter that ``benchmarks.races`` tunes."""

from __future__ import annotations

import pytest

from benchmarks.races import SPACE, Counter, cost, made_list


def test_every_configuration_sorts_every_kind_of_list() -> None:
    for config in SPACE.sample(24, 0):
        for number in range(6):
            assert cost(config, number) > 0  # AssertionError if the list is not sorted


def test_insertion_counts_inversions() -> None:
    values = made_list(3)
    inversions = sum(a > b for place, b in enumerate(values) for a in values[:place])
    counter = Counter(values)
    counter.insertion(0, len(values))
    assert counter.moved == inversions


def test_a_plain_merge_sort_costs_one() -> None:
    plain = {"sorter": "merge", "cutoff": 1, "skip_sorted": False, "natural_runs": False, "move_cost": 0.5}
    assert cost(plain, 0) == pytest.approx(1.0)
