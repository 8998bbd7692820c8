"""Warping functions against scipy, quadrature and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special

from bough.gp.kernels import Matern52
from bough.papers.assael2014.warp import MARGIN, Warp, beta_cdf, beta_values
from bough.points import Points

SHAPES = [0.1, 0.5, 1.0, 2.5, 10.0]
X = np.array([1e-7, 1e-3, 0.1, 0.3, 0.5, 0.5001, 0.8, 0.999, 1 - 1e-7])


@pytest.mark.parametrize("alpha", SHAPES)
@pytest.mark.parametrize("beta", SHAPES)
def test_beta_cdf_and_density(alpha: float, beta: float) -> None:
    value, density, *_ = (part[:, 0] for part in beta_cdf(X[:, None], np.array([alpha]), np.array([beta])))
    np.testing.assert_allclose(value, special.betainc(alpha, beta, X), rtol=1e-12, atol=1e-14)
    expected = X ** (alpha - 1) * (1 - X) ** (beta - 1) / special.beta(alpha, beta)
    np.testing.assert_allclose(density, expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", SHAPES)
@pytest.mark.parametrize("beta", SHAPES)
def test_beta_cdf_derivatives_by_quadrature(alpha: float, beta: float) -> None:
    """∂I/∂α = ∫₀ˣ log t · density dt − I·(ψ(α) − ψ(α+β)), and likewise ∂I/∂β with log(1 − t).

    Substituting t = u^{1/α} takes the singularity at 0 out of the integral.
    """
    x = X[X <= 0.8]
    *_, by_alpha, by_beta = beta_cdf(x[:, None], np.array([alpha]), np.array([beta]))

    def integral(log: object, end: float) -> float:
        def integrand(u: float) -> float:
            t = u ** (1 / alpha)
            return float(log(t) * (1 - t) ** (beta - 1) / alpha)  # type: ignore[operator]

        return integrate.quad(integrand, 0, end**alpha, epsabs=0, epsrel=1e-12, limit=400)[0]

    cdf, total, both = (
        special.betainc(alpha, beta, x),
        special.beta(alpha, beta),
        special.digamma(alpha + beta),
    )
    expected_alpha = [integral(np.log, t) / total for t in x] - cdf * (special.digamma(alpha) - both)
    expected_beta = [integral(lambda t: np.log1p(-t), t) / total for t in x] - cdf * (
        special.digamma(beta) - both
    )
    np.testing.assert_allclose(by_alpha[:, 0], expected_alpha, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(by_beta[:, 0], expected_beta, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("rows", [20, 5000])
def test_many_values_are_those_of_scipy(rows: int) -> None:
    rng = np.random.default_rng(0)
    corners = [[0.1, 0.1], [0.1, 10.0], [10.0, 0.1], [10.0, 10.0], [1.0, 1.0]]
    shapes = np.concatenate([corners, np.exp(rng.uniform(np.log(0.1), np.log(10), (40, 2)))])
    for alpha, beta in shapes.reshape(-1, 3, 2).swapaxes(1, 2):
        x = rng.random((rows, 3))
        x[:4] = np.array([MARGIN, 1 - MARGIN, 0.5, np.nextafter(0.5, 1)])[:, None]
        np.testing.assert_allclose(
            beta_values(x, alpha, beta), special.betainc(alpha, beta, x), rtol=1e-9, atol=2e-13
        )


@pytest.mark.parametrize("cdf", [beta_cdf])
def test_derivatives_by_finite_differences(cdf: object) -> None:
    rng = np.random.default_rng(0)
    x, alpha, beta = rng.uniform(0.02, 0.98, (20, 3)), np.exp(rng.normal(size=3)), np.exp(rng.normal(size=3))
    _, by_x, by_alpha, by_beta = cdf(x, alpha, beta)  # type: ignore[operator]
    h = 1e-5

    def slope(dx: float, da: float, db: float) -> np.ndarray:
        up = cdf(x + dx, alpha + da, beta + db)[0]  # type: ignore[operator]
        down = cdf(x - dx, alpha - da, beta - db)[0]  # type: ignore[operator]
        return np.asarray((up - down) / (2 * h))

    np.testing.assert_allclose(by_x, slope(h, 0, 0), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(by_alpha, slope(0, h, 0), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(by_beta, slope(0, 0, h), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("cdf", [beta_cdf])
def test_unit_shapes_are_the_identity_and_ends_are_kept(cdf: object) -> None:
    x = np.linspace(0.01, 0.99, 25)[:, None]
    one = np.ones(1)
    np.testing.assert_allclose(cdf(x, one, one)[0], x, atol=1e-14)  # type: ignore[operator]
    warped = cdf(x, np.array([0.3]), np.array([4.0]))[0]  # type: ignore[operator]
    assert (np.diff(warped[:, 0]) > 0).all()
    assert (warped > 0).all() and (warped < 1).all()


def test_a_warped_kernel_is_finite_at_the_ends_of_the_range() -> None:
    """Shapes below one have an infinite slope there."""
    points = Points(np.array([[0.0], [1.0], [0.5]]), np.ones((3, 1), dtype=bool))
    kernel = Warp((0,), 1, Matern52((0,)))
    theta = np.log([0.1, 0.1, 0.3])
    k, pull = kernel(theta, points, points)
    assert np.isfinite(k).all()
    assert all(np.isfinite(part).all() for part in pull(np.ones((3, 3))))


def test_the_warped_kernel_is_the_kernel_of_warped_points() -> None:
    rng = np.random.default_rng(1)
    on = np.ones((6, 1), dtype=bool)
    x = rng.uniform(0.05, 0.95, (6, 2))
    theta = np.array([0.4, -0.3, np.log(0.2), np.log(0.7)])
    warped = x.copy()
    warped[:, 1] = special.betainc(np.exp(0.4), np.exp(-0.3), x[:, 1])
    ours, _ = Warp((1,), 2, Matern52((0, 1)))(theta, Points(x, on), Points(x, on))
    theirs, _ = Matern52((0, 1))(theta[2:], Points(warped, on), Points(warped, on))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
