"""A Gaussian process around a prior mean that other posteriors predict (universal kriging).

With f = b_0 + b_1 g + r, where g is a weighted sum of other posteriors' means and r the process of the
surrogate, the coefficients follow from the data by generalised least squares, with M the noisy covariance of
the data and H = [1, g(X)]:

    b = (H' M⁻¹ H + Λ)⁻¹ (H' M⁻¹ y + Λ b*)

Λ keeps b_1 near its prior b* = 1 while there are few data. The standard deviation of r is scaled by s, with
s² = (r' M⁻¹ r + n_0) / (n + n_0): the better g predicts, the less uncertain f is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bough.gp.posterior import GPPosterior, Posterior
from bough.points import FloatArray, Points

__all__ = ["PriorMean", "Shifted", "shifted"]

SLOPE_PRECISION = 1.0
SCALE_PRIOR_ROWS = 4.0
"""n_0: the prior s = 1 counts as much as this many observations."""


@dataclass(frozen=True, eq=False)
class PriorMean:
    """offset + sum_i shares_i mean_i(x) over the means of ``members``."""

    members: Sequence[Posterior]
    shares: FloatArray
    offset: float = 0.0

    def __call__(self, points: Points) -> FloatArray:
        total = np.full(len(points), self.offset)
        for member, share in zip(self.members, self.shares, strict=True):
            total += share * member.predict(points)[0]
        return total

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """(n,) the mean and its (n, columns) gradient."""
        total, slope = np.full(len(points), self.offset), np.zeros(points.x.shape)
        for member, share in zip(self.members, self.shares, strict=True):
            mean, _, mean_slope, _ = member.predict_grad(points)
            total += share * mean
            slope += share * mean_slope
        return total, slope


@dataclass(frozen=True, eq=False)
class Shifted(Posterior):
    """The prior mean plus ``rest``, the posterior of the residual r, whose sd is scaled."""

    rest: GPPosterior
    mean: PriorMean
    scale: float

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        mean, sd = self.rest.predict(points)
        return mean + self.mean(points), self.scale * sd

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        mean, sd, mean_slope, sd_slope = self.rest.predict_grad(points)
        prior, prior_slope = self.mean.with_gradient(points)
        return mean + prior, self.scale * sd, mean_slope + prior_slope, self.scale * sd_slope

    def condition(self, points: Points, y: FloatArray) -> Shifted:
        return replace(self, rest=self.rest.condition(points, y - self.mean(points)))

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        centre = self.rest.predict(points)[0]
        drawn = self.rest.sample(points, n, rng)
        return self.mean(points) + centre + self.scale * (drawn - centre)

    def joint(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean (n,) and covariance (n, n) of the latent function."""
        mean, covariance = self.rest.joint(points)
        return mean + self.mean(points), self.scale**2 * covariance

    @property
    def has_noise(self) -> bool:
        return self.rest.has_noise

    @property
    def observation_noise(self) -> float:
        return self.scale * self.rest.observation_noise  # s² scales M, of which the noise is a part


def shifted(posterior: GPPosterior, members: Sequence[Posterior], weights: FloatArray) -> Posterior:
    """``posterior`` with the weighted means of ``members`` as prior mean; unchanged if b_1 <= 0."""
    data, solver = posterior.data, posterior.solver
    rows = len(data.y)
    shape = PriorMean(members, weights)
    columns = np.stack([np.ones(rows), shape(data.points)], axis=1)
    solved = solver.solve(columns)
    precision = np.diag([1e-6, SLOPE_PRECISION])
    offset, slope = np.linalg.solve(
        columns.T @ solved + precision, solved.T @ data.y + precision @ np.array([0.0, 1.0])
    )
    if slope <= 0:
        return posterior
    mean = PriorMean(members, slope * weights, float(offset))
    rest = data.y - columns @ np.array([offset, slope])
    alpha = solver.solve(rest)
    scale = np.sqrt((rest @ alpha + SCALE_PRIOR_ROWS) / (rows + SCALE_PRIOR_ROWS))
    return Shifted(replace(posterior, data=replace(data, y=rest), alpha=alpha), mean, float(scale))
