"""Solvers for block-diagonal plus low-rank covariances, behind the interface of ``solvers.Solver``.

``LowRank``   K = blockdiag(M_1, …, M_P) + F Fᵀ: paths that share a linear model with V features
              (Jenatton et al. 2017, eq. 4, with F = Zᵀ Σ_c^½). O(Σ n_p³ + n V² + V³).
``Bordered``  any solver with a few rows appended.

Jenatton et al. factorise Λ_c = Σ_c⁻¹ + A with A = Z M⁻¹ Zᵀ, which breaks down as a weight variance
goes to zero. Here the variances stay inside F, and the factorised matrix is

    B = I + Fᵀ M⁻¹ F = I + Σ_c^½ A Σ_c^½,   Λ_c⁻¹ = Σ_c^½ B⁻¹ Σ_c^½,

whose eigenvalues are at least one for all variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.block_solver import Blocks
from bough.gp.solvers import Dense, Solver, factor
from bough.points import FloatArray

__all__ = ["Bordered", "LowRank"]


@dataclass(frozen=True, eq=False)
class LowRank:
    """K = M + F Fᵀ with M = L Lᵀ block-diagonal and features F (n, V), so f = g + F w, w ~ N(0, I).

    W = L⁻¹F and B = I + WᵀW. For u = L⁻¹b the weights w = B⁻¹Wᵀu solve the ridge regression
    min ‖u − W w‖² + ‖w‖², whose minimum is bᵀK⁻¹b: a sum of squares, without cancellation.
    """

    blocks: Blocks
    features: FloatArray

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def whitened(self) -> FloatArray:
        """W = L⁻¹F (n, V)."""
        return self.blocks.whiten(self.features)

    @cached_property
    def inner(self) -> Dense:
        """B = I + WᵀW (V, V): the posterior precision of w."""
        return factor(np.eye(self.features.shape[1]) + self.whitened.T @ self.whitened)

    @cached_property
    def logdet(self) -> float:
        # Matrix determinant lemma: |M + F Fᵀ| = |M| |B|.
        return self.blocks.logdet + self.inner.logdet

    def solve(self, b: FloatArray) -> FloatArray:
        u = self.blocks.whiten(b)
        return self.blocks.unwhiten(u - self.whitened @ self.weights(u))

    def weights(self, u: FloatArray) -> FloatArray:
        """B⁻¹ Wᵀ u: for u = L⁻¹(y − b) the posterior mean of w."""
        return self.inner.solve(self.whitened.T @ u)

    def whiten(self, b: FloatArray) -> FloatArray:
        """The residual and the weights of the ridge regression: n + V rows."""
        u = self.blocks.whiten(b)
        w = self.weights(u)
        return np.concatenate([u - self.whitened @ w, w])

    def unwhiten(self, h: FloatArray) -> FloatArray:
        n = len(self)
        residual, w = h[:n], h[n:]
        u = residual + self.whitened @ (self.inner.solve(w) - self.weights(residual))
        return self.blocks.unwhiten(u)

    def inverse(self) -> FloatArray:
        half = self.inverse_root()
        return self.blocks.inverse() - half @ half.T

    def inverse_root(self) -> FloatArray:
        """U (n, V) with K⁻¹ = M⁻¹ − U Uᵀ."""
        return self.blocks.unwhiten(self.whitened) @ self.inner.root.T

    def append(self, cross: FloatArray, corner: FloatArray) -> Bordered:
        return border(self, cross, corner)


@dataclass(frozen=True, eq=False)
class Bordered:
    """[[M, C], [Cᵀ, D]] by its Schur complement S = D − Cᵀ M⁻¹ C.

    projected: M⁻¹C (n, m);  tail: the solver of S (m, m).
    """

    head: Solver
    projected: FloatArray
    tail: Dense

    def __len__(self) -> int:
        return len(self.head) + len(self.tail)

    @property
    def logdet(self) -> float:
        return self.head.logdet + self.tail.logdet

    def solve(self, b: FloatArray) -> FloatArray:
        n = len(self.head)
        last = self.tail.solve(b[n:] - self.projected.T @ b[:n])
        return np.concatenate([self.head.solve(b[:n]) - self.projected @ last, last])

    def whiten(self, b: FloatArray) -> FloatArray:
        n = len(self.head)
        return np.concatenate([self.head.whiten(b[:n]), self.tail.whiten(b[n:] - self.projected.T @ b[:n])])

    def unwhiten(self, h: FloatArray) -> FloatArray:
        split = len(h) - len(self.tail)
        last = self.tail.unwhiten(h[split:])
        return np.concatenate([self.head.unwhiten(h[:split]) - self.projected @ last, last])

    def inverse(self) -> FloatArray:
        corner = self.tail.inverse()
        side = -self.projected @ corner
        return np.block([[self.head.inverse() - side @ self.projected.T, side], [side.T, corner]])

    def append(self, cross: FloatArray, corner: FloatArray) -> Bordered:
        return border(self, cross, corner)


def border(head: Solver, cross: FloatArray, corner: FloatArray) -> Bordered:
    """The solver of [[head, cross], [crossᵀ, corner]]."""
    projected = head.solve(cross)
    tail = factor(corner - cross.T @ projected, scale=float(np.mean(np.diag(corner))))
    return Bordered(head, projected, tail)
