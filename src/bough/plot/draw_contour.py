"""Figure ``contour``: the model's mean over two parameters, around the best trial that has both."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bough.errors import ConfigError
from bough.plot.axes import log_axis
from bough.plot.columns import axis_title, centre_row, column_named, column_values, varied
from bough.plot.draw_importance import importances
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.model import MIN_TRIALS, predictor
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import SCALE, graph_objects, label, number
from bough.plot.traces import add_trials, hover_text, thinned
from bough.space.parameters import Categorical

__all__ = ["contour"]

GRID_POINTS = 36
MAX_TRIALS = 500
BEHIND_MARKS = {"layer": "below traces", "ticklen": 9}
"""The style of axes: marks on a bound are on top of the line, and do not reach the numbers."""


@figure("Contour")
def contour(snapshot: StudySnapshot, x: str | None = None, y: str | None = None) -> Drawing:
    """The model's mean over two numeric parameters, given by name or path.

    Without names: of the best trial with two numeric parameters, the two that explain most of the variance.
    """
    drawn = graph_objects().Figure()
    named = [None if name is None else _numeric_column(snapshot, name) for name in (x, y)]
    if named[0] is not None and named[0] == named[1]:
        raise ConfigError(f"a contour needs two parameters, not {x!r} twice")
    model = predictor(snapshot)
    if model is None or snapshot.best is None:
        raise NothingToShow(f"needs {MIN_TRIALS} finished trials")
    pair = _pair(snapshot, named[0], named[1])
    if pair is None:
        why = "no finished trial has two numeric parameters"
        if None not in named:
            why = "these parameters are never active together"
        elif named != [None, None]:
            why = f"no finished trial has {label(str(x or y))} and another numeric parameter"
        raise NothingToShow(why)
    across, up = pair
    row = centre_row(snapshot, [across, up])
    assert row is not None
    centre = snapshot.done[row]
    xs = column_values(snapshot, across, GRID_POINTS)
    ys = column_values(snapshot, up, GRID_POINTS)
    one, other = snapshot.space.parameters[across], snapshot.space.parameters[up]
    configs = [varied(snapshot, centre.config, **{one.name: a, other.name: b}) for b in ys for a in xs]
    legal = [config for config in configs if config is not None]
    predicted = model[0](legal)[0]
    if np.ptp(predicted) <= 1e-12 * np.abs(predicted).max():
        raise NothingToShow(
            f"the model expects the same value for all {label(one.name)} and {label(other.name)}"
        )
    mean = np.full(len(configs), np.nan)
    mean[[i for i, config in enumerate(configs) if config is not None]] = predicted
    hover = f"{label(one.name)} = %{{x:.4g}}<br>{label(other.name)} = %{{y:.4g}}"
    drawn.add_contour(
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
    rows = [r for r in thinned(snapshot, MAX_TRIALS) if snapshot.active[r, [across, up]].all()]
    trials = [snapshot.done[row] for row in rows]
    add_trials(
        drawn,
        trials,
        [trial.config[one.name] for trial in trials],
        [trial.config[other.name] for trial in trials],
        marker={"size": 6, "color": "#ffffff", "line": {"color": "#24292f", "width": 1}},
        showlegend=False,
        cliponaxis=False,
    )
    drawn.add_scatter(
        x=[centre.config[one.name]],
        y=[centre.config[other.name]],
        mode="markers",
        showlegend=False,
        cliponaxis=False,
        marker={"size": 15, "symbol": "star", "color": "#ffffff", "line": {"color": "#24292f", "width": 1.4}},
        hovertemplate=hover_text(centre) + "<extra></extra>",
    )
    for parameter, axis in ((one, "xaxis"), (other, "yaxis")):
        domain: Any = parameter.domain
        ends = [math.log10(end) if domain.log else end for end in (domain.low, domain.high)]
        scale = (log_axis(domain.low, domain.high) if domain.log else {"type": "linear"}) | {"range": ends}
        drawn.update_layout({axis: {"title": axis_title(parameter), **BEHIND_MARKS, **scale}})
    drawn.update_layout(height=520, hovermode="closest")
    best = "best " if centre.number == snapshot.best.number else ""
    note = f"{model[1]}, around trial {centre.number} ({best}{number(centre.value)}, star)"
    return drawn, note


def _numeric_column(snapshot: StudySnapshot, name: str) -> int:
    column = column_named(snapshot, name)
    if isinstance(snapshot.space.parameters[column].domain, Categorical):
        numeric = [p.path for p in snapshot.space.parameters if not isinstance(p.domain, Categorical)]
        raise ConfigError(f"{name!r} is not numeric; numeric parameters are {', '.join(numeric) or 'none'}")
    return column


def _pair(snapshot: StudySnapshot, across: int | None, up: int | None) -> tuple[int, int] | None:
    """The columns to draw; for missing names, the most important ones of the best trial with two."""
    if across is not None and up is not None:
        return (across, up) if centre_row(snapshot, [across, up]) is not None else None
    given = across if across is not None else up
    numeric = [not isinstance(parameter.domain, Categorical) for parameter in snapshot.space.parameters]
    enough = (snapshot.active & numeric).sum(axis=1) >= 2
    if given is not None:
        enough &= snapshot.active[:, given]
    rows = [row for row in snapshot.ranking if enough[row]]
    if not rows:
        return None
    found, _ = importances(snapshot)
    switch = snapshot.space.layout.switch
    others = [i for i in np.flatnonzero(snapshot.active[rows[0]] & numeric).tolist() if i != given]
    others.sort(key=lambda i: (bool(switch[i]), -found.shares[i].total))
    if given is None:
        return others[0], others[1]
    return (given, others[0]) if across is not None else (others[0], given)
