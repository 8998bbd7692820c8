"""Figure ``regret``: how fast studies approach the optimum, with bands over repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from bough.errors import StudyError
from bough.plot.axes import ValueAxis, mark_entry
from bough.plot.snapshot import StudyLike, StudySnapshot
from bough.plot.theme import CATEGORIES, checked_template, graph_objects, label, number
from bough.plot.traces import counted, empty_figure, joined
from bough.points import FloatArray

__all__ = ["draw_regret", "one_each", "regret"]

MAX_POINTS = 400


def regret(
    studies: Mapping[str, Sequence[StudyLike | StudySnapshot]]
    | Sequence[StudyLike | StudySnapshot]
    | StudyLike,
    optimum: float | None = None,
    *,
    log: bool = False,
    measure: str | None = None,
    dark: bool = False,
) -> Any:
    """The best value so far of one or more studies; ``{label: [studies]}`` draws bands over repetitions.

    measure: the measure to show, by default the value or the first objective.
    Failed and stopped trials count on the axis of trials, because they cost time too.

    A curve that starts far away does not stretch the axis: a triangle marks where it enters.
    ``log=True`` draws a logarithmic axis. With ``optimum``, the distance to it, on a log axis.
    """
    if isinstance(studies, Mapping):
        groups = {name: [StudySnapshot.of(one) for one in several] for name, several in studies.items()}
    else:
        several = studies if isinstance(studies, Sequence) else [studies]
        groups = one_each([StudySnapshot.of(study) for study in several])
    shown = {name: [each.showing(measure) for each in several] for name, several in groups.items()}
    drawn = draw_regret(shown, optimum, log=log)
    drawn.layout.template = checked_template(dark)
    return drawn


def draw_regret(
    groups: Mapping[str, Sequence[StudySnapshot]], optimum: float | None = None, *, log: bool = False
) -> Any:
    """The median best value so far per group of studies, and a band for the middle half."""
    drawn = graph_objects().Figure()
    shown = {name: [each for each in group if each.done] for name, group in groups.items()}
    shown = {name: group for name, group in shown.items() if group}
    named = next((group[0].goals.value_name for group in shown.values()), "value")
    what = f"Best {label(named)} so far" if optimum is None else "Regret"
    if not shown:
        return empty_figure("no finished trial yet").update_layout(title_text=f"<b>{what}</b>")
    one, *others = (each for group in shown.values() for each in group)
    if other := next((each for each in others if each.direction != one.direction), None):
        raise StudyError(
            f"progress is compared in one direction: {one.name!r} has {one.direction}, {other.name!r} has "
            f"{other.direction}"
        )
    minimizes = one.minimizes or optimum is not None
    curves = {name: _curves(group, optimum) for name, group in shown.items()}
    medians = np.concatenate([_quantiles(each)[1] for each in curves.values()])
    if not np.isfinite(medians).any():
        return empty_figure("nothing is feasible yet").update_layout(title_text=f"<b>{what}</b>")
    medians = medians[np.isfinite(medians)]
    axis = ValueAxis.of(medians, minimizes=minimizes, log=log or optimum is not None)
    count = 0
    for (name, several), colour in zip(curves.items(), cycle(CATEGORIES)):
        count += _add_group(drawn, name, several, colour, axis)
    title = f"best {label(named)} so far" if optimum is None else "distance to the optimum"
    drawn.update_layout(
        xaxis_title="finished trials",
        yaxis={"title": title, **axis.layout},
        hovermode="x unified",
        height=460,
        showlegend=len(groups) > 1,
    )
    note = joined(
        "median and middle half over repetitions" if any(len(g) > 1 for g in shown.values()) else "",
        "" if optimum is None else f"optimum {number(optimum)}",
        f"{'▲' if minimizes else '▼'} {counted(count, 'line')} from beyond the axis" if count else "",
    )
    small = f"<br><span style='font-size:13px'>{note}</span>" if note else ""
    return drawn.update_layout(title_text=f"<b>{what}</b>{small}")


def one_each(snapshots: Sequence[StudySnapshot]) -> dict[str, list[StudySnapshot]]:
    """One group per study, under its name; equal names get a number."""
    groups: dict[str, list[StudySnapshot]] = {}
    for snapshot in snapshots:
        again = sum(name == snapshot.name or name.startswith(f"{snapshot.name} (") for name in groups)
        groups[f"{snapshot.name} ({again + 1})" if again else snapshot.name] = [snapshot]
    return groups


def _curves(snapshots: Sequence[StudySnapshot], optimum: float | None) -> FloatArray:
    """(studies, trials) the best so far of each study, up to the length of the shortest."""
    curves = [_best_so_far(snapshot) for snapshot in snapshots]
    length = min(map(len, curves))
    cut = np.array([curve[:length] for curve in curves])
    return cut if optimum is None else np.maximum(np.abs(cut - optimum), 1e-16)


def _best_so_far(snapshot: StudySnapshot) -> FloatArray:
    """(finished trials,) the best value after each, also after failed ones; infinite before there is one."""
    finished = [trial.number for trial in snapshot.trials if trial.is_finished and trial.retracted is None]
    results = np.searchsorted(snapshot.numbers, finished, side="right")
    before = np.inf if snapshot.minimizes else -np.inf
    return np.asarray(np.r_[before, snapshot.incumbent][results])


def _quantiles(curves: FloatArray) -> FloatArray:
    """(3, trials) lower quartile, median and upper quartile; NaN where they need a result that is not there.

    ``np.quantile`` is NaN beside an infinite value also where it needs only the finite one.
    """
    place = (len(curves) - 1) * np.array([0.25, 0.5, 0.75])
    ordered, below = np.sort(curves, axis=0), np.floor(place)
    low, high = ordered[below.astype(np.intp)], ordered[np.ceil(place).astype(np.intp)]
    with np.errstate(invalid="ignore"):
        found = np.where(low == high, low, low + (high - low) * (place - below)[:, None])
    return np.where(np.isfinite(found), found, np.nan)


def _add_group(drawn: Any, name: str, curves: FloatArray, colour: str, axis: ValueAxis) -> bool:
    """Draw the curves of one group; returns whether it starts beyond the axis."""
    picked = np.unique(np.linspace(0, curves.shape[1] - 1, MAX_POINTS).astype(np.intp))
    x = picked + 1
    low, middle, high = _quantiles(curves[:, picked])
    if len(curves) > 1:
        there = np.isfinite(low) & np.isfinite(high)
        steps_x, low, high = np.repeat(x[there], 2)[1:], low[there], high[there]
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        drawn.add_scatter(
            x=np.concatenate([steps_x, steps_x[::-1]]),
            y=np.concatenate([np.repeat(high, 2)[:-1], np.repeat(low, 2)[:-1][::-1]]),
            fill="toself",
            mode="lines",
            line={"width": 0},
            fillcolor=f"rgba({red},{green},{blue},0.18)",
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
    drawn.add_scatter(
        x=x,
        y=middle,
        mode="lines",
        name=label(name),
        legendgroup=name,
        line={"color": colour, "width": 2.4, "shape": "hv"},
        hovertemplate="%{y:.4g}",
    )
    named = f"{label(name)}: "
    return mark_entry(drawn, axis, x, middle, size=10, colour=colour, named=named, legendgroup=name)
