"""A penalty for the boundary: half of the neighbourhood of a boundary point lies outside the space.

A Gaussian process is most uncertain at the edges of its domain, because observations lie on one side only. So
expected improvement sends one trial after another into corners, the more so the more dimensions there are
(Siivola et al. 2018, arXiv 1704.00963, correct the model instead). But an uncertain point is worth trying for
what it tells about other points, and a boundary point tells less: half of its neighbourhood lies outside.
So improvement is weighted with the share that lies inside,

    w(x) = prod_c min(1, 1/2 + edge_c(x) / (2 MARGIN)),

where edge_c is the distance of column c to the nearer end of its range. The factor is at most two per column.
It decides where to explore, and is negligible once the optimum is known to lie on the boundary: a good and a
bad point then differ by orders of magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.points import FloatArray, Layout, Points

__all__ = ["BoundaryPenalty"]

MARGIN = 0.25
"""Half-width of the neighbourhood, as a share of the range: half of the prior median length-scale of a column
that is alone in its group."""


@dataclass(frozen=True, eq=False)
class BoundaryPenalty:
    """The criterion log w(x) over the active columns that are not nominal."""

    layout: Layout

    def __call__(self, points: Points) -> FloatArray:
        return self.with_gradient(points)[0]

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """(n,) log w and its (n, columns) gradient, zero inside and under inactive columns."""
        counted = self.layout.active(points.on) & ~self.layout.nominal
        x = np.where(counted, points.x, 0.5)
        edge = np.minimum(x, 1.0 - x)
        near = edge < MARGIN
        value = np.where(near, np.log(0.5 + edge / (2.0 * MARGIN)), 0.0).sum(axis=1)
        return value, np.where(near, np.where(x < 0.5, 1.0, -1.0) / (MARGIN + edge), 0.0)
