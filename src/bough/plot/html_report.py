"""A whole study as one file: HTML that needs no network and no server, or a PDF of the same page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from bough import __version__
from bough.errors import StudyError
from bough.plot.draw_curves import curves as draw_curves
from bough.plot.draw_regret import draw_regret, one_each
from bough.plot.figures import FIGURES
from bough.plot.saving import print_page
from bough.plot.snapshot import StudyLike, StudySnapshot
from bough.plot.theme import graph_objects, number, template
from bough.study.analysis.fronts import front_of, hypervolume_of
from bough.study.analysis.recommend import is_noisy, recommended
from bough.suffixes import REPORTS, format_of
from bough.trial import Config, Trial
from bough.whole_file import checked_path, write_file

__all__ = ["report"]

BEST_TRIALS = 15
MOST_MEASURES = 6
SHOWN = {**FIGURES, draw_curves.name: draw_curves}


def report(
    study: StudyLike | StudySnapshot,
    path: str | Path,
    *,
    against: Sequence[StudyLike | StudySnapshot] = (),
    measure: str | None = None,
) -> Path:
    """Write the report of a study to ``path``; ``against``: studies to compare its progress with.

    measure: the measure that figures show at first, by default the first objective; the reader can choose any
    measure of the goals.
    If the path ends in ``.pdf``, Chrome or Chromium prints the page as PDF; otherwise it is HTML.
    """
    target = checked_path(path)
    format_ = format_of(target, REPORTS, ".html or .pdf; export_study writes tables", others=True)
    if not isinstance(against, Iterable):
        raise StudyError(f"against is a list of studies, not {type(against).__name__}: against=[other]")
    page = _page(StudySnapshot.of(study), [StudySnapshot.of(other) for other in against], measure)
    content = print_page(page) if format_ == "pdf" else page.encode()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"cannot write {target}: {error.strerror}") from None
    write_file(target, [content])
    return target


def _page(snapshot: StudySnapshot, others: Sequence[StudySnapshot], measure: str | None) -> str:
    graph_objects()  # says what to install if Plotly is missing
    from plotly.offline import get_plotlyjs

    first = snapshot.goals.value_name if measure is None else measure
    named = dict.fromkeys([first, snapshot.goals.value_name, *snapshot.goals.needed])
    measures = [*named][: MOST_MEASURES + 1]
    figures = _figures(snapshot, others, first)
    measured = [SHOWN[name] for name in figures if name in SHOWN and SHOWN[name].measured]
    data = {
        "figures": _as_json(figures),
        "measures": {
            other: _as_json({each.name: each.of(snapshot, measure=other) for each in measured})
            for other in measures[1:]
        },
        "templates": {"light": template(), "dark": template(dark=True)},
    }
    page = Template(files("bough.plot").joinpath("report.html").read_text(encoding="utf-8"))
    return page.substitute(
        version=__version__,
        title=escape(snapshot.name),
        subtitle=escape(_subtitle(snapshot)),
        facts="".join(
            f'<div class="fact"><span class="soft">{what}</span><b>{fact}</b></div>'
            for what, fact in _facts(snapshot)
        ),
        best_title="Front" if len(snapshot.goals.objectives) > 1 else "Best configuration",
        best=_best(snapshot),
        choice=_choice(measures),
        figures="\n".join(
            f'<section class="figure"><h2></h2><p class="soft"></p><div id="{name}"></div></section>'
            for name in figures
        ),
        trials=_trials(snapshot),
        failures=_failures(snapshot),
        space=escape(str(snapshot.space)),
        plotly=get_plotlyjs(),
        data=json.dumps(data).replace("<", "\\u003c"),  # no text of the study may end the script element
    )


def _figures(snapshot: StudySnapshot, others: Sequence[StudySnapshot], measure: str) -> dict[str, Any]:
    figures = {}
    for name, each in FIGURES.items():
        if each.fits(snapshot):
            figures[name] = each.of(snapshot, measure=measure if each.measured else None)
        if name == "history" and any(trial.curve for trial in snapshot.trials):
            figures["curves"] = draw_curves.of(snapshot, measure=measure)
        if name == "history" and others:
            # First objectives are compared even if their names differ.
            shown = None if measure == snapshot.goals.value_name else measure
            compared = [snapshot.showing(measure), *(other.showing(shown) for other in others)]
            figures["regret"] = draw_regret(one_each(compared))
    return {name: drawn for name, drawn in figures.items() if drawn.data or name in ("history", "importance")}


def _as_json(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(figure.to_json()) for name, figure in figures.items()}


def _choice(measures: Sequence[str]) -> str:
    """A menu of measures, if there are several."""
    if len(measures) < 2:
        return ""
    options = "".join(f"<option>{escape(name)}</option>" for name in measures)
    return f'<p class="choice"><label>Figures show <select id="measure">{options}</select></label></p>'


def _subtitle(snapshot: StudySnapshot) -> str:
    switches = int(snapshot.space.layout.switch.sum())
    branches = sum(1 for branch in snapshot.root.walk() if not branch.switches)
    tree = f", {switches} of them deciding between {branches} branches" if switches else ""
    goal = snapshot.direction if snapshot.goals.is_plain else snapshot.goals.describe()
    if len(snapshot.goals.objectives) > 1:
        goal += f" (values are those of {snapshot.goals.value_name})"
    return f"{goal} over {len(snapshot.space)} parameters{tree}; made by bough {__version__}"


def _facts(snapshot: StudySnapshot) -> list[tuple[str, str]]:
    goals = snapshot.goals
    best = snapshot.best if snapshot.best is not None and snapshot.best.feasible else None
    facts = [
        (escape(f"best {goals.value_name}"), escape(number(best.value)) if best else "–"),
        ("trials", str(len(snapshot.trials))),
    ]
    if len(goals.objectives) > 1:
        facts[0] = ("on the front", str(len(front_of(goals, snapshot.done))))
        facts.append(("hypervolume", escape(number(hypervolume_of(goals, snapshot.done)))))
    if goals.limits:
        facts.append(("not feasible", str(sum(not trial.feasible for trial in snapshot.done))))
    if stopped := sum(trial.state == "stopped" for trial in snapshot.trials):
        facts.append(("stopped early", str(stopped)))
    if snapshot.failed:
        facts.append(("failed", str(len(snapshot.failed))))
    if snapshot.earlier:
        facts.append(("of an earlier space", str(len(snapshot.earlier))))
    times = [time for t in snapshot.trials for time in (t.started, t.finished) if time is not None]
    if times:
        facts.append(("from first to last", _duration(max(times) - min(times))))
    return facts


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _best(snapshot: StudySnapshot) -> str:
    if snapshot.best is None:
        return '<p class="soft">No trial has a value yet.</p>'
    if len(snapshot.goals.objectives) > 1:
        return _front(snapshot)
    if not snapshot.best.feasible:
        return '<p class="soft">No trial meets the constraints yet.</p>'
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td><code>{escape(str(value))}</code></td></tr>"
        for name, value in snapshot.best.config.items()
    )
    value = escape(repr(snapshot.best.value))
    name = escape(snapshot.goals.value_name.capitalize())
    head = f'<p>{name} <b class="best">{value}</b> in trial {snapshot.best.number}.</p>'
    return f"{head}<table>{rows}</table>{_recommended(snapshot)}"


def _recommended(snapshot: StudySnapshot) -> str:
    """Under noise, the trial that the model recommends: part of the best value is luck."""
    done = [trial for trial in snapshot.done if trial.feasible]
    if snapshot.predict is None or not snapshot.goals.objectives or not is_noisy(done):
        return ""
    choice = recommended(done, snapshot.goals.sign, snapshot.predict)
    low, high = (escape(number(each)) for each in choice.interval)
    return (
        f"<p>Values are noisy, so a part of the best one is luck. The model recommends trial "
        f'{choice.trial.number} and expects <b class="best">{escape(number(choice.mean))}</b>, with 95 % '
        f"probability between {low} and {high}: <code>{escape(_one_line(choice.trial.config))}</code></p>"
    )


def _front(snapshot: StudySnapshot) -> str:
    front = front_of(snapshot.goals, snapshot.done)
    if not front:
        return '<p class="soft">No trial is on it yet.</p>'
    left, first = len(front) - BEST_TRIALS, escape(snapshot.goals.names[0])
    more = f'<p class="soft">{left} more on the front; shown are the best in {first}</p>'
    return _table(front[:BEST_TRIALS], snapshot) + (more if left > 0 else "")


def _trials(snapshot: StudySnapshot) -> str:
    best = [snapshot.done[row] for row in snapshot.ranking[:BEST_TRIALS]]
    return _table([*best, *snapshot.retracted], snapshot)


def _table(trials: Sequence[Trial], snapshot: StudySnapshot) -> str:
    """A table of trials with their measures, those of the goals first."""
    goals = snapshot.goals
    seen = [*goals.needed, *(name for trial in trials for name in trial.measures)]
    measures = [name for name in dict.fromkeys(seen) if name != goals.value_name][:MOST_MEASURES]
    names = [goals.value_name, *measures, *(["feasible"] if goals.limits else [])]
    head = "".join(f'<th class="n">{escape(name)}</th>' for name in ["trial", *names])
    rows = "".join(_row(trial, measures, bool(goals.limits)) for trial in trials)
    return f"<table><tr>{head}<th>config</th></tr>{rows}</table>"


def _row(trial: Trial, measures: Sequence[str], limited: bool) -> str:
    cells = [escape(str(trial.number)), escape(number(trial.value))]
    cells += [escape(number(trial.measures.get(name))) for name in measures]
    cells += ["yes" if trial.feasible else "no"] if limited else []
    config = f"<code>{escape(_one_line(trial.config))}</code>"
    if trial.retracted is not None:
        cells = [cells[0], *(f"<s>{cell}</s>" for cell in cells[1:])]
        config = f"<s>{config}</s> retracted: {escape(trial.retracted)}"
    elif trial.corrected is not None:
        config += f" corrected: {escape(trial.corrected)}"
    row = "".join(f'<td class="n">{cell}</td>' for cell in cells)
    return f"<tr>{row}<td>{config}</td></tr>"


def _one_line(config: Config) -> str:
    return " ".join(f"{name}={number(v) if isinstance(v, float) else v}" for name, v in config.items())


def _failures(snapshot: StudySnapshot) -> str:
    if not snapshot.failed:
        return ""
    reasons = Counter((t.error or "no reason given")[:200] for t in snapshot.failed).most_common(10)
    rows = "".join(f'<tr><td class="n">{n}</td><td>{escape(why)}</td></tr>' for why, n in reasons)
    head = '<tr><th class="n">times</th><th>reason</th></tr>'
    return f"<section><h2>Failures</h2><table>{head}{rows}</table></section>"
