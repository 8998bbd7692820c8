"""Slice sampling along coordinates, with stepping out and shrinkage (Neal 2003, figs. 3 and 5).

A chain is a generator: it yields the points at which it wants to know the log density, and is sent the
answers. So one density can be asked by many chains at once, or one chain at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from bough.points import FloatArray

__all__ = ["Chain", "slice_chain", "slice_sample"]

STEPS_OUT = 10
"""Most steps by which the interval grows in total, unless told otherwise."""

Chain = Generator[FloatArray, float, FloatArray]
"""Yields points (p,), is sent the log density at each, and returns (samples, p) states."""


def slice_sample(
    log_density: Callable[[FloatArray], float],
    start: FloatArray,
    rng: np.random.Generator,
    *,
    samples: int,
    burn: int = 0,
    thin: int = 1,
    width: float = 1.0,
) -> FloatArray:
    """(samples, p) states of one chain (see ``slice_chain``) whose stationary density is exp(log_density)."""
    chain = slice_chain(start, rng, samples=samples, burn=burn, thin=thin, width=width)
    asked = next(chain)
    while True:
        try:
            asked = chain.send(log_density(asked))
        except StopIteration as end:
            return np.asarray(end.value)


def slice_chain(
    start: FloatArray,
    rng: np.random.Generator,
    *,
    samples: int,
    burn: int = 0,
    thin: int = 1,
    width: float | FloatArray = 1.0,
    steps: int = STEPS_OUT,
) -> Chain:
    """A Markov chain that leaves the density it is told about invariant.

    The log density may be -inf outside its support; it is finite at ``start`` (p,), which is asked first.
    burn: sweeps over all coordinates to discard first; thin: sweeps per kept sample.
    width: initial width of the interval of each coordinate, one or (p,); steps: most steps by which it
    grows. Without any, an interval as wide as the prior costs the fewest questions.
    """
    x, widths = start.copy(), np.broadcast_to(width, start.shape).tolist()
    level = yield x
    kept = np.empty((samples, len(start)))
    for sweep in range(burn + samples * thin):
        for axis in rng.permutation(len(x)).tolist():
            x, level = yield from _update(x, level, axis, widths[axis], steps, rng)
        done = sweep - burn + 1
        if done > 0 and done % thin == 0:
            kept[done // thin - 1] = x
    return kept


def _update(
    x: FloatArray, level: float, axis: int, width: float, steps: int, rng: np.random.Generator
) -> Generator[FloatArray, float, tuple[FloatArray, float]]:
    """One new value of coordinate ``axis``, and the log density there."""
    height = level - rng.exponential()  # log of a uniform height under the density
    left = x[axis] - width * rng.uniform()
    right = left + width
    steps_left = int(rng.integers(steps + 1))  # shared at random, for detailed balance
    steps_right = steps - steps_left
    while steps_left and (yield _moved(x, axis, left)) > height:
        left, steps_left = left - width, steps_left - 1
    while steps_right and (yield _moved(x, axis, right)) > height:
        right, steps_right = right + width, steps_right - 1
    while True:
        value = rng.uniform(left, right)
        moved = _moved(x, axis, value)
        density = yield moved
        if density > height or right - left < 1e-12:
            break
        left, right = (value, right) if value < x[axis] else (left, value)
    return (moved, density) if density > height else (x, level)


def _moved(x: FloatArray, axis: int, value: float) -> FloatArray:
    """x with another value of coordinate ``axis``."""
    moved = x.copy()
    moved[axis] = value
    return moved
