"""Figure ``parallel``: every trial as a line across one axis per parameter.

A parameter that is inactive in a trial has no value there, so the line runs along the grey "inactive"
rail below the axes. It is drawn with SVG lines, because Plotly's parallel coordinates need WebGL, which
strict content policies forbid.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.plot.axes import log_ticks, round_ticks, tick_text
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import FADED, SCALE, graph_objects, label, number
from bough.plot.traces import hover_text, thinned
from bough.points import BoolArray, FloatArray, IntArray
from bough.space.desugar import Parameter
from bough.space.parameters import Categorical

__all__ = ["parallel"]

MAX_AXES = 10
MAX_LINES = 300
RAIL = -0.16
"""The height of the rail for inactive parameters; the axes go from 0 to 1."""

TONES = 9
NAME_CHARACTERS = 12
"""The longest name above an axis; longer names would overlap."""

BRANCH_CHARACTERS = 16
"""The longest name of a branch, which is in small type."""

MAX_TICKS = 10


@figure("Parallel coordinates", wide=True)
def parallel(snapshot: StudySnapshot) -> Drawing:
    """Every trial as a line across one axis per parameter; a rail below for parameters that are inactive.

    At most 300 lines: the best trials, and a sample of the others.
    """
    drawn = graph_objects().Figure()
    if not snapshot.done:
        raise NothingToShow("no finished trial yet")
    columns = _axes(snapshot)
    rows = thinned(snapshot, MAX_LINES)
    height, active = _heights(snapshot, rows, columns)
    tone = _tones(snapshot)[rows]
    for step in range(TONES - 1, -1, -1):
        chosen = np.flatnonzero(tone == step)
        if len(chosen):
            _add_lines(drawn, snapshot, rows[chosen], height[chosen], _tone_colour(step), step)
    _add_axes(drawn, snapshot, columns, bool((~active).any()))
    note = (
        ""
        if len(rows) == len(snapshot.done)
        else f"{len(rows)} of {len(snapshot.done)} trials: the best and a sample; "
    )
    note += "blue is best" + ("; the lower rail: not active in that trial" if (~active).any() else "")
    return drawn, note


def _axes(snapshot: StudySnapshot) -> IntArray:
    """All parameters if they fit; otherwise those of the best trial, switches first."""
    assert snapshot.best is not None
    used = np.flatnonzero(snapshot.active.any(axis=0))
    if len(used) > MAX_AXES:
        used = np.flatnonzero(snapshot.active[int(snapshot.ranking[0])])
    switch = snapshot.space.layout.switch[used]
    return np.concatenate([used[switch], used[~switch]])[:MAX_AXES]


def _heights(snapshot: StudySnapshot, rows: IntArray, columns: IntArray) -> tuple[FloatArray, BoolArray]:
    """(rows, columns) where each line crosses each axis, and whether it has a value there."""
    active = snapshot.active[np.ix_(rows, columns)]
    height = np.where(active, snapshot.points.x[np.ix_(rows, columns)], RAIL)
    # Lines through the same option would hide one another, so they are spread a little.
    levels = snapshot.space.layout.levels[columns]
    spread = np.where((levels > 0) & (levels < 30), 0.5 / np.maximum(levels, 1), 0.0)
    jitter = (np.random.default_rng(0).random(height.shape) - 0.5) * np.where(active, spread, 0.05)
    return height + jitter, active


def _tones(snapshot: StudySnapshot) -> IntArray:
    """(done,) colour of each trial by the rank of its value: 0 is the best."""
    rank = np.empty(len(snapshot.done))
    rank[snapshot.ranking] = np.arange(len(snapshot.done)) / max(len(snapshot.done) - 1, 1)
    return np.minimum((rank * TONES).astype(np.intp), TONES - 1)


def _tone_colour(step: int) -> str:
    return SCALE[min(round(step * (len(SCALE) - 1) / (TONES - 1)), len(SCALE) - 1)][1]


def _add_lines(
    drawn: Any, snapshot: StudySnapshot, rows: IntArray, height: FloatArray, colour: str, step: int
) -> None:
    """All lines of one colour as a single trace with gaps."""
    places = np.arange(height.shape[1], dtype=float)
    x = np.tile(np.append(places, np.nan), len(rows))
    y = np.hstack([height, np.full((len(rows), 1), np.nan)]).ravel()
    text = [hover_text(snapshot.done[row]) for row in rows for _ in range(height.shape[1] + 1)]
    best = step == 0
    drawn.add_scatter(
        x=x,
        y=y,
        mode="lines+markers",
        text=text,
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
        line={"color": colour, "width": 1.8 if best and len(rows) < 20 else 1.0, "shape": "linear"},
        opacity=0.9 if best else 0.45,
        marker={"size": 5 if best else 3, "color": colour},
    )


def _add_axes(drawn: Any, snapshot: StudySnapshot, columns: IntArray, rail: bool) -> None:
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    room = min(max(10, 80 // len(columns)), 40)  # characters beside an axis
    headings = _headings(snapshot.space.parameters, columns)
    for place, (column, heading) in enumerate(zip(columns, headings)):
        shapes.append(
            {
                "type": "line",
                "x0": place,
                "x1": place,
                "y0": 0,
                "y1": 1,
                "line": {"color": FADED, "width": 1.2},
            }
        )
        notes.append({"x": place, "y": 1.04, "text": heading, "yanchor": "bottom", "showarrow": False})
        ticks = _ticks(snapshot, int(column))
        for (unit, _), text in zip(ticks, _short_names([text for _, text in ticks], room)):
            notes.append(
                {
                    "x": place,
                    "y": unit,
                    "text": label(text),
                    "xanchor": "left",
                    "xshift": 5,
                    "showarrow": False,
                    "font": {"size": 11},
                }
            )
    if rail:
        shapes.append(
            {
                "type": "rect",
                "x0": -0.15,
                "x1": len(columns) - 0.85,
                "y0": RAIL - 0.045,
                "y1": RAIL + 0.045,
                "fillcolor": FADED,
                "opacity": 0.22,
                "line": {"width": 0},
                "layer": "below",
            }
        )
        notes.append(
            {
                "x": -0.17,
                "y": RAIL,
                "text": "inactive",
                "xanchor": "right",
                "showarrow": False,
                "font": {"size": 11},
            }
        )
    drawn.update_layout(
        shapes=shapes,
        annotations=notes,
        height=520,
        hovermode="closest",
        xaxis={
            "visible": False,
            "range": [-0.35 - 0.04 * len(columns), len(columns) - 1 + 0.1 * len(columns) ** 0.5 + 0.25],
        },
        yaxis={"visible": False, "range": [RAIL - 0.08 if rail else -0.06, 1.2]},
        margin={"l": 16, "r": 16, "t": 76, "b": 16},
        meta={"min_width": 92 * len(columns) + 60},
    )


def _short_names(names: Sequence[str], most: int) -> list[str]:
    """Long names without their ends; those that would then read alike show what tells them apart."""
    short = {name: _cut(name, most) for name in names}
    alike = {name for name in short if any(_reads(short[name], other) for other in short if other != name)}
    short |= {name: _telling(name, alike - {name}, most) for name in alike}
    return [short[name] for name in names]


def _telling(name: str, others: set[str], most: int) -> str:
    """The name cut so that it cannot be read as one of the others."""
    words = [match.start() for match in re.finditer(r"(?<![a-zA-Z0-9])[a-zA-Z0-9]", name)][1:]
    half = most // 2
    cuts = [f"…{name[start:]}" for start in words if len(name) - start < most]
    cuts.append(f"{name[: most - half - 1]}…{name[-half:]}")
    cuts += [f"…{name[start : start + most - 2]}…" for start in (*words, *range(1, len(name)))]
    return next((cut for cut in cuts if not any(_reads(cut, other) for other in others)), cuts[0])


def _reads(cut: str, name: str) -> bool:
    return re.fullmatch(".+".join(map(re.escape, cut.split("…"))), name, re.DOTALL) is not None


def _headings(parameters: Sequence[Parameter], columns: IntArray) -> list[str]:
    """Two lines above each axis: the branch, small, and the name, both shortened.

    Branches must not read like branches that have no axis.
    """
    names = _short_names([parameters[column].name for column in columns], NAME_CHARACTERS)
    branches = _short_names([_branch(parameter) for parameter in parameters], BRANCH_CHARACTERS)
    small = [f"<span style='font-size:10px'>{label(each)}</span><br>" if each else "" for each in branches]
    return [f"{small[column]}<b>{label(name)}</b>" for column, name in zip(columns, names)]


def _branch(parameter: Parameter) -> str:
    """The branch of ``model=svm/kernel=rbf/gamma`` as ``svm / rbf``."""
    choices = re.split(r"/(?=[^/=]+=)", parameter.path.removesuffix(parameter.name).removesuffix("/"))
    return " / ".join(choice.partition("=")[2] for choice in choices if "=" in choice)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _ticks(snapshot: StudySnapshot, column: int) -> list[tuple[float, str]]:
    """(unit position, text) of the marks on an axis: every option, or round values of a range."""
    domain = snapshot.space.parameters[column].domain
    if isinstance(domain, Categorical) or 0 < domain.levels <= MAX_TICKS:
        ranks = np.unique(np.linspace(0, domain.levels - 1, min(domain.levels, MAX_TICKS)).round())
        values = domain.values(ranks).tolist()
        texts = [number(value) if isinstance(value, float) else str(value) for value in values]
        return list(zip(domain.position(ranks).tolist(), texts))
    ticks = (log_ticks if domain.log else round_ticks)(float(domain.low), float(domain.high))
    ranks = domain.ranks(ticks)
    if domain.levels:
        ranks = np.clip(np.round(ranks), 0, domain.levels - 1)
        ticks = [float(value) for value in domain.values(ranks)]
    return [(float(unit), tick_text(tick)) for unit, tick in zip(domain.position(ranks), ticks)]
