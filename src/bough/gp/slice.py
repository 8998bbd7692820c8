"""Slice sampling along coordinates (Neal 2003): one chain with stepping out, or many chains side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bough.points import FloatArray, IntArray

__all__ = ["slice_sample", "slice_side_by_side"]

INTERVAL_WIDTH = 1.0
"""Initial width of the interval around a coordinate."""

MAX_STEPS_OUT = 10
"""Largest number of steps by which the interval grows."""

SMALLEST_WIDTH = 1e-12
"""An interval that has shrunk to this width is given up: the coordinate stays as it is."""

MIN_RUNNING_SHARE = 0.5
"""Finished chains are dropped when at most this share still runs: dropping costs as much as a few rounds."""

ROUNDS_PER_DRAW = 64
"""Rounds for which a chain draws its random numbers at once."""


def slice_sample(
    log_density: Callable[[FloatArray], float],
    start: FloatArray,
    rng: np.random.Generator,
    *,
    samples: int,
    burn: int = 0,
) -> FloatArray:
    """(samples, p) states of a Markov chain whose stationary density is exp(log_density).

    The log density may be -inf outside its support; it is finite at ``start`` (p,).
    burn: sweeps over all coordinates to discard first.
    """
    x, level = start.copy(), log_density(start)
    kept = np.empty((samples, len(start)))
    for sweep in range(-burn, samples):
        for axis in rng.permutation(len(x)).tolist():
            x, level = _update(log_density, x, level, axis, rng)
        if sweep >= 0:
            kept[sweep] = x
    return kept


def _update(
    log_density: Callable[[FloatArray], float],
    x: FloatArray,
    level: float,
    axis: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, float]:
    """One new value of coordinate ``axis`` (figs. 3 and 5), and the log density there."""
    height = level - rng.exponential()  # log of a uniform height under the density
    left = x[axis] - INTERVAL_WIDTH * rng.uniform()
    right = left + INTERVAL_WIDTH
    steps_left = int(rng.integers(MAX_STEPS_OUT + 1))  # shared at random, for detailed balance
    steps_right = MAX_STEPS_OUT - steps_left
    while steps_left and log_density(_moved(x, axis, left)) > height:
        left, steps_left = left - INTERVAL_WIDTH, steps_left - 1
    while steps_right and log_density(_moved(x, axis, right)) > height:
        right, steps_right = right + INTERVAL_WIDTH, steps_right - 1
    while True:
        value = rng.uniform(left, right)
        moved = _moved(x, axis, value)
        density = log_density(moved)
        if density > height or right - left < SMALLEST_WIDTH:
            break
        left, right = (value, right) if value < x[axis] else (left, value)
    return (moved, density) if density > height else (x, level)


def _moved(x: FloatArray, axis: int, value: float) -> FloatArray:
    """x with another value of coordinate ``axis``."""
    moved = x.copy()
    moved[axis] = value
    return moved


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
    """(chains, samples, p) states of one chain from each row of ``start`` (chains, p), each with its stream.

    Many chains cost hardly more than one when their densities are computed together: every round asks for
    one density per chain. Each chain has its own target.
    log_density: (chains (k,) that run, their points (k, p)) -> (k,), called only inside the box.
    sizes: (chains,) how many of the p coordinates each chain moves; the others stay as they are.
    box: lower and upper bounds (chains, p), outside of which the density is zero.
    width: (chains, p) of the interval around a coordinate. It does not grow: an interval as wide as the prior
    needs half as many densities per sweep as stepping out, and the chains mix equally well. The box cuts it
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
