"""Max-value entropy search and the knowledge gradient against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bough
from bough.acquisition.knowledge_gradient import expected_minimum, knowledge_gradient
from bough.acquisition.max_value_entropy import MaxValueEntropy, entropy_gain, sampled_minima
from bough.gp.kernels import Matern52
from bough.gp.likelihood import Data, GPModel
from bough.gp.posterior import GPPosterior, posterior
from bough.points import Points


def known(n: int = 6) -> GPPosterior:
    rng = np.random.default_rng(0)
    points = Points(rng.random((n, 2)), np.ones((n, 1), dtype=bool))
    theta = np.log([0.4, 0.6, 1e-3])
    return posterior(GPModel(Matern52((0, 1))), theta, Data(points, rng.normal(size=n), np.full(n, np.nan)))


def anywhere(n: int, seed: int) -> Points:
    return Points(np.random.default_rng(seed).random((n, 2)), np.ones((n, 1), dtype=bool))


def test_the_gain_is_the_fall_of_the_entropy_of_a_truncated_normal() -> None:
    mean, sd, minimum = (
        np.array([0.3, -0.5, 2.0, -1.4]),
        np.array([1.0, 0.4, 0.7, 0.5]),
        np.array([-1.0, -0.6]),
    )
    found, _, _ = entropy_gain(mean, sd, minimum)
    for row, y in zip(found, minimum):
        for gain, mu, sigma in zip(row, mean, sd):
            whole = stats.norm(mu, sigma).entropy()
            cut = stats.truncnorm((y - mu) / sigma, 40.0, loc=mu, scale=sigma).entropy()
            assert gain == pytest.approx(float(whole - cut), rel=1e-6)


def test_slopes_by_differences_and_far_away() -> None:
    mean, sd, minimum = np.array([0.3, -0.5, 5.0]), np.array([1.0, 0.4, 0.7]), np.array([-1.0, -0.2, 0.1])
    _, by_mean, by_sd = entropy_gain(mean, sd, minimum)
    e = 1e-6
    np.testing.assert_allclose(
        by_mean,
        (entropy_gain(mean + e, sd, minimum)[0] - entropy_gain(mean - e, sd, minimum)[0]) / (2 * e),
        atol=1e-7,
    )
    np.testing.assert_allclose(
        by_sd,
        (entropy_gain(mean, sd + e, minimum)[0] - entropy_gain(mean, sd - e, minimum)[0]) / (2 * e),
        atol=1e-7,
    )
    for part in entropy_gain(np.array([-300.0, 300.0]), np.ones(2), np.array([0.0])):
        assert np.isfinite(part).all()


def test_the_criterion_and_its_gradient() -> None:
    gp, points = known(), anywhere(5, 1)
    minima = sampled_minima([gp, gp], [0.0, -5.0], anywhere(200, 2), 8, np.random.default_rng(3))
    assert all((some <= best).all() for some, best in zip(minima, [0.0, -5.0]))
    criterion = MaxValueEntropy([gp, gp], minima)
    value, slope = criterion.with_gradient(points)
    np.testing.assert_allclose(value, criterion(points), rtol=1e-12)
    for column in range(2):
        step = np.zeros((5, 2))
        step[:, column] = 1e-6
        ahead, behind = (criterion(Points(points.x + sign * step, points.on)) for sign in (1, -1))
        np.testing.assert_allclose(slope[:, column], (ahead - behind) / 2e-6, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_minimum_of_lines_by_quadrature(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level, slope = rng.normal(size=12), rng.normal(size=12)
    slope[:3] = slope[3]  # parallel lines
    z = np.linspace(-9, 9, 400_001)
    lowest = np.min(level[:, None] + slope[:, None] * z, axis=0)
    expected = np.trapezoid(lowest * stats.norm.pdf(z), z)
    assert expected_minimum(level, slope) == pytest.approx(expected, abs=1e-6)


def test_the_knowledge_gradient_by_conditioning_on_simulated_results() -> None:
    """Draw the result of a trial, condition on it, and take the smallest mean: on average the same."""
    gp, tried = known(), known().data.points
    candidate = anywhere(1, 4)
    (found,) = knowledge_gradient(gp, candidate, tried)
    every = Points.concat([tried, candidate])
    now = gp.predict(every)[0].min()
    mean, sd = gp.predict(candidate)
    noise = np.exp(gp.theta[-1])
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    results = mean[0] + np.sqrt(sd[0] ** 2 + noise) * nodes
    after = [gp.condition(candidate, np.array([y])).predict(every)[0].min() for y in results]
    assert found == pytest.approx(now - np.sum(weights * after) / np.sqrt(2 * np.pi), abs=2e-3)
    assert found > 0


@pytest.mark.parametrize("acquisition", ["mes", "kg"])
def test_auto_takes_them_as_options(acquisition: str) -> None:
    space = bough.Space({"m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Int(1, 5)}})})
    study = bough.Study(space, method=bough.method("auto", acquisition=acquisition), seed=0)
    for _ in range(9):
        trial = study.ask()
        study.tell(trial, (trial.config.get("x", 0.9) - 0.3) ** 2 + 0.1 * trial.config.get("y", 0))
    assert study.best.value < 0.05
    reason = study.explain(study.trials[-1])["reason"]
    assert {"mes": "entropy", "kg": "knowledge gradient"}[acquisition] in reason
