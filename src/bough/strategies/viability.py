"""The probability that a trial succeeds, learned from those that failed.

Bussemaker et al. 2024 (arXiv 2502.00838): predicting where trials fail and weighting the
acquisition with it beats both ignoring failures and replacing them by a bad value.

The estimate is a Beta posterior with kernel weights. With success s_i in {0, 1} at tried points,

    p_branch(x) = (PRIOR_SUCCESS + sum_branch s_i) / (PRIOR_SUCCESS + PRIOR_FAILURE + n_branch)
    p(x) = (STRENGTH p_branch(x) + sum_i k(x, x_i) s_i) / (STRENGTH + sum_i k(x, x_i))

where a branch is a signature and k is a Gaussian window over the active columns,
zero between signatures. One failure lowers its neighbourhood and its branch, but bans neither. Several
failures without a success ban a branch. The prior expects most trials to succeed, and has the weight of one
trial: failures are more often due to a whole branch that cannot work than to chance.

Failed trials give the value model no data, so it stays optimistic exactly where trials keep failing. Below
MIN_PROBABILITY, as in Bussemaker et al., a point is therefore practically excluded. The criterion adds

    log p(x) + PENALTY_EXPONENT min(0, log p(x) − log MIN_PROBABILITY)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bough.history import History
from bough.points import BoolArray, FloatArray, Layout, Points, rows_by_signature
from bough.space import Space

__all__ = ["Viability", "penalised", "viability"]

PRIOR_SUCCESS = 0.8
PRIOR_FAILURE = 0.2
STRENGTH = 1.0
WIDTH = 0.2
"""Standard deviation of the window per column; scaled by the root of the number of columns, so
typical neighbours in many dimensions still count as neighbours."""

MIN_PROBABILITY = 0.25
PENALTY_EXPONENT = 4.0
"""At half of MIN_PROBABILITY a point must promise 2^5 times as much as at MIN_PROBABILITY."""

CELLS = 2**22
"""Differences (point, tried point, column) held at a time, which bounds the memory of a long study."""


@dataclass(frozen=True, eq=False)
class Viability:
    """The criterion of the module's docstring, from tried points and whether each succeeded, (n,)."""

    layout: Layout
    tried: Points
    success: BoolArray

    def __call__(self, points: Points) -> FloatArray:
        return self.with_gradient(points)[0]

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """(m,) value and (m, columns) its gradient, zero under inactive and nominal columns."""
        value = np.empty(len(points))
        gradient = np.zeros(points.x.shape)
        for mine in rows_by_signature(points.on).values():
            signature = points.on[mine[0]]
            same = (self.tried.on == signature).all(axis=1)
            columns = np.flatnonzero(signature[self.layout.group])
            tried, success = self.tried.x[np.ix_(same, columns)], self.success[same].astype(float)
            portion = 1 + CELLS // max(tried.size, 1)
            for rows in (mine[i : i + portion] for i in range(0, len(mine), portion)):
                block = np.ix_(rows, columns)
                value[rows], gradient[block] = _on_branch(
                    points.x[block], tried, success, self.layout.nominal[columns]
                )
        value, slope = penalised(value)
        return value, gradient * slope[:, None]


def penalised(log_probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n,) the criterion of the module's docstring from log p (n,), and its derivative by log p."""
    short = np.minimum(log_probability - math.log(MIN_PROBABILITY), 0.0)
    slope = np.where(short < 0, 1.0 + PENALTY_EXPONENT, 1.0)
    return log_probability + PENALTY_EXPONENT * short, slope


def viability(space: Space, history: History) -> Viability:
    """Where trials succeed, from those that finished and those that failed."""
    tried = Points.concat([history.done, history.failed])
    return Viability(space.layout, tried, np.arange(len(tried)) < len(history.done))


def _on_branch(
    x: FloatArray, tried: FloatArray, success: FloatArray, nominal: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """(m,) log p and (m, d) gradient at x (m, d), from the tried points (n, d) of the same branch."""
    branch = (PRIOR_SUCCESS + success.sum()) / (PRIOR_SUCCESS + PRIOR_FAILURE + len(success))
    width2 = WIDTH**2 * max(x.shape[1], 1)
    delta = x[:, None, :] - tried[None, :, :]  # (m, n, d)
    distance2 = np.where(nominal, delta != 0, delta**2).sum(axis=2)
    window = np.exp(-0.5 * distance2 / width2)

    weight = STRENGTH + window.sum(axis=1)
    probability = (STRENGTH * branch + window @ success) / weight
    # d window / dx = -window delta / width2, and the quotient rule
    pull = window * (success - probability[:, None])
    slope = -np.einsum("mn,mnd->md", pull, delta) / (width2 * weight * probability)[:, None]
    return np.log(probability), np.where(nominal, 0.0, slope)
