"""Ranks and unit positions of all grids of a space at once: ints, steps and options.

``Domain.rank_at`` and ``Domain.position`` do this for one column. A search moves dozens of columns of a few
rows, where one call per column would cost more than the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bough.points import FloatArray, IntArray
from bough.space.parameters import Domain, Int

__all__ = ["Grids"]


class Grids:
    """The columns with values on a grid. A real column counts as a grid of one value; ignore it.

    even: columns whose values are evenly spaced in the unit interval.  log: columns of log-scaled ints.
    """

    def __init__(self, domains: Sequence[Domain]) -> None:
        scaled = [(i, d) for i, d in enumerate(domains) if isinstance(d, Int) and d.log]
        self.log: IntArray = np.array([i for i, _ in scaled], dtype=np.intp)
        self.even: IntArray = np.array(
            [i for i, d in enumerate(domains) if d.kind != "real" and i not in self.log], dtype=np.intp
        )
        self.levels: FloatArray = np.array([float(max(domain.levels, 1)) for domain in domains])
        self._index = np.full(len(domains), -1)
        self._index[self.log] = np.arange(len(self.log))
        self._low, self._high = np.array([(d.low, d.high) for _, d in scaled]).reshape(-1, 2).astype(float).T
        self._log_low = np.array([math.log(domain.low - 0.5) for _, domain in scaled])
        self._span = np.array([math.log(domain.high + 0.5) for _, domain in scaled]) - self._log_low

    @cached_property
    def log_scales(self) -> FloatArray:
        """(4, columns) smallest and largest number, log of the lower end, and log span of log-scaled ints.

        Zero in other columns.
        """
        scales = np.zeros((4, len(self.levels)))
        scales[:, self.log] = self._low, self._high, self._log_low, self._span
        return scales

    def rank_at(self, unit: FloatArray) -> FloatArray:
        """The ranks nearest to unit positions (..., columns)."""
        ranks = np.minimum(np.maximum(np.floor(unit * self.levels), 0.0), self.levels - 1.0)
        if len(self.log):
            ranks[..., self.log] = self.log_rank_at(unit[..., self.log])
        return ranks

    def position(self, rank: FloatArray, column: IntArray) -> FloatArray:
        """The unit positions (n,) of n ranks; rank i belongs to column ``column[i]``."""
        place = (rank + 0.5) / self.levels[column]
        if len(self.log):
            scaled = np.flatnonzero(self._index[column] >= 0)
            place[scaled] = self.log_position(rank[scaled], self._index[column[scaled]])
        return place

    def log_rank_at(self, unit: FloatArray) -> FloatArray:
        """The same for positions (..., k) in the columns ``log`` alone."""
        clipped = np.minimum(np.maximum(unit, 0.0), 1.0)
        number = np.rint(np.exp(self._log_low + clipped * self._span))
        return np.asarray(np.minimum(np.maximum(number, self._low), self._high) - self._low)

    def log_position(self, rank: FloatArray, which: IntArray | slice = slice(None)) -> FloatArray:
        """Unit positions of ranks (..., k) in the columns ``log[which]``."""
        numbers = np.log(self._low[which] + rank)
        return np.asarray((numbers - self._log_low[which]) / self._span[which])
