"""Figure ``branches``: how the search spread its trials over the branches, and how good each became."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.plot.outline import Branch, Fork
from bough.plot.theme import CATEGORIES, FADED, graph_objects, label, number
from bough.plot.traces import empty_note, titled
from bough.plot.view import StudyView

__all__ = ["draw_branches"]

MOST_LINES = 7
"""The busiest branches get a line each, the others share one."""

MOST_POINTS = 400


def draw_branches(view: StudyView) -> Any:
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
    fork = _main_fork(view)
    if not view.trials or fork is None:
        why = "no trial yet" if fork is not None else "this space does not branch"
        return empty_note(titled(figure, view, "Branches over time"), why)
    ranked = sorted(fork.branches, key=lambda branch: -branch.tally.trials)
    ranked = [branch for branch in ranked if branch.tally.trials]
    shown, rest = ranked[:MOST_LINES], ranked[MOST_LINES:]
    lines = [([branch], label(branch.label), CATEGORIES[i]) for i, branch in enumerate(shown)]
    if rest:
        lines.append((rest, f"{len(rest)} others", FADED))
    reaching = [t for t in view.trials if t.number in view.where[fork.path]]
    when = np.array([t.number for t in reaching])
    picked = np.unique(np.linspace(0, len(reaching) - 1, MOST_POINTS).astype(np.intp))
    for members, name, colour in lines:
        inside = np.array([_inside(t.config[fork.name], members) for t in reaching])
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
        best = _running_best([t.value if i else None for t, i in zip(reaching, inside)], view.minimizes)
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
    note = f"by {label(fork.path)}; " + _winner(ranked, view)
    return titled(figure, view, "Branches over time", note)


def _main_fork(view: StudyView) -> Fork | None:
    """The fork that splits the trials into most branches; in a narrowed view, one below that branch."""
    decided = {path for path, _ in view.branch}
    forks = [fork for branch in view.root.walk() for fork in branch.forks if fork.path not in decided]
    return max(forks, key=lambda fork: sum(b.tally.trials > 0 for b in fork.branches), default=None)


def _inside(value: Any, members: list[Branch]) -> bool:
    return any(branch.way.holds(value) for branch in members)


def _running_best(values: list[float | None], minimizes: bool) -> Any:
    """(n,) best value so far, NaN before the first."""
    worst = np.inf if minimizes else -np.inf
    filled = np.array([worst if value is None else value for value in values])
    best = np.minimum.accumulate(filled) if minimizes else np.maximum.accumulate(filled)
    return np.where(np.isfinite(best), best, np.nan)


def _winner(ranked: list[Branch], view: StudyView) -> str:
    best = view.best
    if best is None:
        return "no finished trial yet"
    winner = next(
        (b for b in ranked if b.tally.best is not None and b.tally.best.number == best.number), None
    )
    if winner is None:
        return f"best value {number(best.value)}"
    share = f"after {winner.tally.trials} of {len(view.trials)} trials"
    return f"best: {label(winner.label)} with {number(best.value)}, {share}"
