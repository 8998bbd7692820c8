"""The posterior of a Gaussian process: predictions, their gradients, joint samples.

    mean(x) = k(x, X) α,   var(x) = k(x, x) − k(x, X) M⁻¹ k(X, x),   α = M⁻¹ y,  M = K + noise

All predictions are of the latent f, without observation noise. A posterior is a frozen value: conditioning on
further points returns a new one, in O(n²) per point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import blas

from bough.gp.core import compiled_core
from bough.gp.kernels.base import Toward
from bough.gp.kernels.nested import Nested, core_model, core_points
from bough.gp.likelihood import Data, GPModel, factorise
from bough.gp.solvers import Dense, Solver, factor_lower
from bough.points import FloatArray, Points

__all__ = ["NEGLIGIBLE_NOISE", "CompiledPosterior", "GPPosterior", "Posterior", "posterior"]

SMALLEST_VARIANCE = 1e-12
"""Smaller variances are raised to this: cancellation has destroyed their digits."""

BLOCK_ENTRIES = 2**16
"""Covariances that the compiled core computes at a time: half a megabyte."""

NEGLIGIBLE_NOISE = 1e-4
"""A noise variance of standardised values that hardly changes which observation is best."""

Slopes = Callable[[], tuple[FloatArray, FloatArray]]
"""The derivatives of the sd: by covariances with the data (n, rows), and by prior variances (n,)."""


PullMoments = Callable[[FloatArray, FloatArray], FloatArray]
"""Slopes by mean and sd (n,) -> the gradient (n, columns)."""


class CompiledPosterior(NamedTuple):
    """The compiled core and its view of a posterior: the model, and the arrays of ``posterior_t``."""

    core: ModuleType
    model: tuple[Any, ...]
    root_transposed: FloatArray
    alpha: FloatArray

    def member(self, best: float = 0.0, sd_share: float = 1.0) -> tuple[Any, ...]:
        """A part of a criterion: its model, and its ``posterior_t`` with the value to beat."""
        return self.model, (self.root_transposed, self.alpha, float(best), sd_share)


class Posterior(ABC):
    """A fitted surrogate as acquisition functions see it.

    A subclass defines the four abstract methods. The others have defaults.
    """

    @abstractmethod
    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (n,) of the latent function."""

    @abstractmethod
    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, sd (n,) and their gradients (n, columns), zero in inactive and nominal columns."""

    def predict_pull(self, points: Points) -> tuple[FloatArray, FloatArray, PullMoments]:
        """Mean, sd (n,), and the gradient (n, columns) of a function of them from its slopes by both."""
        mean, sd, mean_slope, sd_slope = self.predict_grad(points)
        return mean, sd, lambda by_mean, by_sd: by_mean[:, None] * mean_slope + by_sd[:, None] * sd_slope

    @abstractmethod
    def condition(self, points: Points, y: FloatArray) -> Posterior:
        """The posterior if the function has the assumed values y (m,) at the points, without noise."""

    @abstractmethod
    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        """(n, len(points)) joint draws of the latent function."""

    def predict_mean(self, points: Points) -> FloatArray:
        """The mean (n,) alone, which some posteriors compute faster."""
        return self.predict(points)[0]

    def incumbent(self, tried: Points, y: FloatArray) -> float:
        """The value to beat: the best observation, or under noise the best posterior mean at tried points.

        The best of many noisy observations is lucky rather than good, and EI over it would stop exploring.
        """
        return float(np.min(self.predict_mean(tried) if self.has_noise else y))

    @property
    def has_noise(self) -> bool:
        """Whether the best observation may be best only because of noise."""
        return False

    @property
    def observation_noise(self) -> float:
        """The noise that one more observation will probably have; 0 if it is negligible or unknown."""
        return 0.0

    @property
    def compiled(self) -> CompiledPosterior | None:
        """For the compiled core; None if it is not in use or does not know the covariance."""
        return None


@dataclass(frozen=True, eq=False)
class GPPosterior(Posterior):
    """A Gaussian process conditioned on data, at fixed hyperparameters.

    theta: (p,) of ``model``.  alpha: M⁻¹ y (n,).  solver: M, the noisy Gram matrix.
    """

    model: GPModel
    theta: FloatArray
    data: Data
    solver: Solver
    alpha: FloatArray

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        compiled = self.compiled
        variance, _ = self.model.kernel.diag(self.theta[:-1], points)
        if compiled is None:
            return self.moments(self.covariance_with_data(points)[0], variance)[:2]
        core, model, root_transposed, alpha = compiled
        mean = np.empty(len(points))
        rows = max(BLOCK_ENTRIES // max(len(alpha), 1), 1)
        for begin in range(0, len(points), rows):  # blocks stay in the processor's cache
            block = slice(begin, begin + rows)
            some = core_points(points.take(block))
            cross = np.empty((some[0], len(alpha)))
            core.cross(model, some, False, cross)
            mean[block] = cross @ alpha
            white = blas.dtrmm(1.0, root_transposed.T, cross.T, lower=1, overwrite_b=1)
            variance[block] -= np.vecdot(white.T, white.T)
        return mean, np.sqrt(np.maximum(variance, SMALLEST_VARIANCE))

    def predict_mean(self, points: Points) -> FloatArray:
        if points is self.data.points:  # K α = M α − σ² α = y − σ² α
            return self.data.y - self.data.variances(self.theta[-1]) * self.alpha
        return self.covariance_with_data(points)[0] @ self.alpha

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        if (compiled := self.compiled) is not None:
            shape = points.x.shape
            found = (np.empty(len(points)), np.empty(len(points)), np.empty(shape), np.empty(shape))
            compiled.core.predict(*compiled.member(), core_points(points), *found)
            return found
        mean, sd, pull = self.predict_pull(points)
        one, none = np.ones(len(points)), np.zeros(len(points))
        return mean, sd, pull(one, none), pull(none, one)

    def predict_pull(self, points: Points) -> tuple[FloatArray, FloatArray, PullMoments]:
        if self.compiled is not None:
            return super().predict_pull(points)
        cross, pull = self.covariance_with_data(points)
        prior, pull_prior = self.model.kernel.diag(self.theta[:-1], points)
        mean, sd, slopes = self.moments(cross, prior)

        def pull_moments(by_mean: FloatArray, by_sd: FloatArray) -> FloatArray:
            """One pass through the covariance instead of one for the mean and one for the sd."""
            by_cross, by_prior = slopes()
            weight = by_mean[:, None] * self.alpha + by_sd[:, None] * by_cross
            return pull.a(weight) + pull_prior.a(by_sd * by_prior)

        return mean, sd, pull_moments

    def condition(self, points: Points, y: FloatArray) -> Self:
        new = Data(points, y, np.zeros(len(y)))
        cross, _ = self.model.kernel(self.theta[:-1], self.data.points, points)
        corner = np.diag(new.variances(self.theta[-1]))
        self.model.kernel.add_to(corner, self.theta[:-1], points, points)
        data = Data(
            Points.concat([self.data.points, points]),
            np.concatenate([self.data.y, y]),
            np.concatenate([self.data.noise, new.noise]),
        )
        solver = self.solver.append(cross, corner)
        return replace(self, data=data, solver=solver, alpha=solver.solve(data.y))

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        mean, covariance = self.joint(points)
        lower = factor_lower(covariance)
        return mean + rng.standard_normal((n, len(points))) @ lower.T

    def joint(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and covariance (n, n) of the latent function."""
        cross, _ = self.covariance_with_data(points)
        prior, _ = self.model.kernel(self.theta[:-1], points, points)
        white = self.solver.whiten(cross.T)
        return cross @ self.alpha, prior - white.T @ white

    @property
    def has_noise(self) -> bool:
        return bool(np.any(self.data.variances(self.theta[-1]) > NEGLIGIBLE_NOISE))

    @property
    def observation_noise(self) -> float:
        if not self.has_noise:
            return 0.0
        observed = self.data.noise != 0.0  # assumed values of running trials have no noise
        return float(np.sqrt(np.median(self.data.variances(self.theta[-1])[observed])))

    @cached_property
    def covariance_with_data(self) -> Toward:
        """Maps points to k(points, X) (n, rows) and its pullback."""
        return self.model.kernel.toward(self.theta[:-1], self.data.points)

    @cached_property
    def compiled(self) -> CompiledPosterior | None:
        core, kernel = compiled_core(), self.model.kernel
        if core is None or not isinstance(kernel, Nested) or not isinstance(self.solver, Dense):
            return None
        model = core_model(kernel, self.theta[:-1], self.data.points)
        return CompiledPosterior(core, model, self.solver.root.T, self.alpha)

    def moments(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray, Slopes]:
        """Mean and sd (n,) from covariances with the data (n, rows) and prior variances (n,)."""
        white = self.solver.whiten(cross.T)
        variance = prior - np.einsum("ij,ij->j", white, white)
        sd = np.sqrt(np.maximum(variance, SMALLEST_VARIANCE))

        def slopes() -> tuple[FloatArray, FloatArray]:
            # var = k(x,x) − k(x,X) M⁻¹ k(X,x);  d sd = d var / (2 sd), and 0 where cut off.
            half = np.where(variance > SMALLEST_VARIANCE, 0.5 / sd, 0.0)
            return self.solver.unwhiten(white).T * (-2.0 * half[:, None]), half

        return cross @ self.alpha, sd, slopes


def posterior(model: GPModel, theta: FloatArray, data: Data) -> GPPosterior:
    """Condition ``model`` at hyperparameters ``theta`` on ``data`` (any number of rows, or none)."""
    solver, _ = factorise(model, theta, data)
    return GPPosterior(model, theta, data, solver, solver.solve(data.y))
