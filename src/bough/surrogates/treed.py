"""Treed Gaussian processes for uneven objectives: HTBO of Assael et al. 2014.

The data are partitioned by a regression tree (``cart``), and each leaf has a Gaussian process of
its own, conditioned on the leaf's rows only, whose hyperparameters also learn from the rest of the
data by a weighted pseudo-likelihood (``pooling``). Mean, variance, length-scales, noise and the shapes
of the Beta warping are sampled from it by slice sampling; one posterior per sample.

On a branching space the regression tree grows inside each activation signature, and the path of
pooling goes on above it through the known tree. Rows of different signatures are independent given
the hyperparameters. A leaf's length-scales are those of its own columns; columns that only other
signatures have share one more length-scale, and are not warped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bough.gp.kernels.base import Kernel, Scale
from bough.gp.kernels.conditional import Imputed, signatures
from bough.gp.kernels.stationary import Matern52
from bough.gp.kernels.warp import Warp
from bough.gp.likelihood import NOISE, Data, Model
from bough.gp.posterior import NEGLIGIBLE_NOISE, GPPosterior, posterior
from bough.gp.priors import LogNormal
from bough.gp.slice import slice_sample
from bough.points import BoolArray, FloatArray, IntArray, Layout, Points
from bough.space.tree import Tree
from bough.surrogates.base import Fit
from bough.surrogates.cart import Node, grow, leaves, route
from bough.surrogates.paths import roles
from bough.surrogates.pooling import OUTSIDE, Hyper, PseudoLikelihood, ancestors, group_depths, pool

__all__ = ["Treed", "TreedPosterior"]

NO_ROWS = np.empty(0, dtype=np.intp)

QUIET_NOISE = replace(NOISE, prior=LogNormal(float(np.log(1e-6)), 3.0), low=1e-10)
"""Of a leaf, which may be all but noiseless: noise that is only left over at the best point looks like a
chance to improve there, and keeps the search from the leaves where there is one."""

BURN_IN, BURN_IN_WARM = 5, 2
"""Sweeps of the sampler to discard: from the prior's median, or from where a neighbour's chain ended."""


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
class Treed:
    """The surrogate of ``treed`` and ``treed-warp``.

    least: fewest points of a leaf. weight: exponent of a leaf's own likelihood, from which those of
    its ancestors follow. The paper's 2 makes a density that is too sharp by its square root when it
    is sampled; 1 gives the usual posterior where there is no split.
    samples: posteriors to average over. Few are not enough: EI in a leaf of few points comes from the
    rare samples with short length-scales.
    """

    layout: Layout
    tree: Tree
    warp: bool = False
    least: int = 5
    weight: float = 1.0
    samples: int = 10

    @cached_property
    def _depths(self) -> IntArray:
        return group_depths(self.tree)

    @cached_property
    def kernel(self) -> Kernel:
        """One covariance for all signatures: inactive columns are read as equal."""
        inner = self._stationary(*self._columns(self._all))
        return Scale(Imputed(inner, tuple(self.layout.group.tolist())) if self.layout.groups > 1 else inner)

    def fit(
        self,
        points: Points,
        y: FloatArray,
        noise: FloatArray,
        rng: np.random.Generator,
        start: FloatArray | None = None,
    ) -> Fit:
        """Grow the tree and sample the hyperparameters of every leaf; theta (samples, all of them).

        ``start`` is of no use: the tree of other data has other leaves. But neighbouring leaves learn
        from mostly the same data, so that each chain starts where the one before has ended.
        """
        chains: list[FloatArray] = []
        for target in self.targets(Data(points, y, noise)):
            warm = bool(chains) and chains[-1].shape[1] == len(target.hyper.start)
            chains.append(
                slice_sample(
                    target,
                    chains[-1][-1] if warm else target.hyper.start,
                    rng,
                    samples=self.samples,
                    burn=BURN_IN_WARM if warm else BURN_IN,
                )
            )
        theta = np.concatenate(chains, axis=1)
        return Fit(self.posterior(theta, points, y, noise), theta)

    def posterior(
        self, theta: FloatArray, points: Points, y: FloatArray, noise: FloatArray
    ) -> tuple[TreedPosterior, ...]:
        """Condition each leaf on its rows, with the hyperparameters that were sampled for the same data."""
        data = Data(points, y, noise)
        regions, targets = self.partition(data), self.targets(data)
        ends = np.cumsum([len(target.hyper.start) for target in targets])[:-1]
        rows = tuple(path[0].rows for region in regions.values() for path in leaves(region.root))
        found = []
        for sample in theta:
            thetas = np.split(sample, ends)
            grown = (
                self._leaf(target.hyper, t, data, some) for target, t, some in zip(targets, thetas, rows)
            )
            elsewhere = self._leaf(targets[-1].hyper, thetas[-1], data, NO_ROWS)
            found.append(TreedPosterior(regions, tuple(grown), rows, elsewhere))
        return tuple(found)

    def partition(self, data: Data) -> dict[bytes, Region]:
        """The regression tree of each signature that occurs."""
        regions: dict[bytes, Region] = {}
        first = 0
        for key, rows in signatures(data.points.on).items():
            where = np.arange(len(data.y))[rows]
            on = data.points.on[where[0]]
            columns = np.flatnonzero(on[self.layout.group] & ~self.layout.nominal)
            root = grow(data.points.x, data.y, columns, where, self.least)
            regions[key] = Region(root, first)
            first += sum(1 for _ in leaves(root))
        return regions

    def targets(self, data: Data) -> list[PseudoLikelihood]:
        """What each leaf's hyperparameters are sampled from; the last is for signatures without data."""
        on = data.points.on
        found = []
        for region in self.partition(data).values():
            signature = on[region.root.rows[0]]
            above = ancestors(on, signature, self._depths)
            for path in leaves(region.root):
                parts = pool([node.rows for node in path] + above, self.weight)
                found.append(PseudoLikelihood(self.hyper(signature), self.kernel, parts, data))
        if self.layout.groups > 1:
            everything = pool([np.arange(len(on))], self.weight)
            nothing = self.hyper(np.zeros(self.layout.groups, dtype=bool))
            found.append(PseudoLikelihood(nothing, self.kernel, everything, data))
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
        # a length-scale that is not its own is the one outside; the shapes of a warping are 0, the identity
        missing = {"lengthscale": noise + 1}
        return Hyper(params, np.array([places.get(e, missing.get(e[0], -1)) for e in every]), noise)

    def _stationary(self, numeric: tuple[int, ...], nominal: tuple[int, ...]) -> Kernel:
        inner = Matern52(numeric, nominal)
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
        """(columns,) nominal switches whose value activity tells: each of their options has a group."""
        named = roles(self.layout, self.tree).named
        return np.array(
            [
                bool(switch) and all((column, option) in named for option in range(levels))
                for column, (switch, levels) in enumerate(zip(self.layout.switch, self.layout.levels))
            ],
            dtype=bool,
        )

    def _leaf(self, hyper: Hyper, theta: FloatArray, data: Data, rows: IntArray) -> Leaf:
        """The process of a leaf, given its rows."""
        inner = np.append(hyper.kernel_theta(theta), theta[hyper.noise])
        residuals = Data(data.points.take(rows), data.y[rows] - theta[0], data.noise[rows])
        return Leaf(float(theta[0]), posterior(Model(self.kernel), inner, residuals))


@dataclass(frozen=True, eq=False)
class TreedPosterior:
    """One sample of all leaves' hyperparameters, conditioned on data. Discontinuous at thresholds.

    leaves: in the order of ``regions``; rows: the data each holds, by row number.
    elsewhere: without data, with the hyperparameters of all together: signatures that have none.
    """

    regions: dict[bytes, Region]
    leaves: tuple[Leaf, ...]
    rows: tuple[IntArray, ...]
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

    def condition(self, points: Points, y: FloatArray, noise: FloatArray | None = None) -> TreedPosterior:
        """The partition stays as it is; each point joins the leaf in which it is predicted."""
        regions, found, held = dict(self.regions), list(self.leaves), list(self.rows)
        known = 1 + max(int(rows.max(initial=-1)) for rows in held)
        for rows, leaf, index in self._split(points):
            told = None if noise is None else noise[rows]
            grown = replace(
                leaf, process=leaf.process.condition(points.take(rows), y[rows] - leaf.mean, told)
            )
            if index is None:
                key = np.packbits(points.on[rows[0]]).tobytes()
                regions[key] = Region(Node(rows), len(found))
                found.append(grown)
                held.append(known + rows)
            else:
                found[index] = grown
                held[index] = np.concatenate([held[index], known + rows])
        return replace(self, regions=regions, leaves=tuple(found), rows=tuple(held))

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        out = np.empty((n, len(points)))
        for rows, leaf, _ in self._split(points):
            out[:, rows] = leaf.mean + leaf.process.sample(points.take(rows), n, rng)
        return out

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Each row by the leaves that hold it; a row on a threshold by the last of them."""
        n = 1 + max(int(rows.max(initial=-1)) for rows in self.rows)
        mean, sd = np.empty(n), np.empty(n)
        for leaf, rows in zip(self.leaves, self.rows):
            centre, sd[rows] = leaf.process.leave_one_out()
            mean[rows] = leaf.mean + centre
        return mean, sd

    def innovations(self) -> FloatArray:
        """As ``leave_one_out``, leaf by leaf."""
        out = np.empty(1 + max(int(rows.max(initial=-1)) for rows in self.rows))
        for leaf, rows in zip(self.leaves, self.rows):
            out[rows] = leaf.process.innovations()
        return out

    @property
    def noisy(self) -> bool:
        """Whether noise was told. What is sampled for a leaf of few rows may be noise or roughness."""
        return any(bool((leaf.process.data.told > NEGLIGIBLE_NOISE).any()) for leaf in self.leaves)

    def _split(self, points: Points) -> list[tuple[IntArray, Leaf, int | None]]:
        """Rows of ``points`` by leaf, with the leaf and its number: None for a signature without data."""
        parts: list[tuple[IntArray, Leaf, int | None]] = []
        found, of = np.unique(np.packbits(points.on, axis=1), axis=0, return_inverse=True)
        for index, key in enumerate(found):
            rows = np.flatnonzero(of == index)
            region = self.regions.get(key.tobytes())
            if region is None:
                parts.append((rows, self.elsewhere, None))
                continue
            number = region.first + route(region.root, points.x[rows])
            parts += [(rows[number == i], self.leaves[i], int(i)) for i in np.unique(number)]
        return parts
