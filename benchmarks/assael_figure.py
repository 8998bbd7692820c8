"""Figure 5 of Assael et al. 2014: the mean best value over trials, a panel per problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.report.charts import HEIGHT, WIDTH, Series, chart
from benchmarks.report.style import Look

LOOKS = {
    "gp": Look("#7d8799", 1.5, "", "gp (BO)"),
    "gp-warp": Look("#0072b2", 1.5, "5 2.5", "gp-warp"),
    "treed": Look("#009e73", 1.8, "", "treed (HTBO)"),
    "treed-warp": Look("#d55e00", 2.4, "", "treed-warp"),
}
ACROSS = 2


def draw(curves: Mapping[str, Mapping[str, np.ndarray]], titles: Mapping[str, str]) -> str:
    """An SVG of the (runs, trials) best values of each problem and method; bands: one standard error."""
    panels = [_panel(titles[problem], best) for problem, best in curves.items()]
    return _side_by_side(panels)


def _panel(title: str, best: Mapping[str, np.ndarray]) -> str:
    series = []
    for method, values in best.items():
        middle, error = values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values))
        trials = np.arange(1, values.shape[1] + 1)
        series.append(Series(method, LOOKS[method], trials, middle, middle - error, middle + error))
    # the first trials are the design, which all methods share; the axis shows all values after it
    start = max(float(s.middle[4]) for s in series)
    end = min(float(s.middle[-1]) for s in series)
    margin = 0.06 * (start - end) or 1.0
    runs = len(next(iter(best.values())))
    return chart(
        series, f"{title}, {runs} runs", "trial", "mean best value", y_range=(end - margin, start + margin)
    )


def _side_by_side(panels: Sequence[str]) -> str:
    gap, rows = 8, -(-len(panels) // ACROSS)
    width, height = ACROSS * WIDTH + (ACROSS - 1) * gap, rows * HEIGHT + (rows - 1) * gap
    placed = [
        panel.replace(
            "<svg ", f'<svg x="{i % ACROSS * (WIDTH + gap)}" y="{i // ACROSS * (HEIGHT + gap)}" ', 1
        )
        for i, panel in enumerate(panels)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}">' + "".join(placed) + "</svg>\n"
    )
