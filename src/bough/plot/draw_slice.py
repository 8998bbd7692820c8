"""Figure ``slice``: values against one parameter per panel, with the model's prediction.

The curve is a cut through the best trial in which the parameter is active: this parameter varies and
the others keep that trial's values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bough.plot.axes import ValueAxis, log_axis
from bough.plot.columns import axis_title, centre_row, column_named, column_values, varied
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.model import predictor
from bough.plot.snapshot import Predict, StudySnapshot
from bough.plot.switch_values import MAX_SINGLE_LEVELS
from bough.plot.theme import FADED, GOOD, graph_objects, label, number
from bough.plot.traces import add_trials, hover_text, joined, thinned
from bough.points import IntArray
from bough.trial import Trial

__all__ = ["slice"]

MAX_PANELS = 9
MAX_POINTS = 600
CURVE_POINTS = 60


@figure("Slices", wide=True)
def slice(
    snapshot: StudySnapshot,
    params: Sequence[str] | str | None = None,
    *,
    columns: int = 3,
    log: bool = False,
) -> Drawing:
    """Values against each parameter, with the model's mean and a band of one standard deviation.

    params: names or paths of parameters; without them, those of the best trial. columns: panels side
    by side. log: a logarithmic axis of values.
    """
    graph_objects()
    from plotly.subplots import make_subplots

    alone = isinstance(params, str) or not isinstance(params, Iterable)
    wanted: Any = [] if params is None else [params] if alone else params
    chosen = _best_columns(snapshot) if not wanted else [column_named(snapshot, name) for name in wanted]
    if snapshot.best is None:
        raise NothingToShow("no finished trial yet")
    tried = [column for column in chosen if centre_row(snapshot, [column]) is not None][:MAX_PANELS]
    if not tried:
        why = "no finished trial has this parameter"
        raise NothingToShow(why if wanted else "the best trial is on a branch without parameters")
    across = min(len(tried), max(columns, 1))
    down = math.ceil(len(tried) / across)
    drawn = make_subplots(
        rows=down, cols=across, shared_yaxes=True, horizontal_spacing=0.04, vertical_spacing=0.3 / down
    )
    model = predictor(snapshot)
    shown = thinned(snapshot, MAX_POINTS)
    relevant = snapshot.active[shown][:, tried].any(axis=1)
    axis = ValueAxis.of(snapshot.values[shown[relevant]], minimizes=snapshot.minimizes, log=log)
    for panel, column in enumerate(tried):
        place = {"row": panel // across + 1, "col": panel % across + 1}
        row = centre_row(snapshot, [column])
        assert row is not None
        if model is not None:
            _add_model(drawn, snapshot, column, snapshot.done[row], model[0], place, first=panel == 0)
        rows = shown[snapshot.active[shown, column]]
        same = (snapshot.active[rows] == snapshot.active[row]).all(axis=1)
        _add_trials(drawn, snapshot, column, rows[~same], axis, place, here=False)
        _add_trials(drawn, snapshot, column, rows[same], axis, place, here=True)
        _add_star(drawn, snapshot, column, row, place, first=panel == 0)
        parameter = snapshot.space.parameters[column]
        x_axis = {"title_text": axis_title(parameter)}
        if getattr(parameter.domain, "log", False):
            x_axis |= log_axis(parameter.domain.low, parameter.domain.high)  # type: ignore[union-attr]
        drawn.update_xaxes(**x_axis, **place)
    _add_legend(drawn)
    drawn.update_yaxes(**axis.layout)
    drawn.update_yaxes(title_text=label(snapshot.goals.value_name), col=1)
    drawn.update_layout(height=140 + 270 * down, hovermode="closest", meta={"min_width": 165 * across})
    clipped = int(axis.beyond(snapshot.values[shown[relevant]]).sum())
    return drawn, joined(_note(snapshot, tried, model), axis.note(clipped))


def _best_columns(snapshot: StudySnapshot) -> list[int]:
    """The parameters of the best trial, without switches whose other values lead to other branches."""
    if snapshot.best is None:
        return []
    layout = snapshot.space.layout
    # Each value of a small switch is another branch; most values of a wide numeric switch are in this one.
    wide = ~layout.nominal & ((layout.levels == 0) | (layout.levels > MAX_SINGLE_LEVELS))
    active = snapshot.active[int(snapshot.ranking[0])]
    return [int(column) for column in np.flatnonzero(active & (~layout.switch | wide))]


def _note(snapshot: StudySnapshot, tried: Sequence[int], model: tuple[Predict, str] | None) -> str:
    centres = {snapshot.done[centre_row(snapshot, [column]) or 0].number for column in tried}
    best = snapshot.best
    assert best is not None
    if centres == {best.number}:
        where = f"through trial {best.number}, best {number(best.value)}"
    else:
        where = "each through the best trial that has the parameter"
    return joined(where, f"curve: {model[1]}, mean ± one sd" if model else "")


def _add_trials(
    drawn: Any,
    snapshot: StudySnapshot,
    column: int,
    rows: IntArray,
    axis: ValueAxis,
    place: dict[str, int],
    *,
    here: bool,
) -> None:
    """Trials on the branch of the curve are filled, trials on other branches hollow."""
    name = snapshot.space.parameters[column].name
    beyond = axis.beyond(snapshot.values[rows])
    shape = "circle" if here else "circle-open"
    trials = [snapshot.done[row] for row in rows]
    add_trials(
        drawn,
        trials,
        [_shown(trial.config[name]) for trial in trials],
        np.where(beyond, axis.edge, snapshot.values[rows]),
        showlegend=False,
        marker={
            "size": 6,
            "color": FADED,
            "opacity": 0.75 if here else 0.5,
            "symbol": [axis.symbol if far else shape for far in beyond],
        },
        **place,
    )


def _add_star(
    drawn: Any, snapshot: StudySnapshot, column: int, row: int, place: dict[str, int], *, first: bool
) -> None:
    trial = snapshot.done[row]
    drawn.add_scatter(
        x=[_shown(trial.config[snapshot.space.parameters[column].name])],
        y=[trial.value],
        mode="markers",
        name="best",
        showlegend=first,
        legendgroup="best",
        hovertemplate=hover_text(trial) + "<extra></extra>",
        marker={"size": 12, "symbol": "star", "color": GOOD, "line": {"width": 1, "color": "#ffffff"}},
        **place,
    )


def _add_legend(drawn: Any) -> None:
    """Legend entries for both kinds of trials, even if the first panel has only one."""
    for name, symbol in (("same branch", "circle"), ("other branches", "circle-open")):
        drawn.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=name,
            marker={"size": 7, "color": FADED, "symbol": symbol},
        )


def _add_model(
    drawn: Any,
    snapshot: StudySnapshot,
    column: int,
    centre: Trial,
    predict: Predict,
    place: dict[str, int],
    *,
    first: bool,
) -> None:
    """The model's mean and one standard deviation where only this parameter differs from ``centre``."""
    name = snapshot.space.parameters[column].name
    values = column_values(snapshot, column, CURVE_POINTS)
    configs = [(value, varied(snapshot, centre.config, **{name: value})) for value in values]
    legal = [(value, config) for value, config in configs if config is not None]
    if not legal:
        return
    mean, sd = predict([config for _, config in legal])
    x = [_shown(value) for value, _ in legal]
    common: dict[str, Any] = {"name": "model", "showlegend": first, "legendgroup": "model", **place}
    if snapshot.space.layout.kinds[column] == "nominal" or len(x) < 3:
        drawn.add_scatter(
            x=x,
            y=mean,
            error_y={"type": "data", "array": sd, "thickness": 1.2},
            mode="markers",
            marker={"symbol": "line-ew", "size": 16, "line": {"color": GOOD, "width": 3}, "color": GOOD},
            hovertemplate="model: %{y:.4g}<extra></extra>",
            **common,
        )
        return
    drawn.add_scatter(
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
    drawn.add_scatter(
        x=x,
        y=mean,
        mode="lines",
        line={"color": GOOD, "width": 2},
        hovertemplate="model: %{y:.4g}<extra></extra>",
        **common,
    )


def _shown(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else label(value)
