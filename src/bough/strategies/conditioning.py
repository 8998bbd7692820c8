"""Runs of observations: a run shares the factorisation of the prefix that it begins with.

Factorising the covariance of n observations costs n³ operations, appending one to a factorisation n². So the
first prefix of a run is factorised and kept, and the other observations of the run are appended to it in one
block. Where a run begins is a function of the number of observations, so a reopened study computes the same
numbers as one that kept the factorisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.points import FloatArray, IntArray
from bough.strategies.base import working_rows
from bough.strategies.hyperparameters import scheduled
from bough.surrogates.base import KernelGP, Surrogate

__all__ = ["Runs"]

LONGEST_RUN = 16
"""So many asks share the cost of a factorisation. In a long study, the rest of the working set is as old."""


@dataclass(frozen=True)
class Runs:
    """growth: of the schedule of fits, each of which begins a run. limit: of the working set.

    appended: how many observations of a run are appended, at most.
    """

    growth: float
    limit: int
    appended: int

    @staticmethod
    def of(surrogate: Surrogate, growth: float, limit: int) -> Runs:
        """A covariance with blocks has none: appending would lose the blocks."""
        dense = isinstance(surrogate, KernelGP) and surrogate.model.blocks is None
        return Runs(growth, limit, min(LONGEST_RUN - 1, limit // 25) if dense else 0)

    def begin(self, n: int) -> int:
        """How many of n observations the prefix has that begins their run."""
        return max(scheduled(n, self.growth), n - n % (self.appended + 1))

    def rows(self, y: FloatArray) -> IntArray:
        """The rows of observations y (n,) that a model sees: a working set of the prefix, then the others.

        The working set leaves room for the whole run.
        """
        begin = self.begin(len(y))
        return np.append(working_rows(y[:begin], self.limit - self.appended), np.arange(begin, len(y)))
