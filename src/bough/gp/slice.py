"""Slice sampling along coordinates with stepping out (Neal 2003)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bough.points import FloatArray

__all__ = ["slice_sample"]

INTERVAL_WIDTH = 1.0
"""Initial width of the interval around a coordinate."""

MAX_STEPS_OUT = 10
"""Steps by which the interval grows, at most."""

SMALLEST_WIDTH = 1e-12
"""An interval that has shrunk to this width is given up: the coordinate stays as it is."""


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
