"""The log posterior density of hyperparameters through the compiled core, for many theta on the same data.

A fit evaluates dozens of hyperparameters on one set of points. Everything that does not depend on them is
prepared once; the core computes the covariance and pulls the gradient back, LAPACK factorises.
``likelihood.log_posterior`` computes the same, and is the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
from scipy.linalg import lapack

from bough.gp.core import compiled_core
from bough.gp.kernels.nested import Nested
from bough.gp.kernels.nested_core import SCALES
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
    order, points, rows = kernel.core_order, data.points, len(data.y)
    by_feature = np.ascontiguousarray(
        kernel.centred.values(np.zeros(kernel.layout.columns), points).T[order.features]
    )
    unscaled, on = np.ascontiguousarray(by_feature.T), np.ascontiguousarray(points.on, dtype=float)
    on_by_group, features = np.ascontiguousarray(on.T), len(by_feature)
    constant = rows * np.log(2 * np.pi)

    def evaluate(theta: FloatArray) -> tuple[float, FloatArray]:
        per_length = np.exp(-theta[SCALES:-1])[order.column]
        z = unscaled * per_length
        side = (
            rows,
            features,
            on.shape[1],
            len(order.group),
            by_feature * per_length[:, None],
            on_by_group,
            order.first,
            order.group,
            kernel.core_scales(theta[:-1]),
        )
        matrix = np.empty((rows, rows))
        core.cross(side, rows, z, on, True, matrix)
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
        found = np.empty(SCALES + features)
        core.pull_theta(side, rows, z, on, True, weight, found)
        lengths = np.bincount(order.column, found[SCALES:], kernel.layout.columns)
        noise = np.exp(theta[-1]) * (np.diagonal(weight) @ data.unreported)
        value = -0.5 * (float(data.y @ alpha) + log_det + constant)
        prior, slope = model.prior.log_density(theta)
        return value + prior, slope + 0.5 * np.concatenate([found[:SCALES], lengths, [noise]])

    return evaluate
