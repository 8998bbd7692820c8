"""The figures of the reports: progress, ranks over time, critical differences, choices, matrices."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks import statistics
from benchmarks.report.charts import Series, chart
from benchmarks.report.data import Results, facts
from benchmarks.report.style import Look
from benchmarks.report.svg import FAINT, INK, Canvas, number, scale, ticks

FLOOR = -9.0
"""log10 of the smallest distance to the optimum that is drawn: records keep eight digits."""


def progress(results: Results, problem: str, looks: Mapping[str, Look], reference: str) -> str:
    """The best value so far over trials, median and quartiles over seeds; log10 of the distance to a known
    optimum."""
    optima = {seed: facts(problem, seed)[0] for seed in results.seeds[problem]}
    known = all(optimum is not None for optimum in optima.values())
    series = []
    for method in results.all_methods(problem):
        rows = []
        for record in results.records[problem, method]:
            curve = record.curve()
            optimum = optima.get(record.seed)
            if known and optimum is not None:
                curve = np.log10(np.maximum(curve - optimum, 10**FLOOR))
            rows.append(curve)
        low, middle, high = _quartiles(np.array(rows))
        x = np.arange(1, len(middle) + 1)
        series.append(Series(method, looks[method], x, middle, low, high, method == reference))
    y_range = _y_range(series)
    label = "distance to the optimum" if known else "best value"
    return chart(series, problem, "trials", label, y_range=y_range, decades=known)


def _quartiles(curves: np.ndarray) -> np.ndarray:
    """(3, trials) quartiles over the first axis; runs without a success yet are worse than all others."""
    top = np.max(curves[np.isfinite(curves)], initial=0.0)
    return np.quantile(np.where(np.isfinite(curves), curves, top + 1 + abs(top)), [0.25, 0.5, 0.75], axis=0)


def _y_range(series: Sequence[Series]) -> tuple[float, float]:
    """From the lowest quartile to the worst median after a tenth of the budget."""
    early = [s.middle[max(1, len(s.middle) // 10) - 1] for s in series]
    low, high = min(float(s.low.min()) for s in series), float(max(early))
    room = 0.04 * (high - low or 1.0)
    return low - room, high + room


def rank_progress(
    results: Results, looks: Mapping[str, Look], reference: str, title: str, width: float = 620
) -> str:
    """Average rank over the share of the budget; the band is two standard errors over problems."""
    shares = np.linspace(0.05, 1.0, 39)
    by_share = np.stack([statistics.problem_ranks(results.scores(share)) for share in shares], axis=2)
    middle = by_share.mean(axis=1)
    error = 2 * by_share.std(axis=1, ddof=1) / np.sqrt(by_share.shape[1]) if by_share.shape[1] > 1 else 0.0
    low, high = middle - error, middle + error
    series = [
        Series(m, looks[m], 100 * shares, middle[i], low[i], high[i], m == reference)
        for i, m in enumerate(results.methods)
    ]
    y_range = (float(max(1.0, middle.min() - 0.4)), float(middle.max() + 0.3))
    return chart(series, title, "% of the budget", "average rank", y_range=y_range, width=width, height=330)


def critical_difference(
    average: np.ndarray, difference: float, names: Sequence[str], looks: Mapping[str, Look], title: str
) -> str:
    """Demšar's diagram: methods on an axis of average ranks, best left; bars join those that may be equal."""
    order = np.argsort(average, kind="stable")
    half = (len(order) + 1) // 2
    groups = statistics.cliques(average, difference)
    width, left, right = 760.0, 150.0, 610.0
    axis, row = 58.0, 17.0
    first = axis + 16 + 7 * len(groups)
    height = first + row * half + 8
    low, high = 1.0, float(len(average))
    to_x = scale(low, high, left, right)
    canvas = Canvas(width, height, title)
    canvas.text(10, 16, title, size=12, bold=True)
    canvas.line(left, axis, right, axis, INK, 1)
    for mark in ticks(low, high, 8):
        canvas.line(to_x(mark), axis - 4, to_x(mark), axis, INK, 1)
        canvas.text(to_x(mark), axis - 8, number(mark), size=9.5, colour=FAINT, anchor="middle")
    reach = to_x(min(high, low + difference))
    canvas.line(left, 34, reach, 34, INK, 1.6)
    for x in (left, reach):
        canvas.line(x, 31, x, 37, INK, 1.2)
    canvas.text(reach + 6, 37.5, f"critical difference {difference:.2f}", size=9.5, colour=FAINT)
    for place, index in enumerate(order):
        name, x = names[index], to_x(float(average[index]))
        on_left = place < half
        y = first + row * (place if on_left else len(order) - 1 - place)
        look, end = looks[name], left - 8 if on_left else right + 8
        strong = look.width > 2
        canvas.add(f'<g class="m" data-m="{html.escape(name)}">')
        canvas.path([(x, axis), (x, y), (end, y)], look.colour, 1.8 if strong else 0.9)
        text = f"{look.label}  {average[index]:.2f}"
        anchor = "end" if on_left else "start"
        canvas.text(
            end + (-4 if on_left else 4),
            y + 3.4,
            text,
            size=10.5,
            colour=look.colour,
            anchor=anchor,
            bold=strong,
        )
        canvas.add("</g>")
    for level, group in enumerate(groups):
        y = axis + 9 + 7 * level
        ends = [to_x(float(average[i])) for i in (group[0], group[-1])]
        canvas.line(ends[0] - 4, y, ends[1] + 4, y, INK, 3)
    return str(canvas)


def choices(shares: Mapping[str, Mapping[str, float]], title: str) -> str:
    """Stacked bars: for each row (a data set) the share of each choice."""
    kinds = sorted({kind for row in shares.values() for kind in row})
    colours = (
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#cc79a7",
        "#e69f00",
        "#56b4e9",
        "#7d8799",
        "#b0a44e",
        "#444c5c",
    )
    left, top, row, right = 150.0, 52.0, 18.0, 640.0
    canvas = Canvas(right + 20, top + row * len(shares) + 8, title)
    canvas.text(10, 16, title, size=12, bold=True)
    x = left
    for kind, colour in zip(kinds, colours):
        canvas.rect(x, 30, 9, 9, colour)
        canvas.text(x + 12, 38, kind, size=10)
        x += 20 + 6.2 * len(kind)
    for place, (name, row_shares) in enumerate(shares.items()):
        y, start = top + row * place, left
        canvas.text(left - 6, y + 11, name, size=10, anchor="end")
        for kind, colour in zip(kinds, colours):
            wide = (right - left) * row_shares.get(kind, 0.0)
            if wide:
                canvas.rect(start, y, wide, row - 4, colour, f"{kind} {row_shares[kind]:.0%}")
            start += wide
    return str(canvas)


def matrices(shown: Mapping[str, np.ndarray], bounds: Sequence[int], title: str, note: str = "") -> str:
    """Heat maps of matrices with entries in [0, 1], side by side; ``bounds``: where blocks begin."""
    side, gap, top = 220.0, 24.0, 48.0
    canvas = Canvas(gap + (side + gap) * len(shown), top + side + (30 if note else 14), title)
    canvas.text(gap, 17, title, size=12, bold=True)
    for place, (name, matrix) in enumerate(shown.items()):
        left, cell = gap + place * (side + gap), side / len(matrix)
        canvas.text(left + side / 2, top - 8, name, size=10.5, anchor="middle")
        picture = base64.b64encode(_png(_heat(matrix))).decode()
        canvas.add(
            f'<image x="{left:g}" y="{top:g}" width="{side:g}" height="{side:g}" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{picture}"/>'
        )
        for bound in bounds:
            at = bound * cell
            canvas.line(left + at, top, left + at, top + side, "#ffffff", 1)
            canvas.line(left, top + at, left + side, top + at, "#ffffff", 1)
    if note:
        canvas.text(gap, top + side + 20, note, size=10, colour=FAINT)
    return str(canvas)


def _heat(matrix: np.ndarray) -> np.ndarray:
    """(n, m, 3) colours: white (0) through teal to dark blue (1), with steadily falling lightness."""
    stops = np.array([[247, 250, 250], [168, 214, 205], [64, 150, 166], [16, 58, 102]])
    at = np.linspace(0, 1, len(stops))
    colours = [np.interp(np.clip(matrix, 0, 1), at, stops[:, channel]) for channel in range(3)]
    return np.stack(colours, axis=2).round().astype(np.uint8)


def _png(pixels: np.ndarray) -> bytes:
    """An RGB image (height, width, 3) as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(rows.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
