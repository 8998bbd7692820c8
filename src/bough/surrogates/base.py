"""The surrogate protocol, and the surrogate that most methods use: a Gaussian process with some kernel.

A surrogate is a frozen value. ``fit`` learns hyperparameters from data and returns them as ``theta``;
``posterior`` conditions on data at given hyperparameters. It returns one posterior for each sample of the
hyperparameters, and a single one for a point estimate. Neither remembers anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bough.gp.fit import fit_map
from bough.gp.likelihood import Data, GPModel, log_density
from bough.gp.params import bounds
from bough.gp.posterior import GPPosterior, Posterior, posterior
from bough.gp.slice import slice_sample
from bough.points import FloatArray

__all__ = ["KernelGP", "Surrogate"]

BURN_IN_SWEEPS, WARM_BURN_IN_SWEEPS = 10, 3
"""Sweeps to discard if the chain starts at the mode, or where an earlier chain ended."""


class Surrogate(Protocol):
    """A model of the objective. ``data.y`` is standardised."""

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """The hyperparameters theta, learned from data. start: theta of an earlier fit."""
        ...

    def posterior(self, theta: FloatArray, data: Data) -> Sequence[Posterior]:
        """The posteriors at given hyperparameters. Nothing is learned."""
        ...


@dataclass(frozen=True, eq=False)
class KernelGP:
    """A Gaussian process with the kernel of ``model``.

    samples: 0 for the mode of the hyperparameters, else how many to draw by slice sampling.
    theta is (p,) for the mode and (samples, p) for samples.
    """

    model: GPModel
    samples: int = 0

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        warm = None if start is None else np.atleast_2d(start)[-1]
        if self.samples and warm is not None:
            return self._sample(warm, data, rng, WARM_BURN_IN_SWEEPS)
        mode = fit_map(self.model, data, rng, start=warm)
        return self._sample(mode, data, rng, BURN_IN_SWEEPS) if self.samples else mode

    def posterior(self, theta: FloatArray, data: Data) -> tuple[GPPosterior, ...]:
        return tuple(posterior(self.model, row, data) for row in np.atleast_2d(theta))

    def _sample(self, start: FloatArray, data: Data, rng: np.random.Generator, burn: int) -> FloatArray:
        """(samples, p) draws of theta given the data, inside its bounds."""
        ordered = data.sorted()
        low, high = bounds(self.model.params)

        def log_target(theta: FloatArray) -> float:
            inside = bool(np.all(theta >= low) and np.all(theta <= high))
            return log_density(self.model, theta, ordered) if inside else -np.inf

        return slice_sample(log_target, np.clip(start, low, high), rng, samples=self.samples, burn=burn)
