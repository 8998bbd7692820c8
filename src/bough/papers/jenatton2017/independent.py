"""One Gaussian process per path with separate hyperparameters: nothing is shared.

The baseline ``independent`` of Jenatton et al. 2017 (their model with c = 0, table 1) and of Ma &
Blaschko 2020 (fig. 4). Every path has a constant and a stationary kernel over all its active columns.

Paths are ordered by their first point, and theta concatenates their hyperparameters in that order. So the
theta of an earlier fit is a prefix of a later theta.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.gp.kernels import Constant, Kernel, Matern52, Scale
from bough.gp.likelihood import Data, GPModel
from bough.gp.params import total_size
from bough.gp.posterior import GPPosterior, Posterior, posterior
from bough.points import BoolArray, FloatArray, IntArray, Layout, Points
from bough.space.tree import Tree
from bough.surrogates.base import Base, KernelGP, split_columns

__all__ = ["Independent", "PathPosteriors"]


@dataclass(frozen=True, eq=False)
class Independent:
    """The surrogate.

    base: makes the kernel of a path from its numeric and nominal columns.
    samples: 0 for the mode of the hyperparameters, else how many slice samples.
    """

    layout: Layout
    tree: Tree
    base: Base = Matern52
    samples: int = 0

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """Each path by itself: theta (p,) at the mode, or (samples, p)."""
        thetas = [np.empty((self.samples, 0) if self.samples else 0)]
        for _, rows, model, known in self._models(data.points, start):
            thetas.append(KernelGP(model, self.samples).fit(data.take(rows), rng, known))
        return np.concatenate(thetas, axis=-1)

    def posterior(self, theta: FloatArray, data: Data) -> tuple[PathPosteriors, ...]:
        """Condition on data at given hyperparameters; a path beyond theta has its prior's median."""
        found = []
        for sample in np.atleast_2d(theta):
            parts = {}
            for path, rows, model, known in self._models(data.points, sample):
                mine = model.prior.median if known is None else known
                parts[path] = posterior(model, mine, data.take(rows))
            found.append(PathPosteriors(self, parts))
        return tuple(found)

    def model(self, on: BoolArray) -> GPModel:
        """The process of the path with signature ``on`` (groups,). Nominal switches are fixed on it."""
        free = ~(self.layout.nominal & self.layout.switch)
        columns = np.flatnonzero(on[self.layout.group] & free).tolist()
        kernel: Kernel = Constant()
        if columns:
            kernel = kernel + Scale(self.base(*split_columns(self.layout, columns)))
        return GPModel(kernel)

    def _models(
        self, points: Points, theta: FloatArray | None
    ) -> list[tuple[bytes, IntArray, GPModel, FloatArray | None]]:
        """Each path in order with its rows, its model, and its part of theta where theta reaches it."""
        found, start = [], 0
        for path, rows in self.tree.rows_by_path(points).items():
            model = self.model(points.on[rows[0]])
            stop = start + total_size(model.params)
            known = theta[..., start:stop] if theta is not None and stop <= theta.shape[-1] else None
            found.append((path, rows, model, known))
            start = stop
        return found


@dataclass(frozen=True, eq=False)
class PathPosteriors(Posterior):
    """Posteriors of all paths with data, by path; the others are at their prior."""

    surrogate: Independent
    parts: dict[bytes, GPPosterior]

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        mean, sd = np.empty(len(points)), np.empty(len(points))
        for _, rows, part in self._split(points):
            mean[rows], sd[rows] = part.predict(points.take(rows))
        return mean, sd

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        mean, sd = np.empty(len(points)), np.empty(len(points))
        d_mean, d_sd = np.zeros(points.x.shape), np.zeros(points.x.shape)
        for _, rows, part in self._split(points):
            mean[rows], sd[rows], d_mean[rows], d_sd[rows] = part.predict_grad(points.take(rows))
        return mean, sd, d_mean, d_sd

    def condition(self, points: Points, y: FloatArray) -> PathPosteriors:
        grown = {path: part.condition(points.take(rows), y[rows]) for path, rows, part in self._split(points)}
        return PathPosteriors(self.surrogate, self.parts | grown)

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        out = np.empty((n, len(points)))
        for _, rows, part in self._split(points):
            out[:, rows] = part.sample(points.take(rows), n, rng)
        return out

    @property
    def has_noise(self) -> bool:
        return any(part.has_noise for part in self.parts.values())

    def _split(self, points: Points) -> list[tuple[bytes, IntArray, GPPosterior]]:
        """Each path that occurs in ``points``, with its rows and its posterior."""
        return [
            (path, rows, self.parts[path] if path in self.parts else self._prior(points.take(rows[:1])))
            for path, rows in self.surrogate.tree.rows_by_path(points).items()
        ]

    def _prior(self, row: Points) -> GPPosterior:
        """The process of the path of ``row``, without data."""
        model = self.surrogate.model(row.on[0])
        return posterior(model, model.prior.median, Data(row.take([]), np.empty(0), np.empty(0)))
