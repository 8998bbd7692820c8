"""Basic SVG drawing: a canvas, axes, ticks. Coordinates in pixels, y downwards."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
INK, FAINT, GRID = "#2b2f36", "#6b7280", "#e6e8ec"

Scale = Callable[[float], float]


class Canvas:
    """An SVG drawing, built element by element."""

    def __init__(self, width: float, height: float, title: str = "") -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []
        self._title = title

    def add(self, element: str) -> None:
        self._parts.append(element)

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = GRID, width: float = 1) -> None:
        self.add(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def path(
        self, points: Iterable[tuple[float, float]], colour: str, width: float = 1.5, dash: str = ""
    ) -> None:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.add(
            f'<path d="{_steps(points)}" fill="none" stroke="{colour}" stroke-width="{width:g}"'
            f' stroke-linejoin="round"{dashed}/>'
        )

    def area(self, points: Iterable[tuple[float, float]], colour: str, opacity: float) -> None:
        self.add(f'<path d="{_steps(points)}Z" fill="{colour}" fill-opacity="{opacity:g}"/>')

    def rect(self, x: float, y: float, width: float, height: float, colour: str, title: str = "") -> None:
        inner = f"<title>{html.escape(title)}</title>" if title else ""
        self.add(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{colour}">'
            f"{inner}</rect>"
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 10,
        colour: str = INK,
        anchor: str = "start",
        bold: bool = False,
        turn: float = 0,
    ) -> None:
        weight = ' font-weight="600"' if bold else ""
        turned = f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else ""
        self.add(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" '
            f'text-anchor="{anchor}"{weight}{turned}>{html.escape(text)}</text>'
        )

    def __str__(self) -> str:
        title = f"<title>{html.escape(self._title)}</title>" if self._title else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" font-family="{FONT}" role="img">{title}'
            f'<rect width="100%" height="100%" rx="4" fill="#fff"/>' + "".join(self._parts) + "</svg>"
        )


def _steps(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def scale(low: float, high: float, start: float, end: float) -> Scale:
    """The linear map of [low, high] to [start, end]."""
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """About ``about`` round numbers within [low, high]."""
    span = high - low
    if not span > 0:
        return [low]
    rough = span / about
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float) -> str:
    """A tick's label without noise in its last digits."""
    return f"{value:.6g}".replace("-", "−")


def power_of_ten(exponent: float) -> str:
    return "10" + "".join("⁻" if c == "-" else "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] for c in f"{round(exponent)}")


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones, at least ``gap`` apart and within [low, high] if there is room."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gap = min(gap, (high - low) / max(1, len(wanted) - 1))
    # groups of touching labels are moved together: (sum of wanted tops, count), merged while they overlap
    groups: list[list[float]] = []
    for place in order:
        groups.append([wanted[place], 1])
        while len(groups) > 1 and _top(groups[-2], gap) + groups[-2][1] * gap > _top(groups[-1], gap):
            total, count = groups.pop()
            groups[-1] = [groups[-1][0] + total, groups[-1][1] + count]
    positions = [_top(group, gap) + k * gap for group in groups for k in range(int(group[1]))]
    for k in range(len(positions)):
        positions[k] = max(positions[k], low + k * gap)
    for k in range(len(positions)):
        positions[-1 - k] = min(positions[-1 - k], high - k * gap)
    placed = [0.0] * len(wanted)
    for place, position in zip(order, positions):
        placed[place] = position
    return placed


def _top(group: Sequence[float], gap: float) -> float:
    """The position of the first of a group, so that the group is centred on the wanted positions."""
    total, count = group
    return total / count - (count - 1) * gap / 2
