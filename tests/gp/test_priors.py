"""Priors against SciPy's densities, by change of variables; gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from bough.gp.params import Horseshoe, JointPrior, LogNormal, Param, Pooled, Prior, SquareOf

NORMALISED = [
    (LogNormal(-0.7, 0.6), stats.lognorm(0.6, scale=np.exp(-0.7))),
]
ALL: list[Prior] = [prior for prior, _ in NORMALISED] + [Horseshoe(0.3), SquareOf(Horseshoe(1.0))]


@pytest.mark.parametrize(("prior", "known"), NORMALISED, ids=lambda x: type(x).__name__)
def test_density_median_and_draws_are_those_of_the_value(prior: Prior, known: stats.rv_continuous) -> None:
    theta = np.linspace(-3.0, 1.5, 9)
    np.testing.assert_allclose(prior.log_density(theta)[0], known.logpdf(np.exp(theta)) + theta, rtol=1e-10)
    assert prior.median == pytest.approx(np.log(known.median()), abs=1e-9)
    draws = np.exp(prior.draw(np.random.default_rng(0), 4000))
    assert stats.kstest(draws, known.cdf).pvalue > 1e-3


@pytest.mark.parametrize("prior", ALL, ids=lambda x: type(x).__name__)
def test_gradients(prior: Prior) -> None:
    theta, step = np.linspace(-6.0, 2.0, 17), 1e-6
    numeric = (prior.log_density(theta + step)[0] - prior.log_density(theta - step)[0]) / (2 * step)
    np.testing.assert_allclose(prior.log_density(theta)[1], numeric, rtol=1e-6, atol=1e-8)


def test_horseshoe_is_close_to_its_integral_and_to_its_draws() -> None:
    """The exact density is ∫ half-N(v | t²) half-Cauchy(t | s) dt; ours is proportional within a half."""
    scale, values = 0.7, np.array([0.02, 0.2, 1.0, 5.0])
    exact = [
        integrate.quad(lambda t, v=v: stats.halfnorm.pdf(v, scale=t) * stats.halfcauchy.pdf(t, scale=scale),
                       0, np.inf, limit=200)[0]
        for v in values
    ]  # fmt: skip
    ours = np.exp(Horseshoe(scale).log_density(np.log(values))[0]) / values
    ratio = ours / exact
    assert ratio.max() / ratio.min() < 1.5
    draws = Horseshoe(scale).draw(np.random.default_rng(1), 20000)
    assert np.median(draws) == pytest.approx(Horseshoe(scale).median, abs=0.06)


def test_a_variance_whose_deviation_has_a_prior() -> None:
    """v = w², w log-normal(m, s): log v is N(2m, (2s)²)."""
    theta = np.linspace(-2.0, 2.0, 5)
    value, slope = SquareOf(LogNormal(0.3, 0.5)).log_density(theta)
    expected, expected_slope = LogNormal(0.6, 1.0).log_density(theta)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(slope, expected_slope)


def test_parameters_make_one_vector() -> None:
    params = (Param("a", 2, LogNormal(0.0, 1.0), 0.5, 2.0), Param("b", 1, Horseshoe(1.0), 0.1, 9.0))
    low, high = JointPrior(params).bounds
    np.testing.assert_allclose(np.exp(low), [0.5, 0.5, 0.1])
    np.testing.assert_allclose(np.exp(high), [2.0, 2.0, 9.0])
    draw = JointPrior(params).draw(np.random.default_rng(0))
    assert draw.shape == (3,) and np.all((draw >= low) & (draw <= high))
    np.testing.assert_allclose(JointPrior(params).median[:2], 0.0)
    theta = np.array([0.1, -0.2, 0.3])
    value, gradient = JointPrior(params).log_density(theta)
    parts = [params[0].prior.log_density(theta[:2]), params[1].prior.log_density(theta[2:])]
    assert value == pytest.approx(sum(float(part.sum()) for part, _ in parts))
    np.testing.assert_allclose(gradient, np.concatenate([slope for _, slope in parts]))
    assert len(JointPrior(()).median) == 0


def test_a_pool_is_a_correlated_normal_across_parameters() -> None:
    """Entries of one pool, of different means and parameters, beside others: SciPy's joint density."""
    params = (
        Param("variance", 1, LogNormal(0.0, 0.5), 1e-4, 1e4),
        Param("lengthscale", 2, Pooled("lengthscale", -0.7, 0.3, 1.5), 1e-4, 1e4),
        Param("lengthscale", 1, Pooled("lengthscale", 0.2, 0.3, 1.5), 1e-4, 1e4),
        Param("other", 2, Pooled("other", 0.0, 0.5, 1.0), 1e-4, 1e4),
    )
    theta = np.random.default_rng(0).normal(size=6)
    pool = stats.multivariate_normal([-0.7, -0.7, 0.2], 0.3**2 * np.eye(3) + 1.5**2)
    other = stats.multivariate_normal([0.0, 0.0], 0.5**2 * np.eye(2) + 1.0**2)
    expected = stats.norm(0.0, 0.5).logpdf(theta[0]) + pool.logpdf(theta[1:4]) + other.logpdf(theta[4:])
    value, slope = JointPrior(params).log_density(theta)
    assert value == pytest.approx(expected, rel=1e-10)
    step = 1e-6 * np.eye(6)
    numeric = [
        (JointPrior(params).log_density(theta + s)[0] - JointPrior(params).log_density(theta - s)[0]) / 2e-6
        for s in step
    ]
    np.testing.assert_allclose(slope, numeric, rtol=1e-6)
    alone, _ = Pooled("p", 0.3, 0.6, 0.8).log_density(theta)
    np.testing.assert_allclose(alone, stats.norm(0.3, 1.0).logpdf(theta))
