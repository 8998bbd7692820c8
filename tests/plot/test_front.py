"""The figure of several objectives, and what tables and figures make of infeasible trials."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bough import plot
from bough.errors import ConfigError
from bough.plot import StudySnapshot
from bough.plot.draw_front import _front
from bough.space import Choice, Float, Space
from bough.study import Study

SPACE = Space({"model": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}})})
RESULTS = [
    ({"model": "a", "x": 0.1}, {"error": 0.3, "speed": 5.0, "memory": 1}),
    ({"model": "a", "x": 0.2}, {"error": 0.1, "speed": 1.0, "memory": 1}),
    ({"model": "b", "y": 0.3}, {"error": 0.2, "speed": 4.0, "memory": 1}),
    ({"model": "b", "y": 0.4}, {"error": 0.25, "speed": 3.0, "memory": 1}),
    ({"model": "b", "y": 0.5}, {"error": 0.0, "speed": 9.0, "memory": 3}),
]


@pytest.fixture
def study() -> Study:
    objectives = {"error": "minimize", "speed": "maximize"}
    study = Study(SPACE, method="random", objectives=objectives, constraints=["memory <= 2"])
    study.add_many(RESULTS)
    return study


def traces(figure: Any) -> dict[str, dict[str, Any]]:
    return {trace.get("name") or "": trace for trace in json.loads(figure.to_json())["data"]}


def test_the_front_is_a_staircase_by_branch(study: Study) -> None:
    figure = plot.front(study)
    drawn = traces(figure)
    assert {"a", "b", "b, not feasible", "front"} <= set(drawn)
    assert drawn["b, not feasible"]["marker"]["symbol"] == ["circle-open"]
    line = next(trace for trace in figure.data if trace.name == "front")
    assert list(line.x) == [0.1, 0.2, 0.3] and list(line.y) == [1.0, 4.0, 5.0]
    assert "3 trials on the front of 5; 1 not feasible" in figure.layout.title.text
    swapped = next(trace for trace in plot.front(study, "speed", "error").data if trace.name == "front")
    assert list(swapped.x) == [5.0, 4.0, 1.0]


@pytest.mark.parametrize(("direction", "right"), [("minimize", True), ("maximize", False)])
def test_trials_beyond_the_axes_are_marked_at_their_edges(direction: str, right: bool) -> None:
    """Trials far from the others may be on the front by an objective that is not shown."""
    sign = 1 if right else -1
    study = Study(SPACE, method="random", objectives=dict.fromkeys(("a", "b", "c"), direction))
    told = [*((i / 10, 1 - i / 10, 1) for i in range(10)), (50, 0.5, 0), (0.5, 70, 0), (50, 70, -1)]
    config = {"model": "a", "x": 0.5}
    study.add_many([(config, {name: sign * each for name, each in zip("abc", row)}) for row in told])
    figure = plot.front(study)
    points = figure.data[1]
    ends = ["triangle-right", "triangle-up", "triangle-ne"]
    if not right:
        ends = ["triangle-left", "triangle-down", "triangle-sw"]
    assert list(points.marker.symbol) == ["circle"] * 10 + ends
    for axis, values in ((figure.layout.xaxis, points.x), (figure.layout.yaxis, points.y)):
        assert axis.range[0] < min(values) and max(values) < axis.range[1]
        assert axis.range[1] - axis.range[0] < 10
    assert "triangles mark 3 trials beyond the axes" in figure.layout.title.text
    assert "50" in points.text[10]


def test_wrong_objectives_are_named(study: Study) -> None:
    with pytest.raises(ConfigError, match="there is no objective 'eror'; did you mean 'error'"):
        plot.front(study, "eror")
    with pytest.raises(ConfigError, match="x and y are both 'error'"):
        plot.front(study, "error", "error")


def test_the_front_of_columns_is_what_brute_force_finds() -> None:
    values = np.random.default_rng(0).integers(0, 8, (40, 2)).astype(float)
    kept = {tuple(v) for v in values if not any((w <= v).all() and (w < v).any() for w in values)}
    assert {tuple(v) for v in _front(values)} == kept


def test_an_infeasible_trial_is_never_the_best_of_a_figure(study: Study, tmp_path: Path) -> None:
    snapshot = StudySnapshot.of(study)
    assert snapshot.best is not None and snapshot.best.number == 1
    assert snapshot.incumbent.tolist() == [0.3, 0.1, 0.1, 0.1, 0.1]
    page = plot.report(study, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "minimize error, maximize speed with memory &lt;= 2 (values are those of error)" in page
    assert 'id="front"' in page


def test_one_objective_has_no_front() -> None:
    assert "one objective has no front" in plot.front(Study(SPACE, method="random")).to_json()


def test_the_hypervolume_grows_to_that_of_the_study(study: Study) -> None:
    figure = plot.hypervolume(study)
    line, marks = figure.data
    assert np.all(np.diff(line.y) >= 0)
    assert line.y[-1] == pytest.approx(study.hypervolume())
    assert set(marks.x) == {trial.number for trial in study.front}
    assert "one objective has no front" in plot.hypervolume(Study(SPACE, method="random")).to_json()
    goals = {"objectives": ["error", "speed"], "constraints": ["error <= -1"]}
    none = Study(SPACE, method="random", **goals)
    none.tell(none.ask(), {"error": 1.0, "speed": 1.0})
    assert "no trial is on the front yet" in plot.hypervolume(none).to_json()


def test_figures_of_several_objectives_fit_those_studies_only(study: Study) -> None:
    one = plot.StudySnapshot.of(Study(SPACE, method="random"))
    several = plot.StudySnapshot.of(study)
    assert plot.front.fits(several) and plot.hypervolume.fits(several)
    assert not plot.front.fits(one) and not plot.hypervolume.fits(one) and plot.history.fits(one)


def test_hover_texts_have_measures_and_violated_limits(study: Study) -> None:
    violating = next(trial for trial in study.trials if trial.violated)
    shown = plot.history(study).to_json()
    assert f"violates {violating.violated[0]}".replace("<", "&lt;").replace(">", "&gt;") in shown.replace(
        "\\u003c", "<"
    ).replace("\\u003e", ">")
    assert "circle-open" in shown and "not feasible (hollow)" in shown
