"""Halton sequences: every column is evenly spread, columns do not go in step, and draws continue."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import qmc

from bough.space.halton import CACHED_ROWS, halton


@pytest.mark.parametrize(("column", "base", "count"), [(0, 2, 64), (1, 3, 81), (2, 5, 125), (5, 13, 169)])
def test_each_column_is_evenly_spaced_after_a_power_of_its_base(column: int, base: int, count: int) -> None:
    x = np.sort(halton(count, np.random.default_rng(0).random(6))[:, column])
    gaps = np.diff(np.append(x, x[0] + 1.0))
    assert gaps == pytest.approx(np.full(count, 1.0 / count), abs=1e-12)


@pytest.mark.parametrize("columns", [2, 5, 14])
def test_it_is_spread_more_evenly_than_random_numbers(columns: int) -> None:
    def unevenness(draw: Callable[[np.random.Generator], np.ndarray]) -> float:
        drawn = (draw(np.random.default_rng(seed)) for seed in range(20))
        return float(np.median([qmc.discrepancy(x, method="WD") for x in drawn]))

    random = unevenness(lambda rng: rng.random((64, columns)))
    assert unevenness(lambda rng: halton(64, rng.random(columns))) < 0.8 * random


def test_columns_with_large_bases_do_not_rise_in_step() -> None:
    x = halton(64, np.random.default_rng(1).random(40))
    correlation = np.corrcoef(x, rowvar=False) - np.eye(40)
    assert np.abs(correlation).max() < 0.7


def test_draws_continue_the_sequence_whatever_their_sizes() -> None:
    rotation = np.random.default_rng(3).random(7)
    whole = halton(CACHED_ROWS + 100, rotation)
    ends = np.cumsum([0, 1, 0, 30, CACHED_ROWS - 1, 70])
    parts = [halton(end - first, rotation, first) for first, end in pairwise(ends.tolist())]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-12)
    np.testing.assert_allclose(halton(10, rotation, 50), whole[50:60], atol=1e-12)
    assert whole.min() >= 0.0
    assert whole.max() < 1.0
    assert halton(5, np.empty(0)).shape == (5, 0)


def test_a_proposal_of_auto_loads_no_statistics_library() -> None:
    code = (
        "import sys, bough\n"
        "space = bough.Space({'x': bough.Float(0, 1), 'k': bough.Categorical(['a', 'b'])})\n"
        "study = bough.Study(space, seed=0)\n"
        "study.run(lambda c: c['x'], trials=8, progress=False)\n"
        "assert 'scipy.stats' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
