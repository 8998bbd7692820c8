"""Figure ``slice``: the results against each parameter of one branch, with what the model expects there.

The curve is a cut through the best trial of the branch: one parameter varies, the others stay.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bough.plot.model import column_values, predictor, varied
from bough.plot.snapshot import Predict, StudySnapshot
from bough.plot.switch_values import MAX_SINGLE_LEVELS
from bough.plot.theme import FADED, GOOD, graph_objects, label, number
from bough.plot.traces import empty_note, hover_text, thinned, titled
from bough.points import FloatArray

__all__ = ["draw_slice"]

MOST_PANELS = 9
MOST_POINTS = 600


def draw_slice(snapshot: StudySnapshot) -> Any:
    """One panel per parameter of the best trial's branch: results, model mean, and a band of one sd."""
    go = graph_objects()
    from plotly.subplots import make_subplots

    if snapshot.best is None:
        return empty_note(titled(go.Figure(), snapshot, "Slices"), "no finished trial yet")
    row = int(snapshot.ranking[0])
    layout = snapshot.space.layout
    # The values of a small switch are other branches; those of a wide numeric one mostly this one.
    within = ~layout.switch | (~layout.nominal & ((layout.levels == 0) | (layout.levels > MAX_SINGLE_LEVELS)))
    columns = [int(c) for c in np.flatnonzero(snapshot.active[row] & within)][:MOST_PANELS]
    if not columns:
        return empty_note(titled(go.Figure(), snapshot, "Slices"), "this branch has no parameters of its own")
    across = min(len(columns), 3)
    down = math.ceil(len(columns) / across)
    figure = make_subplots(
        rows=down,
        cols=across,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0.3 / down,
    )
    model = predictor(snapshot)
    same = (snapshot.active == snapshot.active[row]).all(axis=1)
    shown = np.array([r for r in thinned(snapshot, MOST_POINTS) if same[r]], dtype=np.intp)
    for panel, column in enumerate(columns):
        place = {"row": panel // across + 1, "col": panel % across + 1}
        if model is not None:
            _add_model(figure, snapshot, column, model[0], place, first=panel == 0)
        parameter = snapshot.space.parameters[column]
        figure.add_scatter(
            x=[_shown(snapshot.done[r].config[parameter.name]) for r in shown],
            y=snapshot.values[shown],
            mode="markers",
            text=[hover_text(snapshot.done[r]) for r in shown],
            hovertemplate="%{text}<extra></extra>",
            name="trials",
            showlegend=panel == 0,
            legendgroup="trials",
            marker={"size": 6, "color": FADED, "opacity": 0.7},
            **place,
        )
        figure.add_scatter(
            x=[_shown(snapshot.best.config[parameter.name])],
            y=[snapshot.best.value],
            mode="markers",
            name="best",
            showlegend=panel == 0,
            legendgroup="best",
            hovertemplate=hover_text(snapshot.best) + "<extra></extra>",
            marker={"size": 12, "symbol": "star", "color": GOOD, "line": {"width": 1, "color": "#ffffff"}},
            **place,
        )
        log = getattr(parameter.domain, "log", False)
        figure.update_xaxes(title_text=label(parameter.path), type="log" if log else None, **place)
    figure.update_yaxes(title_text="value", col=1)
    figure.update_yaxes(range=list(_range(snapshot, shown)))
    figure.update_layout(height=140 + 270 * down, hovermode="closest")
    note = f"through trial {snapshot.best.number}, best {number(snapshot.best.value)}"
    note += f"; curve and band: {model[1]}, mean and one sd" if model else ""
    return titled(figure, snapshot, "Slices", note)


def _add_model(
    figure: Any, snapshot: StudySnapshot, column: int, predict: Predict, place: dict[str, int], *, first: bool
) -> None:
    assert snapshot.best is not None
    name = snapshot.space.parameters[column].name
    values = column_values(snapshot, column, 60)
    configs = [(value, varied(snapshot, snapshot.best.config, **{name: value})) for value in values]
    legal = [(value, config) for value, config in configs if config is not None]
    if not legal:
        return
    mean, sd = predict([config for _, config in legal])
    x = [_shown(value) for value, _ in legal]
    if snapshot.space.layout.kinds[column] == "nominal" or len(x) < 3:
        figure.add_scatter(
            x=x,
            y=mean,
            error_y={"type": "data", "array": sd, "thickness": 1.2},
            mode="markers",
            name="model",
            showlegend=first,
            legendgroup="model",
            marker={"symbol": "line-ew", "size": 16, "line": {"color": GOOD, "width": 3}, "color": GOOD},
            hovertemplate="model: %{y:.4g}<extra></extra>",
            **place,
        )
        return
    figure.add_scatter(
        x=[*x, *x[::-1]],
        y=np.concatenate([mean + sd, (mean - sd)[::-1]]),
        fill="toself",
        mode="lines",
        line={"width": 0},
        fillcolor="rgba(0,114,178,0.18)",
        hoverinfo="skip",
        showlegend=False,
        **place,
    )
    figure.add_scatter(
        x=x,
        y=mean,
        mode="lines",
        line={"color": GOOD, "width": 2},
        name="model",
        showlegend=first,
        legendgroup="model",
        hovertemplate="model: %{y:.4g}<extra></extra>",
        **place,
    )


def _shown(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else label(value)


def _range(snapshot: StudySnapshot, shown: Any) -> tuple[float, float]:
    """Cut off the worst results of the branch, which would flatten everything else."""
    values: FloatArray = snapshot.values[shown]
    low, high = np.quantile(values, [0.0, 0.95] if snapshot.minimizes else [0.05, 1.0])
    margin = 0.12 * (high - low) or max(abs(high), 1.0) * 0.05
    return float(low - margin), float(high + margin)
