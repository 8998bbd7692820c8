"""Figure ``history``: every result in the order of the trials, and the best so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import BAD, FADED, GOOD, graph_objects, number
from bough.plot.traces import empty_note, hover_text, titled

__all__ = ["draw_history"]

MANY = 1500
"""Beyond so many results single points hide one another, and a band says more."""


def draw_history(snapshot: StudySnapshot) -> Any:
    """Values over trial numbers: points (a band of quantiles when there are many) and the best so far."""
    go = graph_objects()
    figure = go.Figure()
    if not snapshot.done:
        return empty_note(titled(figure, snapshot, "History"), "no finished trial yet")
    if len(snapshot.done) <= MANY:
        figure.add_scatter(
            x=snapshot.numbers,
            y=snapshot.values,
            mode="markers",
            name="trials",
            text=[hover_text(t) for t in snapshot.done],
            hovertemplate="%{text}<extra></extra>",
            marker={"size": 7 if len(snapshot.done) < 300 else 4, "color": FADED, "opacity": 0.65},
        )
    else:
        _add_band(figure, snapshot)
    better = np.r_[True, snapshot.incumbent[1:] != snapshot.incumbent[:-1]]
    corners = better.copy()
    corners[-1] = True  # a line of steps needs no points between them
    figure.add_scatter(
        x=snapshot.numbers[corners],
        y=snapshot.incumbent[corners],
        mode="lines",
        name="best so far",
        line={"shape": "hv", "color": GOOD, "width": 2.5},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=snapshot.numbers[better],
        y=snapshot.incumbent[better],
        mode="markers",
        name="improvements",
        showlegend=False,
        text=[hover_text(snapshot.done[i]) for i in np.flatnonzero(better)],
        hovertemplate="%{text}<extra></extra>",
        marker={"size": 8, "color": GOOD},
    )
    if snapshot.failed:
        _add_failures(figure, snapshot)
    figure.update_layout(xaxis_title="trial", yaxis_title="value", hovermode="closest")
    low, high = _shown_range(snapshot)
    figure.update_layout(yaxis_range=[low, high])
    best = snapshot.best
    assert best is not None and best.value is not None
    note = f"best {number(best.value)} in trial {best.number} of {len(snapshot.trials)}"
    return titled(figure, snapshot, "History", note)


def _add_band(figure: Any, snapshot: StudySnapshot) -> None:
    """The middle 80% and the median of 150 runs of consecutive trials."""
    runs = np.array_split(np.arange(len(snapshot.done)), 150)
    centre = [float(snapshot.numbers[run].mean()) for run in runs]
    low, middle, high = np.array([np.quantile(snapshot.values[run], [0.1, 0.5, 0.9]) for run in runs]).T
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=centre, y=high, showlegend=False, **edge)
    figure.add_scatter(
        x=centre,
        y=low,
        fill="tonexty",
        fillcolor="rgba(139,148,158,0.28)",
        name="middle 80% of trials",
        **edge,
    )
    figure.add_scatter(
        x=centre,
        y=middle,
        mode="lines",
        name="median of trials",
        line={"color": FADED, "width": 1.5},
        hovertemplate="around trial %{x:.0f}: median %{y:.4g}<extra></extra>",
    )


def _add_failures(figure: Any, snapshot: StudySnapshot) -> None:
    """Failed trials have no value: they stand on the upper or lower edge of the frame."""
    shown = (
        snapshot.failed
        if len(snapshot.failed) <= MANY
        else snapshot.failed[:: len(snapshot.failed) // MANY + 1]
    )
    few = len(shown) <= 200
    mark = {
        "symbol": "x-thin" if few else "line-ns",
        "size": 8,
        "line": {"color": BAD, "width": 1.6 if few else 0.5},
    }
    figure.add_scatter(
        x=[t.number for t in shown],
        y=[0.985] * len(shown),
        yaxis="y2",
        mode="markers",
        name="failed",
        text=[hover_text(t) for t in shown],
        hovertemplate="%{text}<extra></extra>",
        marker=mark,
    )
    figure.update_layout(yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True})


def _shown_range(snapshot: StudySnapshot) -> tuple[float, float]:
    """From the best value to where nine tenths of the rest lie, so that one outlier hides nothing."""
    inner, outer = (0.0, 0.93) if snapshot.minimizes else (0.07, 1.0)
    low, high = (
        np.quantile(snapshot.values, [inner, outer]) if len(snapshot.done) > 20 else _ends(snapshot.values)
    )
    low, high = min(low, snapshot.incumbent[-1]), max(high, snapshot.incumbent[-1])
    # Values within three times the usual spread need no cutting off.
    spread = high - low
    if snapshot.values.max() <= high + 1.5 * spread and snapshot.values.min() >= low - 1.5 * spread:
        low, high = _ends(snapshot.values)
    margin = 0.06 * (high - low) or max(abs(high), 1.0) * 0.05
    return float(low - margin), float(high + margin)


def _ends(values: Any) -> tuple[float, float]:
    return float(values.min()), float(values.max())
