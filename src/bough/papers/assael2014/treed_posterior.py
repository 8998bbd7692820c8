"""The posterior of a treed process: which leaf a point falls into, and that leaf's posterior."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from bough.gp.posterior import NEGLIGIBLE_NOISE, GPPosterior, Posterior
from bough.papers.assael2014.cart import Node, route
from bough.points import FloatArray, IntArray, Points, rows_by_signature

__all__ = ["Leaf", "Partition", "Region", "TreedPosterior"]


@dataclass(frozen=True, eq=False)
class Leaf:
    """A Gaussian process with a constant mean, on one part of the space."""

    mean: float
    process: GPPosterior


@dataclass(frozen=True, eq=False)
class Region:
    """The tree of one activation signature; its leaves are numbered from ``first`` on."""

    root: Node
    first: int


@dataclass(frozen=True, eq=False)
class Partition:
    """The regions by activation signature. All samples of the hyperparameters share it."""

    regions: dict[bytes, Region]
    _last: list[tuple[Points, list[tuple[IntArray, int | None]]]] = field(default_factory=list, repr=False)

    def split(self, points: Points) -> list[tuple[IntArray, int | None]]:
        """Rows of ``points`` by leaf, with its number: None for a signature without data.

        The last result is cached: all samples predict the same candidates in turn.
        """
        for known, answer in self._last:
            if known is points:
                return answer
        answer = self._split(points)
        self._last[:] = [(points, answer)]
        return answer

    def _split(self, points: Points) -> list[tuple[IntArray, int | None]]:
        parts: list[tuple[IntArray, int | None]] = []
        for key, rows in rows_by_signature(points.on).items():
            region = self.regions.get(key)
            if region is None:
                parts.append((rows, None))
                continue
            number = region.first + route(region.root, points.x[rows])
            parts += [(rows[number == i], int(i)) for i in np.unique(number)]
        return parts


@dataclass(frozen=True, eq=False)
class TreedPosterior(Posterior):
    """One sample of all leaves' hyperparameters, conditioned on data. Discontinuous at thresholds.

    leaves: in the order of the partition.
    elsewhere: for signatures without data, with hyperparameters learned from all data.
    """

    partition: Partition
    leaves: tuple[Leaf, ...]
    elsewhere: Leaf

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        mean, sd = np.empty(len(points)), np.empty(len(points))
        for rows, leaf, _ in self._split(points):
            mean[rows], sd[rows] = leaf.process.predict(points.take(rows))
            mean[rows] += leaf.mean
        return mean, sd

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        mean, sd = np.empty(len(points)), np.empty(len(points))
        d_mean, d_sd = np.zeros(points.x.shape), np.zeros(points.x.shape)
        for rows, leaf, _ in self._split(points):
            mean[rows], sd[rows], d_mean[rows], d_sd[rows] = leaf.process.predict_grad(points.take(rows))
            mean[rows] += leaf.mean
        return mean, sd, d_mean, d_sd

    def condition(self, points: Points, y: FloatArray) -> TreedPosterior:
        """The partition stays as it is; each point joins the leaf in which it is predicted."""
        regions, found = dict(self.partition.regions), list(self.leaves)
        for rows, leaf, index in self._split(points):
            grown = replace(leaf, process=leaf.process.condition(points.take(rows), y[rows] - leaf.mean))
            if index is None:
                key = np.packbits(points.on[rows[0]]).tobytes()
                regions[key] = Region(Node(rows), len(found))
                found.append(grown)
            else:
                found[index] = grown
        return replace(self, partition=Partition(regions), leaves=tuple(found))

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        out = np.empty((n, len(points)))
        for rows, leaf, _ in self._split(points):
            out[:, rows] = leaf.mean + leaf.process.sample(points.take(rows), n, rng)
        return out

    @property
    def has_noise(self) -> bool:
        """Whether noise was reported. Sampled noise of a leaf with few rows may be roughness."""
        return any(bool((leaf.process.data.reported > NEGLIGIBLE_NOISE).any()) for leaf in self.leaves)

    def _split(self, points: Points) -> list[tuple[IntArray, Leaf, int | None]]:
        """Rows of ``points`` by leaf, with the leaf and its number: None for a signature without data."""
        return [
            (rows, self.elsewhere if number is None else self.leaves[number], number)
            for rows, number in self.partition.split(points)
        ]
