"""Input warping: monotone maps of [0, 1] onto itself with a learned shape, before a kernel is applied.

k(w(x), w(x')) with w the distribution function of Beta(α, β), per column (Snoek et al. 2014, used by
Assael et al. 2014). α = β = 1 is the identity.
Put ``Warp`` inside ``WhereActive`` or ``Imputed``, like every kernel that reads columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy import special

from bough.gp.kernels import FeatureMap, FeaturePullback, Kernel, Mapped
from bough.gp.params import LogNormal, Param
from bough.points import FloatArray, Points

__all__ = ["MARGIN", "Warp", "WarpMap", "beta_cdf", "beta_values"]

MARGIN = 1e-7
"""How far inside (0, 1) inputs stay: the slope of w is unbounded at the ends if a shape is below one."""

# Enough for relative error 1e-15 of the series below with x ≤ ½ and shapes within _SHAPES.
_TERMS = 96
_SHAPES = (0.1, 10.0)

# Enough for an absolute error of 1e-13 of the polynomials below, with the same shapes.
_DEGREES = 16

# Polynomials are faster for at least _MANY values. _STRIP rows at a time stay in the cache.
_MANY, _STRIP = 500, 2048

SHAPE_PRIOR = LogNormal(0.0, 0.5)
"""Shapes near one: the identity, unless the data say otherwise."""

Warping = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""w and its derivatives with respect to x, α and β, each (n, d)."""


def beta_values(x: FloatArray, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """The regularised incomplete beta function I_x(α, β) of x (n, d) inside (0, 1), without derivatives.

    A few values are computed by scipy, many with the same shapes by (DLMF 8.17.7)

    I_x(a, b) = xᵃ / (a B(a, b)) · F(x),  F(x) = ₂F₁(a, 1 − b; a + 1; x),

    on the side of the mirror with x ≤ ½. F is analytic except at x = 1, so a polynomial through its values at
    the Chebyshev points converges like 5.8⁻ⁿ.
    """
    if len(x) < _MANY:
        return np.asarray(special.betainc(alpha, beta, x))
    nodes, transform = _chebyshev()
    a, b = np.stack([alpha, beta]), np.stack([beta, alpha])  # (2, d): left and right of the mirror
    log_scale = np.log(a) + special.betaln(a, b)
    at_nodes = special.betainc(a, b, nodes[:, None, None])
    at_nodes *= np.exp(log_scale - a * np.log(nodes[:, None, None]))
    coefficients = np.tensordot(transform, at_nodes, axes=1).transpose(2, 1, 0)  # (d, 2, degrees)
    out = np.empty_like(x)
    for start in range(0, len(x), _STRIP):  # as many as stay in the processor's cache
        strip = slice(start, start + _STRIP)
        left = x[strip].T <= 0.5
        low = np.where(left, x[strip].T, 1 - x[strip].T)
        left_sum, right_sum = (coefficients @ _basis(4 * low - 1)).swapaxes(0, 1)
        power = np.where(left, a[0, :, None], a[1, :, None])
        power *= np.log(low)
        power -= np.where(left, log_scale[0, :, None], log_scale[1, :, None])
        tail = np.exp(power, out=power)
        tail *= np.where(left, left_sum, right_sum)
        out[strip] = np.where(left, tail, 1 - tail).T
    return out


@cache
def _chebyshev() -> tuple[FloatArray, FloatArray]:
    """The Chebyshev points in (0, ½), and the matrix from values there to Chebyshev coefficients."""
    angle = np.pi * (np.arange(_DEGREES) + 0.5) / _DEGREES
    transform = (2 / _DEGREES) * np.cos(np.arange(_DEGREES)[:, None] * angle)
    transform[0] /= 2
    return (1 + np.cos(angle)) / 4, transform


def _basis(t: FloatArray) -> FloatArray:
    """(d, degrees, n) the Chebyshev polynomials at t (d, n) within [-1, 1]."""
    basis = np.empty((_DEGREES, *t.shape))
    basis[0], basis[1] = 1.0, t
    double = 2 * t
    for before, last, new in zip(basis, basis[1:], basis[2:]):
        np.multiply(double, last, out=new)
        new -= before
    return basis.swapaxes(0, 1)


def beta_cdf(x: FloatArray, alpha: FloatArray, beta: FloatArray) -> Warping:
    """The regularised incomplete beta function I_x(α, β) of x (n, d) inside (0, 1); α, β (d,).

    scipy has the value but not the derivatives by the shapes, so all come from one series, summed on
    the side of the mirror I_x(α, β) = 1 − I_{1−x}(β, α) on which it converges at least like 2⁻ⁿ.
    """
    left = x <= 0.5
    # Where one side is in use the other is evaluated at ½ and dropped.
    low = _beta_series(np.where(left, x, 0.5), alpha, beta)
    high = _beta_series(np.where(left, 0.5, 1 - x), beta, alpha)
    value = np.where(left, low[0], 1 - high[0])
    d_alpha = np.where(left, low[1], -high[2])
    d_beta = np.where(left, low[2], -high[1])
    log_density = special.xlogy(alpha - 1, x) + special.xlog1py(beta - 1, -x) - special.betaln(alpha, beta)
    return value, np.exp(log_density), d_alpha, d_beta


def _beta_series(x: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """I_x(a, b), ∂/∂a and ∂/∂b for x ≤ ½ (DLMF 8.17.8):

    I_x(a, b) = xᵃ(1−x)ᵇ / (a B(a, b)) · Σ_n cₙxⁿ,  cₙ = Π_{k<n} (a+b+k)/(a+1+k).

    All terms are positive, so nothing cancels; the derivatives are those of log cₙ and of the factor.
    """
    k = np.arange(_TERMS)[:, None]
    rising, falling = a + b + k, a + 1 + k
    zero = np.zeros((1, len(a)))
    c = np.vstack([zero + 1, np.cumprod(rising / falling, axis=0)])
    log_c_by_b = np.vstack([zero, np.cumsum(1 / rising, axis=0)])
    log_c_by_a = log_c_by_b - np.vstack([zero, np.cumsum(1 / falling, axis=0)])
    coefficients = np.stack([c, c * log_c_by_a, c * log_c_by_b], axis=1)  # (terms, 3, d)
    sums = np.zeros((3, *x.shape))
    for coefficient in coefficients[::-1]:  # Horner's rule
        sums *= x
        sums += coefficient[:, None, :]
    log_x, log_rest = np.log(x), np.log1p(-x)
    factor = np.exp(a * log_x + b * log_rest - special.betaln(a, b)) / a
    both = special.digamma(a + b)
    return (
        factor * sums[0],
        factor * (sums[1] + sums[0] * (log_x - 1 / a - special.digamma(a) + both)),
        factor * (sums[2] + sums[0] * (log_rest - special.digamma(b) + both)),
    )


@dataclass(frozen=True)
class WarpMap(FeatureMap):
    """The point with ``columns`` warped and all others as they are; as many features as columns."""

    columns: tuple[int, ...]
    width: int

    @property
    def size(self) -> int:
        return self.width

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (
            Param("warp alpha", len(self.columns), SHAPE_PRIOR, *_SHAPES),
            Param("warp beta", len(self.columns), SHAPE_PRIOR, *_SHAPES),
        )

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        columns = list(self.columns)
        alpha, beta = np.exp(theta).reshape(2, -1)
        x = np.clip(a.x[:, columns], MARGIN, 1 - MARGIN)
        warped = a.x.copy()
        warped[:, columns] = beta_values(x, alpha, beta)

        @cache
        def slopes() -> Warping:  # only where a gradient is wanted: the series costs far more than w
            return beta_cdf(x, alpha, beta)

        def pull_theta(w: FloatArray) -> FloatArray:
            _, _, by_alpha, by_beta = slopes()
            w = w[:, columns]
            return np.concatenate([alpha * (w * by_alpha).sum(axis=0), beta * (w * by_beta).sum(axis=0)])

        def pull_x(w: FloatArray) -> FloatArray:
            out = w.copy()
            out[:, columns] *= slopes()[1]
            return out

        return warped, FeaturePullback(pull_theta, pull_x)


def Warp(columns: tuple[int, ...], width: int, inner: Kernel) -> Kernel:
    """``inner`` on warped ``columns`` of points that are ``width`` columns wide."""
    return Mapped(WarpMap(columns, width), inner)
