"""Points around the mode of the hyperparameters: their precision, moments and bounds."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.gp.cubature import kernel_precision, points_around
from bough.gp.fit import fit_map
from bough.gp.likelihood import Data, GPModel, log_density
from bough.points import FloatArray
from bough.space.sampling import sample_points
from bough.surrogates.nested import nested

SPACE = bough.Space(
    {
        "kind": bough.Choice({"a": {"x": bough.Float(0, 1), "n": bough.Int(1, 9)}, "b": {}}),
        "s": bough.Float(0, 1),
    }
)
MODEL = nested(SPACE.layout, SPACE.tree).model


def observed(count: int) -> Data:
    rng = np.random.default_rng(3)
    points = sample_points(SPACE, count, rng)
    y = np.sin(5 * points.x[:, -1]) + points.on[:, 1] + 0.1 * rng.standard_normal(count)
    return Data(points, (y - y.mean()) / y.std(), np.full(count, np.nan))


def mode_of(data: Data) -> FloatArray:
    return fit_map(MODEL, data, np.random.default_rng(0))


def second_difference(
    model: GPModel, theta: FloatArray, data: Data, i: int, j: int, h: float = 1e-3
) -> float:
    a, b = h * np.eye(len(theta))[[i, j]]
    corners = [theta + a + b, theta + a - b, theta - a + b, theta - a - b]
    high, *middle, low = (log_density(model, corner, data) for corner in corners)
    return float(high - sum(middle) + low) / (4 * h * h)


def test_the_precision_is_the_negative_hessian_of_the_log_density() -> None:
    data = observed(25)
    mode = mode_of(data)
    size = len(mode) - 1
    expected = [[-second_difference(MODEL, mode, data, i, j) for j in range(size)] for i in range(size)]
    np.testing.assert_allclose(kernel_precision(MODEL, mode, data), expected, rtol=0.05, atol=0.05)


def test_many_observations_count_as_often_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    data = observed(400)
    mode = mode_of(data)
    fast = np.linalg.eigvalsh(kernel_precision(MODEL, mode, data))
    monkeypatch.setattr("bough.gp.cubature.MOST_ROWS", 400)
    exact = np.linalg.eigvalsh(kernel_precision(MODEL, mode, data))
    assert (np.abs(np.log(fast / exact)) < np.log(4)).all()  # sds within a factor of 2


def test_rounding_in_the_precision_hardly_moves_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where eigenvalues are equal, as for parameters of which the data say nothing."""
    data = observed(25)
    mode = mode_of(data)
    before = points_around(MODEL, mode, data, 4, np.random.default_rng(1))
    rounding = 1e-9 * np.random.default_rng(2).standard_normal((len(mode) - 1,) * 2)
    monkeypatch.setattr(
        "bough.gp.cubature.kernel_precision", lambda *_: kernel_precision(*_) + rounding + rounding.T
    )
    after = points_around(MODEL, mode, data, 4, np.random.default_rng(1))
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_all_directions_have_the_mean_and_the_covariance_of_laplaces_approximation() -> None:
    data = observed(25)
    mode = mode_of(data)
    size = len(mode) - 1
    points = points_around(MODEL, mode, data, 2 * size, np.random.default_rng(1))
    low, high = MODEL.prior.bounds
    assert ((points > low) & (points < high)).all()  # else the bounds would shift the mean
    sd = np.sqrt(MODEL.prior.variances[:-1])
    certainty, axes = np.linalg.eigh(kernel_precision(MODEL, mode, data) * np.outer(sd, sd))
    covariance = (axes / np.maximum(certainty, 1.0)) @ axes.T * np.outer(sd, sd)
    np.testing.assert_allclose(points.mean(axis=0), mode, atol=1e-9)
    np.testing.assert_allclose(np.cov(points[:, :-1].T, bias=True), covariance, atol=1e-9)


def test_a_few_directions_have_these_moments_on_average() -> None:
    nothing = observed(25).take(np.arange(0))
    median = MODEL.prior.median
    draws = [points_around(MODEL, median, nothing, 4, np.random.default_rng(seed)) for seed in range(4000)]
    pairs = np.stack(draws) - median
    variances = np.mean(pairs**2, axis=(0, 1))[:-1]  # without data: those of the prior
    assert np.median(variances / MODEL.prior.variances[:-1]) == pytest.approx(1.0, abs=0.05)


def test_the_noise_stays_at_its_mode_and_everything_inside_the_bounds() -> None:
    data = observed(25)
    mode = mode_of(data)
    low, high = MODEL.prior.bounds
    for count in (2, 4, 40):  # 40: more pairs than hyperparameters
        points = points_around(MODEL, mode, data, count, np.random.default_rng(2))
        assert points.shape == (count, len(mode))
        assert ((points >= low) & (points <= high)).all()
        np.testing.assert_array_equal(points[:, -1], mode[-1])


def test_data_say_less_about_a_branch_that_has_none() -> None:
    points = sample_points(SPACE, 60, np.random.default_rng(5))
    rows = np.flatnonzero(~points.on[:, 1])[:20]  # kind is b throughout
    x = points.x[rows, -1]
    data = Data(points.take(rows), (np.sin(9 * x) - np.sin(9 * x).mean()) / 0.7, np.full(len(rows), np.nan))
    precision = kernel_precision(MODEL, mode_of(data), data)
    prior = 1.0 / MODEL.prior.variances[:-1]
    scales = np.diag(precision)[4:]
    unseen = [i for i, parameter in enumerate(SPACE) if parameter.name in ("x", "n")]
    shared = [i for i, parameter in enumerate(SPACE) if parameter.name == "s"]
    np.testing.assert_allclose(scales[unseen], prior[4:][unseen], rtol=0.02)
    assert (scales[shared] > 3 * prior[4:][shared]).all()
