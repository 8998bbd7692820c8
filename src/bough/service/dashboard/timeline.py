"""Figure ``timeline``: which worker evaluated what, when, and in which attempt."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from bough.plot.figure import Drawing, NothingToShow, figure
from bough.plot.snapshot import StudySnapshot
from bough.plot.theme import BAD, FADED, GOOD, graph_objects, label
from bough.plot.traces import hover_text
from bough.trial import Trial

__all__ = ["timeline"]

MAX_TRIALS = 600
"""The number of trials that are drawn, the latest ones."""

_COLOURS = {"done": GOOD, "failed": BAD, "stopped": "#e69f00", "running": FADED}


@figure("Timeline", wide=True, measured=False)
def timeline(snapshot: StudySnapshot) -> Drawing:
    """A bar per trial in the row of its worker, from its start to its result."""
    drawn = graph_objects().Figure()
    begun = [trial for trial in snapshot.trials if trial.started is not None]
    shown, now = begun[-MAX_TRIALS:], time.time()
    if not shown:
        raise NothingToShow("no trial was handed out yet")
    span = max(1.0, max(_end(trial, now) for trial in shown) - min(trial.started or 0.0 for trial in shown))
    for state, colour in _COLOURS.items():
        bars = [trial for trial in shown if trial.state == state]
        if not bars:
            continue
        drawn.add_bar(
            orientation="h",
            name=state,
            y=[_line(trial) for trial in bars],
            base=[_moment(trial.started) for trial in bars],
            x=[1000 * max(_end(trial, now) - (trial.started or 0.0), span / 1000) for trial in bars],
            marker={"color": colour, "line": {"width": 0.5, "color": "rgba(255,255,255,0.6)"}},
            text=[str(trial.number) + (f" ({trial.attempt})" if trial.attempt > 1 else "") for trial in bars],
            textposition="inside",
            insidetextanchor="start",
            hovertext=[_hover(trial, now) for trial in bars],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    workers = len({_line(trial) for trial in shown})
    drawn.update_layout(
        barmode="overlay",
        uniformtext={"mode": "hide", "minsize": 9},  # half of a number would read as another trial
        bargap=0.25,
        height=min(170 + 34 * max(workers, 3), 900),
        xaxis={"type": "date"},
        yaxis={"type": "category", "automargin": True},
    )
    note = f"{workers} worker{'s' if workers != 1 else ''}; in brackets: attempts beyond the first"
    if len(begun) > MAX_TRIALS:
        note += f"; the latest {MAX_TRIALS} trials"
    return drawn, note


def _line(trial: Trial) -> str:
    return label(trial.worker or "unknown")


def _end(trial: Trial, now: float) -> float:
    return now if trial.finished is None else trial.finished


def _hover(trial: Trial, now: float) -> str:
    seconds = _end(trial, now) - (trial.started or 0.0)
    attempt = f", attempt {trial.attempt}" if trial.attempt > 1 else ""
    return f"{hover_text(trial)}<br><i>{seconds:.3g} s{attempt}</i>"


def _moment(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
