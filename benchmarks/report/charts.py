"""Line charts with bands, and labels at the ends of the lines, for all curves of the reports."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.report.style import Look
from benchmarks.report.svg import FAINT, GRID, INK, Canvas, number, power_of_ten, scale, spread, ticks

WIDTH, HEIGHT, GUTTER = 430, 250, 104
"""The size of a chart in pixels; the gutter on the right contains the labels."""

LETTER = 5.6
"""The approximate width of a letter of a label, in pixels."""


@dataclass(frozen=True)
class Series:
    """A line: x (n,), its middle (n,), and the band between low and high (n,)."""

    method: str
    look: Look
    x: np.ndarray
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray
    strong: bool = False


def chart(
    series: Sequence[Series],
    title: str,
    x_label: str,
    y_label: str,
    *,
    y_range: tuple[float, float],
    decades: bool = False,
    width: float = WIDTH,
    height: float = HEIGHT,
) -> str:
    """An SVG of the series; with ``decades`` y is a power of ten."""
    canvas = Canvas(width, height, title)
    gutter = max(GUTTER, 16 + LETTER * max(len(s.look.label) for s in series))
    left, top, right, bottom = 46, 26, width - gutter, height - 34
    x_low, x_high = min(s.x[0] for s in series), max(s.x[-1] for s in series)
    to_x, to_y = scale(x_low, x_high, left, right), scale(*y_range, bottom, top)
    _axes(canvas, (left, right, bottom), to_x, to_y, (x_low, x_high), y_range, decades)
    canvas.text(left, 15, title, size=12, bold=True)
    canvas.text((left + right) / 2, height - 6, x_label, size=10, colour=FAINT, anchor="middle")
    canvas.text(11, (top + bottom) / 2, y_label, size=10, colour=FAINT, anchor="middle", turn=-90)

    def inside(value: float) -> float:
        return min(max(to_y(value), top), bottom)

    drawn = sorted(series, key=lambda s: s.strong)
    for s in drawn:
        keep = _thinned(len(s.x))
        band = [(to_x(s.x[i]), inside(s.high[i])) for i in keep]
        band += [(to_x(s.x[i]), inside(s.low[i])) for i in reversed(keep)]
        canvas.add(f'<g class="m" data-m="{html.escape(s.method)}">')
        canvas.area(band, s.look.colour, 0.2 if s.strong else 0.05)
        canvas.path(
            [(to_x(s.x[i]), inside(s.middle[i])) for i in keep], s.look.colour, s.look.width, s.look.dash
        )
        canvas.add("</g>")
    ends = [inside(s.middle[-1]) for s in drawn]
    for s, end, place in zip(drawn, ends, spread(ends, 10.5, top + 2, bottom)):
        canvas.add(f'<g class="m" data-m="{html.escape(s.method)}">')
        tip = to_x(s.x[-1])
        canvas.path([(tip + 1, end), (tip + 7, place), (tip + 10, place)], s.look.colour, 0.7)
        canvas.text(right + 12, place + 3.2, s.look.label, size=9.5, colour=s.look.colour, bold=s.strong)
        canvas.add("</g>")
    return str(canvas)


def _thinned(n: int, most: int = 60) -> list[int]:
    """Indices to draw: all of a short line, evenly spaced ones of a long line, always both ends."""
    return sorted({round(i) for i in np.linspace(0, n - 1, min(n, most))})


def _axes(
    canvas: Canvas,
    box: tuple[float, float, float],
    to_x: Callable[[float], float],
    to_y: Callable[[float], float],
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    decades: bool,
) -> None:
    left, right, bottom = box
    marks = ticks(*y_range, 5)
    if decades:
        marks = sorted({float(round(mark)) for mark in marks if y_range[0] <= round(mark) <= y_range[1]})
    for mark in marks:
        canvas.line(left, to_y(mark), right, to_y(mark), GRID)
        text = power_of_ten(mark) if decades else number(mark)
        canvas.text(left - 5, to_y(mark) + 3.3, text, size=9.5, colour=FAINT, anchor="end")
    for mark in ticks(*x_range, 5):
        canvas.line(to_x(mark), bottom, to_x(mark), bottom + 3, FAINT)
        canvas.text(to_x(mark), bottom + 14, number(mark), size=9.5, colour=FAINT, anchor="middle")
    canvas.line(left, bottom, right, bottom, INK, 0.8)
