"""Feature maps: what they compute, their gradients, and the kernels they approximate."""

from __future__ import annotations

import numpy as np
import pytest

from bough.gp.kernels import FeatureMap, Matern52
from bough.gp.params import JointPrior
from bough.papers.jenatton2017.features import (
    Activity,
    Dot,
    Fourier,
    Linear,
    OneHot,
    Stack,
    Weighted,
    WhereActive,
)
from bough.points import Points


def random_points(rng: np.random.Generator, n: int) -> Points:
    """Columns 0 and 1 in group 0; 2 (real) and 3 (nominal, 4 options) in group 1, often inactive."""
    on = np.column_stack([np.ones(n, dtype=bool), rng.random(n) < 0.5])
    x = rng.random((n, 4))
    x[:, 3] = (np.floor(4 * x[:, 3]) + 0.5) / 4
    return Points(np.where(on[:, [0, 0, 1, 1]], x, np.nan), on)


MAPS: dict[str, FeatureMap] = {
    "activity": Activity((0, 1)),
    "linear": Linear((0, 1)),
    "fourier": Fourier((0, 1), 5),
    "gated": WhereActive(1, Linear((2,))),
    "one-hot": WhereActive(1, OneHot(3, 4, (0, 1, 3))),
    "all": Weighted(Stack((Activity((1,)), WhereActive(1, Fourier((2,), 3)), Weighted(Linear((1, 0)))))),
    "none": Stack(()),
}


@pytest.mark.parametrize("name", MAPS)
def test_pullbacks_by_finite_differences(name: str) -> None:
    features, rng = MAPS[name], np.random.default_rng(0)
    points = random_points(rng, 7)
    theta = JointPrior(features.params).draw(rng)
    value, pull = features(theta, points)
    assert value.shape == (7, features.size) and np.isfinite(value).all()
    w, h = rng.normal(size=value.shape), 1e-6
    for i, step in enumerate(h * np.eye(len(theta))):
        slope = np.sum(w * (features(theta + step, points)[0] - features(theta - step, points)[0])) / (2 * h)
        np.testing.assert_allclose(pull.theta(w)[i], slope, rtol=1e-6, atol=1e-8)
    gradient = pull.x(w)
    assert gradient.shape == points.x.shape
    for column in range(3):  # the nominal one has none
        step = h * (np.arange(4) == column)
        up, down = Points(points.x + step, points.on), Points(points.x - step, points.on)
        slope = np.sum(w * (features(theta, up)[0] - features(theta, down)[0]), axis=1) / (2 * h)
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-6, atol=1e-8)
    assert (gradient[:, 3] == 0).all()


def test_fourier_features_approximate_their_kernel() -> None:
    rng = np.random.default_rng(0)
    points = Points(rng.random((15, 2)), np.ones((15, 1), dtype=bool))
    theta = np.log([0.4, 0.7])
    exact, _ = Matern52((0, 1))(theta, points, points)
    k, _ = Dot(Fourier((0, 1), 20_000))(theta, points, points)
    # A mean of 20,000 cosines: deviation at most 1/√20,000 = 0.007 per entry.
    np.testing.assert_allclose(k, exact, atol=0.035)
    np.testing.assert_allclose(np.diag(k), 1.0, atol=1e-12)


def test_the_linear_kernel_is_the_covariance_of_a_linear_model() -> None:
    rng = np.random.default_rng(0)
    points = Points(rng.random((4, 2)), np.ones((4, 1), dtype=bool))
    kernel = Dot(Stack((Weighted(Activity((0,))), Weighted(Linear((0, 1))))))
    theta = np.log([0.5, 2.0])
    weights = rng.normal(size=(200_000, 3)) * np.sqrt([0.5, 2.0, 2.0])
    draws = weights @ np.column_stack([np.ones(4), 2 * points.x - 1]).T
    np.testing.assert_allclose(kernel(theta, points, points)[0], np.cov(draws.T), atol=0.05)
