"""Slice sampling of many chains at once (Neal 2003).

Many chains cost hardly more than one when their densities are computed together. Each chain has its own
target and its own random stream; every round asks for one density per chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bough.gp.slice import SMALLEST_WIDTH
from bough.points import FloatArray, IntArray

__all__ = ["slice_side_by_side"]

MIN_RUNNING_SHARE = 0.5
"""Finished chains are dropped when at most this share still runs; dropping costs a few rounds."""

ROUNDS_PER_DRAW = 64
"""Rounds for which a chain draws its random numbers at once."""


def slice_side_by_side(
    log_density: Callable[[IntArray, FloatArray], FloatArray],
    start: FloatArray,
    streams: Sequence[np.random.Generator],
    *,
    sizes: IntArray,
    box: tuple[FloatArray, FloatArray],
    width: FloatArray,
    samples: int,
    burn: int = 0,
) -> FloatArray:
    """(chains, samples, p) states of one chain from each row of ``start`` (chains, p), by its own stream.

    log_density: (chains (k,) that run, their points (k, p)) -> (k,), asked inside the box only.
    sizes: (chains,) how many of the p coordinates each chain moves; the others stay as they are.
    box: lower and upper bounds (chains, p), outside of which the density is zero.
    width: (chains, p) of the interval around a coordinate. It does not grow: an interval as wide as the prior
    needs half as many densities per sweep as stepping out, and the chains mix as well. The box cuts it
    off, which only saves densities: both ends of a move have the same interval.
    """
    chains, p = start.shape
    total = (burn + samples) * sizes  # moves of each chain
    axes = np.zeros((chains, 1 + (burn + samples) * p), dtype=np.intp)
    for row, moves, size, stream in zip(axes, total, sizes, streams):
        sweeps = np.tile(np.arange(size), (burn + samples, 1))
        row[:moves] = stream.permuted(sweeps, axis=1).ravel()
    kept = np.repeat(start[:, None], samples, axis=1)
    rows, x = np.arange(chains), start.copy()
    level = log_density(rows, x)
    moved, fresh = np.zeros(chains, dtype=np.intp), np.ones(chains, dtype=bool)
    left, right, height = np.zeros((3, chains))
    (low, high), used, random = box, 0, np.empty((chains, 0, 3))
    while True:
        running = moved < total
        if not running.any():
            return kept
        if running.sum() <= MIN_RUNNING_SHARE * len(rows):
            rows, moved, fresh, total, sizes = (a[running] for a in (rows, moved, fresh, total, sizes))
            axes, x, low, high, width, random = (a[running] for a in (axes, x, low, high, width, random))
            level, left, right, height = (a[running] for a in (level, left, right, height))
        if used == random.shape[1]:
            used, random = 0, np.stack([streams[row].random((ROUNDS_PER_DRAW, 3)) for row in rows.tolist()])
        place, uniform, shrink = random[:, used].T
        used += 1
        each = np.arange(len(rows))
        axis = axes[each, moved]
        here, wide = x[each, axis], width[each, axis]
        edge = here - place * wide
        left = np.where(fresh, np.maximum(edge, low[each, axis]), left)
        right = np.where(fresh, np.minimum(edge + wide, high[each, axis]), right)
        height = np.where(fresh, level + np.log1p(-uniform), height)  # uniform under the density
        value = left + shrink * (right - left)
        trial = x.copy()
        trial[each, axis] = value
        density = log_density(rows, trial)
        accepted = density > height
        x = np.where(accepted[:, None], trial, x)
        level = np.where(accepted, density, level)
        lower = value < here
        left, right = np.where(lower, value, left), np.where(lower, right, value)
        fresh = (accepted | (right - left < SMALLEST_WIDTH)) & (moved < total)
        moved = moved + fresh
        ends = np.flatnonzero(fresh & (moved % sizes == 0) & (moved > burn * sizes))
        kept[rows[ends], moved[ends] // sizes[ends] - burn - 1] = x[ends]
