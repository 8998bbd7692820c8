"""The slice sampler recovers known densities, within Monte Carlo error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bough.gp.slice import slice_sample, slice_side_by_side


def test_moments_of_a_correlated_normal() -> None:
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    mean, precision = np.array([1.0, -2.0]), np.linalg.inv(covariance)
    draws = slice_sample(
        lambda x: -0.5 * float((x - mean) @ precision @ (x - mean)),
        np.zeros(2),
        np.random.default_rng(0),
        samples=4000,
        burn=50,
    )
    # About 4000 / 3 effective draws: an error of sd / 35, taken five times.
    np.testing.assert_allclose(draws.mean(0), [1.0, -2.0], atol=0.2)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.3)


@pytest.mark.parametrize("unit", [10.0, 1.0, 0.05])
def test_a_skewed_density_with_bounded_support(unit: float) -> None:
    """The same density in units in which the interval of width 1 is too narrow, right, and too wide."""
    known = stats.gamma(2.0)
    draws = (
        slice_sample(
            lambda x: math.log(x[0]) - x[0] / unit if x[0] > 0 else -math.inf,
            np.full(1, unit),
            np.random.default_rng(1),
            samples=6000,
        )[::2, 0]
        / unit
    )
    assert draws.min() > 0
    assert draws.mean() == pytest.approx(2.0, abs=0.25)
    assert draws.var() == pytest.approx(2.0, abs=0.6)
    assert np.quantile(draws, 0.9) == pytest.approx(known.ppf(0.9), abs=0.4)


def test_bimodal_density_is_visited_on_both_sides() -> None:
    def log_density(x: np.ndarray) -> float:
        return math.log(math.exp(-2 * (x[0] + 2) ** 2) + math.exp(-2 * (x[0] - 2) ** 2) + 1e-300)

    draws = slice_sample(log_density, np.array([2.0]), np.random.default_rng(2), samples=4000)
    assert 0.35 < np.mean(draws > 0) < 0.65


def test_same_generator_same_chain_and_start_untouched() -> None:
    start = np.zeros(2)
    chains = [
        slice_sample(lambda x: -float(x @ x), start, np.random.default_rng(3), samples=5, burn=2)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*chains)
    assert chains[0].shape == (5, 2) and not start.any()


def test_a_point_mass_ends() -> None:
    """Where nothing but the start has density, the chain stays instead of looping for ever."""
    draws = slice_sample(
        lambda x: 0.0 if x[0] == 1.0 else -np.inf, np.ones(1), np.random.default_rng(4), samples=3
    )
    np.testing.assert_array_equal(draws, np.ones((3, 1)))


def side_by_side(seeds: range, *, samples: int, burn: int = 0) -> np.ndarray:
    """A correlated normal cut off at zero, and one coordinate of Gamma(2), in turn."""
    precision = np.linalg.inv([[1.0, 0.6], [0.6, 2.0]])

    def log_density(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        assert (x[:, 0] >= 0).all() and (x[rows % 2 == 1, 1] == 7.0).all()  # inside the box; not to be moved
        gamma = np.log(np.maximum(x[:, 0], 1e-300)) - x[:, 0]
        return np.where(rows % 2 == 0, -0.5 * np.einsum("ni,ij,nj->n", x, precision, x), gamma)

    turns = np.array(seeds) % 2
    return slice_side_by_side(
        lambda rows, x: log_density(np.array(seeds)[rows], x),
        np.where(turns[:, None] == 0, 0.5, [1.0, 7.0]),
        [np.random.default_rng(seed) for seed in seeds],
        sizes=2 - turns,
        box=(np.tile([0.0, -20.0], (len(seeds), 1)), np.full((len(seeds), 2), 20.0)),
        width=np.full((len(seeds), 2), 6.0),
        samples=samples,
        burn=burn,
    )


def test_chains_side_by_side_follow_their_own_densities() -> None:
    draws = side_by_side(range(8), samples=800, burn=20)
    rng = np.random.default_rng(0)
    reference = rng.multivariate_normal([0, 0], [[1.0, 0.6], [0.6, 2.0]], 200_000)
    reference = reference[reference[:, 0] > 0]
    normal, gamma = draws[0::2].reshape(-1, 2), draws[1::2].reshape(-1, 2)
    np.testing.assert_allclose(normal.mean(axis=0), reference.mean(axis=0), atol=0.12)
    np.testing.assert_allclose(np.cov(normal.T), np.cov(reference.T), atol=0.25)
    for level in (0.1, 0.5, 0.9):
        assert np.mean(gamma[:, 0] < stats.gamma(2.0).ppf(level)) == pytest.approx(level, abs=0.04)
    assert (gamma[:, 1] == 7.0).all()


def test_a_chain_does_not_depend_on_those_beside_it() -> None:
    together = side_by_side(range(5), samples=70, burn=3)
    for seed in range(5):
        alone = side_by_side(range(seed, seed + 1), samples=70, burn=3)
        np.testing.assert_allclose(alone[0], together[seed], rtol=1e-9)


def test_point_masses_side_by_side_end() -> None:
    draws = slice_side_by_side(
        lambda rows, x: np.where(x[:, 0] == 1.0, 0.0, -np.inf),
        np.ones((2, 1)),
        [np.random.default_rng(seed) for seed in range(2)],
        sizes=np.ones(2, dtype=np.intp),
        box=(np.zeros((2, 1)), np.full((2, 1), 3.0)),
        width=np.ones((2, 1)),
        samples=3,
    )
    np.testing.assert_array_equal(draws, np.ones((2, 3, 1)))
