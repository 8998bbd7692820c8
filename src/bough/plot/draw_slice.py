"""Figure ``slice``: the results against each parameter of one branch, with what the model expects there.

The curve is a cut through the best trial of the branch: one parameter varies, the others stay.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bough.plot.model import believed, column_values, varied
from bough.plot.theme import FADED, GOOD, graph_objects, label, number
from bough.plot.traces import empty_note, hover_text, thinned, titled
from bough.plot.view import Predict, StudyView
from bough.plot.ways import FEW_LEVELS
from bough.points import FloatArray

__all__ = ["draw_slice"]

MOST_PANELS = 9
MOST_POINTS = 600


def draw_slice(view: StudyView) -> Any:
    """One panel per parameter of the best trial's branch: results, model mean, and a band of one sd."""
    go = graph_objects()
    from plotly.subplots import make_subplots

    if view.best is None:
        return empty_note(titled(go.Figure(), view, "Slices"), "no finished trial yet")
    row = int(view.ranking[0])
    layout = view.space.layout
    # The values of a small switch are other branches; those of a wide numeric one mostly this one.
    within = ~layout.switch | (~layout.nominal & ((layout.levels == 0) | (layout.levels > FEW_LEVELS)))
    columns = [int(c) for c in np.flatnonzero(view.active[row] & within)][:MOST_PANELS]
    if not columns:
        return empty_note(titled(go.Figure(), view, "Slices"), "this branch has no parameters of its own")
    across = min(len(columns), 3)
    down = math.ceil(len(columns) / across)
    figure = make_subplots(
        rows=down,
        cols=across,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0.3 / down,
    )
    model = believed(view)
    same = (view.active == view.active[row]).all(axis=1)
    shown = np.array([r for r in thinned(view, MOST_POINTS) if same[r]], dtype=np.intp)
    for panel, column in enumerate(columns):
        place = {"row": panel // across + 1, "col": panel % across + 1}
        if model is not None:
            _add_model(figure, view, column, model[0], place, first=panel == 0)
        parameter = view.space.parameters[column]
        figure.add_scatter(
            x=[_shown(view.done[r].config[parameter.name]) for r in shown],
            y=view.values[shown],
            mode="markers",
            text=[hover_text(view.done[r]) for r in shown],
            hovertemplate="%{text}<extra></extra>",
            name="trials",
            showlegend=panel == 0,
            legendgroup="trials",
            marker={"size": 6, "color": FADED, "opacity": 0.7},
            **place,
        )
        figure.add_scatter(
            x=[_shown(view.best.config[parameter.name])],
            y=[view.best.value],
            mode="markers",
            name="best",
            showlegend=panel == 0,
            legendgroup="best",
            hovertemplate=hover_text(view.best) + "<extra></extra>",
            marker={"size": 12, "symbol": "star", "color": GOOD, "line": {"width": 1, "color": "#ffffff"}},
            **place,
        )
        log = getattr(parameter.domain, "log", False)
        figure.update_xaxes(title_text=label(parameter.path), type="log" if log else None, **place)
    figure.update_yaxes(title_text="value", col=1)
    figure.update_yaxes(range=list(_range(view, shown)))
    figure.update_layout(height=140 + 270 * down, hovermode="closest")
    note = f"through trial {view.best.number}, best {number(view.best.value)}"
    note += f"; curve and band: {model[1]}, mean and one sd" if model else ""
    return titled(figure, view, "Slices", note)


def _add_model(
    figure: Any, view: StudyView, column: int, predict: Predict, place: dict[str, int], *, first: bool
) -> None:
    assert view.best is not None
    name = view.space.parameters[column].name
    values = column_values(view, column, 60)
    configs = [(value, varied(view, view.best.config, **{name: value})) for value in values]
    legal = [(value, config) for value, config in configs if config is not None]
    if not legal:
        return
    mean, sd = predict([config for _, config in legal])
    x = [_shown(value) for value, _ in legal]
    if view.space.layout.kinds[column] == "nominal" or len(x) < 3:
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


def _range(view: StudyView, shown: Any) -> tuple[float, float]:
    """Cut off the worst results of the branch, which would flatten everything else."""
    values: FloatArray = view.values[shown]
    low, high = np.quantile(values, [0.0, 0.95] if view.minimizes else [0.05, 1.0])
    margin = 0.12 * (high - low) or max(abs(high), 1.0) * 0.05
    return float(low - margin), float(high + margin)
