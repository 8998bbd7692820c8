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

from bough.gp.kernels.base import Kernel, On, Sum, Toward
from bough.gp.kernels.mapped import Dot
from bough.gp.likelihood import Data, Model, factorise
from bough.gp.solvers import Dense, Solver, factor_lower
from bough.points import FloatArray, Points

__all__ = ["GPPosterior", "Posterior", "posterior"]

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

    def vertex_predict(
        self, group: int, points: Points, anchor: Points | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Posterior of the additive term of one group: μ_v = k_v α, σ_v² = k_v(x, x) − k_v M⁻¹ k_vᵀ.

        Ma & Blaschko 2020 leave μ_v and σ_v of Alg. 2 undefined; this is the form of Kandasamy et
        al. 2015, eq. (3), with M of the whole model. The means of all vertices add up to the mean.
        anchor: one row; if given, of the term's change f_v(x) − f_v(anchor), where a constant that
        other terms may have as well has cancelled. A term is zero where its group is inactive.
        """
        return self._predict(self._vertex(group), points, anchor)

    def vertex_predict_grad(
        self, group: int, points: Points, anchor: Points | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """``vertex_predict`` and the gradients (n, columns) of its mean and sd."""
        return self._predict_grad(self._vertex(group), points, anchor)

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

    def _vertex(self, group: int) -> _Part:
        return self._terms(lambda term: isinstance(term, On) and term.group == group)

    def _terms(self, wanted: Callable[[Kernel], bool]) -> _Part:
        """The terms of an additive kernel that are ``wanted``."""
        kernel = self.model.kernel
        whole = kernel if isinstance(kernel, Sum) else Sum((kernel,))
        found = [(term, part) for term, part in zip(whole.terms, whole.parts) if wanted(term)]
        theta = [self.theta[part] for _, part in found]
        return self._part(Sum(tuple(term for term, _ in found)), np.concatenate([np.empty(0), *theta]))

    def _predict(
        self, part: _Part, points: Points, anchor: Points | None = None
    ) -> tuple[FloatArray, FloatArray]:
        kernel, theta = part.kernel, part.theta
        cross, _ = part.toward_data(points)
        prior, _ = kernel.diag(theta, points)
        if anchor is not None:
            prior = prior + kernel.diag(theta, anchor)[0] - 2.0 * kernel(theta, points, anchor)[0][:, 0]
            cross = cross - part.toward_data(anchor)[0]
        white = self.solver.whiten(cross.T)
        variance = prior - np.einsum("ij,ij->j", white, white)
        return cross @ self.alpha, np.sqrt(np.maximum(variance, SMALLEST_VARIANCE))

    def _predict_grad(
        self, part: _Part, points: Points, anchor: Points | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        kernel, theta = part.kernel, part.theta
        cross, pull = part.toward_data(points)
        prior, pull_prior = kernel.diag(theta, points)
        if anchor is not None:
            shared, pull_shared = kernel(theta, points, anchor)
            prior = prior + kernel.diag(theta, anchor)[0] - 2.0 * shared[:, 0]
            cross = cross - part.toward_data(anchor)[0]
        white = self.solver.whiten(cross.T)
        raw = prior - np.einsum("ij,ij->j", white, white)
        variance = np.maximum(raw, SMALLEST_VARIANCE)
        sd = np.sqrt(variance)
        d_mean = pull.a(np.broadcast_to(self.alpha, cross.shape))
        # d var = d k(x,x) − 2 dk(x,X) M⁻¹ k(X,x);  d sd = d var / (2 sd), and 0 where cut off.
        half = np.where(raw > SMALLEST_VARIANCE, 0.5 / sd, 0.0)
        weights = self.solver.unwhiten(white).T * (-2.0 * half[:, None])
        d_sd = pull_prior.a(half) + pull.a(weights)
        if anchor is not None:
            d_sd = d_sd + pull_shared.a(-2.0 * half[:, None])
        return cross @ self.alpha, sd, d_mean, d_sd


def posterior(model: Model, theta: FloatArray, data: Data) -> GPPosterior:
    """Condition ``model`` at hyperparameters ``theta`` on ``data`` (any number of rows, also none)."""
    solver, _ = factorise(model, theta, data)
    return GPPosterior(model, theta, data, solver, solver.solve(data.y))
