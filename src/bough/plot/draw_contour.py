"""Figure ``contour``: what the model expects over two parameters at once, around the best trial."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.errors import ConfigError
from bough.plot.draw_importance import importances
from bough.plot.model import FEW_TRIALS, column_values, predictor, varied
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import SCALE, graph_objects, label, number
from bough.plot.traces import empty_note, hover_text, thinned, titled

__all__ = ["draw_contour"]

GRID = 36


def draw_contour(snapshot: StudySnapshot, x: str | None = None, y: str | None = None) -> Any:
    """The model's mean over two numeric parameters (by path or name) that are active in the best trial.

    Without names, the two that explain most of the variance.
    """
    go = graph_objects()
    figure = go.Figure()
    model = predictor(snapshot)
    if model is None or snapshot.best is None:
        return empty_note(titled(figure, snapshot, "Contour"), f"needs {FEW_TRIALS} finished trials")
    candidates = _candidates(snapshot)
    if len(candidates) < 2:
        return empty_note(
            titled(figure, snapshot, "Contour"), "the best branch has fewer than two numeric parameters"
        )
    across = candidates[0] if x is None else _named(snapshot, x, candidates)
    up = next(c for c in candidates if c != across) if y is None else _named(snapshot, y, candidates)
    xs, ys = column_values(snapshot, across, GRID), column_values(snapshot, up, GRID)
    one, other = snapshot.space.parameters[across], snapshot.space.parameters[up]
    configs = [varied(snapshot, snapshot.best.config, **{one.name: a, other.name: b}) for b in ys for a in xs]
    legal = [config for config in configs if config is not None]
    mean = np.full(len(configs), np.nan)
    mean[[i for i, config in enumerate(configs) if config is not None]] = model[0](legal)[0]
    hover = f"{label(one.name)} = %{{x:.4g}}<br>{label(other.name)} = %{{y:.4g}}"
    figure.add_contour(
        x=xs,
        y=ys,
        z=mean.reshape(len(ys), len(xs)),
        colorscale=[list(stop) for stop in SCALE],
        reversescale=not snapshot.minimizes,
        ncontours=14,
        line={"width": 0.6},
        connectgaps=False,
        colorbar={"title": {"text": "model mean", "side": "right"}, "thickness": 11, "outlinewidth": 0},
        hovertemplate=hover + "<br>mean %{z:.4g}<extra></extra>",
    )
    same = (snapshot.active == snapshot.active[int(snapshot.ranking[0])]).all(axis=1)
    rows = [row for row in thinned(snapshot, 500) if same[row]]
    figure.add_scatter(
        x=[snapshot.done[r].config[one.name] for r in rows],
        y=[snapshot.done[r].config[other.name] for r in rows],
        mode="markers",
        text=[hover_text(snapshot.done[r]) for r in rows],
        hovertemplate="%{text}<extra></extra>",
        marker={"size": 6, "color": "#ffffff", "line": {"color": "#24292f", "width": 1}},
        showlegend=False,
    )
    figure.add_scatter(
        x=[snapshot.best.config[one.name]],
        y=[snapshot.best.config[other.name]],
        mode="markers",
        showlegend=False,
        marker={"size": 15, "symbol": "star", "color": "#ffffff", "line": {"color": "#24292f", "width": 1.4}},
        hovertemplate=hover_text(snapshot.best) + "<extra></extra>",
    )
    for parameter, axis in ((one, "xaxis"), (other, "yaxis")):
        log = getattr(parameter.domain, "log", False)
        figure.update_layout({axis: {"title": label(parameter.path), "type": "log" if log else "linear"}})
    figure.update_layout(height=520, hovermode="closest")
    note = f"{model[1]}, around trial {snapshot.best.number} (best {number(snapshot.best.value)}, star)"
    return titled(figure, snapshot, "Contour", note)


def _candidates(snapshot: StudySnapshot) -> list[int]:
    """Numeric plain parameters of the best trial, the most important first."""
    found, _ = importances(snapshot)
    active = snapshot.active[int(snapshot.ranking[0])]
    numeric = [
        i
        for i, parameter in enumerate(snapshot.space.parameters)
        if active[i] and not snapshot.space.layout.switch[i] and hasattr(parameter.domain, "low")
    ]
    return sorted(numeric, key=lambda i: -found.shares[i].total)


def _named(snapshot: StudySnapshot, name: str, candidates: list[int]) -> int:
    for i in candidates:
        if name in (snapshot.space.parameters[i].path, snapshot.space.parameters[i].name):
            return i
    known = ", ".join(snapshot.space.parameters[i].path for i in candidates)
    raise ConfigError(f"{name!r} is not a numeric parameter of the best trial's branch: those are {known}")
