"""Figure ``history``: every value in the order of the trials, and the best so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.plot.axes import ValueAxis
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import BAD, FADED, GOOD, graph_objects, label, number
from bough.plot.traces import add_trials, counted, joined

__all__ = ["history"]

MAX_POINTS = 1500
"""The most trials drawn as points; more would hide one another, so a band of quantiles is drawn."""


@figure("History")
def history(snapshot: StudySnapshot, *, log: bool = False) -> Drawing:
    """Every value in the order of the trials, the best so far, and the failures.

    A few values far worse than the others do not stretch the axis: triangles at its end mark them.
    ``log=True`` draws a logarithmic axis with all values.
    """
    drawn = graph_objects().Figure()
    if not snapshot.done:
        raise NothingToShow("no finished trial yet")
    axis = ValueAxis.of(snapshot.values, minimizes=snapshot.minimizes, log=log)
    beyond = axis.beyond(snapshot.values)
    if len(snapshot.done) <= MAX_POINTS:
        _add_points(drawn, snapshot, np.flatnonzero(~beyond), name="trials")
    else:
        _add_band(drawn, snapshot)
    better = np.r_[True, snapshot.incumbent[1:] != snapshot.incumbent[:-1]]
    corners = better.copy()
    corners[-1] = True  # a step line needs only its corners
    drawn.add_scatter(
        x=snapshot.numbers[corners],
        y=snapshot.incumbent[corners],
        mode="lines",
        name="best so far",
        line={"shape": "hv", "color": GOOD, "width": 2.5},
        hoverinfo="skip",
    )
    add_trials(
        drawn,
        [snapshot.done[row] for row in np.flatnonzero(better)],
        snapshot.numbers[better],
        snapshot.incumbent[better],
        name="improvements",
        showlegend=False,
        marker={"size": 8, "color": GOOD},
    )
    if beyond.any():
        rows = np.flatnonzero(beyond)
        rows = rows[:: len(rows) // MAX_POINTS + 1]
        marks = {"symbol": axis.symbol, "size": 8, "color": FADED}
        _add_points(drawn, snapshot, rows, name="beyond the axis", y=axis.edge, marker=marks)
    if shown := [t for t in snapshot.retracted if t.value is not None]:
        add_trials(
            drawn,
            shown,
            [t.number for t in shown],
            [t.value for t in shown],
            name="retracted",
            marker={"symbol": "line-ew", "size": 11, "line": {"color": FADED, "width": 2}},
        )
    if snapshot.failed:
        _add_failures(drawn, snapshot)
    drawn.update_layout(
        xaxis_title="trial",
        yaxis_title=label(snapshot.goals.value_name),
        hovermode="closest",
        yaxis=axis.layout,
    )
    best = snapshot.best
    assert best is not None and best.value is not None
    missed = sum(not trial.feasible for trial in snapshot.done)
    found = (
        f"best {number(best.value)} in trial {best.number}" if best.feasible else "nothing is feasible yet"
    )
    note = f"{found}; {counted(len(snapshot.trials), 'trial')}"
    hollow = f"{missed} not feasible (hollow)" if missed else ""
    return drawn, joined(note, hollow, axis.note(int(beyond.sum())))


def _add_points(
    drawn: Any, snapshot: StudySnapshot, rows: Any, *, name: str, y: float | None = None, marker: Any = None
) -> None:
    """Finished trials as points at their values, or all at the height ``y``."""
    size = 7 if len(snapshot.done) < 300 else 4
    add_trials(
        drawn,
        [snapshot.done[row] for row in rows],
        snapshot.numbers[rows],
        snapshot.values[rows] if y is None else np.full(len(rows), y),
        name=name,
        marker=marker or {"size": size, "color": FADED, "opacity": 0.65, **_hollow(snapshot, rows)},
    )


def _hollow(snapshot: StudySnapshot, rows: Any) -> dict[str, Any]:
    """Trials that do not meet the constraints are hollow."""
    infeasible = [not snapshot.done[row].feasible for row in rows]
    return {"symbol": ["circle-open" if each else "circle" for each in infeasible]} if any(infeasible) else {}


def _add_band(drawn: Any, snapshot: StudySnapshot) -> None:
    """The middle 80% and the median of 150 runs of consecutive trials."""
    runs = np.array_split(np.arange(len(snapshot.done)), 150)
    centre = [float(snapshot.numbers[run].mean()) for run in runs]
    low, middle, high = np.array([np.quantile(snapshot.values[run], [0.1, 0.5, 0.9]) for run in runs]).T
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    drawn.add_scatter(x=centre, y=high, showlegend=False, **edge)
    drawn.add_scatter(
        x=centre,
        y=low,
        fill="tonexty",
        fillcolor="rgba(139,148,158,0.28)",
        name="middle 80% of trials",
        **edge,
    )
    drawn.add_scatter(
        x=centre,
        y=middle,
        mode="lines",
        name="median of trials",
        line={"color": FADED, "width": 1.5},
        hovertemplate="around trial %{x:.0f}: median %{y:.4g}<extra></extra>",
    )


def _add_failures(drawn: Any, snapshot: StudySnapshot) -> None:
    """Failed trials have no value: crosses at the top mark them."""
    shown = (
        snapshot.failed
        if len(snapshot.failed) <= MAX_POINTS
        else snapshot.failed[:: len(snapshot.failed) // MAX_POINTS + 1]
    )
    few = len(shown) <= 200
    mark = {
        "symbol": "x-thin" if few else "line-ns",
        "size": 8,
        "line": {"color": BAD, "width": 1.6 if few else 0.5},
    }
    add_trials(
        drawn,
        shown,
        [t.number for t in shown],
        [0.965] * len(shown),
        yaxis="y2",
        name="failed",
        marker=mark,
    )
    drawn.update_layout(yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True})
