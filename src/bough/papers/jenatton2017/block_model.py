"""Gaussian processes whose paths share only a linear model: likelihood and solver by blocks.

    y_i = g_p(x_i) + φ(x_i)ᵀw + ε_i,   w ~ N(0, I),   g_p ~ GP(0, k_p) independent between signatures p
    K = blockdiag(K_p) + F Fᵀ + diag(σ²),   F = Φ(X) (n, V)            (Jenatton et al. 2017, eq. 1 and 4)

In the paper φ = Σ_c^½ z_p and c = Σ_c^½ w. Only the blocks K_p are ever evaluated, and with α = K⁻¹y,
U from K⁻¹ = M⁻¹ − U Uᵀ (``structured.LowRank``) the gradient of log P(y), eq. 3, is the pullback of

    ∂/∂K_p = ½ (α_p α_pᵀ − M_p⁻¹ + U_p U_pᵀ),    ∂/∂F = α (αᵀF) − K⁻¹F,    K⁻¹F = L⁻ᵀ W B⁻¹.

Without features these are independent processes, and the conditional kernel of Lévesque et al. 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bough.gp.block_solver import factor_blocks
from bough.gp.kernels import FeatureMap, Kernel, Pullback, WhereActive
from bough.gp.likelihood import Data, GPModel
from bough.gp.params import JointPrior, Param, total_size
from bough.papers.jenatton2017.features import Dot
from bough.papers.jenatton2017.structured import LowRank
from bough.points import FloatArray, IntArray, Points, rows_by_signature

__all__ = ["BlockModel", "block_log_likelihood", "block_log_posterior", "block_solver"]


@dataclass(frozen=True)
class BlockModel:
    """Local covariances that vanish between signatures, shared features, and noise.

    local: terms that are summed; one under ``WhereActive(group, …)`` is evaluated only where the group is on.
    theta: of the local terms, of the features, log noise variance, as in ``dense``.
    """

    local: tuple[Kernel, ...]
    features: FeatureMap

    @cached_property
    def dense(self) -> GPModel:
        """The same process with one covariance for all points: ``marginal``, eq. (4)."""
        kernel: Kernel = Dot(self.features)
        for term in reversed(self.local):
            kernel = term + kernel
        return GPModel(kernel)

    @property
    def params(self) -> tuple[Param, ...]:
        return self.dense.params

    @property
    def prior(self) -> JointPrior:
        return self.dense.prior

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """The slice of theta that belongs to each local term, then to the features."""
        sizes = [total_size(term.params) for term in self.local] + [total_size(self.features.params)]
        ends = np.cumsum([0, *sizes]).tolist()
        return tuple(slice(i, j) for i, j in pairwise(ends))


@dataclass(frozen=True, eq=False)
class _Block:
    """One signature: its rows, the noiseless K_p, and the terms of K_p with their pullbacks."""

    rows: IntArray
    matrix: FloatArray
    pulls: tuple[tuple[slice, Pullback], ...]


def _blocks(model: BlockModel, theta: FloatArray, points: Points) -> list[_Block]:
    blocks = []
    for rows in rows_by_signature(points.on).values():
        mine = points.take(rows)
        matrix = np.zeros((len(rows), len(rows)))
        pulls = []
        for term, part in zip(model.local, model.parts):
            if not isinstance(term, WhereActive):
                pulls.append((part, term.add_to(matrix, theta[part], mine, mine)))
            elif mine.on[0, term.group]:
                pulls.append((part, term.inner.add_to(matrix, theta[part], mine, mine)))
        blocks.append(_Block(rows, matrix, tuple(pulls)))
    return blocks


def _solver(blocks: list[_Block], features: FloatArray, noise: FloatArray) -> LowRank:
    noisy = [block.matrix + np.diag(noise[block.rows]) for block in blocks]
    return LowRank(factor_blocks([block.rows for block in blocks], noisy), features)


def block_log_likelihood(model: BlockModel, theta: FloatArray, data: Data) -> tuple[float, FloatArray]:
    """log P(y | theta), eq. (3), and its gradient (p,), in O(Σ n_p³ + n V² + V³)."""
    blocks = _blocks(model, theta, data.points)
    features, pull_features = model.features(theta[model.parts[-1]], data.points)
    solver = _solver(blocks, features, data.variances(theta[-1]))
    alpha = solver.solve(data.y)
    value = -0.5 * (data.y @ alpha + solver.logdet + len(alpha) * np.log(2 * np.pi))

    gradient = np.zeros(len(theta))
    root = solver.inverse_root()
    for block, part in zip(blocks, solver.blocks.parts):
        a, u = alpha[block.rows], root[block.rows]
        weight = 0.5 * (np.outer(a, a) - part.inverse() + u @ u.T)
        for where, pull in block.pulls:
            gradient[where] += pull.theta(weight)
        gradient[-1] += np.exp(theta[-1]) * (np.diag(weight) @ np.isnan(data.noise[block.rows]))
    by_features = np.outer(alpha, alpha @ features) - root @ solver.inner.root
    gradient[model.parts[-1]] = pull_features.theta(by_features)
    return float(value), gradient


def block_log_posterior(model: BlockModel, theta: FloatArray, data: Data) -> tuple[float, FloatArray]:
    """log P(y | theta) + log p(theta), and its gradient (p,)."""
    value, gradient = block_log_likelihood(model, theta, data)
    prior, slope = model.prior.log_density(theta)
    return value + prior, gradient + slope


def block_solver(model: BlockModel, theta: FloatArray, data: Data) -> LowRank:
    """The solver of the noisy Gram matrix of ``model.dense`` at ``theta``, but faster."""
    blocks = _blocks(model, theta, data.points)
    features, _ = model.features(theta[model.parts[-1]], data.points)
    return _solver(blocks, features, data.variances(theta[-1]))
