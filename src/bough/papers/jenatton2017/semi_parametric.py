"""Tree-structured semi-parametric Gaussian process: Jenatton et al. 2017.

    y = g_p(x) + z_pᵀc + ε,   c ~ N(0, Σ_c),   g_p ~ GP(b, k_p) over the leaf's own columns      (eq. 1)

z_p stacks a feature vector r_v for each node v on the path: a constant, and at nodes that several
paths share also their columns, linearly (``tree``, sec. 2.4) or by random Fourier features
(``tree-nonlinear``, sec. 4.3). ``marginal`` is the same process with one dense covariance (eq. 4).

Where the paper leaves a choice open, or this differs:

* b_p and the constants c_v are not identifiable together. All paths share one b (0, as targets are
  standardised) and every leaf has a random offset instead, so a leaf without data is defined.
* Σ_c is diagonal with variances tied by depth, one for constants and one for features.
* With V features and n < V observations the dense form gives the same posterior at lower cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.fit import fit_map, maximise
from bough.gp.kernels import FeatureMap, Kernel, Matern52, Scale, Sum, WhereActive
from bough.gp.likelihood import Data, factorise, log_density
from bough.gp.params import LogNormal
from bough.gp.posterior import GPPosterior
from bough.gp.solvers import Solver
from bough.papers.jenatton2017 import features
from bough.papers.jenatton2017.block_model import BlockModel, block_log_posterior, block_solver
from bough.papers.jenatton2017.features import Activity, Dot, Fourier, Linear, OneHot, Stack, Weighted
from bough.points import FloatArray, Layout, Points
from bough.space.tree import Tree
from bough.surrogates.base import Base, fit_samples, split_columns

__all__ = ["PathGP", "SemiParametric"]

LEAF_VARIANCE = LogNormal(0.0, 0.5)
"""Prior of the variance of a leaf's process; tight, because a leaf has few points at first."""

OFFSET_VARIANCE = LogNormal(0.0, 1.0)
FEATURE_VARIANCE = LogNormal(0.0, 1.0)


class PathGP(GPPosterior):
    """A Gaussian process one of whose terms is the linear model that the paths share."""

    def path_predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean and sd (n,) of Φ(x)ᵀw alone, without any local process.

        Jenatton et al. 2017, eq. (6), with b = 0: z_pᵀc ~ N(z_pᵀ Λ_c⁻¹ f_c, z_pᵀ Λ_c⁻¹ z_p).
        """
        kernel = self.model.kernel
        whole = kernel if isinstance(kernel, Sum) else Sum((kernel,))
        shared = next(i for i, term in enumerate(whole.terms) if isinstance(term, Dot))
        term, theta = whole.terms[shared], self.theta[whole.parts[shared]]
        return self.moments(term(theta, points, self.data.points)[0], term.diag(theta, points)[0])[:2]


@dataclass(frozen=True, eq=False)
class SemiParametric:
    """The surrogate of ``tree``, ``tree-nonlinear`` and ``marginal``.

    nonlinear: shared columns by ``frequencies`` random Fourier features per node, not linearly.
    structured: infer by blocks (eq. 3) where that is cheaper; otherwise always densely (eq. 4).
    base: makes the kernel of a leaf from its numeric and nominal columns.
    samples: 0 for the mode of the hyperparameters, else how many slice samples.
    """

    layout: Layout
    tree: Tree
    nonlinear: bool = False
    structured: bool = True
    frequencies: int = 16
    base: Base = Matern52
    samples: int = 0

    @cached_property
    def model(self) -> BlockModel:
        """The processes of the leaves and the features of all nodes."""
        terms = (self._leaf(groups) for groups in self.tree.roles.leaves)
        return BlockModel(tuple(term for term in terms if term is not None), self.features)

    @cached_property
    def features(self) -> Stack:
        """z_p Σ_c^½: per depth, the constants of all nodes and the columns of shared ones."""
        found, depths = self.tree.roles, self.tree.depths.tolist()
        nodes = (*found.shared, *(groups[0] for groups in found.leaves))
        parts: list[FeatureMap] = []
        for depth in sorted({depths[group] for group in nodes}):
            level = [group for group in nodes if depths[group] == depth]
            parts.append(Weighted(Activity(tuple(level)), OFFSET_VARIANCE))
            maps = [
                features.WhereActive(group, feature)
                for group in level
                if group in found.shared
                for feature in self._columns(group)
            ]
            if maps:
                parts.append(Weighted(Stack(tuple(maps)), FEATURE_VARIANCE))
        return Stack(tuple(parts))

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """theta (p,) by maximum a posteriori on eq. (3), or (samples, p) slice samples."""
        if not self.samples:
            return self._mode(data, rng, start)
        by_blocks, ordered = self._by_blocks(len(data.y)), data.sorted()

        def log_target(theta: FloatArray) -> float:
            if by_blocks:
                return block_log_posterior(self.model, theta, data)[0]
            return log_density(self.model.dense, theta, ordered)

        return fit_samples(
            log_target,
            lambda: self._mode(data, rng, None),
            self.model.prior,
            rng,
            self.samples,
            start,
        )

    def posterior(self, theta: FloatArray, data: Data) -> tuple[PathGP, ...]:
        """Condition on data at given hyperparameters."""
        return tuple(self._posterior(row, data) for row in np.atleast_2d(theta))

    def _mode(self, data: Data, rng: np.random.Generator, start: FloatArray | None) -> FloatArray:
        if not self._by_blocks(len(data.y)):
            return fit_map(self.model.dense, data, rng, start=start)
        return maximise(
            lambda theta: block_log_posterior(self.model, theta, data), self.model.prior, rng, start=start
        )

    def _posterior(self, theta: FloatArray, data: Data) -> PathGP:
        if self._by_blocks(len(data.y)):
            solver: Solver = block_solver(self.model, theta, data)
        else:
            solver, _ = factorise(self.model.dense, theta, data)
        return PathGP(self.model.dense, theta, data, solver, solver.solve(data.y))

    def _by_blocks(self, n: int) -> bool:
        return self.structured and self.features.size < n

    def _leaf(self, groups: tuple[int, ...]) -> Kernel | None:
        """s·k_p over all columns that exist on one path only; None if there are none."""
        columns = np.flatnonzero(np.isin(self.layout.group, groups)).tolist()
        if not columns:
            return None
        return WhereActive(groups[0], Scale(self.base(*split_columns(self.layout, columns)), LEAF_VARIANCE))

    def _columns(self, group: int) -> list[FeatureMap]:
        """r_v without its constant: the columns of one shared node (sec. 2.4).

        A nominal switch has indicators only for options whose group does not already have a constant.
        """
        numeric, nominal = split_columns(self.layout, self.layout.columns_of(group).tolist())
        maps: list[FeatureMap] = []
        if numeric:
            fourier = Fourier(numeric, self.frequencies, seed=group)
            maps.append(fourier if self.nonlinear else Linear(numeric))
        for column in nominal:
            levels = int(self.layout.levels[column])
            options = tuple(i for i in range(levels) if (column, i) not in self.tree.roles.named)
            if options:
                maps.append(OneHot(column, levels, options))
        return maps
