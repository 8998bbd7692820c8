"""Figure ``branches``: how the search spread its trials over the branches, and how good each became."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.plot.outline import Branch, Switch
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import CATEGORIES, FADED, graph_objects, label, number
from bough.plot.traces import empty_note, titled

__all__ = ["draw_branches"]

MOST_LINES = 7
"""The busiest branches get a line each, the others share one."""

MOST_POINTS = 400


def draw_branches(snapshot: StudySnapshot) -> Any:
    """Above: the share of each branch in the trials so far. Below: the best value of each so far."""
    graph_objects()
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.09,
        row_heights=[0.42, 0.58],
    )
    switch = _main_switch(snapshot)
    if not snapshot.trials or switch is None:
        why = "no trial yet" if switch is not None else "this space does not branch"
        return empty_note(titled(figure, snapshot, "Branches over time"), why)
    ranked = sorted(switch.branches, key=lambda branch: -branch.tally.trials)
    ranked = [branch for branch in ranked if branch.tally.trials]
    shown, rest = ranked[:MOST_LINES], ranked[MOST_LINES:]
    lines = [([branch], label(branch.label), CATEGORIES[i]) for i, branch in enumerate(shown)]
    if rest:
        lines.append((rest, f"{len(rest)} others", FADED))
    reaching = [t for t in snapshot.trials if t.number in snapshot.where[switch.path]]
    when = np.array([t.number for t in reaching])
    picked = np.unique(np.linspace(0, len(reaching) - 1, MOST_POINTS).astype(np.intp))
    for members, name, colour in lines:
        inside = np.array([_inside(t.config[switch.name], members) for t in reaching])
        share = np.cumsum(inside) / np.arange(1, len(reaching) + 1)
        common: dict[str, Any] = {"x": when[picked], "mode": "lines", "name": name, "legendgroup": name}
        figure.add_scatter(
            y=share[picked],
            stackgroup="share",
            line={"width": 0.5, "color": colour},
            row=1,
            col=1,
            hovertemplate="%{y:.0%}",
            **common,
        )
        best = _running_best([t.value if i else None for t, i in zip(reaching, inside)], snapshot.minimizes)
        figure.add_scatter(
            y=best[picked],
            line={"color": colour, "width": 2.2, "shape": "hv"},
            showlegend=False,
            row=2,
            col=1,
            hovertemplate="%{y:.4g}",
            **common,
        )
    figure.update_layout(height=560, hovermode="x unified")
    figure.update_yaxes(title_text="share of trials", tickformat=".0%", range=[0, 1], row=1, col=1)
    figure.update_yaxes(title_text="best so far", row=2, col=1)
    figure.update_xaxes(title_text="trial", row=2, col=1)
    note = f"by {label(switch.path)}; " + _winner(ranked, snapshot)
    return titled(figure, snapshot, "Branches over time", note)


def _main_switch(snapshot: StudySnapshot) -> Switch | None:
    """The switch that splits the trials into most branches; in a narrowed snapshot, one below that branch."""
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
    share = f"after {winner.tally.trials} of {len(snapshot.trials)} trials"
    return f"best: {label(winner.label)} with {number(best.value)}, {share}"
