"""The knowledge gradient: how much lower the smallest posterior mean is expected to be after a trial.

After a trial at x the posterior means of points a are mu(a) + s(a) Z with Z ~ N(0, 1) and

    s(a) = cov(f(a), f(x)) / sqrt(var f(x) + noise²)        (Frazier, Powell & Dayanik 2009).

The minimum over a finite set of points is the lower envelope of lines in Z, so its expectation is a finite
sum. The set holds tried points and x itself (Scott, Frazier & Powell 2011).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from bough.gp.posterior import SMALLEST_VARIANCE, GPPosterior
from bough.points import FloatArray, Points
from bough.surrogates.shifted import Shifted

__all__ = ["expected_minimum", "knowledge_gradient"]


def expected_minimum(level: FloatArray, slope: FloatArray) -> float:
    """E[min_i (level_i + slope_i Z)] for Z ~ N(0, 1), by the lower envelope of the lines.

    At Z = -inf the steepest line is the lowest; each next line of the envelope is less steep. On
    the interval (z, z') of a line, its integral is level (Phi(z') - Phi(z)) + slope (phi(z) - phi(z')).
    """
    order = np.lexsort((level, -slope))
    lines: list[tuple[float, float]] = []
    starts: list[float] = []
    for a, b in zip(level[order].tolist(), slope[order].tolist(), strict=True):
        begin = -np.inf
        while lines:
            last_a, last_b = lines[-1]
            if b == last_b:  # parallel and not lower
                begin = np.inf
                break
            begin = (a - last_a) / (last_b - b)
            if begin > starts[-1]:
                break
            lines.pop()
            starts.pop()
            begin = -np.inf
        if begin < np.inf:
            lines.append((a, b))
            starts.append(begin)
    z = np.array([*starts, np.inf])
    mass, density = ndtr(z), np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    a, b = np.array(lines).T
    return float(np.sum(a * np.diff(mass) - b * np.diff(density)))


def knowledge_gradient(posterior: GPPosterior | Shifted, points: Points, known: Points) -> FloatArray:
    """(n,) the expected fall of the smallest posterior mean over ``known`` and x, for a trial at each x."""
    mean, covariance = posterior.joint(Points.concat([known, points]))
    m, noise = len(known), posterior.observation_noise
    gains = np.empty(len(points))
    for i in range(len(points)):
        rows = np.append(np.arange(m), m + i)
        spread = np.sqrt(max(float(covariance[m + i, m + i]), SMALLEST_VARIANCE) + noise**2)
        level, slope = mean[rows], covariance[rows, m + i] / spread
        gains[i] = level.min() - expected_minimum(level, slope)
    return np.maximum(gains, 0.0)
