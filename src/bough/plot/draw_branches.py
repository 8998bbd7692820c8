"""Figure ``branches``: how the search divided its trials between branches, and the best value of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.plot.axes import ValueAxis, mark_entry
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.outline import Branch, Switch
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import CATEGORIES, FADED, graph_objects, label, number
from bough.plot.traces import counted, joined

__all__ = ["branches"]

MAX_LINES = 7
"""Lines that are drawn at most: one for each branch with the most trials, and one for all others."""

MAX_POINTS = 400


@figure("Branches over time", branching=True)
def branches(snapshot: StudySnapshot, *, log: bool = False) -> Drawing:
    """Above: the share of each branch in the trials so far. Below: the best value of each so far.

    ``log=True`` draws the values on a logarithmic axis.
    """
    graph_objects()
    from plotly.subplots import make_subplots

    switch = _main_switch(snapshot)
    if switch is None:
        raise NothingToShow("this space does not branch")
    if not snapshot.trials:
        raise NothingToShow("no trial yet")
    reaching = [t for t in snapshot.trials if t.number in snapshot.where[switch.path]]
    if not reaching:
        raise NothingToShow("this branch has no switch below it")
    drawn = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09, row_heights=[0.42, 0.58])
    ranked = sorted(switch.branches, key=lambda branch: -branch.tally.trials)
    ranked = [branch for branch in ranked if branch.tally.trials]
    shown, rest = ranked[:MAX_LINES], ranked[MAX_LINES:]
    # Where there are enough colours, a branch has the same one in every figure.
    order = switch.branches if len(switch.branches) <= len(CATEGORIES) else shown
    colours = {branch.label: colour for branch, colour in zip(order, CATEGORIES)}
    lines = [([branch], label(branch.label), colours[branch.label]) for branch in shown]
    if rest:
        lines.append((rest, counted(len(rest), "other"), FADED))
    when = np.array([t.number for t in reaching])
    picked = np.unique(np.linspace(0, len(reaching) - 1, MAX_POINTS).astype(np.intp))
    curves: list[Any] = []
    for members, name, colour in lines:
        inside = np.array([_inside(t.config[switch.name], members) for t in reaching])
        share = np.cumsum(inside) / np.arange(1, len(reaching) + 1)
        mode = "lines" if len(picked) > 1 else "markers"
        common: dict[str, Any] = {"x": when[picked], "mode": mode, "name": name, "legendgroup": name}
        drawn.add_scatter(
            y=share[picked],
            stackgroup="share",
            line={"width": 0.5, "color": colour},
            marker={"color": colour},
            row=1,
            col=1,
            hovertemplate="%{y:.0%}",
            **common,
        )
        counting = [t.value if i and t.feasible else None for t, i in zip(reaching, inside)]
        best = _running_best(counting, snapshot.minimizes)
        curves.append((best[picked], colour, name))
        drawn.add_scatter(
            y=best[picked],
            line={"color": colour, "width": 2.2, "shape": "hv"},
            marker={"color": colour},
            showlegend=False,
            row=2,
            col=1,
            hovertemplate="%{y:.4g}",
            **common,
        )
    drawn.update_layout(height=560, hovermode="x unified")
    drawn.update_yaxes(title_text="share of trials", tickformat=".0%", range=[0, 1], row=1, col=1)
    drawn.update_yaxes(title_text="best so far", row=2, col=1)
    clipped = _fit_axis(drawn, curves, when[picked], minimizes=snapshot.minimizes, log=log)
    drawn.update_xaxes(title_text="trial", row=2, col=1)
    note = joined(f"by {label(switch.path)}", _winner(ranked, snapshot), clipped)
    return drawn, note


def _fit_axis(drawn: Any, curves: list[Any], when: Any, *, minimizes: bool, log: bool) -> str:
    """Set the axis of the best values, mark curves that start beyond it, and return a note about them."""
    finite = np.concatenate([best[np.isfinite(best)] for best, _, _ in curves])
    if not len(finite):
        drawn.update_yaxes(row=2, col=1, showticklabels=False)  # there are no values yet
        return ""
    axis = ValueAxis.of(finite, minimizes=minimizes, log=log)
    drawn.update_yaxes(row=2, col=1, **axis.layout)
    count = sum(
        mark_entry(drawn, axis, when, best, size=9, colour=colour, legendgroup=name, row=2, col=1)
        for best, colour, name in curves
    )
    mark, side = ("▲", "above") if minimizes else ("▼", "below")
    return f"{mark} {counted(count, 'line')} from {side} the axis" if count else ""


def _main_switch(snapshot: StudySnapshot) -> Switch | None:
    """The switch with the most tried branches; inside a branch, one that this branch does not fix."""
    decided = {path for path, _ in snapshot.branch}
    switches = [
        switch for branch in snapshot.root.walk() for switch in branch.switches if switch.path not in decided
    ]
    return max(switches, key=lambda switch: sum(b.tally.trials > 0 for b in switch.branches), default=None)


def _inside(value: Any, members: list[Branch]) -> bool:
    return any(branch.value.holds(value) for branch in members)


def _running_best(values: list[float | None], minimizes: bool) -> Any:
    """(n,) best value so far, NaN before the first."""
    worst = np.inf if minimizes else -np.inf
    filled = np.array([worst if value is None else value for value in values])
    best = np.minimum.accumulate(filled) if minimizes else np.maximum.accumulate(filled)
    return np.where(np.isfinite(best), best, np.nan)


def _winner(ranked: list[Branch], snapshot: StudySnapshot) -> str:
    best = snapshot.best
    if best is None:
        return "no finished trial yet"
    winner = next(
        (b for b in ranked if b.tally.best is not None and b.tally.best.number == best.number), None
    )
    if winner is None:
        return f"best value {number(best.value)}"
    share = f"{winner.tally.trials} of {counted(len(snapshot.trials), 'trial')}"
    return f"best: {label(winner.label)} with {number(best.value)}, {share}"
