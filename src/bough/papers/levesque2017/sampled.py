"""Slice sampling of several chains at once, for the kernels of Lévesque et al. 2017.

A single density costs less than the overhead around it, so ``CHAINS`` chains advance side by side
(``gp.slice``). Distances of all pairs of rows are computed once, column by column. For hyperparameters
(chains, p) one matrix product then gives the scaled distances of all chains. Under the conditional kernel
only pairs of equal signature are compared, and each block is factorised alone (eq. 9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from bough.gp.fit import fit_map
from bough.gp.kernels.conditional import MIDDLE
from bough.gp.likelihood import Data, GPModel
from bough.gp.slice import slice_side_by_side
from bough.gp.solvers import factor_stack
from bough.points import FloatArray, IntArray, Layout, rows_by_signature
from bough.surrogates.base import BURN_IN_SWEEPS, WARM_BURN_IN_SWEEPS, KernelGP, all_columns

__all__ = ["ChainDensities", "SampledGP"]

CHAINS = 5
"""Chains that advance together. More chains would spend a larger share of their sweeps on burn-in."""

LENGTHSCALE_WIDTH, AMPLITUDE_WIDTH = 4.0, 8.0
"""Slice intervals of log length-scales and of the log variance: four standard deviations of their priors."""


@dataclass(frozen=True, eq=False)
class ChainDensities:
    """log p(y | theta) + log p(theta) at several theta together.

    absolute: the Laplace kernel, with absolute differences; otherwise Matérn-5/2, with squared ones.
    conditional: only rows of equal signature covary.
    """

    model: GPModel
    layout: Layout
    data: Data
    absolute: bool
    conditional: bool

    def __call__(self, thetas: FloatArray) -> FloatArray:
        """(chains,) for theta (chains, p)."""
        variance, noise = np.exp(thetas[:, 0]), np.exp(thetas[:, -1])
        inverse = np.exp(-thetas[:, 1:-1])
        correlations = self._profile(inverse if self.absolute else 5.0 * inverse**2)
        total = np.array([self.model.prior.log_density(theta)[0] for theta in thetas])
        for rows, (low, high), (start, end) in zip(self._blocks, self._pairs, pairwise(self._ends)):
            size = len(rows)
            matrix = np.zeros((len(thetas), size, size))
            matrix[:, low, high] = variance[:, None] * correlations[:, start:end]  # the factor reads no more
            added = self.data.reported[rows] + noise[:, None] * np.isnan(self.data.noise[rows])
            matrix[:, np.arange(size), np.arange(size)] = variance[:, None] + added
            lower = factor_stack(matrix)
            y = np.broadcast_to(self.data.y[rows, None], (len(thetas), size, 1))
            white = np.linalg.solve(lower, y)[..., 0]
            logs = np.log(np.einsum("cii->ci", lower)).sum(axis=1)
            total -= 0.5 * np.einsum("ci,ci->c", white, white) + logs + 0.5 * size * np.log(2 * np.pi)
        return np.asarray(total)

    def _profile(self, weights: FloatArray) -> FloatArray:
        """(chains, pairs) correlations for weights (chains, columns) of the columns' distances."""
        distance = weights @ self._distances
        if self.absolute:
            return np.exp(-distance)
        s = np.sqrt(distance)
        return np.asarray((1.0 + s + distance / 3.0) * np.exp(-s))

    @cached_property
    def _blocks(self) -> Sequence[IntArray]:
        if self.conditional:
            return list(rows_by_signature(self.data.points.on).values())
        return [np.arange(len(self.data.y))]

    @cached_property
    def _pairs(self) -> list[tuple[IntArray, IntArray]]:
        """For each block, the rows and columns of the entries below its diagonal."""
        return [np.tril_indices(len(rows), -1) for rows in self._blocks]

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *accumulate(len(rows) * (len(rows) - 1) // 2 for rows in self._blocks)]

    @cached_property
    def _distances(self) -> FloatArray:
        """(columns, pairs) of each pair of rows below the diagonal of its block, numeric columns first."""
        numeric, nominal = (list(columns) for columns in all_columns(self.layout))
        active = self.layout.active(self.data.points.on)
        x = np.where(active, self.data.points.x, np.where(self.layout.nominal, -1.0, MIDDLE))
        parts = []
        for rows, (low, high) in zip(self._blocks, self._pairs):
            a, b = x[rows[low]], x[rows[high]]
            difference = np.abs(a[:, numeric] - b[:, numeric])
            unequal = (a[:, nominal] != b[:, nominal]).astype(float)
            parts.append(np.hstack([difference if self.absolute else difference**2, unequal]).T)
        return np.ascontiguousarray(np.hstack(parts))


@dataclass(frozen=True, eq=False)
class SampledGP(KernelGP):
    """A ``KernelGP`` whose slice samples come from chains side by side. The mode is found as usual."""

    layout: Layout = field(kw_only=True)
    absolute: bool = False
    conditional: bool = False

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        if not self.samples:
            return super().fit(data, rng, start)
        chains = min(CHAINS, self.samples)
        if start is None:
            first, burn = np.tile(fit_map(self.model, data, rng), (chains, 1)), BURN_IN_SWEEPS
        else:
            first, burn = (
                np.resize(np.atleast_2d(start)[-chains:], (chains, start.shape[-1])),
                WARM_BURN_IN_SWEEPS,
            )
        low, high = self.model.prior.bounds
        density = ChainDensities(self.model, self.layout, data, self.absolute, self.conditional)
        width = np.full(len(low), LENGTHSCALE_WIDTH)
        width[0], width[-1] = AMPLITUDE_WIDTH, high[-1] - low[-1]
        states = slice_side_by_side(
            lambda rows, thetas: density(thetas),
            np.clip(first, low, high),
            rng.spawn(chains),
            sizes=np.full(chains, len(low)),
            box=(np.tile(low, (chains, 1)), np.tile(high, (chains, 1))),
            width=np.tile(width, (chains, 1)),
            samples=-(-self.samples // chains),
            burn=burn,
        )
        return states.transpose(1, 0, 2).reshape(-1, len(low))[: self.samples]
