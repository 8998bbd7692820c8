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
from bough.surrogates.shifted import PriorMean, Shifted


def known(n: int = 6, told: float = np.nan) -> GPPosterior:
    rng = np.random.default_rng(0)
    points = Points(rng.random((n, 2)), np.ones((n, 1), dtype=bool))
    theta = np.log([0.4, 0.6, 1e-3])
    return posterior(GPModel(Matern52((0, 1))), theta, Data(points, rng.normal(size=n), np.full(n, told)))


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


def given(gp: GPPosterior, point: Points, y: float, noise: float) -> GPPosterior:
    """The posterior with one more observation and its noise, from all observations at once."""
    data = gp.data
    both = Points.concat([data.points, point])
    return posterior(gp.model, gp.theta, Data(both, np.append(data.y, y), np.append(data.noise, noise)))


@pytest.mark.parametrize("told", [np.nan, 0.0, 0.7])
@pytest.mark.parametrize("shift", [False, True])
def test_the_knowledge_gradient_by_conditioning_on_simulated_results(told: float, shift: bool) -> None:
    """Draw the result of a trial, condition on it, and take the smallest mean: on average the same."""
    gp, tried = known(told=told), known().data.points
    candidate = anywhere(1, 4)
    every = Points.concat([tried, candidate])
    level, share = np.zeros(len(every)), 1.0
    model: GPPosterior | Shifted = gp
    if shift:
        prior, share = PriorMean([known(4)], np.array([0.8]), 0.3), 0.6
        model, level = Shifted(gp, prior, share), prior(every)
    (found,) = knowledge_gradient(model, candidate, tried)
    mean, sd = gp.predict(every)
    noise = np.sqrt(1e-3) if np.isnan(told) else told
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    results = mean[-1] + np.hypot(sd[-1], noise) * nodes
    after = [
        (level + mean + share * (given(gp, candidate, y, noise).predict(every)[0] - mean)).min()
        for y in results
    ]
    fall = (level + mean).min() - np.sum(weights * after) / np.sqrt(2 * np.pi)
    assert found == pytest.approx(fall, abs=2e-3)
    assert found > 0


@pytest.mark.parametrize("acquisition", ["mes", "kg"])
@pytest.mark.parametrize("learns", [False, True])
def test_auto_takes_them_as_options(acquisition: str, learns: bool) -> None:
    space = bough.Space({"m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Int(1, 5)}})})
    earlier = bough.Study(space, method="lhs", seed=0, name="earlier")
    for _ in range(8):
        trial = earlier.ask()
        earlier.tell(trial, (trial.config.get("x", 0.9) - 0.3) ** 2)
    sources = [earlier] if learns else []
    method = bough.method("auto", acquisition=acquisition)
    study = bough.Study(space, method=method, seed=0, learn_from=sources)
    for _ in range(9):
        trial = study.ask()
        study.tell(trial, (trial.config.get("x", 0.9) - 0.3) ** 2 + 0.1 * trial.config.get("y", 0))
    assert study.best.value < 0.05
    reasons = [study.explain(trial)["reason"] for trial in study.trials[-2:]]
    assert any({"mes": "entropy", "kg": "knowledge gradient"}[acquisition] in reason for reason in reasons)
