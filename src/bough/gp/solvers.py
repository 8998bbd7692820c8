"""Solving with covariance matrices: one interface, and its dense implementation.

A solver is a frozen value that represents a symmetric positive definite matrix M (the noisy Gram matrix).
``append`` returns the solver of the bordered matrix, so conditioning on further points repeats no work.
Matrices with structure offer the same interface (``papers/jenatton2017/structured.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import blas, lapack

from bough.points import FloatArray

__all__ = ["Dense", "Solver", "factor", "factor_lower", "factor_stack", "invert_triangle"]

FIRST_JITTER = 1e-10
"""The first jitter to try if a factorisation fails, relative to the mean of the diagonal; then times 10."""


class Solver(Protocol):
    """A symmetric positive definite matrix M (n, n), factorised."""

    @property
    def logdet(self) -> float:
        """log |M|."""
        ...

    def __len__(self) -> int: ...

    def solve(self, b: FloatArray) -> FloatArray:
        """M⁻¹ b for b (n,) or (n, k)."""
        ...

    def whiten(self, b: FloatArray) -> FloatArray:
        """H b for some H with HᵀH = M⁻¹, so that ‖H b‖² = bᵀ M⁻¹ b without cancellation."""
        ...

    def unwhiten(self, h: FloatArray) -> FloatArray:
        """Hᵀ h, so that unwhiten(whiten(b)) = solve(b)."""
        ...

    def inverse(self) -> FloatArray:
        """M⁻¹ (n, n)."""
        ...

    def append(self, cross: FloatArray, corner: FloatArray) -> Solver:
        """The solver of [[M, cross], [crossᵀ, corner]], cross (n, m), corner (m, m), in O(n² m)."""
        ...


@dataclass(frozen=True, eq=False)
class Dense:
    """M = L Lᵀ held as L⁻¹: every later operation is then a matrix product.

    root: L⁻¹ (n, n), lower triangular, in Fortran order.  logdet: log |M|.
    """

    root: FloatArray
    logdet: float

    def __len__(self) -> int:
        return len(self.root)

    def solve(self, b: FloatArray) -> FloatArray:
        return self.root.T @ (self.root @ b)

    def whiten(self, b: FloatArray) -> FloatArray:
        return blas.dtrmm(1.0, self.root, b, lower=1) if b.ndim == 2 and b.size else self.root @ b

    def unwhiten(self, h: FloatArray) -> FloatArray:
        return (
            blas.dtrmm(1.0, self.root, h, lower=1, trans_a=1) if h.ndim == 2 and h.size else self.root.T @ h
        )

    def inverse(self) -> FloatArray:
        # M⁻¹ = L⁻ᵀ L⁻¹: dlauum computes RᵀR for a lower triangle R, in a third of a product's flops.
        lower, _ = lapack.dlauum(self.root, lower=1)
        return _mirror(lower)

    def append(self, cross: FloatArray, corner: FloatArray) -> Dense:
        # [[L, 0], [C, D]] with C = (L⁻¹ cross)ᵀ, D Dᵀ = corner − C Cᵀ; its inverse has the last
        # rows [−D⁻¹ C L⁻¹, D⁻¹].
        n, m = cross.shape
        c = (self.root @ cross).T
        new = factor(corner - c @ c.T, scale=float(np.mean(np.diag(corner))))
        root = np.zeros((n + m, n + m), order="F")
        root[:n, :n] = self.root
        root[n:, :n] = -new.root @ (c @ self.root)
        root[n:, n:] = new.root
        return Dense(root, self.logdet + new.logdet)


def factor(matrix: FloatArray, scale: float | None = None) -> Dense:
    """Factorise a symmetric matrix (n, n), adding jitter to the diagonal if rounding requires it.

    scale: size of a typical diagonal entry, to which the jitter is relative; default: their mean.
    """
    lower = factor_lower(matrix, scale)
    logdet = 2.0 * float(np.log(np.diag(lower)).sum())
    return Dense(invert_triangle(lower), logdet)


def factor_lower(matrix: FloatArray, scale: float | None = None) -> FloatArray:
    """L (n, n) in Fortran order with L Lᵀ = matrix + jitter·I, the smallest jitter that works."""
    # The transpose of a symmetric matrix in C order is the same matrix in Fortran order: no reordering.
    lower, failed = lapack.dpotrf(matrix.T, lower=1, clean=1)
    size = scale or float(np.trace(matrix)) / max(len(matrix), 1)
    jitter = FIRST_JITTER * max(size, 1e-300)
    while failed and np.isfinite(jitter):
        jittered = matrix.copy()
        np.fill_diagonal(jittered, np.maximum(np.diag(matrix), 0.0) + jitter)
        lower, failed = lapack.dpotrf(jittered.T, lower=1, clean=1)
        jitter *= 10.0
    if failed or not np.isfinite(lower[-1:, -1:]).all():
        raise np.linalg.LinAlgError("the covariance matrix has entries that are not finite")
    return np.asarray(lower)


def factor_stack(matrices: FloatArray, scale: float | None = None) -> FloatArray:
    """``factor_lower`` of each of (stack, n, n), of which only the lower triangles are read."""
    try:
        return np.asarray(np.linalg.cholesky(matrices))
    except np.linalg.LinAlgError:
        full = np.tril(matrices) + np.tril(matrices, -1).swapaxes(1, 2)
        return np.stack([factor_lower(each, scale) for each in full])


def invert_triangle(triangle: FloatArray, lower: bool = True, out: FloatArray | None = None) -> FloatArray:
    """The inverse (n, n) of a triangle, in Fortran order; ignore the other half of both.

    By halves: [[A, 0], [B, C]]⁻¹ = [[A⁻¹, 0], [−C⁻¹ B A⁻¹, C⁻¹]], and the same transposed. More than twice
    as fast as LAPACK's dtrtri, which inverts the small blocks. out: zeros that are overwritten.
    """
    n = len(triangle)
    out = np.zeros((n, n), order="F") if out is None else out
    if 0 < n <= 32:
        out[:], _ = lapack.dtrtri(triangle, lower=lower)
    elif n > 32:
        first, last = slice(0, n // 2), slice(n // 2, n)
        row, column = (last, first) if lower else (first, last)  # of the corner B
        for half in (first, last):
            invert_triangle(triangle[half, half], lower, out[half, half])
        corner = blas.dtrmm(-1.0, out[column, column], triangle[row, column], side=1, lower=lower)
        out[row, column] = blas.dtrmm(1.0, out[row, row], corner, lower=lower, overwrite_b=1)
    return out


def _mirror(lower: FloatArray) -> FloatArray:
    """The full symmetric matrix of which the lower triangle is given (the rest is zero)."""
    full = lower + lower.T
    np.fill_diagonal(full, np.diag(lower))
    return full
