"""Edges of the box: a trial there tells about half of its neighbourhood only.

A Gaussian process is most unsure at the edges of its domain, as there are observations on one side only,
so that expected improvement sends one trial after another into corners, the more so the more dimensions
there are (Siivola et al. 2018, arXiv 1704.00963, who correct the model instead). But what counts is not how
unsure one is of a point: it is what its result would tell about others, and of the neighbourhood of a
point on an edge half lies outside. So improvement is weighted with the share that lies inside,

    w(x) = prod_c min(1, 1/2 + edge_c(x) / (2 MARGIN)),

edge_c being the distance of column c to the nearer end of its range. That is at most a factor of two for
each column. It settles where to look, and vanishes beside the orders of magnitude that tell a good point
from a bad one once the optimum is known to lie on an edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.points import FloatArray, Layout, Points

__all__ = ["Inside"]

MARGIN = 0.25
"""Half-width of the neighbourhood, as a share of the range: half of what is expected of the length-scale of a
column that is alone in its group."""


@dataclass(frozen=True, eq=False)
class Inside:
    """The criterion log w(x), over the active columns that have an order."""

    layout: Layout

    def __call__(self, points: Points) -> FloatArray:
        return self.with_gradient(points)[0]

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """(n,) log w and its (n, columns) gradient, zero away from edges and under inactive columns."""
        counted = self.layout.active(points.on) & ~self.layout.nominal
        x = np.where(counted, points.x, 0.5)
        edge = np.minimum(x, 1.0 - x)
        near = edge < MARGIN
        value = np.where(near, np.log(0.5 + edge / (2.0 * MARGIN)), 0.0).sum(axis=1)
        return value, np.where(near, np.where(x < 0.5, 1.0, -1.0) / (MARGIN + edge), 0.0)
