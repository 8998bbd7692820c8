"""Studies as HTML for notebooks: the best config, the branches, and a small picture of the results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bough.space.html import FADED, and_more, block, faded, table
from bough.trial import Trial

if TYPE_CHECKING:
    from bough.study.study_results import StudyResults

__all__ = ["study_html"]

MAX_ROWS = 8
"""The number of branches, or of trials on the front, that are listed."""

MAX_POINTS = 400
"""Trials in the picture; if there are more, every second, third, ... and the last one are drawn."""

WIDTH, HEIGHT, MARGIN = 360, 90, 6


def study_html(study: StudyResults) -> str:
    """A study at a glance."""
    trials = study.trials
    counts: dict[str, int] = {}
    for trial in trials:
        counts[trial.state] = counts.get(trial.state, 0) + 1
    said = ", ".join(f"{count:,} {state}" for state, count in counts.items()) or "no trials yet"
    heading = f"{escape(study.name)} {faded(f'{study.goals.heading}, method {study.method.name}; {said}')}"
    several = len(study.goals.objectives) > 1
    body = _front(study) if several else _best(study)
    finished = [trial for trial in trials if trial.state == "done" and trial.retracted is None]
    if finished:
        body += _scatter(study, finished) if several else _history(study, finished)
        body += _branches(study, trials)
    return block(heading, body)


def _best(study: StudyResults) -> str:
    best = study.status().best
    if best is None or best.value is None:
        return ""
    rows = [("best", f"{best.value:.6g} (trial {best.number})"), *_shown(best.config)]
    return table(rows)


def _front(study: StudyResults) -> str:
    front = study.front
    rows = [
        [str(t.number), *(f"{study.goals.measured(t, name):.6g}" for name in study.goals.names), _config(t)]
        for t in front[:MAX_ROWS]
    ]
    rest = and_more(len(front) - len(rows), "on the front")
    return table(rows, ["front", *study.goals.names, "config"]) + rest


def _shown(config: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, _value(value)) for name, value in config.items()]


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _config(trial: Trial) -> str:
    text = ", ".join(f"{name}={value}" for name, value in _shown(trial.config))
    return text if len(text) <= 120 else text[:117] + "..."


def _branches(study: StudyResults, trials: Sequence[Trial]) -> str:
    """Trials and the best value by the values of the categorical switches."""
    space = study.space
    switches = dict.fromkeys(
        space.parameters[column].name
        for column in space.tree.switches
        if space.parameters[column].domain.kind == "nominal"
    )
    if not switches:
        return ""
    by_branch: dict[str, list[Trial]] = {}
    for trial in trials:
        label = ", ".join(f"{name}={_value(trial.config[name])}" for name in switches if name in trial.config)
        by_branch.setdefault(label, []).append(trial)
    sign = study.goals.sign
    rows = []
    for label, those in by_branch.items():
        values = [sign * t.value for t in those if t.feasible and t.value is not None]
        rows.append((min(values, default=math.inf), label, len(those)))
    rows.sort(key=lambda row: row[0])
    shown = [
        (label, f"{count:,}", "" if best == math.inf else f"{sign * best:.6g}")
        for best, label, count in rows[:MAX_ROWS]
    ]
    heads = ["branch", "trials", f"best {study.goals.value_name}"]
    return table(shown, heads) + and_more(len(rows) - MAX_ROWS, "branches")


def _history(study: StudyResults, trials: Sequence[Trial]) -> str:
    """Values by trial number as dots, and the best feasible one so far as a line of steps."""
    sign = study.goals.sign
    values = [sign * trial.value for trial in trials if trial.value is not None]
    low, high = min(values), _upper(values)
    best, line = math.inf, []
    for trial, value in zip(trials, values):
        if trial.feasible and value < best:
            best = value
            line.append((trial.number, min(best, high)))
    if line:
        line.append((trials[-1].number, line[-1][1]))
    across = _scale(0, max(trial.number for trial in trials), MARGIN, WIDTH - MARGIN)
    # Larger values are drawn higher: sign * value is plotted, so a maximised objective needs a flipped axis.
    ends = (HEIGHT - MARGIN, MARGIN) if sign > 0 else (MARGIN, HEIGHT - MARGIN)
    up = _scale(low, high, *ends)
    dots = [(across(t.number), up(min(value, high)), t.feasible) for t, value in zip(trials, values)]
    steps = " ".join(
        f"{'M' if i == 0 else 'H'}{across(number):.1f}"
        + (f",{up(value):.1f}" if i == 0 else f"V{up(value):.1f}")
        for i, (number, value) in enumerate(line)
    )
    path = f'<path d="{steps}" fill="none" stroke="#0072b2" stroke-width="1.5"/>' if line else ""
    title = f"{study.goals.value_name} by trial; the line is the best so far"
    return _picture(path, _thinned(dots), title)


def _scatter(study: StudyResults, trials: Sequence[Trial]) -> str:
    """The first two objectives of every trial; trials on the front are filled dots."""
    first, second = study.goals.names[:2]
    pairs = [(study.goals.measured(t, first), study.goals.measured(t, second)) for t in trials]
    xs, ys = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    across = _scale(min(xs), max(xs), MARGIN, WIDTH - MARGIN)
    up = _scale(min(ys), max(ys), HEIGHT - MARGIN, MARGIN)
    front = {trial.number for trial in study.front}
    dots = [(across(x), up(y), t.number in front) for t, (x, y) in zip(trials, pairs)]
    return _picture("", _thinned(dots), f"{second} over {first}; trials of the front are filled")


def _upper(values: Sequence[float]) -> float:
    """The largest value in the picture. Outliers beyond it are clipped, since they would flatten the rest."""
    ordered = sorted(values)
    quarter, half = ordered[len(ordered) // 4], ordered[len(ordered) // 2]
    return min(ordered[-1], half + 4 * max(half - ordered[0], half - quarter, 1e-300))


def _scale(low: float, high: float, start: float, end: float) -> Any:
    width = high - low
    return lambda value: start + (end - start) * ((value - low) / width if width > 0 else 0.5)


def _thinned(dots: list[tuple[float, float, bool]]) -> list[tuple[float, float, bool]]:
    step = max(1, math.ceil(len(dots) / MAX_POINTS))
    return dots[::step] if step == 1 else [*dots[::step], dots[-1]]


def _picture(path: str, dots: Sequence[tuple[float, float, bool]], title: str) -> str:
    circles = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" {_FILLED if filled else _OPEN}/>' for x, y, filled in dots
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'style="display:block;margin:4px 0"><title>{escape(title)}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="rgba(128,128,128,.35)"/>'
        f"{circles}{path}</svg>"
        f'<div style="{FADED};font-size:11px">{escape(title)}</div>'
    )


_FILLED = 'fill="#d55e00" fill-opacity=".75"'
_OPEN = 'fill="none" stroke="#8b949e"'
