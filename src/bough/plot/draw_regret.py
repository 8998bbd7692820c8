"""Figure ``regret``: how fast studies approach the optimum, with bands over repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import CATEGORIES, graph_objects, label, number
from bough.plot.traces import empty_note
from bough.points import FloatArray

__all__ = ["draw_regret", "one_each"]

MOST_POINTS = 400


def draw_regret(groups: Mapping[str, Sequence[StudySnapshot]], optimum: float | None = None) -> Any:
    """The best value so far per group of studies: the median, and a band for the middle half.

    With ``optimum``, the distance to it on a log scale.
    """
    go = graph_objects()
    figure = go.Figure()
    drawn = {
        name: [snapshot for snapshot in snapshots if snapshot.done] for name, snapshots in groups.items()
    }
    drawn = {name: snapshots for name, snapshots in drawn.items() if snapshots}
    for (name, snapshots), colour in zip(drawn.items(), CATEGORIES * (len(drawn) // len(CATEGORIES) + 1)):
        _add_group(figure, name, _curves(snapshots, optimum), colour)
    repeated = any(len(snapshots) > 1 for snapshots in drawn.values())
    figure.update_layout(
        xaxis_title="finished trials", yaxis_title="best value so far", hovermode="x unified", height=460
    )
    if optimum is not None:
        figure.update_yaxes(type="log", title_text="distance to the optimum", exponentformat="power")
    note = "median and middle half over repetitions" if repeated else ""
    if optimum is not None:
        note += ("; " if note else "") + f"optimum {number(optimum)}"
    heading = "<b>Regret</b>" if optimum is not None else "<b>Best value so far</b>"
    figure.update_layout(
        title_text=heading + (f"<br><span style='font-size:13px'>{note}</span>" if note else "")
    )
    return figure if drawn else empty_note(figure, "no finished trial yet")


def one_each(snapshots: Sequence[StudySnapshot]) -> dict[str, list[StudySnapshot]]:
    """Every study as a group of its own, under its name, with a number where a name comes again."""
    groups: dict[str, list[StudySnapshot]] = {}
    for snapshot in snapshots:
        again = sum(name == snapshot.name or name.startswith(f"{snapshot.name} (") for name in groups)
        groups[f"{snapshot.name} ({again + 1})" if again else snapshot.name] = [snapshot]
    return groups


def _curves(snapshots: Sequence[StudySnapshot], optimum: float | None) -> FloatArray:
    """(studies, trials) the best so far of each study, up to the length of the shortest."""
    length = min(len(snapshot.done) for snapshot in snapshots)
    curves = np.array([snapshot.incumbent[:length] for snapshot in snapshots])
    return curves if optimum is None else np.maximum(np.abs(curves - optimum), 1e-16)


def _add_group(figure: Any, name: str, curves: FloatArray, colour: str) -> None:
    picked = np.unique(np.linspace(0, curves.shape[1] - 1, MOST_POINTS).astype(np.intp))
    x = picked + 1
    low, middle, high = np.quantile(curves[:, picked], [0.25, 0.5, 0.75], axis=0)
    if len(curves) > 1:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            mode="lines",
            line={"width": 0},
            fillcolor=f"rgba({red},{green},{blue},0.18)",
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
    figure.add_scatter(
        x=x,
        y=middle,
        mode="lines",
        name=label(name),
        legendgroup=name,
        line={"color": colour, "width": 2.4},
        hovertemplate="%{y:.4g}",
    )
