"""Acquisition functions against quadrature, Monte Carlo and finite differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import lognorm, norm

from bough.acquisition.functions import LOG_EI, LOG_PI, Acquisition, Price, lcb, log_ei, log_pi

FUNCTIONS = {
    "log_ei": LOG_EI,
    "log_pi": LOG_PI,
    "lcb": lcb(1.7),
    "sd share": replace(LOG_EI, sd_share=0.3),
    "price": Acquisition(
        Price(cooling=0.7, risk=3.0, caution=2.0, log_floor=-2.0, unit=1.4, offset=-0.5), log=True
    ),
}
TAIL = [-1e8, -3e4, -1000.0, -60.0, -50.1, -49.9, -30.0, -8.0, -2.0, -1.01, -0.99, 0.0, 0.5, 3.0, 40.0]


def one(value: float) -> np.ndarray:
    return np.array([value])


def improvement_by_density(z: float) -> float:
    """h(z) / phi(z) by quadrature.

    h(z) = E[(z - N)+] = int_0^inf t phi(t - z) dt, so that h / phi = int_0^inf t exp(t z - t^2 / 2) dt.
    """
    scale = 1.0 / max(-z, 1.0)  # the integrand lives on this length

    def integrand(u: float) -> float:
        return u * math.exp(u * z * scale - 0.5 * (u * scale) ** 2)

    return quad(integrand, 0.0, np.inf, epsabs=0, epsrel=1e-12)[0] * scale**2


@pytest.mark.parametrize("z", [z for z in TAIL if z < 3.0])
def test_log_ei_and_its_slopes_match_quadrature_far_into_the_tail(z: float) -> None:
    sd = 0.3
    value, by_mean, by_sd = log_ei(one(2.0 - z * sd), one(sd), 2.0)
    ratio = improvement_by_density(z)  # phi / h = 1 / ratio; Phi / h from h' = Phi and h - z h' = phi
    expected = math.log(sd) + norm.logpdf(z) + math.log(ratio)
    # 2 - (2 - z sd) already carries a rounding error that z multiplies
    assert value[0] == pytest.approx(expected, rel=1e-9)
    assert by_sd[0] == pytest.approx(1.0 / ratio / sd, rel=1e-7)
    mass_by_h = math.exp(norm.logcdf(z) - norm.logpdf(z)) / ratio if z > -1e3 else -z  # ~|z| far out
    assert by_mean[0] == pytest.approx(-mass_by_h / sd, rel=1e-5)


def test_log_ei_is_smooth_across_its_three_formulas() -> None:
    for border in (-1.0, -50.0):
        z = border + np.array([-1e-9, 1e-9])
        for part in log_ei(-z, np.ones(2), 0.0):
            assert part[0] == pytest.approx(part[1], rel=1e-7)


@pytest.mark.parametrize("z", TAIL)
def test_log_ei_is_the_logarithm_of_ei_where_ei_can_be_computed(z: float) -> None:
    logarithm = log_ei(one(-z), one(1.0), 0.0)
    assert all(np.isfinite(part).all() for part in logarithm)
    if z > -6:  # beyond, phi + z Phi cancels
        plain = norm.pdf(z) + z * norm.cdf(z)
        assert logarithm[0] == pytest.approx(np.log(plain), rel=1e-9)
        # d log EI = d EI / EI
        assert logarithm[1] == pytest.approx(-norm.cdf(z) / plain, rel=1e-9)
        assert logarithm[2] == pytest.approx(norm.pdf(z) / plain, rel=1e-9)


def test_expected_and_probable_improvement_match_monte_carlo() -> None:
    mean, sd, best = 0.4, 0.8, 0.1
    draws = np.random.default_rng(0).normal(mean, sd, 2_000_000)
    gain, probability = (np.exp(score(one(mean), one(sd), best)[0][0]) for score in (log_ei, log_pi))
    assert gain == pytest.approx(np.maximum(best - draws, 0).mean(), abs=2e-3)
    assert probability == pytest.approx((draws < best).mean(), abs=2e-3)


def test_log_pi_matches_the_reference_in_the_tail() -> None:
    z = np.array([-1e5, -300.0, -20.0, -1.0, 0.0, 2.0, 50.0])
    value, by_mean, _ = log_pi(-z, np.ones(7), 0.0)
    assert value == pytest.approx(norm.logcdf(z), rel=1e-12)
    hazard = np.array([1e5 + 1e-5, 300 + 1 / 300, *np.exp(norm.logpdf(z[2:]) - norm.logcdf(z[2:]))])
    assert -by_mean == pytest.approx(hazard, rel=1e-4, abs=1e-300)


@pytest.mark.parametrize(("mean", "sd", "left"), [(1.0, 0.5, 20.0), (2.5, 1.2, 8.0), (-3.0, 0.1, 20.0)])
def test_a_price_is_that_of_a_lognormal_cost(mean: float, sd: float, left: float) -> None:
    """log cost ~ N(mean, sd²), given as z with log cost = 0.4 + 1.7 z, against quadrature."""
    upper_end = lognorm.ppf(norm.cdf(1.5), sd, scale=math.exp(mean))
    in_time = quad(lambda log_cost: norm.pdf(log_cost, mean, sd), mean - 9 * sd, math.log(left))[0]
    expected = -0.6 * math.log(upper_end / left + 1 / 50) + 10 * math.log(in_time)
    price = Price(0.6, 10.0, 1.5, -math.log(50), 1.7, 0.4 - math.log(left))
    value = price(one((mean - 0.4) / 1.7), one(sd / 1.7), (math.log(left) - 0.4) / 1.7)[0][0]
    assert value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(mean=st.floats(-3, 3), sd=st.floats(0.05, 3), best=st.floats(-3, 3))
def test_derivatives_match_finite_differences(name: str, mean: float, sd: float, best: float) -> None:
    score = FUNCTIONS[name]
    _, by_mean, by_sd = score(one(mean), one(sd), best)
    step = 1e-5 * sd
    left, right = score(one(mean - step), one(sd), best)[0], score(one(mean + step), one(sd), best)[0]
    size = max(1.0, abs(float(by_mean[0])))
    assert (right - left)[0] / (2 * step) == pytest.approx(by_mean[0], rel=2e-4, abs=2e-5 * size)
    left, right = score(one(mean), one(sd - step), best)[0], score(one(mean), one(sd + step), best)[0]
    size = max(1.0, abs(float(by_sd[0])))
    assert (right - left)[0] / (2 * step) == pytest.approx(by_sd[0], rel=2e-4, abs=2e-5 * size)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(mean=st.floats(-5, 5), sd=st.floats(1e-3, 5), best=st.floats(-5, 5))
def test_a_lower_mean_is_never_worse(name: str, mean: float, sd: float, best: float) -> None:
    low, high = FUNCTIONS[name](np.array([mean - 0.1, mean]), np.full(2, sd), best)[0]
    assert low >= high


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_uncertainty_is_safe(name: str) -> None:
    mean = np.array([-1.0, 0.0, 1.0])
    value, by_mean, by_sd = FUNCTIONS[name](mean, np.zeros(3), 0.0)
    assert np.isfinite(value).all() and np.isfinite(by_mean).all() and np.isfinite(by_sd).all()
    assert value[0] >= value[1] >= value[2]
    if name == "log_ei":
        assert np.exp(value) == pytest.approx([1.0, 0.0, 0.0], abs=1e-11)


def test_a_smaller_sd_share_prefers_a_sure_gain_to_an_uncertain_one() -> None:
    mean, sd = np.array([-0.1, 0.0]), np.array([0.01, 1.0])
    assert np.argmax(LOG_EI(mean, sd, 0.0)[0]) == 1
    assert np.argmax(replace(LOG_EI, sd_share=0.2)(mean, sd, 0.0)[0]) == 0
    expected = log_ei(mean, 0.2 * sd, 0.0)[0]
    assert replace(LOG_EI, sd_share=0.2)(mean, sd, 0.0)[0] == pytest.approx(expected)
