"""Priors of other tools as ``likely`` ranges: the central 80 % of a normal or a Beta distribution.

Both are distributions on a parameter's range, scaled to the unit interval (of the logarithm, on a log scale).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

__all__ = ["beta_range", "normal_range"]

TAILS = np.array([0.1, 0.9])


def normal_range(
    mean: float, sd: float, low: float, high: float, log: bool = False
) -> tuple[float, float] | None:
    """The range of a normal distribution truncated to [0, 1]; mean and sd are in units of this interval.

    None if the distribution has no mass inside.
    """
    below, above = ndtr(-mean / sd), ndtr((1.0 - mean) / sd)
    if not above - below > 1e-12:
        return None
    return _scaled(mean + sd * ndtri(below + TAILS * (above - below)), low, high, log)


def beta_range(a: float, b: float, low: float, high: float, log: bool = False) -> tuple[float, float]:
    """The range of a Beta distribution with shapes a and b."""
    return _scaled(betaincinv(a, b, TAILS), low, high, log)


def _scaled(unit: np.ndarray, low: float, high: float, log: bool) -> tuple[float, float]:
    if log:
        first, last = math.log(low), math.log(high)
        ends = np.exp(first + unit * (last - first))
    else:
        ends = low + unit * (high - low)
    ends = np.clip(ends, low, high)
    return float(ends[0]), float(ends[1])
