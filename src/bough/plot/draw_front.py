"""Figure ``front``: two objectives against each other, coloured by branch, and the staircase of the front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.acquisition.hypervolume import non_dominated
from bough.errors import ConfigError
from bough.plot.axes import MARGIN_SHARE, ValueAxis
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.snapshot import StudySnapshot, near
from bough.plot.theme import FADED, graph_objects, label
from bough.plot.traces import add_trials, by_branch, counted, joined
from bough.points import BoolArray, FloatArray
from bough.study.analysis.fronts import front_of
from bough.trial import Trial

__all__ = ["front"]


@figure("Front", several=True, measured=False)
def front(snapshot: StudySnapshot, x: str | None = None, y: str | None = None) -> Drawing:
    """Every trial by two of its objectives. The line is their front; faint lines are fronts of branches.

    x, y: names of objectives, by default the first two. Hollow marks are trials that violate constraints.
    """
    drawn = graph_objects().Figure()
    names = snapshot.goals.names
    if len(names) < 2:
        raise NothingToShow("one objective has no front: see history")
    first = x or next(name for name in names if name != y)
    chosen = [_objective(each, names) for each in (first, y or next(n for n in names if n != first))]
    if chosen[0] == chosen[1]:
        raise ConfigError(f"x and y are both {chosen[0]!r}: give two objectives")
    if not snapshot.done:
        raise NothingToShow("no finished trial yet")
    goals = snapshot.goals
    values = np.array([[goals.measured(trial, name) for name in chosen] for trial in snapshot.done])
    signs = np.array([goals.signs[names.index(name)] for name in chosen])
    feasible = np.array([trial.feasible for trial in snapshot.done])
    shown = _front(values[feasible] * signs) * signs
    axes = [_axis(values[:, k], shown[:, k], signs[k]) for k in (0, 1)]
    marks = _Marks.of(values, axes)
    for branch, colour, mine in by_branch(snapshot, snapshot.done):
        _staircase(drawn, values[mine & feasible], signs, colour, width=1.0, opacity=0.45)
        lonely = not (mine & feasible).any()
        for rows, hollow in ((mine & feasible, False), (mine & ~feasible, True)):
            _points(drawn, snapshot.done, marks, rows, branch, colour, hollow, lonely)
    _staircase(drawn, values[feasible], signs, FADED, width=2.5, opacity=1.0, name="front")
    drawn.update_layout(xaxis_title=label(chosen[0]), yaxis_title=label(chosen[1]), hovermode="closest")
    drawn.update_layout(xaxis=axes[0].layout, yaxis=axes[1].layout)
    best = front_of(goals, snapshot.done)
    missed, beyond = int(np.sum(~feasible)), int(marks.beyond.sum())
    note = joined(
        f"{counted(len(best), 'trial')} on the front of {len(snapshot.done)}",
        f"{missed} not feasible (hollow)" if missed else "",
        f"triangles mark {counted(beyond, 'trial')} beyond the axes" if beyond else "",
    )
    return drawn, note


def _axis(values: FloatArray, front: FloatArray, sign: float) -> ValueAxis:
    """An axis that includes the whole front; a few other values may lie beyond its worse end."""
    axis = ValueAxis.of(values, minimizes=bool(sign > 0))
    margin = MARGIN_SHARE * (axis.high - axis.low)
    return replace(
        axis,
        low=min([axis.low, *(front - margin)]),
        high=max([axis.high, *(front + margin)]),
    )


@dataclass(frozen=True)
class _Marks:
    """Where trials (n,) are drawn: those beyond an axis are triangles at its edge that point outwards."""

    places: FloatArray
    symbols: list[str]
    beyond: BoolArray

    @staticmethod
    def of(values: FloatArray, axes: Sequence[ValueAxis]) -> _Marks:
        beyond = np.column_stack([axis.beyond(values[:, k]) for k, axis in enumerate(axes)])
        places = np.where(beyond, [axis.edge for axis in axes], values)
        across, up = "e" if axes[0].minimizes else "w", "n" if axes[1].minimizes else "s"
        symbols = {
            (False, False): "circle",
            (True, False): "triangle-right" if axes[0].minimizes else "triangle-left",
            (False, True): axes[1].symbol,
            (True, True): f"triangle-{up}{across}",
        }
        return _Marks(places, [symbols[x, y] for x, y in beyond.tolist()], np.asarray(beyond.any(axis=1)))


def _objective(name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise ConfigError(f"there is no objective {name!r}{near(name, names)}")
    return name


def _points(
    drawn: Any,
    trials: tuple[Trial, ...],
    marks: _Marks,
    mine: BoolArray,
    name: str,
    colour: str,
    hollow: bool,
    lonely: bool,
) -> None:
    """The marks of a branch. All share a legend entry, unless none is feasible."""
    if not mine.any():
        return
    rows = np.flatnonzero(mine)
    rows = rows[np.argsort(marks.beyond[rows], kind="stable")]  # the legend shows the symbol of the first
    symbols = [marks.symbols[row] + "-open" * hollow for row in rows]
    add_trials(
        drawn,
        [trials[row] for row in rows],
        marks.places[rows, 0],
        marks.places[rows, 1],
        name=f"{name}, not feasible" if hollow else name,
        showlegend=not hollow or lonely,
        legendgroup=name,
        marker={"size": 8, "color": colour, "symbol": symbols, "opacity": 0.85},
    )


def _staircase(
    drawn: Any,
    values: FloatArray,
    signs: FloatArray,
    colour: str,
    width: float,
    opacity: float,
    name: str = "",
) -> None:
    """The boundary of the dominated region: from one point to the next, first along x."""
    steps = _front(values * signs) * signs
    if not len(steps):
        return
    drawn.add_scatter(
        x=steps[:, 0],
        y=steps[:, 1],
        mode="lines",
        name=name,
        showlegend=bool(name),
        line={"shape": "hv", "color": colour, "width": width},
        opacity=opacity,
        hoverinfo="skip",
    )


def _front(values: FloatArray) -> FloatArray:
    """The rows that no other row dominates, sorted by the first column."""
    front = values[non_dominated(values)]
    return np.asarray(front[np.argsort(front[:, 0])])
