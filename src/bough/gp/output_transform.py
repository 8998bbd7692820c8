"""From the values a user reports to standardised values for a Gaussian process, and back.

    y --scale--> u --cut off the bad side--> --logarithm, for forests--> t --standardise--> z

Small is good. Values far worse than the better half are cut off at a fence, because a few diverged trials
would make all others look alike; the good side is never touched. Every step is non-decreasing, so the order
of observations survives. Constant, tiny and huge values give finite results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bough.points import FloatArray

__all__ = ["OutputTransform", "tukeys_fence"]

LARGEST_VALUE = 1e50
"""Scaled values beyond this are cut off: their squares must stay finite."""

SMALLEST_POSITIVE = 1e-300
"""Smaller scaled values are raised to this before a logarithm is taken."""


@dataclass(frozen=True)
class OutputTransform:
    """A learned transform: u = (y / unit − shift) / spread, at most ``cap``; z = (t − mean) / sd.

    log: t is log u, else u. Dividing twice keeps all numbers in range, whatever the size of y.
    """

    unit: float = 1.0
    shift: float = 0.0
    spread: float = 1.0
    cap: float = LARGEST_VALUE
    log: bool = False
    mean: float = 0.0
    sd: float = 1.0

    @staticmethod
    def fit(y: FloatArray, at_least: float = -np.inf) -> OutputTransform:
        """The transform for finite values y (n,), n ≥ 0, in the order of the trials.

        at_least: no value up to this one is cut off.
        """
        if len(y) == 0:
            return OutputTransform()
        unit = float(np.max(np.abs(y))) or 1.0
        cap = max(_fence(y / unit), at_least / unit)
        mean, sd = _moments(np.minimum(y / unit, cap))
        return OutputTransform(unit, mean, sd, min((cap - mean) / sd, LARGEST_VALUE))

    @staticmethod
    def standard(y: FloatArray) -> OutputTransform:
        """Only standardise: no value is cut off."""
        if len(y) == 0:
            return OutputTransform()
        unit = float(np.max(np.abs(y))) or 1.0
        return OutputTransform(unit, *_moments(y / unit))

    @staticmethod
    def logarithm(y: FloatArray) -> OutputTransform:
        """log y, standardised, if all y are positive, as errors and times are; otherwise as ``fit``."""
        plain = OutputTransform.fit(y)
        if len(y) == 0 or np.min(y) <= 0:
            return plain
        cap = min(plain.cap + plain.shift / plain.spread, LARGEST_VALUE)
        positive = OutputTransform(plain.unit, 0.0, plain.spread, cap, log=True)
        mean, sd = _moments(positive.forward(y))
        return replace(positive, mean=mean, sd=sd)

    def forward(self, y: FloatArray) -> FloatArray:
        """y -> z, elementwise."""
        with np.errstate(over="ignore"):
            u = np.clip((y / self.unit - self.shift) / self.spread, -LARGEST_VALUE, self.cap)
        t = np.log(np.maximum(u, SMALLEST_POSITIVE)) if self.log else u
        return np.clip((t - self.mean) / self.sd, -LARGEST_VALUE, LARGEST_VALUE)

    def noise(self, y: FloatArray, sd: FloatArray) -> FloatArray:
        """The standard deviation of z if y has the standard deviation sd, to first order; NaN stays NaN."""
        with np.errstate(over="ignore"):
            scaled = np.minimum(sd / self.unit / self.spread, LARGEST_VALUE)
            t = self.mean + self.sd * self.forward(y) if self.log else np.zeros(len(y))
            slope = np.exp(np.clip(-t, -100.0, 100.0)) / self.sd  # of log u: 1 / u
        return np.minimum(scaled * slope, LARGEST_VALUE)

    def inverse(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Centre and half-width of the image of z = mean ± sd in units of y, for reports."""
        low, centre, high = (self._back(z) for z in (mean - sd, mean, mean + sd))
        return centre, 0.5 * high - 0.5 * low

    def _back(self, z: FloatArray) -> FloatArray:
        t = self.mean + self.sd * z
        u = np.exp(np.minimum(t, 300.0)) if self.log else t
        with np.errstate(over="ignore"):
            y = (self.shift + self.spread * u) * self.unit
        return np.nan_to_num(y)


def _fence(y: FloatArray) -> float:
    """m + 4 (m − Q1), m the median: the second largest of those of the first 8, 16, 32, … and all values.

    For normal values this is Tukey's fence Q3 + 1.5 (Q3 − Q1). It depends on the better half alone, so nearly
    half of the trials may diverge. On a plateau (m = Q1) the best value stands in for Q1. If half of the
    values are the best one, Tukey's fence counts. Fewer than 8 values do not tell which of them are outliers.

    Later trials gather around the incumbent, where quartiles lie close together. So the early, scattered
    trials decide which values are outliers and which are merely bad. Of three fences or more the largest does
    not count, because half of so few trials diverge now and then.
    """
    fences = []
    for size in _prefixes(len(y)):
        # Quartiles as np.quantile finds them; a call of that takes 0.1 ms.
        place = (size - 1) * np.array([0.25, 0.5, 0.75])
        low, ordered = place.astype(np.intp), np.sort(y[:size])
        below, above, part = ordered[low], ordered[np.minimum(low + 1, size - 1)], place - low
        step = above - below
        q1, median, q3 = np.where(part < 0.5, below + step * part, above - step * (1.0 - part)).tolist()
        good = q1 if q1 < median else float(ordered[0])
        if good < median:
            fences.append(median + 4.0 * (median - good))
        elif q3 > median:
            fences.append(q3 + 1.5 * (q3 - q1))
    return sorted(fences)[-2 if len(fences) > 2 else -1] if fences else np.inf


def tukeys_fence(y: FloatArray) -> float:
    """Q3 + 1.5 (Q3 − Q1), the largest of those of the first 8, 16, 32, … and all values."""
    quartiles = [np.quantile(y[:size], [0.25, 0.75]) for size in _prefixes(len(y))]
    return float(max((q3 + 1.5 * (q3 - q1) for q1, q3 in quartiles), default=np.inf))


def _prefixes(rows: int) -> list[int]:
    return [*(8 * 2**k for k in range(64) if 8 * 2**k < rows), rows] if rows >= 8 else []


def _moments(y: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation, the latter 1 for constant values; no square underflows."""
    mean = float(np.mean(y))
    largest = float(np.max(np.abs(y - mean)))
    if largest <= 1e-14 * abs(mean):
        return mean, 1.0
    return mean, float(largest * np.std((y - mean) / largest)) or largest
