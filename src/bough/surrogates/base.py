"""What a surrogate is, and the one that most are: a Gaussian process with some kernel.

A surrogate is a frozen value. ``fit`` learns hyperparameters and returns posteriors, one for each
sample of the hyperparameters (just one for a point estimate); it remembers nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bough.gp.fit import fit_map
from bough.gp.likelihood import Data, Model, log_density
from bough.gp.params import bounds
from bough.gp.posterior import GPPosterior, Posterior, posterior
from bough.gp.slice import slice_sample
from bough.points import FloatArray, Points

__all__ = ["Fit", "KernelGP", "Surrogate"]

BURN_IN, BURN_IN_WARM = 10, 3
"""Sweeps to discard: chains start at the mode, or where an earlier chain ended."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Posteriors given the data, and the hyperparameters to make them again or to start from."""

    posteriors: tuple[Posterior, ...]
    theta: FloatArray


class Surrogate(Protocol):
    """A model of the objective. y is standardised; noise: told sd of y (n,), NaN where not told."""

    def fit(
        self,
        points: Points,
        y: FloatArray,
        noise: FloatArray,
        rng: np.random.Generator,
        start: FloatArray | None = None,
    ) -> Fit:
        """Learn from data; ``start`` is the theta of an earlier fit."""
        ...

    def posterior(
        self, theta: FloatArray, points: Points, y: FloatArray, noise: FloatArray
    ) -> tuple[Posterior, ...]:
        """The posteriors at the theta of an earlier fit: nothing is learned."""
        ...


@dataclass(frozen=True, eq=False)
class KernelGP:
    """A Gaussian process with the kernel of ``model``.

    samples: 0 for the mode of the hyperparameters, else how many to draw by slice sampling.
    theta is (p,) for the mode and (samples, p) for samples.
    """

    model: Model
    samples: int = 0

    def fit(
        self,
        points: Points,
        y: FloatArray,
        noise: FloatArray,
        rng: np.random.Generator,
        start: FloatArray | None = None,
    ) -> Fit:
        data = Data(points, y, noise)
        warm = None if start is None else np.atleast_2d(start)[-1]
        if self.samples and warm is not None:
            theta = self._sample(warm, data, rng, BURN_IN_WARM)
        else:
            theta = fit_map(self.model, data, rng, start=warm)
            if self.samples:
                theta = self._sample(theta, data, rng, BURN_IN)
        return Fit(self.posterior(theta, points, y, noise), theta)

    def posterior(
        self, theta: FloatArray, points: Points, y: FloatArray, noise: FloatArray
    ) -> tuple[GPPosterior, ...]:
        data = Data(points, y, noise)
        return tuple(posterior(self.model, row, data) for row in np.atleast_2d(theta))

    def _sample(self, start: FloatArray, data: Data, rng: np.random.Generator, burn: int) -> FloatArray:
        """(samples, p) draws of theta given the data, inside its bounds."""
        ordered = data.sorted()
        low, high = bounds(self.model.params)

        def log_target(theta: FloatArray) -> float:
            inside = bool(np.all(theta >= low) and np.all(theta <= high))
            return log_density(self.model, theta, ordered) if inside else -np.inf

        return slice_sample(log_target, np.clip(start, low, high), rng, samples=self.samples, burn=burn)
