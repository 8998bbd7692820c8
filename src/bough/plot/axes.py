"""Axes that stay readable: a few outliers do not stretch them, and their ticks are round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bough.errors import ConfigError
from bough.plot.theme import number
from bough.points import BoolArray, FloatArray

__all__ = ["ValueAxis", "log_axis", "log_ticks", "mark_entry", "round_ticks", "tick_text"]

MIN_VALUES_TO_CLIP = 8
MARGIN_SHARE = 0.06


@dataclass(frozen=True)
class ValueAxis:
    """The axis of values between ``low`` and ``high``, both in the units of the values.

    minimizes: whether larger values are worse. Only values on the worse side may lie beyond the axis.
    """

    low: float
    high: float
    minimizes: bool
    log: bool

    @staticmethod
    def of(values: FloatArray, *, minimizes: bool, log: bool = False) -> ValueAxis:
        """From the best value to Tukey's fence on the worse side; a log axis shows all values.

        The fence is 1.5 times as far beyond the worse quartile as that quartile is from the best value.
        """
        low, high = float(values.min()), float(values.max())
        if log:
            if low <= 0:
                raise ConfigError(f"a log axis needs values above 0; here is {number(low)}")
            first, last = math.log10(low), math.log10(high)
            margin = MARGIN_SHARE * (last - first) or math.log10(1.1)
            low, high = 10.0 ** max(first - margin, -323), 10.0 ** min(last + margin, 308.25)
            return ValueAxis(low, high, minimizes, True)
        if len(values) >= MIN_VALUES_TO_CLIP:
            if minimizes:
                worse = float(np.quantile(values, 0.75))
                high = min(high, worse + 1.5 * (worse - low)) if worse > low else high
            else:
                worse = float(np.quantile(values, 0.25))
                low = max(low, worse - 1.5 * (high - worse)) if worse < high else low
        margin = MARGIN_SHARE * (high - low) or 0.05 * max(abs(high), 1e-300)
        return ValueAxis(low - margin, high + margin, minimizes, False)

    def beyond(self, values: FloatArray) -> BoolArray:
        """Which values lie beyond the axis."""
        return np.asarray((values > self.high) | (values < self.low))

    @property
    def edge(self) -> float:
        """The position at which values beyond the axis are marked."""
        inset = 0.02 * (self.high - self.low)
        return self.high - inset if self.minimizes else self.low + inset

    @property
    def symbol(self) -> str:
        return "triangle-up" if self.minimizes else "triangle-down"

    @property
    def layout(self) -> dict[str, Any]:
        """The axis for Plotly."""
        if not self.log:
            return {"range": [self.low, self.high], "type": "linear"}
        return {"range": [math.log10(self.low), math.log10(self.high)], **log_axis(self.low, self.high)}

    def note(self, count: int) -> str:
        """A note about values beyond the axis."""
        if not count:
            return ""
        mark, side = ("▲", "above") if self.minimizes else ("▼", "below")
        return f"{mark} marks {count} {'value' if count == 1 else 'values'} {side} the axis"


def mark_entry(
    figure: Any,
    axis: ValueAxis,
    x: Any,
    y: FloatArray,
    *,
    size: int,
    colour: str,
    named: str = "",
    **place: Any,
) -> bool:
    """Mark where a line (n,) that begins beyond the axis enters it; returns whether it begins there.

    named: the hover text before the first value.
    """
    beyond = np.flatnonzero(axis.beyond(y))
    if not len(beyond):
        return False
    figure.add_scatter(
        x=[x[min(beyond[-1] + 1, len(x) - 1)]],
        y=[axis.edge],
        mode="markers",
        marker={"symbol": axis.symbol, "size": size, "color": colour},
        showlegend=False,
        hovertemplate=f"{named}first {number(y[beyond[0]])}<extra></extra>",
        **place,
    )
    return True


def log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis for Plotly, with labels at powers of ten, or at round numbers of a short range."""
    ticks = log_ticks(low, high)
    return {"type": "log", "tickmode": "array", "tickvals": ticks, "ticktext": [tick_text(t) for t in ticks]}


def log_ticks(low: float, high: float) -> list[float]:
    """Three to seven round numbers between ``low`` and ``high``, evenly spaced on a log axis."""
    first, last = math.log10(low), math.log10(high)
    decades = [float(k) for k in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]
    if len(decades) >= 3:
        step = math.ceil(len(decades) / 6)
        return [10.0**k for k in decades[::step]]
    near = [m * 10.0**k for k in range(math.floor(first), math.floor(last) + 1) for m in (1, 2, 5)]
    found = [tick for tick in near if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    return found if len(found) >= 3 else round_ticks(low, high)


def round_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About ``count`` multiples of 1, 2 or 5 times a power of ten between ``low`` and ``high``."""
    if not high > low:
        return [low]
    rough = (high - low) / max(count - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A tick's label: ``0.001``, ``20``, ``1e-5``."""
    if value and not 1e-4 < abs(value) < 1e5:
        digits, _, power = f"{value:.3g}".partition("e")
        return f"{digits}e{int(power)}" if power else digits
    return number(value)
