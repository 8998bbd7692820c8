"""OutputTransform: monotone, invertible, safe at every size, and no transform without need."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.gp.output_transform import OutputTransform, _fence
from bough.points import FloatArray

Fit = Callable[[FloatArray], OutputTransform]

rng = np.random.default_rng(0)
NORMAL = rng.normal(size=40)
AWKWARD = {
    "none": np.empty(0),
    "one": np.array([3.0]),
    "constant": np.full(20, 2.0),
    "zeros": np.zeros(12),
    "normal": NORMAL,
    "skewed": np.exp(2 * NORMAL),
    "huge": NORMAL * 1e300 / 5,
    "tiny": rng.random(30) * 1e-300,
    "denormal": np.array([5e-324, 0.0, 1e-323] * 5),
    "a huge bad one": np.append(NORMAL, 1e300),
    "a huge good one": np.append(NORMAL, -1e300),
    "all the range": np.append(np.arange(12.0), [-1.7e308, 1.7e308]),
    "far from zero": 1e9 + NORMAL,
    "almost zero once": np.append(np.ones(20), 1e-300),
    "mostly tied and one huge": np.append(np.ones(20), 1e300),
    "mostly tied, one good, one huge": np.append(np.ones(20), [0.5, 1e300]),
}


def test_logarithm_of_positive_values_only() -> None:
    y = np.array([0.1, 0.2, 0.4, 0.3, 0.25, 0.15, 0.35, 0.22])
    log = np.log(y)
    np.testing.assert_allclose(
        OutputTransform.logarithm(y).forward(y), (log - log.mean()) / log.std(), rtol=1e-12
    )
    bad = np.append(y, 50.0)  # beyond the fence, and no further off than that
    assert (
        OutputTransform.logarithm(bad).forward(bad)[-1]
        == OutputTransform.logarithm(bad).forward(np.array([9.0]))[0]
    )
    for other in (np.append(y, 0.0), y - 0.15):
        np.testing.assert_array_equal(
            OutputTransform.logarithm(other).forward(other), OutputTransform.fit(other).forward(other)
        )


@pytest.mark.parametrize("fit", [OutputTransform.fit, OutputTransform.logarithm])
@pytest.mark.parametrize("name", AWKWARD)
def test_order_survives_and_everything_is_finite_without_a_warning(name: str, fit: Fit) -> None:
    y = AWKWARD[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        targets = fit(y)
        z = targets.forward(y)
        noise = targets.noise(y, np.full(len(y), 0.1))
        centre, width = targets.inverse(z, np.ones_like(z))
        later = targets.forward(np.array([-1.7e308, -1.0, 0.0, 5e-324, 1.0, 1.7e308]))
    for part in (z, noise, centre, width, later):
        assert np.all(np.isfinite(part))
    assert np.all(np.diff(z[np.argsort(y, kind="stable")]) >= 0) and np.all(np.diff(later) >= 0)
    assert np.all(noise >= 0) and np.all(width >= 0)
    if len(np.unique(y)) > 2:
        assert np.mean(z) == pytest.approx(0.0, abs=1e-6) and np.std(z) == pytest.approx(1.0, rel=1e-6)
    else:
        assert np.abs(z).max(initial=0.0) < 10


@pytest.mark.parametrize("fit", [OutputTransform.fit, OutputTransform.logarithm])
@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_any_finite_values(fit: Fit, values: list[float]) -> None:
    y = np.array(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = fit(y).forward(y)
    assert np.all(np.isfinite(z)) and np.all(np.diff(z[np.argsort(y)]) >= 0)


def test_normal_values_are_only_standardised() -> None:
    y = 5.0 + 3.0 * NORMAL
    targets = OutputTransform.fit(y)
    assert not targets.log
    np.testing.assert_allclose(targets.forward(y), (y - y.mean()) / y.std())
    np.testing.assert_allclose(targets.noise(y, np.full(40, 0.6)), 0.6 / y.std())
    assert np.isnan(targets.noise(y, np.full(40, np.nan))).all()
    centre, width = targets.inverse(np.array([0.5]), np.array([2.0]))
    assert centre[0] == pytest.approx(y.mean() + 0.5 * y.std()) and width[0] == pytest.approx(2 * y.std())


def test_the_bad_side_is_pulled_in_and_the_good_side_is_not() -> None:
    y = np.append(NORMAL[:20], [100.0, -100.0])
    targets = OutputTransform.fit(y)
    quantiles = [np.quantile(y[:size], [0.25, 0.5]) for size in (8, 16, 22)]
    fence = sorted(median + 4.0 * (median - q1) for q1, median in quantiles)[1]
    z = targets.forward(np.array([fence, fence + 1.0, 100.0, -99.0, -100.0]))
    assert z[0] == z[1] == z[2] and z[3] > z[4]


def test_results_gathered_at_the_optimum_do_not_make_outliers_of_the_others() -> None:
    early = np.arange(10.0)
    y = np.concatenate([early, -1.0 - 1e-6 * np.arange(90)])
    z = OutputTransform.fit(y).forward(early)
    assert np.all(np.diff(z) > 0)


def test_told_noise_goes_through_the_slope() -> None:
    y = np.exp(NORMAL)
    targets, step = OutputTransform.logarithm(y), 1e-6
    good = y[:5][y[:5] < np.quantile(y, 0.7)]
    slope = (targets.forward(good + step) - targets.forward(good - step)) / (2 * step)
    np.testing.assert_allclose(targets.noise(good, np.full(len(good), 0.01)), 0.01 * slope, rtol=1e-5)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 9, 10, 11, 16, 17, 100, 1001])
def test_the_fence_has_the_quantiles_of_numpy(rows: int) -> None:
    for seed in range(20):
        y = np.random.default_rng([rows, seed]).standard_cauchy(rows)
        early = [y[:size] for size in (8, 16, 32, 64, 128, 256, 512) if size < rows]
        quantiles = [np.quantile(some, [0.25, 0.5]).tolist() for some in (*early, y)]
        fences = sorted(m + 4.0 * (m - q1) if m > q1 else np.inf for q1, m in quantiles)
        assert _fence(y) == ((fences[-2] if rows > 16 else fences[-1]) if rows >= 8 else np.inf)


@pytest.mark.parametrize("diverged", [1, 4, 10, 19])
def test_the_usual_values_keep_their_range_beside_diverged_ones(diverged: int) -> None:
    usual = np.linspace(0.1, 0.9, 40 - diverged)
    y = np.random.default_rng(diverged).permutation(np.append(usual, np.full(diverged, 1e6)))
    assert np.ptp(OutputTransform.fit(y).forward(usual)) > 0.3


@pytest.mark.parametrize("rows", [17, 30, 60])
def test_half_of_the_first_values_may_diverge(rows: int) -> None:
    usual = np.linspace(0.1, 0.9, rows - 5)
    z = OutputTransform.fit(np.concatenate([np.full(5, 1e10), usual])).forward(usual)
    assert np.ptp(z) > 0.3


def test_values_that_must_count_are_not_cut_off() -> None:
    y = np.append(NORMAL, [50.0, 100.0, 1e6])
    z = OutputTransform.fit(y, at_least=100.0).forward(np.array([50.0, 100.0, 101.0, 1e6]))
    assert z[0] < z[1] == z[2] == z[3]
    np.testing.assert_array_equal(OutputTransform.fit(y, -5.0).forward(y), OutputTransform.fit(y).forward(y))


@pytest.mark.parametrize("best", [13, 30, 55])
def test_a_plateau_of_optima_keeps_its_outliers_out(best: int) -> None:
    """Many models make no error at all; a few diverge."""
    usual = np.linspace(0.1, 0.9, 20)
    y = np.random.default_rng(best).permutation(np.concatenate([np.zeros(best), usual, np.full(4, 1e6)]))
    assert np.ptp(OutputTransform.fit(y).forward(usual)) > 0.3


@pytest.mark.parametrize("ties", [5, 8, 15, 25])
def test_a_plateau_keeps_its_outliers_out(ties: int) -> None:
    """Half of the values are 1, as an error is that no model beats; the first trial diverged."""
    usual = np.linspace(0.1, 0.9, 20)
    y = np.concatenate([[1e4], np.ones(ties), usual])
    assert np.ptp(OutputTransform.fit(y).forward(usual)) > 0.8
