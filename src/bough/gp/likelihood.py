"""The marginal likelihood of a Gaussian process with noisy observations, and its gradient.

    y = f(x) + ε,   f ~ GP(0, k),   ε_i ~ N(0, σ_i²),   M = K + diag(σ²)
    log p(y | θ) = −½ yᵀM⁻¹y − ½ log|M| − ½ n log 2π
    ∂ log p / ∂K = ½ (ααᵀ − M⁻¹),   α = M⁻¹y           (Rasmussen & Williams 2006, eq. 5.9)

One noise variance is learned for all rows whose noise was not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from bough.gp.block_solver import factor_blocks
from bough.gp.core import compiled_core
from bough.gp.kernels.base import Kernel, Pullback
from bough.gp.kernels.nested import Nested, core_points
from bough.gp.params import JointPrior, LogNormal, Param
from bough.gp.solvers import Solver, factor, invert_triangle
from bough.points import FloatArray, IntArray, Points

__all__ = [
    "NOISE",
    "NOISE_FLOOR",
    "Data",
    "GPModel",
    "Gradient",
    "LogPosterior",
    "factorise",
    "lazy_log_posterior",
    "log_density",
    "log_likelihood",
    "log_posterior",
    "log_posterior_on",
]

NOISE_FLOOR = 1e-6
"""Smallest noise variance, for values of unit variance: it also bounds the condition number of M."""

NOISE = Param("noise", 1, LogNormal(float(np.log(1e-3)), 2.0), NOISE_FLOOR, 1.0)
"""The noise variance of standardised values."""


Gradient = Callable[[], FloatArray]
"""Computes a gradient (p,) by theta."""

LogPosterior = Callable[[FloatArray], tuple[float, Gradient]]
"""theta -> log p(y | theta) + log p(theta), and a function that computes its gradient once."""

BLOCKS_FROM_ROWS = 250
"""With fewer rows, a loop over blocks costs as much as a dense factorisation (``benchmarks.block_cost``)."""


@dataclass(frozen=True)
class GPModel:
    """A covariance and a noise variance; theta = (kernel's theta, log noise variance).

    blocks: points -> the rows of each block, where points of different blocks never covary.
    """

    kernel: Kernel
    noise: Param = NOISE
    blocks: Callable[[Points], Sequence[IntArray]] | None = None

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (*self.kernel.params, self.noise)

    @cached_property
    def prior(self) -> JointPrior:
        return JointPrior(self.params)


@dataclass(frozen=True, eq=False)
class Data:
    """Observations: n points, y (n,), and reported noise (n,) as standard deviations (NaN: not reported)."""

    points: Points
    y: FloatArray
    noise: FloatArray

    @cached_property
    def reported(self) -> FloatArray:
        """(n,) reported noise variances, at least the floor; zero where none was reported."""
        variance = np.square(np.minimum(np.nan_to_num(self.noise, nan=0.0), 1e100))
        return np.where(np.isnan(self.noise), 0.0, np.maximum(variance, NOISE_FLOOR))

    def variances(self, log_noise: float) -> FloatArray:
        """(n,) noise variance of each row."""
        return np.where(np.isnan(self.noise), np.exp(log_noise), self.reported)

    def take(self, rows: IntArray) -> Data:
        """The given rows, as new Data."""
        return Data(self.points.take(rows), self.y[rows], self.noise[rows])

    def sorted(self) -> Data:
        """The same rows, sorted so that the active rows of each group of a tree are contiguous."""
        return self.take(np.lexsort(self.points.on.T[::-1]))


def log_likelihood(model: GPModel, theta: FloatArray, data: Data) -> tuple[float, FloatArray]:
    """log p(y | theta) and its gradient (p,)."""
    value, gradient = _likelihood(model, theta, data)
    return value, gradient()


def log_posterior(model: GPModel, theta: FloatArray, data: Data) -> tuple[float, FloatArray]:
    """log p(y | theta) + log p(theta), and its gradient (p,)."""
    value, gradient = lazy_log_posterior(model, theta, data)
    return value, gradient()


def lazy_log_posterior(model: GPModel, theta: FloatArray, data: Data) -> tuple[float, Gradient]:
    """As ``log_posterior``, but the gradient is a function, because it costs more than the value."""
    value, gradient = _likelihood(model, theta, data)
    prior, slope = model.prior.log_density(theta)
    return value + prior, lambda: gradient() + slope


def log_posterior_on(model: GPModel, data: Data) -> LogPosterior:
    """The log posterior density as a function of theta, for fits, which evaluate it often on the same data.

    The compiled core computes the covariance and pulls the gradient back, if it knows the kernel; LAPACK
    factorises. ``lazy_log_posterior`` computes the same without the core.
    """
    core, kernel = compiled_core(), model.kernel
    if core is None or not isinstance(kernel, Nested):
        return lambda theta: lazy_log_posterior(model, theta, data)
    rows, points = len(data.y), core_points(data.points)
    constant = rows * np.log(2 * np.pi)

    def evaluate(theta: FloatArray) -> tuple[float, Gradient]:
        covariance = (kernel.core_shape, theta[:-1], points)
        matrix = np.empty((rows, rows))
        core.cross(covariance, points, True, matrix)
        matrix.ravel()[:: rows + 1] += data.variances(theta[-1])
        # The upper triangle in Fortran's order is the lower one in C's, which the core reads.
        factor, failed = lapack.dpotrf(matrix.T, lower=0, clean=0, overwrite_a=1)
        if failed:  # needs jitter
            return lazy_log_posterior(model, theta, data)
        log_det = 2.0 * float(np.log(factor.diagonal()).sum())
        alpha, _ = lapack.dpotrs(factor, data.y, lower=0)
        prior, slope = model.prior.log_density(theta)

        def gradient() -> FloatArray:
            # M⁻¹ = U⁻¹ U⁻ᵀ; LAPACK's dpotri takes twice as long.
            inverse, _ = lapack.dlauum(invert_triangle(factor, lower=False), lower=0, overwrite_c=1)
            found = np.empty(len(theta))
            core.pull_theta(covariance, points, True, inverse.T, alpha, found[:-1])
            found[-1] = np.exp(theta[-1]) * ((alpha * alpha - inverse.diagonal()) @ np.isnan(data.noise))
            return slope + 0.5 * found

        return prior - 0.5 * (float(data.y @ alpha) + log_det + constant), gradient

    return evaluate


def _likelihood(model: GPModel, theta: FloatArray, data: Data) -> tuple[float, Gradient]:
    solver, pull = factorise(model, theta, data)
    alpha = solver.solve(data.y)

    def gradient() -> FloatArray:
        weight = np.multiply.outer(alpha, alpha)
        weight -= solver.inverse()
        noise = np.exp(theta[-1]) * (np.diag(weight) @ np.isnan(data.noise))
        return 0.5 * np.append(pull.theta(weight), noise)

    return _log_normal(float(data.y @ alpha), solver), gradient


def log_density(model: GPModel, theta: FloatArray, data: Data) -> float:
    """log p(y | theta) + log p(theta), without gradient."""
    solver, _ = factorise(model, theta, data)
    white = solver.whiten(data.y)
    return _log_normal(float(white @ white), solver) + model.prior.log_density(theta)[0]


def factorise(model: GPModel, theta: FloatArray, data: Data) -> tuple[Solver, Pullback]:
    """M = K + diag(σ²), factorised, and the pullback of K."""
    matrix = np.diag(data.variances(theta[-1]))
    pull = model.kernel.add_to(matrix, theta[:-1], data.points, data.points)
    if model.blocks is not None and len(matrix) >= BLOCKS_FROM_ROWS:
        rows = model.blocks(data.points)
        return factor_blocks(rows, [matrix[np.ix_(some, some)] for some in rows]), pull
    return factor(matrix), pull


def _log_normal(quadratic: float, solver: Solver) -> float:
    """log N(y | 0, M) from yᵀM⁻¹y."""
    return float(-0.5 * (quadratic + solver.logdet + len(solver) * np.log(2 * np.pi)))
