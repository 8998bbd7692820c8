"""The averaged criterion: value by Monte Carlo over the mixture, gradient by finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from bough.acquisition.criterion import Expected, Total
from bough.acquisition.functions import LOG_EI, LOG_PI, lcb, log_sum_exp
from bough.acquisition.thompson import thompson

from .fakes import SquaredExponential, flat


@pytest.fixture
def members() -> list[SquaredExponential]:
    rng = np.random.default_rng(1)
    x, y = rng.random((8, 3)), rng.normal(size=8)
    scales, lengths = (1.0, 2.0, 0.5), (0.3, 0.5, 0.9)
    return [SquaredExponential(x, scale * y, length) for scale, length in zip(scales, lengths)]


BEST = [-0.3, -0.5, 0.1]


def test_expected_improvement_is_averaged_and_not_the_moments(members: list[SquaredExponential]) -> None:
    rng = np.random.default_rng(2)
    points = flat(rng.random((4, 3)))
    gains = []
    for posterior, best in zip(members, BEST):
        mean, sd = posterior.predict(points)
        gains.append(np.maximum(best - (mean + sd * rng.normal(size=(400_000, 1))), 0).mean(axis=0))
    expected = np.mean(gains, axis=0)
    value = np.exp(Expected(members, BEST, LOG_EI)(points))
    assert value == pytest.approx(expected, rel=0.02, abs=1e-3)


def test_scores_that_are_no_logarithms_are_averaged_as_they_are(members: list[SquaredExponential]) -> None:
    points = flat(np.random.default_rng(2).random((4, 3)))
    bounds = [2.0 * sd - mean for mean, sd in (member.predict(points) for member in members)]
    assert Expected(members, BEST, lcb(2.0))(points) == pytest.approx(np.mean(bounds, axis=0))


@pytest.mark.parametrize("acquisition", [LOG_EI, LOG_PI, lcb(2.0)])
@pytest.mark.parametrize("count", [1, 3])
def test_gradient_matches_finite_differences(members, acquisition, count) -> None:
    one = Expected(members[:count], BEST[:count], acquisition)
    criterion = Total([one, Expected(members[:1], [0.2], LOG_PI)])
    x = np.random.default_rng(3).random((6, 3))
    value, slope = criterion.with_gradient(flat(x))
    assert value == pytest.approx(criterion(flat(x)), rel=1e-10)
    for column in range(3):
        shift = np.eye(3)[column] * 1e-6
        numeric = (criterion(flat(x + shift)) - criterion(flat(x - shift))) / 2e-6
        assert slope[:, column] == pytest.approx(numeric, rel=1e-5, abs=1e-6)


def test_equal_members_average_to_one(members: list[SquaredExponential]) -> None:
    points = flat(np.random.default_rng(4).random((5, 3)))
    alone = Expected(members[:1], [0.0])(points)
    assert Expected(members[:1] * 2, [0.0, 0.0])(points) == pytest.approx(alone)


def test_incumbent_is_a_prediction_only_under_noise(members: list[SquaredExponential]) -> None:
    rng = np.random.default_rng(5)
    x = np.repeat(np.linspace(0, 1, 5)[:, None], 20, axis=0)
    y = 1.0 + rng.normal(0, 0.5, len(x))  # a constant, seen through noise
    posterior = SquaredExponential(x, y, length=1.0, noise=0.25)
    assert not posterior.has_noise and posterior.incumbent(flat(x), y) == y.min() < 0.2
    noisy = SquaredExponential(x, y, length=1.0, noise=0.25, has_noise=True)
    assert noisy.incumbent(flat(x), y) == pytest.approx(1.0, abs=0.2)


def test_log_sum_exp_neither_overflows_nor_underflows() -> None:
    assert log_sum_exp(np.array([1000.0, 1000.0])) == pytest.approx(1000 + np.log(2))
    assert log_sum_exp(np.array([-1e6, -1e6 - 1.0])) == pytest.approx(-1e6 + np.log1p(np.exp(-1)))


def test_thompson_draws_rows_as_often_as_they_are_the_minimum(members: list[SquaredExponential]) -> None:
    candidates = flat(np.random.default_rng(6).random((5, 3)))
    rows = thompson(members[:2], candidates, 20_000, np.random.default_rng(7))
    mean, covariance = zip(*(member.joint(candidates) for member in members[:2]))
    rng = np.random.default_rng(8)
    wins = np.zeros(5)
    for weight, m, c in zip((0.5, 0.5), mean, covariance):
        draws = m + rng.normal(size=(200_000, 5)) @ np.linalg.cholesky(c + 1e-10 * np.eye(5)).T
        wins += weight * np.bincount(draws.argmin(axis=1), minlength=5) / 200_000
    assert np.bincount(rows, minlength=5) / 20_000 == pytest.approx(wins, abs=0.015)
    again = thompson(members[:2], candidates, 50, np.random.default_rng(9))
    assert (again == thompson(members[:2], candidates, 50, np.random.default_rng(9))).all()
