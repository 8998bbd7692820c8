"""Helpers that several figures share: titles, hover texts, notes, marks and samples of trials."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from textwrap import wrap
from typing import Any

import numpy as np

from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import CATEGORIES, FADED, graph_objects, label, number
from bough.points import BoolArray, IntArray
from bough.trial import Trial

__all__ = [
    "add_trials",
    "by_branch",
    "counted",
    "empty_figure",
    "hover_text",
    "joined",
    "thinned",
    "titled",
]

NOTE_CHARACTERS = 36
"""The longest line of a note in an empty figure, in characters; this many fit on a phone."""


def titled(figure: Any, snapshot: StudySnapshot, what: str, note: str = "") -> Any:
    """Give the figure its title: what it shows, the study, measure and branch, and a note below."""
    where = " · ".join(f"{label(path)} = {label(value)}" for path, value in snapshot.branch)
    parts = (f"<b>{what}</b>", label(snapshot.name), label(snapshot.measure), where)
    head = " · ".join(part for part in parts if part)
    if snapshot.earlier:
        note = joined(note, f"{counted(len(snapshot.earlier), 'trial')} of an earlier space not shown")
    if note:
        head += f"<br><span style='font-size:13px'>{note}</span>"
    figure.update_layout(title_text=head)
    return figure


def empty_figure(text: str) -> Any:
    """An empty figure that says why it is empty."""
    figure = graph_objects().Figure()
    lines = "<br>".join(wrap(text, NOTE_CHARACTERS))
    figure.add_annotation(text=lines, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font_size=15)
    figure.update_layout(height=240)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def counted(count: int, noun: str) -> str:
    """``1 trial``, ``2 trials``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def joined(*notes: str) -> str:
    """The notes that are not empty, in one line."""
    return "; ".join(note for note in notes if note)


def hover_text(trial: Trial) -> str:
    """A trial in a few lines: number, result, configuration."""
    head = f"<b>trial {trial.number}</b>: "
    if trial.state == "done":
        head += number(trial.value)
        if trial.retracted is not None:
            head = f"<s>{head}</s> retracted: {label(trial.retracted)}"
        elif trial.corrected is not None:
            head += f" corrected: {label(trial.corrected)}"
    else:
        head += trial.state + (f", {label(trial.error)}" if trial.error else "")
    measured = [f"{label(name)}: {number(value)}" for name, value in [*trial.measures.items()][:8]]
    measured += [f"violates {label(limit)}" for limit in trial.violated]
    lines = [*measured, *(f"{label(name)} = {label(value)}" for name, value in trial.config.items())]
    if len(lines) > 15:
        lines = [*lines[:14], f"… and {len(lines) - 14} more"]
    return "<br>".join([head, *lines])


def add_trials(figure: Any, trials: Sequence[Trial], x: Any, y: Any, **style: Any) -> None:
    """Add a mark for each trial at x and y (n,); its hover text describes the trial."""
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        text=[hover_text(trial) for trial in trials],
        hovertemplate="%{text}<extra></extra>",
        **style,
    )


def by_branch(snapshot: StudySnapshot, trials: Sequence[Trial]) -> list[tuple[str, str, BoolArray]]:
    """The branches of the first switch that trials are on: name, colour, and which trials (n,) those are."""
    if not snapshot.root.switches:
        return [("trials", CATEGORIES[0], np.ones(len(trials), dtype=bool))]
    switch = snapshot.root.switches[0]
    active = np.array([trial.number in snapshot.where[switch.path] for trial in trials], dtype=bool)
    found = [(f"without {label(switch.name)}", FADED, ~active)]
    for branch, colour in zip(switch.branches, cycle(CATEGORIES)):
        on = [a and branch.value.holds(t.config[switch.name]) for a, t in zip(active, trials)]
        found.append((label(branch.label), colour, np.array(on, dtype=bool)))
    return [each for each in found if each[2].any()]


def thinned(snapshot: StudySnapshot, most: int) -> IntArray:
    """At most ``most`` rows of finished trials: a third of them the best, the others an even sample.

    The best come last and are drawn on top.
    """
    if len(snapshot.done) <= most:
        return snapshot.ranking[::-1]
    best, rest = snapshot.ranking[: most // 3], snapshot.ranking[most // 3 :]
    kept = rest[np.linspace(0, len(rest) - 1, most - len(best)).astype(np.intp)]
    return np.concatenate([best, kept])[::-1]
