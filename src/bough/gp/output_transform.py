"""From the values a user reports to standardised values for a Gaussian process, and back.

    y --scale--> u --cut off the bad side--> --power--> t --standardise--> z

Small is good. Values worse than Q3 + 1.5 (Q3 − Q1) (Tukey's rule) are cut off at that bound; the good side
is never touched. On request, and with enough data, a Box-Cox (if all y > 0) or a Yeo-Johnson transform
follows where it makes the values clearly more normal. It is not the default: values near the incumbent pull
the exponent down until all other branches look alike. ``OutputTransform.logarithm`` takes a plain logarithm
instead, as forests need it. Every step is non-decreasing, so the order of observations survives. Constant,
tiny and huge values give finite results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import optimize

from bough.points import FloatArray

__all__ = ["OutputTransform", "Power"]

MIN_VALUES_FOR_POWER = 10
"""Values needed before a power transform is considered."""

MIN_POWER_GAIN = 2.0
"""Log likelihood that a power transform must gain to be used, in nats."""

SMALLEST_SD = 0.5
"""A power transform that leaves a smaller standard deviation (of 1) has collapsed the values (as in HEBO)."""

LARGEST_VALUE = 1e50
"""Scaled values beyond this are cut off: their squares must stay finite."""

Kind = Literal["none", "box-cox", "yeo-johnson"]


@dataclass(frozen=True)
class Power:
    """An increasing transform t(u) of values with sd 1 (Box & Cox 1964; Yeo & Johnson 2000).

    box-cox:     (u^λ − 1) / λ                                        for u > 0
    yeo-johnson: ((1 + u)^λ − 1) / λ  for u ≥ 0,   −((1 − u)^(2−λ) − 1) / (2 − λ)  for u < 0
    with logarithms for an exponent of zero.
    """

    kind: Kind = "none"
    exponent: float = 1.0

    def forward(self, u: FloatArray) -> FloatArray:
        if self.kind == "none":
            return u
        if self.kind == "box-cox":
            return _power(np.log(np.maximum(u, 1e-300)), self.exponent)
        bad, good = _power(_log1p(u), self.exponent), _power(_log1p(-u), 2.0 - self.exponent)
        return np.where(u >= 0, bad, -good)

    def inverse(self, t: FloatArray) -> FloatArray:
        if self.kind == "none":
            return t
        if self.kind == "box-cox":
            return np.exp(_log_root(t, self.exponent))
        bad = np.expm1(_log_root(np.maximum(t, 0.0), self.exponent))
        good = np.expm1(_log_root(np.maximum(-t, 0.0), 2.0 - self.exponent))
        return np.where(t >= 0, bad, -good)

    def log_slope(self, u: FloatArray) -> FloatArray:
        """log dt/du."""
        if self.kind == "none":
            return np.zeros_like(u)
        if self.kind == "box-cox":
            return (self.exponent - 1.0) * np.log(np.maximum(u, 1e-300))
        return (self.exponent - 1.0) * np.sign(u) * np.log1p(np.abs(u))


def _log1p(u: FloatArray) -> FloatArray:
    return np.log1p(np.maximum(u, 0.0))


def _power(log: FloatArray, exponent: float) -> FloatArray:
    """(v^λ − 1) / λ for given log v; log v itself at λ = 0."""
    if abs(exponent) < 1e-8:
        return log
    return np.expm1(np.minimum(exponent * log, 300.0)) / exponent


def _log_root(t: FloatArray, exponent: float) -> FloatArray:
    """log v with (v^λ − 1) / λ = t; at the end of the range for t beyond it."""
    if abs(exponent) < 1e-8:
        return np.minimum(t, 300.0)
    return np.minimum(np.log(np.maximum(1.0 + exponent * t, 1e-12)) / exponent, 300.0)


@dataclass(frozen=True)
class OutputTransform:
    """A learned transform: u = (y / unit − shift) / spread, at most ``cap``; z = (t(u) − mean) / sd.

    Dividing twice keeps all numbers in range, whatever the size of y.
    """

    unit: float = 1.0
    shift: float = 0.0
    spread: float = 1.0
    cap: float = LARGEST_VALUE
    power: Power = Power()
    mean: float = 0.0
    sd: float = 1.0

    @staticmethod
    def fit(y: FloatArray, power: bool = False) -> OutputTransform:
        """The transform for finite values y (n,), n ≥ 0, in the order of the trials."""
        if len(y) == 0:
            return OutputTransform()
        unit = float(np.max(np.abs(y))) or 1.0
        cap = _tukey_bound(y / unit)
        mean, sd = _moments(np.minimum(y / unit, cap))
        plain = OutputTransform(unit, mean, sd, min((cap - mean) / sd, LARGEST_VALUE))
        if not power or len(y) < MIN_VALUES_FOR_POWER or np.ptp(plain._scaled(y)) == 0:
            return plain
        options = [(0.0, plain), _powered(plain, "yeo-johnson", y, -1.0, 2.0)]
        if np.min(y) > 0:
            positive = OutputTransform(unit, 0.0, sd, min(cap / sd, LARGEST_VALUE))
            options.append(_powered(positive, "box-cox", y, -1.0, 2.0))
        return max(options, key=lambda option: option[0])[1]

    @staticmethod
    def standard(y: FloatArray) -> OutputTransform:
        """Mean and standard deviation alone: large values count in full."""
        if len(y) == 0:
            return OutputTransform()
        unit = float(np.max(np.abs(y))) or 1.0
        return OutputTransform(unit, *_moments(y / unit))

    @staticmethod
    def logarithm(y: FloatArray) -> OutputTransform:
        """log y, standardised, where all y are positive, as errors and times are; else as ``fit``."""
        plain = OutputTransform.fit(y)
        if len(y) == 0 or np.min(y) <= 0:
            return plain
        cap = min(plain.cap + plain.shift / plain.spread, LARGEST_VALUE)
        positive = OutputTransform(plain.unit, 0.0, plain.spread, cap, Power("box-cox", 0.0))
        mean, sd = _moments(positive.forward(y))
        return replace(positive, mean=mean, sd=sd)

    def forward(self, y: FloatArray) -> FloatArray:
        """y -> z, elementwise."""
        z = (self.power.forward(self._scaled(y)) - self.mean) / self.sd
        return np.clip(z, -LARGEST_VALUE, LARGEST_VALUE)

    def noise(self, y: FloatArray, sd: FloatArray) -> FloatArray:
        """The standard deviation of z for that of y, to first order; NaN stays NaN."""
        with np.errstate(over="ignore"):
            scaled = np.minimum(sd / self.unit / self.spread, LARGEST_VALUE)
            slope = np.exp(np.clip(self.power.log_slope(self._scaled(y)), -100.0, 100.0)) / self.sd
        return np.minimum(scaled * slope, LARGEST_VALUE)

    def inverse(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Centre and half-width of the image of z = mean ± sd in units of y, for reports."""
        low, centre, high = (self._back(z) for z in (mean - sd, mean, mean + sd))
        return centre, 0.5 * high - 0.5 * low

    def _scaled(self, y: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.clip((y / self.unit - self.shift) / self.spread, -LARGEST_VALUE, self.cap)

    def _back(self, z: FloatArray) -> FloatArray:
        u = self.power.inverse(self.mean + self.sd * z)
        with np.errstate(over="ignore"):
            y = (self.shift + self.spread * u) * self.unit
        return np.nan_to_num(y)


def _tukey_bound(y: FloatArray) -> float:
    """Q3 + 1.5 (Q3 − Q1): the largest over the first 8, 16, 32, … and all values.

    Later trials gather around the incumbent, where quartiles lie close together. The spread that separates
    an outlier from a plain bad value is that of the early, scattered trials.
    """
    sizes = [8 * 2**k for k in range(64) if 8 * 2**k < len(y)] + [len(y)]
    quartiles = [np.quantile(y[:size], [0.25, 0.75]) for size in sizes]
    return max((float(q3 + 1.5 * (q3 - q1)) if q3 > q1 else np.inf) for q1, q3 in quartiles)


def _moments(y: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation, the latter 1 for constant values; no square underflows."""
    mean = float(np.mean(y))
    largest = float(np.max(np.abs(y - mean)))
    if largest <= 1e-14 * abs(mean):
        return mean, 1.0
    return mean, float(largest * np.std((y - mean) / largest)) or largest


def _powered(
    plain: OutputTransform, kind: Kind, y: FloatArray, low: float, high: float
) -> tuple[float, OutputTransform]:
    """The best exponent in [low, high], standardised, and its gain of log likelihood over none.

    Profile likelihood of t ~ N(μ, s²): −(n/2) log var(t) + Σ log dt/du. The gain is reduced by
    ``MIN_POWER_GAIN`` and −∞ where the transform collapses the values.
    """
    u = plain._scaled(y)

    def gain(exponent: float) -> float:
        power = Power(kind, exponent)
        t = power.forward(u)
        spread = np.std(t) / np.std(u)
        if not np.isfinite(spread) or spread <= 0:
            return -1e300
        return float(power.log_slope(u).sum() - len(u) * np.log(spread))

    with np.errstate(all="ignore"):
        best = optimize.minimize_scalar(lambda x: -gain(x), bounds=(low, high), method="bounded")
        power = Power(kind, float(best.x))
        t = power.forward(u)
        mean, sd = float(np.mean(t)), float(np.std(t))
        if not SMALLEST_SD <= sd < LARGEST_VALUE:
            return -np.inf, plain
        return gain(power.exponent) - MIN_POWER_GAIN, replace(plain, power=power, mean=mean, sd=sd)
