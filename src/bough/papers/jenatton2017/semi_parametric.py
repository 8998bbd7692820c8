"""Tree-structured semi-parametric Gaussian process: Jenatton et al. 2017.

    y = g_p(x) + z_pᵀc + ε,   c ~ N(0, Σ_c),   g_p ~ GP(b, k_p) over the leaf's own columns      (eq. 1)

z_p stacks a feature vector r_v for each node v on the path: a constant, and at nodes that several
paths share also their columns, linearly (``tree``, sec. 2.4) or by random Fourier features
(``tree-nonlinear``, sec. 4.3). ``marginal`` is the same process with one dense covariance (eq. 4).

What the paper leaves open or has otherwise:

* b_p and the constants c_v are not identifiable together. One b serves all paths (0, as targets are
  standardised) and every leaf has a random offset instead, so that a leaf without data is defined.
* Σ_c is diagonal with variances tied by depth, one for constants and one for features.
* With V features and n < V observations the dense form is the cheaper way to the same posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.fit import fit_map, maximise
from bough.gp.kernels.base import Kernel, On, Scale
from bough.gp.kernels.features import Activity, FeatureMap, Fourier, Gated, Linear, OneHot, Stack, Weighted
from bough.gp.kernels.stationary import Matern52
from bough.gp.likelihood import Data
from bough.gp.params import total_size
from bough.gp.posterior import GPPosterior, posterior
from bough.gp.priors import LogNormal
from bough.papers.jenatton2017.block_model import BlockModel, block_log_posterior, block_posterior
from bough.points import FloatArray, Layout, Points
from bough.space.tree import Tree
from bough.surrogates.base import Fit
from bough.surrogates.kernel_gp import Base, split_columns

__all__ = ["SemiParametric", "Weights"]

LEAF_VARIANCE = LogNormal(0.0, 0.5)
"""Of each leaf's process on standardised targets; tight, because a leaf has few points at first."""

OFFSET_VARIANCE = LogNormal(0.0, 1.0)
FEATURE_VARIANCE = LogNormal(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Weights:
    """The posterior c | y ~ N(Λ_c⁻¹ f_c, Λ_c⁻¹) of the weights: mean (V,) and covariance (V, V)."""

    mean: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, eq=False)
class SemiParametric:
    """The surrogate of ``tree``, ``tree-nonlinear`` and ``marginal``.

    nonlinear: shared columns by ``frequencies`` random Fourier features per node, not linearly.
    structured: infer by blocks (eq. 3) where that is cheaper; otherwise always densely (eq. 4).
    base: the kernel of a leaf, of its numeric and nominal columns.
    """

    layout: Layout
    tree: Tree
    nonlinear: bool = False
    structured: bool = True
    frequencies: int = 16
    base: Base = Matern52

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
                Gated(group, feature)
                for group in level
                if group in found.shared
                for feature in self._columns(group)
            ]
            if maps:
                parts.append(Weighted(Stack(tuple(maps)), FEATURE_VARIANCE))
        return Stack(tuple(parts))

    def fit(
        self,
        points: Points,
        y: FloatArray,
        noise: FloatArray,
        rng: np.random.Generator,
        start: FloatArray | None = None,
    ) -> Fit:
        """theta by maximum a posteriori on eq. (3), and the posterior there."""
        data = Data(points, y, noise)
        if self._by_blocks(len(y)):
            theta = maximise(
                lambda theta: block_log_posterior(self.model, theta, data),
                self.model.params,
                rng,
                start=start,
            )
        else:
            theta = fit_map(self.model.dense, data, rng, start=start)
        return Fit(self.posterior(theta, points, y, noise), theta)

    def posterior(
        self, theta: FloatArray, points: Points, y: FloatArray, noise: FloatArray
    ) -> tuple[GPPosterior]:
        """Condition on data at given hyperparameters."""
        data = Data(points, y, noise)
        if self._by_blocks(len(y)):
            return (block_posterior(self.model, theta, data),)
        return (posterior(self.model.dense, theta, data),)

    def weights(self, known: GPPosterior) -> Weights:
        """The posterior of c, in the order of ``features``. Given F = Zᵀ Σ_c^½ and c = Σ_c^½ w:

        E[w] = FᵀK⁻¹y and Cov[w] = I − FᵀK⁻¹F, which is B⁻¹.
        """
        theta = known.theta[self.model.parts[-1]]
        features, _ = self.features(theta, known.data.points)
        white = known.solver.whiten(features)
        scale = self._scale(theta)
        inner = np.eye(features.shape[1]) - white.T @ white
        return Weights(scale * (features.T @ known.alpha), scale[:, None] * inner * scale)

    def _by_blocks(self, n: int) -> bool:
        return self.structured and self.features.size < n

    def _leaf(self, groups: tuple[int, ...]) -> Kernel | None:
        """s·k_p over all columns that exist on one path only; None where there are none."""
        columns = np.flatnonzero(np.isin(self.layout.group, groups)).tolist()
        if not columns:
            return None
        return On(groups[0], Scale(self.base(*split_columns(self.layout, columns)), LEAF_VARIANCE))

    def _columns(self, group: int) -> list[FeatureMap]:
        """r_v without its constant: the columns of one shared node (sec. 2.4).

        A nominal switch has an indicator for those options only whose group has no constant already.
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

    def _scale(self, theta: FloatArray) -> FloatArray:
        """Σ_c^½ (V,): each weighted part has its variance first in its theta."""
        roots, start = [np.empty(0)], 0
        for part in self.features.maps:
            roots.append(np.full(part.size, np.exp(0.5 * theta[start])))
            start += total_size(part.params)
        return np.concatenate(roots)
