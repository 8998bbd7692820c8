"""The figure of what trials reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bough import plot
from bough.plot.draw_curves import MAX_CURVES, MAX_STEPS, saved_share
from bough.space import Choice, Float, Int, Space
from bough.study import Study
from bough.trial import Trial

SPACE = Space({"model": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}})})


def trained(config: dict[str, Any], run: Any) -> float:
    level = float(config.get("x", config.get("y", 0.0)))
    for step in range(1, 11):
        if run.report(level + 1 - step / 10, step):
            break
    return level


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(SPACE, method="random", seed=2, stopping="asha").run(trained, 40, progress=False)


def test_curves_by_branch_with_stopped_ones_faded(study: Study) -> None:
    drawn = plot.curves(study)
    traces = {trace.name: trace for trace in drawn.data}
    assert set(traces) == {"a", "b", "a, stopped", "b, stopped", "stopped here"}
    assert traces["a, stopped"].opacity < traces["a"].opacity
    assert traces["a, stopped"].line.color == traces["a"].line.color != traces["b"].line.color
    stopped = [trial for trial in study.trials if trial.state == "stopped"]
    assert sorted(traces["stopped here"].x) == sorted(trial.curve[-1][0] for trial in stopped)
    done = [trial for trial in study.trials if trial.state == "done" and trial.config["model"] == "a"]
    assert sum(x is None for x in traces["a"].x) == len(done)
    assert [x for x in traces["a"].x if x is not None] == [step for t in done for step, _ in t.curve]
    assert [shape.x0 for shape in drawn.layout.shapes] == pytest.approx([10 / 27, 10 / 9, 10 / 3])
    title = drawn.layout.title.text
    spent = sum(trial.curve[-1][0] for trial in study.trials)
    assert f"{len(stopped)} of 40 trials stopped" in title
    assert f"{1 - spent / 400:.0%} of the steps saved" in title


def test_with_a_fidelity_a_line_joins_the_results_of_a_configuration() -> None:
    space = Space({"x": Float(0, 1), "epochs": Int(1, 27, fidelity=True)})
    coarse = Study(space, method="random", seed=2)
    coarse.run(lambda config: config["x"] + 1 / config["epochs"], 20, progress=False)
    drawn = plot.curves(coarse)
    traces = {trace.name: trace for trace in drawn.data}
    assert [shape.x0 for shape in drawn.layout.shapes] == [1, 3, 9, 27]
    finished = [trial for trial in coarse.trials if trial.config["epochs"] == 27]
    assert sum(x is None for x in traces["trials"].x) == len(finished)
    assert traces["trials"].x[:5] == (1, 3, 9, 27, None)
    begun = [trial for trial in coarse.trials if trial.resumes is None]
    assert (
        f"{len(finished)} of {len(begun)} configurations at the highest fidelity" in drawn.layout.title.text
    )


def test_other_forms_of_the_figure(study: Study) -> None:
    narrowed = plot.curves(study, branch={"model": "a"}, dark=True, log=True)
    assert {trace.name for trace in narrowed.data} == {"a", "a, stopped", "stopped here"}
    empty = plot.curves(Study(SPACE, method="random"))
    assert not empty.data and "no trial has reported anything" in empty.to_json()
    assert saved_share([]) == 0.0


def test_many_long_curves_stay_drawable() -> None:
    curve = tuple((step, 1.0 / step) for step in range(1, 5001))
    trials = tuple(
        Trial(n, {"model": "a", "x": 0.5}, "done", value=0.0, attempt=1, curve=curve) for n in range(700)
    )
    drawn = plot.curves(plot.StudySnapshot("s", SPACE, "minimize", trials))
    (line,) = drawn.data
    assert len(line.x) <= MAX_CURVES * (MAX_STEPS + 2)
    assert line.x[-2] == 5000, "the last point is kept"
    assert "234 curves shown" in drawn.layout.title.text


def test_the_report_shows_curves_where_there_are_any(study: Study, tmp_path: Path) -> None:
    page = plot.report(study, tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="curves"' in page and "stopped early" in page
    plain = Study(SPACE, method="random", seed=2).run(lambda config: 1.0, 3, progress=False)
    assert 'id="curves"' not in plot.report(plain, tmp_path / "p.html").read_text(encoding="utf-8")
    assert json.loads(plot.history(study).to_json())["data"]
