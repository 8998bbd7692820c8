"""Hyperparameters of a prefix of the history, and which earlier ones the search for them starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bough.gp.likelihood import Data
from bough.gp.output_transform import OutputTransform
from bough.history import History
from bough.points import FloatArray
from bough.strategies import streams
from bough.strategies.cache import digest, keep
from bough.strategies.schedule import begin_of_block, earlier
from bough.strategies.working_set import working_rows
from bough.surrogates.base import Surrogate

__all__ = ["CACHED_FITS", "Fitted", "Fitter"]

CACHED_FITS = 64

ROUGH_ROWS = (96, 240)
"""A rough fit sees so many rows of a working set, first few and then more."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The output transform and the hyperparameters, fitted to a prefix of the history."""

    transform: OutputTransform
    theta: FloatArray


@dataclass(frozen=True, eq=False)
class Fitter:
    """Fits a surrogate to prefixes of a history. Fits are cached by content: the cache may be dropped.

    growth: of the schedule of fits. working_set: how many observations a fit sees at most.
    """

    surrogate: Surrogate
    fit_transform: Callable[[FloatArray], OutputTransform]
    growth: float
    working_set: int
    cache: dict[bytes, Fitted]

    def fit(self, history: History, length: int, rough: bool = False) -> Fitted:
        """Hyperparameters of the first ``length`` observations: a function of those and the seed alone.

        rough: of some rows of the working set alone, as a start for fits to all of them.
        """
        points, y, noise = history.done.take(slice(0, length)), history.y[:length], history.noise[:length]
        key = digest(points, y, noise, history.seed) + (b"rough" if rough else b"")
        fitted = self.cache.get(key)
        if fitted is None:
            rows, transform = working_rows(y, self.working_set), self.fit_transform(y)
            data = Data(points.take(rows), transform.forward(y[rows]), transform.noise(y[rows], noise[rows]))
            rng = np.random.default_rng([history.seed, length, streams.FIT])
            if rough:
                theta = self._fit_roughly(data, rng)
            else:
                theta = self.surrogate.fit(data, rng, self._start(history, length))
            fitted = Fitted(transform, theta)
            keep(self.cache, key, fitted, CACHED_FITS)
        return fitted

    def _start(self, history: History, length: int) -> FloatArray | None:
        """The hyperparameters from which the search for those of ``length`` starts."""
        before = earlier(length, self.growth, self.working_set)
        if before is not None:
            return self.fit(history, before).theta
        if length <= self.working_set:
            return None
        return self.fit(history, begin_of_block(length, self.growth, self.working_set), rough=True).theta

    def _fit_roughly(self, data: Data, rng: np.random.Generator) -> FloatArray:
        few, more = (
            data.take(np.linspace(0, len(data.y) - 1, min(count, len(data.y))).astype(np.intp))
            for count in ROUGH_ROWS
        )
        return self.surrogate.fit(more, rng, self.surrogate.fit(few, rng))
