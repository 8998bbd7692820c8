"""What a Gaussian process knows after seeing data: predictions, their gradients, joint samples.

    mean(x) = k(x, X) α,   var(x) = k(x, x) − k(x, X) M⁻¹ k(X, x),   α = M⁻¹ y,  M = K + noise

All predictions are of the latent f, without observation noise. A posterior is a frozen value:
conditioning on further points gives another one, in O(n²) per point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from bough.gp.kernels.base import Kernel, Sum, Toward
from bough.gp.kernels.mapped import Dot
from bough.gp.likelihood import Data, Model, factorise
from bough.gp.solvers import Dense, Solver, factor_lower
from bough.points import FloatArray, IntArray, Points

__all__ = ["Changes", "GPPosterior", "Posterior", "posterior"]

SMALLEST_VARIANCE = 1e-12
"""Variances are cut off here, where cancellation has eaten their digits."""

NEGLIGIBLE_NOISE = 1e-4
"""A noise variance, of standardised targets, that hardly changes which observation is best."""


class Posterior(Protocol):
    """What acquisition functions see of a surrogate."""

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (n,) of the latent function."""
        ...

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, sd (n,) and their gradients (n, columns), zero in inactive and nominal columns."""
        ...

    def condition(self, points: Points, y: FloatArray, noise: FloatArray | None = None) -> Posterior:
        """The posterior after also seeing y (m,) at the points; noise: told sd (m,), NaN if not."""
        ...

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        """(n, len(points)) joint draws of the latent function."""
        ...

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Mean and sd (n,) of each *observation* predicted from all others."""
        ...

    def innovations(self) -> FloatArray:
        """(n,) how many sd each observation lay from its prediction by the rows before it."""
        ...

    @property
    def noisy(self) -> bool:
        """Whether the best observation may owe its rank to noise."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class _Part:
    """A term of the kernel or all of it, its theta, and its covariance with the data."""

    kernel: Kernel
    theta: FloatArray
    toward_data: Toward


@dataclass(frozen=True, eq=False)
class GPPosterior:
    """A Gaussian process conditioned on data, at fixed hyperparameters.

    theta: (p,) of ``model``.  alpha: M⁻¹ y (n,).  solver: M, the noisy Gram matrix.
    """

    model: Model
    theta: FloatArray
    data: Data
    solver: Solver
    alpha: FloatArray

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        return self._predict(self._whole, points)

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        return self._predict_grad(self._whole, points)

    def changes(self, anchors: Points) -> Changes:
        """The posterior of f(x) − f(a) for some points a.

        Where only one group of a row is active, f is the term of that group, with
        μ_v = k_v α, σ_v² = k_v(x, x) − k_v M⁻¹ k_vᵀ and M of the whole model: Ma & Blaschko 2020 leave both
        undefined in Alg. 2; this is the form of Kandasamy et al. 2015, eq. (3). An anchor with no active
        group stands for zero.
        """
        cross, _ = self._whole.toward_data(anchors)
        variance, _ = self.model.kernel.diag(self.theta[:-1], anchors)
        return Changes(self, anchors, cross, variance)

    def path_predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Posterior of the linear model that paths share: Φ(x)ᵀw alone, without any local process.

        Jenatton et al. 2017, eq. (6), with b = 0: z_pᵀc ~ N(z_pᵀ Λ_c⁻¹ f_c, z_pᵀ Λ_c⁻¹ z_p).
        """
        return self._predict(self._terms(lambda term: isinstance(term, Dot)), points)

    def path_predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """``path_predict`` and the gradients (n, columns) of its mean and sd."""
        return self._predict_grad(self._terms(lambda term: isinstance(term, Dot)), points)

    def condition(self, points: Points, y: FloatArray, noise: FloatArray | None = None) -> GPPosterior:
        told = np.full(len(y), np.nan) if noise is None else noise
        new = Data(points, y, told)
        cross, _ = self.model.kernel(self.theta[:-1], self.data.points, points)
        corner = np.diag(new.variances(self.theta[-1]))
        self.model.kernel.add_to(corner, self.theta[:-1], points, points)
        data = Data(
            Points.concat([self.data.points, points]),
            np.concatenate([self.data.y, y]),
            np.concatenate([self.data.noise, told]),
        )
        solver = self.solver.append(cross, corner)
        return GPPosterior(self.model, self.theta, data, solver, solver.solve(data.y))

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        mean, covariance = self.joint(points)
        lower = factor_lower(covariance)
        return mean + rng.standard_normal((n, len(points))) @ lower.T

    def joint(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and covariance (n, n) of the latent function."""
        cross, _ = self._whole.toward_data(points)
        prior, _ = self.model.kernel(self.theta[:-1], points, points)
        white = self.solver.whiten(cross.T)
        return cross @ self.alpha, prior - white.T @ white

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        # Rasmussen & Williams 2006, eq. 5.12: μ_i = y_i − α_i / (M⁻¹)_ii, σ_i² = 1 / (M⁻¹)_ii.
        precision = np.diag(self.solver.inverse())
        return self.data.y - self.alpha / precision, 1.0 / np.sqrt(precision)

    def innovations(self) -> FloatArray:
        # L⁻¹y for the Cholesky factor L of M; other solvers have no such order, so leave-one-out.
        if isinstance(self.solver, Dense):
            return self.solver.whiten(self.data.y)
        mean, sd = self.leave_one_out()
        return (self.data.y - mean) / sd

    @property
    def noisy(self) -> bool:
        return bool(np.any(self.data.variances(self.theta[-1]) > NEGLIGIBLE_NOISE))

    @cached_property
    def _whole(self) -> _Part:
        return self._part(self.model.kernel, self.theta[:-1])

    def _part(self, kernel: Kernel, theta: FloatArray) -> _Part:
        return _Part(kernel, theta, kernel.toward(theta, self.data.points))

    def _terms(self, wanted: Callable[[Kernel], bool]) -> _Part:
        """The terms of an additive kernel that are ``wanted``."""
        kernel = self.model.kernel
        whole = kernel if isinstance(kernel, Sum) else Sum((kernel,))
        found = [(term, part) for term, part in zip(whole.terms, whole.parts) if wanted(term)]
        theta = [self.theta[part] for _, part in found]
        return self._part(Sum(tuple(term for term, _ in found)), np.concatenate([np.empty(0), *theta]))

    def _predict(self, part: _Part, points: Points) -> tuple[FloatArray, FloatArray]:
        cross, _ = part.toward_data(points)
        prior, _ = part.kernel.diag(part.theta, points)
        mean, sd, _ = self._moments(cross, prior)
        return mean, sd

    def _predict_grad(
        self, part: _Part, points: Points
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        cross, pull = part.toward_data(points)
        prior, pull_prior = part.kernel.diag(part.theta, points)
        mean, sd, slopes = self._moments(cross, prior)
        by_cross, by_prior = slopes()
        d_mean = pull.a(np.broadcast_to(self.alpha, cross.shape))
        return mean, sd, d_mean, pull_prior.a(by_prior) + pull.a(by_cross)

    def _moments(
        self, cross: FloatArray, prior: FloatArray
    ) -> tuple[FloatArray, FloatArray, Callable[[], tuple[FloatArray, FloatArray]]]:
        """Mean and sd (n,) from covariances with the data (n, rows) and variances (n,); on demand the
        derivatives of the sd by both."""
        white = self.solver.whiten(cross.T)
        variance = prior - np.einsum("ij,ij->j", white, white)
        sd = np.sqrt(np.maximum(variance, SMALLEST_VARIANCE))

        def slopes() -> tuple[FloatArray, FloatArray]:
            # var = k(x,x) − k(x,X) M⁻¹ k(X,x);  d sd = d var / (2 sd), and 0 where cut off.
            half = np.where(variance > SMALLEST_VARIANCE, 0.5 / sd, 0.0)
            return self.solver.unwhiten(white).T * (-2.0 * half[:, None]), half

        return cross @ self.alpha, sd, slopes


@dataclass(frozen=True, eq=False)
class Changes:
    """How f differs from its values at k anchors.

    cross: (k, rows) their covariance with the data.  variance: (k,) their own.
    """

    posterior: GPPosterior
    anchors: Points
    cross: FloatArray
    variance: FloatArray

    def predict(self, points: Points, of: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and sd (n,) of f(x_i) − f(a_i), a_i being row of[i] of the anchors."""
        return self._predict(points, of)[:2]

    def predict_grad(
        self, points: Points, of: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The same with gradients (n, columns) by the points."""
        mean, sd, gradients = self._predict(points, of)
        return mean, sd, *gradients()

    def _predict(
        self, points: Points, of: IntArray
    ) -> tuple[FloatArray, FloatArray, Callable[[], tuple[FloatArray, FloatArray]]]:
        gp, whole = self.posterior, self.posterior._whole
        mine = np.arange(len(points)), of
        cross, pull = whole.toward_data(points)
        prior, pull_prior = whole.kernel.diag(whole.theta, points)
        shared, pull_shared = whole.kernel(whole.theta, points, self.anchors)
        mean, sd, slopes = gp._moments(cross - self.cross[of], prior + self.variance[of] - 2.0 * shared[mine])

        def gradients() -> tuple[FloatArray, FloatArray]:
            by_cross, by_prior = slopes()
            by_shared = np.zeros(shared.shape)
            by_shared[mine] = -2.0 * by_prior
            d_sd = pull_prior.a(by_prior) + pull.a(by_cross) + pull_shared.a(by_shared)
            return pull.a(np.broadcast_to(gp.alpha, cross.shape)), d_sd

        return mean, sd, gradients


def posterior(model: Model, theta: FloatArray, data: Data) -> GPPosterior:
    """Condition ``model`` at hyperparameters ``theta`` on ``data`` (any number of rows, also none)."""
    solver, _ = factorise(model, theta, data)
    return GPPosterior(model, theta, data, solver, solver.solve(data.y))
