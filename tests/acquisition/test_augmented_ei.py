"""Augmented expected improvement: by hand under noise, exactly expected improvement without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

from bough.acquisition.criterion import Expected, log_augmented_ei

from .fakes import SquaredExponential, flat


@dataclass(frozen=True)
class Noisy(SquaredExponential):
    observation_noise: float = 0.0


def member(length: float, observation_noise: float) -> Noisy:
    rng = np.random.default_rng(1)
    return Noisy(rng.random((8, 2)), rng.normal(size=8), length, observation_noise=observation_noise)


POINTS = flat(np.random.default_rng(2).random((5, 2)))


def test_it_is_the_improvement_times_the_share_that_shows_through_the_noise() -> None:
    members, best = [member(0.3, 0.2), member(0.6, 0.5)], [-0.4, 0.1]
    gains = []
    for posterior, incumbent in zip(members, best):
        mean, sd = posterior.predict(POINTS)
        z = (incumbent - mean) / sd
        improvement = (incumbent - mean) * norm.cdf(z) + sd * norm.pdf(z)
        sigma = posterior.observation_noise
        gains.append(improvement * (1 - sigma / np.sqrt(sd**2 + sigma**2)))
    found = np.exp(log_augmented_ei(members, best, POINTS))
    assert found == pytest.approx(np.mean(gains, axis=0), rel=1e-6)


def test_without_noise_it_is_expected_improvement_to_the_last_digit() -> None:
    members, best = [member(0.3, 0.0), member(0.6, 0.0)], [-0.4, 0.1]
    np.testing.assert_array_equal(log_augmented_ei(members, best, POINTS), Expected(members, best)(POINTS))


def test_it_is_finite_where_hardly_anything_is_left_to_learn() -> None:
    posterior = member(0.3, 1e8)
    found = log_augmented_ei([posterior], [0.0], flat(posterior.x))
    assert np.all(np.isfinite(found)) and np.all(found < -30)
