"""Treed Gaussian processes for uneven objectives: HTBO of Assael et al. 2014.

A regression tree (``cart``) partitions the data. Each leaf has its own Gaussian process, conditioned on
the leaf's rows only. Its hyperparameters also learn from the rest of the
data by a weighted pseudo-likelihood (``pooling``). Mean, variance, length-scales, noise and the shapes
of the Beta warping are sampled from it by slice sampling; one posterior per sample.

On a branching space the regression tree grows inside each activation signature, and pooling
continues above it through the known tree. Rows of different signatures are independent given
the hyperparameters. A leaf's length-scales are those of its own columns; columns that only other
signatures have share one more length-scale, and are not warped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bough.gp.kernels import SE, Imputed, Kernel, Matern32, Matern52, Scale
from bough.gp.likelihood import NOISE, Data, GPModel
from bough.gp.params import LogNormal
from bough.gp.posterior import posterior
from bough.papers.assael2014.cart import grow, leaves
from bough.papers.assael2014.pooled_density import Columns, sample_targets
from bough.papers.assael2014.pooling import OUTSIDE, Hyper, Target, ancestors, pool
from bough.papers.assael2014.treed_posterior import Leaf, Partition, Region, TreedPosterior
from bough.papers.assael2014.type_two import most_likely_theta
from bough.papers.assael2014.warp import Warp
from bough.points import BoolArray, FloatArray, IntArray, Layout, rows_by_signature
from bough.space.tree import Tree
from bough.surrogates.base import Base

__all__ = ["LEAF_KERNELS", "Treed"]

NO_ROWS = np.empty(0, dtype=np.intp)

QUIET_NOISE = replace(NOISE, prior=LogNormal(float(np.log(1e-6)), 3.0), low=1e-10)
"""Noise of a leaf, which may be almost zero. Spurious noise at the best point looks like a chance to improve
there, and keeps the search away from leaves with a real chance."""

LEAF_KERNELS: dict[str, Base] = {"matern52": Matern52, "matern32": Matern32, "se": SE}

BURN_IN = 5
"""Sweeps of the sampler to discard, from the prior's median."""


@dataclass(frozen=True, eq=False)
class Treed:
    """The surrogate of ``treed`` and ``treed-warp``.

    least: fewest points of a leaf. weight: exponent w_0 of a leaf's own likelihood, which also sets
    the exponents of its ancestors. The paper's 2 squares the likelihood, which is too sharp for
    sampling; 1 gives the usual posterior if there is no split.
    samples: posteriors to average over. Few are not enough: EI in a leaf of few points comes from the
    rare samples with short length-scales. 0: the maximum of eq. (8) instead, ML-II.
    leaf_kernel: the covariance of a leaf, one of LEAF_KERNELS.
    """

    layout: Layout
    tree: Tree
    warp: bool = False
    least: int = 5
    weight: float = 1.0
    samples: int = 10
    leaf_kernel: str = "matern52"

    @cached_property
    def kernel(self) -> Kernel:
        """One covariance for all signatures: inactive columns are read as equal."""
        inner = self._stationary(*self._columns(self._all))
        return Scale(Imputed(inner, tuple(self.layout.group.tolist())) if self.layout.groups > 1 else inner)

    @cached_property
    def compared(self) -> Columns:
        return Columns(*self._columns(self._all), self.layout.group, self.warp, self.leaf_kernel)

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """Grow the tree and sample the hyperparameters of every leaf; theta (samples, all of them).

        Without samples, one row: their most likely values.

        ``start`` is ignored: the tree of other data has other leaves.
        """
        targets = self.targets(data, self.partition(data))
        if not self.samples:
            return np.concatenate(most_likely_theta(self.compared, targets, data))[None]
        chains = sample_targets(self.compared, targets, data, rng, samples=self.samples, burn=BURN_IN)
        return np.concatenate(chains, axis=1)

    def posterior(self, theta: FloatArray, data: Data) -> tuple[TreedPosterior, ...]:
        """Condition each leaf on its rows, at hyperparameters that ``fit`` sampled for the same data."""
        regions = self.partition(data)
        targets = self.targets(data, regions)
        ends = np.cumsum([len(target.hyper.start) for target in targets])[:-1]
        rows = tuple(path[0].rows for region in regions.values() for path in leaves(region.root))
        partition, found = Partition(regions), []
        for sample in theta:
            thetas = np.split(sample, ends)
            grown = (
                self._leaf(target.hyper, t, data, some) for target, t, some in zip(targets, thetas, rows)
            )
            elsewhere = self._leaf(targets[-1].hyper, thetas[-1], data, NO_ROWS)
            found.append(TreedPosterior(partition, tuple(grown), elsewhere))
        return tuple(found)

    def partition(self, data: Data) -> dict[bytes, Region]:
        """The regression tree of each signature that occurs."""
        regions: dict[bytes, Region] = {}
        first = 0
        for key, where in rows_by_signature(data.points.on).items():
            on = data.points.on[where[0]]
            columns = np.flatnonzero(on[self.layout.group] & ~self.layout.nominal)
            root = grow(data.points.x, data.y, columns, where, self.least)
            regions[key] = Region(root, first)
            first += sum(1 for _ in leaves(root))
        return regions

    def targets(self, data: Data, regions: dict[bytes, Region]) -> list[Target]:
        """The densities of each leaf's hyperparameters; the last is for signatures without data."""
        on = data.points.on
        found = []
        for region in regions.values():
            signature = on[region.root.rows[0]]
            hyper, above = self.hyper(signature), ancestors(on, signature, self.tree.depths)
            for path in leaves(region.root):
                parts = pool([node.rows for node in path] + above, self.weight)
                found.append(Target(hyper, parts))
        if self.layout.groups > 1:
            everything = pool([np.arange(len(on))], self.weight)
            nothing = self.hyper(np.zeros(self.layout.groups, dtype=bool))
            found.append(Target(nothing, everything))
        return found

    def hyper(self, on: BoolArray) -> Hyper:
        """The hyperparameters of a leaf with signature ``on`` (groups,): those of its active columns."""
        columns = self._columns(on)
        own, every = self._entries(*columns), self._entries(*self._columns(self._all))
        params = (*Scale(self._stationary(*columns)).params, QUIET_NOISE)
        noise = 1 + len(own)
        if len(own) < len(every):
            params = (*params, OUTSIDE)
        places = {entry: 1 + index for index, entry in enumerate(own)}
        # other columns share the length-scale OUTSIDE; the logs of their warping shapes are 0, the identity
        missing = {"lengthscale": noise + 1}
        return Hyper(params, np.array([places.get(e, missing.get(e[0], -1)) for e in every]), noise)

    def _stationary(self, numeric: tuple[int, ...], nominal: tuple[int, ...]) -> Kernel:
        inner = LEAF_KERNELS[self.leaf_kernel](numeric, nominal)
        return Warp(numeric, self.layout.columns, inner) if self.warp and numeric else inner

    def _entries(self, numeric: tuple[int, ...], nominal: tuple[int, ...]) -> list[tuple[str, int]]:
        """(what, column) of each entry of theta of the scaled ``_stationary`` kernel."""
        shapes = [(shape, column) for shape in ("alpha", "beta") for column in numeric] if self.warp else []
        return [("variance", -1), *shapes, *(("lengthscale", column) for column in numeric + nominal)]

    @property
    def _all(self) -> BoolArray:
        return np.ones(self.layout.groups, dtype=bool)

    def _columns(self, on: BoolArray) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Numeric and nominal columns active with signature ``on``, without switches that it implies."""
        active = on[self.layout.group]
        numeric = np.flatnonzero(active & ~self.layout.nominal).tolist()
        nominal = np.flatnonzero(active & self.layout.nominal & ~self._implied).tolist()
        return tuple(numeric), tuple(nominal)

    @cached_property
    def _implied(self) -> BoolArray:
        """(columns,) nominal switches whose value follows from activity: each option has a group."""
        return np.isin(np.arange(self.layout.columns), list(self.tree.roles.implied))

    def _leaf(self, hyper: Hyper, theta: FloatArray, data: Data, rows: IntArray) -> Leaf:
        """The process of a leaf, given its rows."""
        inner = np.append(hyper.kernel_theta(theta), theta[hyper.noise])
        residuals = Data(data.points.take(rows), data.y[rows] - theta[0], data.noise[rows])
        return Leaf(float(theta[0]), posterior(GPModel(self.kernel), inner, residuals))
