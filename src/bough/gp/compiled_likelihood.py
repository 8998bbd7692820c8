"""The log posterior density of hyperparameters through the compiled core, for many theta on the same data.

A fit evaluates many hyperparameters on one set of points. The core computes the covariance and pulls the
gradient back, LAPACK factorises. ``likelihood.lazy_log_posterior`` computes the same, and is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
from scipy.linalg import lapack

from bough.gp.core import compiled_core
from bough.gp.kernels.nested import Nested
from bough.gp.kernels.nested_core import core_points
from bough.gp.likelihood import Data, GPModel, Gradient, lazy_log_posterior
from bough.points import FloatArray

__all__ = ["LogPosterior", "log_posterior_on"]

LogPosterior = Callable[[FloatArray], tuple[float, Gradient]]
"""theta -> log p(y | theta) + log p(theta), and a function that computes its gradient once."""


def log_posterior_on(model: GPModel, data: Data) -> LogPosterior:
    """The log posterior density given some data; compiled if the core knows the kernel."""
    core = compiled_core()
    if core is None or not isinstance(model.kernel, Nested):
        return lambda theta: lazy_log_posterior(model, theta, data)
    return _compiled(core, model, model.kernel, data)


def _compiled(core: ModuleType, model: GPModel, kernel: Nested, data: Data) -> LogPosterior:
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
            inverse, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
            found = np.empty(len(theta))
            core.pull_theta(covariance, points, True, inverse.T, alpha, found[:-1])
            found[-1] = np.exp(theta[-1]) * ((alpha * alpha - inverse.diagonal()) @ data.unreported)
            return slope + 0.5 * found

        return prior - 0.5 * (float(data.y @ alpha) + log_det + constant), gradient

    return evaluate
