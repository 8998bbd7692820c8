"""Small exact posteriors, computed apart from bough.gp so that neither can hide the other's mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bough.gp.posterior import Posterior
from bough.points import BoolArray, FloatArray, Points


@dataclass(frozen=True)
class SquaredExponential(Posterior):
    """A Gaussian process over all columns with unit variance and one length, in a dozen lines."""

    x: FloatArray
    y: FloatArray
    length: float = 0.4
    noise: float = 1e-4
    has_noise: bool = False

    def kernel(self, a: FloatArray, b: FloatArray) -> FloatArray:
        return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2) / self.length**2)

    def joint(self, points: Points) -> tuple[FloatArray, FloatArray]:
        gram = self.kernel(self.x, self.x) + self.noise * np.eye(len(self.x))
        cross = self.kernel(points.x, self.x)
        covariance = self.kernel(points.x, points.x) - cross @ np.linalg.solve(gram, cross.T)
        return cross @ np.linalg.solve(gram, self.y), covariance

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        mean, covariance = self.joint(points)
        return mean, np.sqrt(np.maximum(np.diag(covariance), 1e-14))

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        gram = self.kernel(self.x, self.x) + self.noise * np.eye(len(self.x))
        cross = self.kernel(points.x, self.x)
        slope = -cross[:, :, None] * (points.x[:, None, :] - self.x[None, :, :]) / self.length**2
        mean, sd = self.predict(points)
        mean_slope = np.einsum("nmc,m->nc", slope, np.linalg.solve(gram, self.y))
        sd_slope = -np.einsum("nmc,nm->nc", slope, np.linalg.solve(gram, cross.T).T) / sd[:, None]
        return mean, sd, mean_slope, sd_slope

    def condition(self, points: Points, y: FloatArray) -> SquaredExponential:
        return replace(self, x=np.concatenate([self.x, points.x]), y=np.concatenate([self.y, y]))

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        mean, covariance = self.joint(points)
        return rng.multivariate_normal(mean, covariance, size=n)


@dataclass(frozen=True)
class Plain:
    """A criterion given as a function of (x, on), with its gradient by finite differences."""

    function: Callable[[FloatArray, BoolArray], FloatArray]

    def __call__(self, points: Points) -> FloatArray:
        return self.function(points.x, points.on)

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        x, step = points.x, 1e-6
        slope = np.empty_like(x)
        for column in range(x.shape[1]):
            shift = np.zeros(x.shape[1])
            shift[column] = step
            rise = self.function(x + shift, points.on) - self.function(x - shift, points.on)
            slope[:, column] = rise / (2 * step)
        return self(points), slope


def flat(x: FloatArray) -> Points:
    """Points of a space without branches."""
    return Points(x, np.ones((len(x), 1), dtype=bool))
