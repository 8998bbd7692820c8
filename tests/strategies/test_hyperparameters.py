"""The refit schedule is a fixed sequence: monotone, dense at the start, geometric later."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.gp.likelihood import Data
from bough.gp.output_transform import OutputTransform
from bough.gp.posterior import Posterior
from bough.points import FloatArray
from bough.strategies.base import PAPER_LIMIT
from bough.strategies.hyperparameters import LONGEST_CHAIN, Fitter, begin_of_block, earlier, scheduled


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
    while (before := earlier(lengths[-1], 0.05, PAPER_LIMIT)) is not None:
        assert before < lengths[-1]
        assert before == scheduled(before, 0.05)
        lengths.append(before)
    assert sum(length > LONGEST_CHAIN for length in lengths) <= 16
    assert len(lengths) <= 40


def test_most_fits_start_from_a_recent_one() -> None:
    lengths = sorted({scheduled(n, 0.05) for n in range(LONGEST_CHAIN + 1, 10_000)} - {126})
    shares = [(earlier(length, 0.05, 10_000) or 0) / length for length in lengths]
    assert sum(share > 0.9 for share in shares) > 0.7 * len(shares)


def test_beyond_the_limit_eight_lengths_are_a_block() -> None:
    lengths = sorted({scheduled(n, 0.05) for n in range(400, 10_000)})[1:]
    assert lengths[0] > 400
    assert {earlier(length, 0.05, 400) for length in lengths} == {None}
    begins = [begin_of_block(length, 0.05, 400) for length in lengths]
    assert begins == [lengths[row - row % 8] for row in range(len(lengths))]
    assert begin_of_block(lengths[9] + 1, 0.05, 400) == lengths[8]


@dataclass(frozen=True)
class Recorder:
    """A surrogate whose hyperparameters are the number of the fit."""

    starts: list[float | None] = field(default_factory=list)

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        self.starts.append(None if start is None else float(start[0]))
        return np.array([float(len(self.starts))])

    def posterior(self, theta: FloatArray, data: Data) -> Sequence[Posterior]:
        raise AssertionError("nothing is conditioned")


def test_the_first_fit_of_a_block_starts_from_a_rough_one_and_the_others_from_it() -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    trials = history(space, [({"x": i / 400}, float(i % 7)) for i in range(400)])
    lengths = sorted({scheduled(n, 0.05) for n in range(200, 400)} - {scheduled(200, 0.05)})[:5]
    surrogate = Recorder()
    fitter = Fitter(surrogate, OutputTransform.fit, 0.05, 200, {})
    fitted = [float(fitter.fit(trials, length).theta[0]) for length in lengths]
    assert fitted == [3.0, 4.0, 5.0, 6.0, 7.0]  # after two rough ones
    assert surrogate.starts == [None, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]
