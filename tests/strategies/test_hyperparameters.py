"""The refit schedule is a fixed sequence: monotone, dense at the start, geometric later."""

from __future__ import annotations

import itertools

import pytest

from bough.strategies.base import PAPER_WORKING_SET_SIZE
from bough.strategies.hyperparameters import LONGEST_CHAIN, scheduled, start_of


@pytest.mark.parametrize("growth", [0.0, 0.05, 0.5])
def test_schedule_is_one_sequence(growth: float) -> None:
    lengths = [scheduled(n, growth) for n in range(1, 400)]
    assert all(length <= n for n, length in enumerate(lengths, 1))
    assert lengths == sorted(lengths)
    steps = sorted(set(lengths))
    for before, after in itertools.pairwise(steps):
        assert after == before + 1 or after <= before * (1 + growth) + 1


def test_no_growth_means_every_trial_and_the_start_is_dense() -> None:
    assert [scheduled(n, 0.0) for n in range(1, 50)] == list(range(1, 50))
    assert [scheduled(n, 0.05) for n in range(1, 20)] == list(range(1, 20))
    assert len({scheduled(n, 0.05) for n in range(100, 200)}) < 20


@pytest.mark.parametrize("n", [129, 300, 500, 1_000, 2_000])
def test_a_reopened_study_reaches_the_beginning_in_few_fits(n: int) -> None:
    lengths = [scheduled(n, 0.05)]
    while (start := start_of(lengths[-1], 0.05, PAPER_WORKING_SET_SIZE)) is not None:
        before, rough = start
        assert before < lengths[-1] and not rough
        assert before == scheduled(before, 0.05)
        lengths.append(before)
    assert sum(length > LONGEST_CHAIN for length in lengths) <= 16
    assert len(lengths) <= 40


def test_most_fits_start_from_a_recent_one() -> None:
    lengths = sorted({scheduled(n, 0.05) for n in range(LONGEST_CHAIN + 1, 10_000)} - {126})
    shares = [(start_of(length, 0.05, 10_000) or (0,))[0] / length for length in lengths]
    assert sum(share > 0.9 for share in shares) > 0.7 * len(shares)


def test_beyond_the_limit_eight_lengths_share_a_rough_start() -> None:
    lengths = sorted({scheduled(n, 0.05) for n in range(400, 10_000)})[1:]
    assert lengths[0] > 400
    begins = [start_of(length, 0.05, 400) for length in lengths]
    assert begins == [(lengths[row - row % 8], True) for row in range(len(lengths))]
    assert start_of(lengths[9] + 1, 0.05, 400) == (lengths[8], True)
