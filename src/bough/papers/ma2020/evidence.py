"""Choose between covariances by their evidence (Ma & Blaschko 2020, App. E: which interactions to include).

The evidence of a model with p hyperparameters is approximated from n observations by Schwarz 1978,

    log p(y) ≈ log p(y | θ̂) − ½ p log n,

at the mode θ̂. With few observations the simplest model wins; a product has to earn its hyperparameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.gp.fit import fit_map
from bough.gp.likelihood import Data, log_likelihood
from bough.gp.posterior import GPPosterior
from bough.points import FloatArray
from bough.surrogates.base import KernelGP

__all__ = ["BestByEvidence"]


@dataclass(frozen=True, eq=False)
class BestByEvidence:
    """A surrogate that is one of several. theta: the number of the chosen one, then its own theta."""

    candidates: Sequence[KernelGP]

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """Fit every candidate and keep the one with the largest evidence; ``start`` is for one of them."""
        found = []
        for number, candidate in enumerate(self.candidates):
            known = start[1:] if start is not None and int(start[0]) == number else None
            theta = fit_map(candidate.model, data, rng, start=known)
            evidence = log_likelihood(candidate.model, theta, data)[0] - 0.5 * len(theta) * np.log(
                len(data.y)
            )
            found.append((evidence, number, theta))
        _, best, theta = max(found, key=lambda each: each[0])
        return np.concatenate([[float(best)], theta])

    def posterior(self, theta: FloatArray, data: Data) -> tuple[GPPosterior, ...]:
        return self.candidates[int(theta[0])].posterior(theta[1:], data)
