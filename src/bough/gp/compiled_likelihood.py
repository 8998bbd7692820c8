"""The log posterior density of hyperparameters through the compiled core, for many theta on the same data.

A fit evaluates dozens of hyperparameters on one set of points. The core computes the covariance and
pulls the gradient back, LAPACK factorises. ``likelihood.log_posterior`` computes the same, and is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
from scipy.linalg import lapack

from bough.gp.core import compiled_core
from bough.gp.kernels.nested import Nested
from bough.gp.kernels.nested_core import core_points
from bough.gp.likelihood import Data, GPModel, log_posterior
from bough.points import FloatArray

__all__ = ["log_posterior_on"]

LogPosterior = Callable[[FloatArray], tuple[float, FloatArray]]


def log_posterior_on(model: GPModel, data: Data) -> LogPosterior:
    """theta -> log p(y | theta) + log p(theta), and its gradient; compiled if the core knows the kernel."""
    core = compiled_core()
    if core is None or not isinstance(model.kernel, Nested):
        return lambda theta: log_posterior(model, theta, data)
    return _compiled(core, model, model.kernel, data)


def _compiled(core: ModuleType, model: GPModel, kernel: Nested, data: Data) -> LogPosterior:
    rows, points = len(data.y), core_points(data.points)
    constant = rows * np.log(2 * np.pi)

    def evaluate(theta: FloatArray) -> tuple[float, FloatArray]:
        covariance = (kernel.core_shape, theta[:-1], points)
        matrix = np.empty((rows, rows))
        core.cross(covariance, points, True, matrix)
        matrix.ravel()[:: rows + 1] += data.variances(theta[-1])
        # The upper triangle in Fortran's order is the lower one in C's, which the core reads.
        factor, failed = lapack.dpotrf(matrix.T, lower=0, clean=0, overwrite_a=0)
        if failed:  # needs jitter
            return log_posterior(model, theta, data)
        log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
        alpha, _ = lapack.dpotrs(factor, data.y, lower=0)
        inverse, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
        weight = np.multiply.outer(alpha, alpha)
        weight -= inverse.T
        found = np.empty(len(theta) - 1)
        core.pull_theta(covariance, points, True, weight, found)
        noise = np.exp(theta[-1]) * (np.diagonal(weight) @ data.unreported)
        value = -0.5 * (float(data.y @ alpha) + log_det + constant)
        prior, slope = model.prior.log_density(theta)
        return value + prior, slope + 0.5 * np.append(found, noise)

    return evaluate
