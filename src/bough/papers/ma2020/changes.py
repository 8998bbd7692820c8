"""The posterior of differences f(x) − f(a) of an additive Gaussian process.

Where only one group of a row is active, f is the term of that group, with μ_v = k_v α, σ_v² = k_v(x, x) −
k_v M⁻¹ k_vᵀ and M of the whole model. Ma & Blaschko 2020 leave both undefined in Alg. 2; this is the form of
Kandasamy et al. 2015, eq. (3). An anchor with no active group stands for zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bough.gp.posterior import GPPosterior, Posterior
from bough.points import FloatArray, IntArray, Points

__all__ = ["AdditiveGP", "Changes"]


class AdditiveGP(GPPosterior):
    """A Gaussian process that is a sum of terms, one for each group."""

    @staticmethod
    def of(known: Posterior) -> AdditiveGP:
        """The same posterior, which must be a GPPosterior."""
        assert isinstance(known, GPPosterior)
        return AdditiveGP(known.model, known.theta, known.data, known.solver, known.alpha)

    def changes(self, anchors: Points) -> Changes:
        """The posterior of f(x) − f(a) for some points a."""
        cross, _ = self.covariance_with_data(anchors)
        variance, _ = self.model.kernel.diag(self.theta[:-1], anchors)
        return Changes(self, anchors, cross, variance)


@dataclass(frozen=True, eq=False)
class Changes:
    """How f differs from its values at k anchors.

    cross: (k, rows) their covariance with the data.  variance: (k,) their prior variance.
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
        gp, kernel, theta = self.posterior, self.posterior.model.kernel, self.posterior.theta[:-1]
        mine = np.arange(len(points)), of
        cross, pull = gp.covariance_with_data(points)
        prior, pull_prior = kernel.diag(theta, points)
        shared, pull_shared = kernel(theta, points, self.anchors)
        mean, sd, slopes = gp.moments(cross - self.cross[of], prior + self.variance[of] - 2.0 * shared[mine])

        def gradients() -> tuple[FloatArray, FloatArray]:
            by_cross, by_prior = slopes()
            by_shared = np.zeros(shared.shape)
            by_shared[mine] = -2.0 * by_prior
            d_sd = pull_prior.a(by_prior) + pull.a(by_cross) + pull_shared.a(by_shared)
            return pull.a(np.broadcast_to(gp.alpha, cross.shape)), d_sd

        return mean, sd, gradients
