"""Figure ``curves``: the values that trials reported by step, coloured by branch, stopped trials faded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.plot.axes import ValueAxis
from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import FADED, graph_objects, label
from bough.plot.traces import add_trials, by_branch, counted, hover_text, joined
from bough.study.stopping.fidelities import Fidelity, results_by_config
from bough.study.stopping.rules import RULES
from bough.trial import Trial

__all__ = ["curves"]

MAX_CURVES, MAX_STEPS = 300, 200
"""The most lines, and points per line: more lines hide one another, more points are indistinguishable."""


@figure("Curves", wide=True)
def curves(snapshot: StudySnapshot, *, log: bool = False) -> Drawing:
    """The values that trials reported, step by step. A cross marks where a trial was stopped.

    Lines have the colour of their branch; those of stopped trials are faded. Dotted lines are the rungs of
    the rule ``asha``. The note says how many steps were saved. If the space has a fidelity, a line joins the
    results of one configuration, and ends where it was not promoted.
    """
    drawn = graph_objects().Figure()
    fidelity = Fidelity.of(snapshot.space)
    reported = [trial for trial in snapshot.trials if trial.curve]
    if fidelity is not None:
        reported = results_by_config(snapshot.trials, fidelity)
    if not reported:
        raise NothingToShow("no trial has reported anything")
    shown, stopped = _sample(reported), "stopped" if fidelity is None else "not promoted"
    values = np.array([value for trial in shown for _, value in _thinned(trial)])
    axis = ValueAxis.of(values, minimizes=snapshot.minimizes, log=log)
    for branch, colour, on_it in by_branch(snapshot, shown):
        mine = [trial for trial, on in zip(shown, on_it) if on]
        _add_lines(
            drawn, [t for t in mine if t.state == "stopped"], f"{branch}, {stopped}", colour, opacity=0.3
        )
        _add_lines(drawn, [t for t in mine if t.state != "stopped"], branch, colour, opacity=0.9)
    _add_ends(drawn, [trial for trial in shown if trial.state == "stopped"], stopped)
    longest = max((t.curve[-1][0] for t in reported if t.state == "done"), default=0)
    rule = RULES.get(snapshot.stopping)
    rungs = [rung * longest for rung in rule.rungs] if rule is not None and longest else []
    for rung in rungs if fidelity is None else fidelity.rungs:
        drawn.add_vline(rung, line={"dash": "dot", "width": 1, "color": FADED})
    drawn.update_layout(
        xaxis_title="step" if fidelity is None else label(fidelity.name),
        yaxis_title=("reported " if fidelity is None else "") + label(snapshot.goals.value_name),
        yaxis=axis.layout,
        hovermode="closest",
    )
    if fidelity is not None:
        drawn.update_xaxes(type="log", tickvals=fidelity.rungs)
    return drawn, joined(*_notes(reported, len(shown), stopped))


def _notes(reported: Sequence[Trial], shown: int, stopped: str) -> list[str]:
    """Counts of the lines, and the share of steps saved; with a fidelity, each line is a configuration."""
    count = sum(trial.state == "stopped" for trial in reported)
    if stopped != "stopped":
        return [
            f"{len(reported) - count} of {counted(len(reported), 'configuration')} at the highest fidelity"
        ]
    notes = [f"{count} of {counted(len(reported), 'trial')} stopped"]
    if (share := saved_share(reported)) > 0:
        notes.append(f"{share:.0%} of the steps saved")
    if shown < len(reported):
        notes.append(f"{shown} curves shown")
    return notes


def saved_share(reported: Sequence[Trial]) -> float:
    """The share of steps that stopping saved: each stopped trial would have been as long as the longest."""
    longest = max((trial.curve[-1][0] for trial in reported if trial.state == "done"), default=0)
    spent = sum(trial.curve[-1][0] for trial in reported)
    saved = sum(max(longest - trial.curve[-1][0], 0) for trial in reported if trial.state == "stopped")
    return saved / (spent + saved) if saved else 0.0


def _sample(reported: Sequence[Trial]) -> list[Trial]:
    step = -(-len(reported) // MAX_CURVES)
    return list(reported[::step])


def _thinned(trial: Trial) -> list[tuple[int, float]]:
    """The curve with about ``MAX_STEPS`` points at most, including its last one."""
    step = -(-len(trial.curve) // MAX_STEPS)
    return [*trial.curve[:-1:step], trial.curve[-1]]


def _add_lines(drawn: Any, trials: Sequence[Trial], name: str, colour: str, opacity: float) -> None:
    """All curves as one line with gaps, because a trace for each would be slow."""
    if not trials:
        return
    steps: list[float | None] = []
    values: list[float | None] = []
    texts: list[str | None] = []
    for trial in trials:
        points = _thinned(trial)
        steps += [*(step for step, _ in points), None]
        values += [*(value for _, value in points), None]
        texts += [*[hover_text(trial)] * len(points), None]
    drawn.add_scatter(
        x=steps,
        y=values,
        mode="lines+markers",
        name=name,
        text=texts,
        hovertemplate="step %{x}: %{y:.4g}<br>%{text}<extra></extra>",
        line={"color": colour, "width": 1.5},
        marker={"size": 3},
        opacity=opacity,
    )


def _add_ends(drawn: Any, stopped: Sequence[Trial], word: str) -> None:
    if not stopped:
        return
    add_trials(
        drawn,
        stopped,
        [trial.curve[-1][0] for trial in stopped],
        [trial.curve[-1][1] for trial in stopped],
        name=f"{word} here",
        marker={"symbol": "x-thin", "size": 7, "line": {"color": FADED, "width": 1.5}},
    )
