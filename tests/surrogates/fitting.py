"""Fit a surrogate and condition it on the same data, in one call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.gp.likelihood import Data
from bough.gp.posterior import Posterior
from bough.points import FloatArray, Points
from bough.surrogates.base import Surrogate


@dataclass(frozen=True, eq=False)
class Fit:
    theta: FloatArray
    posteriors: tuple[Posterior, ...]


def fit(
    surrogate: Surrogate,
    points: Points,
    y: FloatArray,
    noise: FloatArray,
    rng: np.random.Generator,
    start: FloatArray | None = None,
) -> Fit:
    data = Data(points, y, noise)
    theta = surrogate.fit(data, rng, start)
    return Fit(theta, tuple(surrogate.posterior(theta, data)))
