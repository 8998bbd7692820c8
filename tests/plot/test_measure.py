"""Figures of one measure: which trials count, what is better, and which model predicts it."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough import plot
from bough.errors import ConfigError, StudyError
from bough.plot import StudySnapshot
from bough.plot.draw_importance import importances
from bough.plot.figures import FIGURES

SPACE = bough.Space({"model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {}}), "z": bough.Float(0, 1)})
GOALS: dict[str, Any] = {
    "objectives": {"error": "minimize", "speed": "maximize"},
    "constraints": ["memory <= 70", "recall >= 0.2"],
}


def train(config: dict[str, Any]) -> dict[str, float]:
    x = config.get("x", 0.5)
    return {
        "error": (x - 0.3) ** 2,
        "speed": 10 * config["z"],
        "memory": 100 * x,
        "recall": config["z"],
        "epochs": 5 * x,
        "cost": 1 + x,
    }


@pytest.fixture(scope="module")
def study() -> bough.Study:
    return bough.optimize(train, SPACE, trials=25, seed=0, progress=False, **GOALS)


@pytest.mark.parametrize("name", [*(n for n, each in FIGURES.items() if each.measured), "curves"])
def test_every_figure_of_values_shows_the_measure_that_it_is_asked_for(study: bough.Study, name: str):
    draw = getattr(plot, name)
    assert draw(study) == draw(study, measure="error")
    texts = {m: draw(study, measure=m).layout.title.text for m in ("error", "speed", "memory", "epochs")}
    assert all(f" · {measure}" in text for measure, text in texts.items())


def test_the_measure_is_the_value_and_its_goal_says_what_is_better(study: bough.Study):
    whole = StudySnapshot.of(study)
    feasible = [trial for trial in study.trials if trial.feasible]
    assert 0 < len(feasible) < 25
    for name, best in {"error": min, "speed": max, "memory": min, "recall": max, "epochs": min}.items():
        shown = whole.showing(name)
        assert shown.values.tolist() == [trial.measures[name] for trial in study.trials]
        assert shown.best is not None and shown.best.value == best(t.measures[name] for t in feasible)
        assert (
            shown.goals.limits == whole.goals.limits and shown.trials[0].violated == whole.trials[0].violated
        )
    assert whole.showing("cost").values.tolist() == [trial.cost for trial in study.trials]
    assert whole.measures == ("error", "speed", "memory", "recall", "epochs", "cost")
    assert whole.showing() is whole.showing("error") and whole.showing("error").trials is whole.trials


def test_importance_is_that_of_the_measure():
    spread = bough.optimize(train, SPACE, trials=60, method="sobol", seed=0, progress=False, **GOALS)

    def main(measure: str) -> dict[str, float]:
        found, _ = importances(StudySnapshot.of(spread).showing(measure))
        return {share.path: share.main for share in found.shares}

    assert main("speed")["z"] > 0.8 and main("speed")["model=a/x"] < 0.1
    assert main("memory")["z"] < 0.1 and main("memory")["model=a/x"] > 0.5


def test_a_branch_and_a_measure_narrow_in_any_order(study: bough.Study):
    whole = StudySnapshot.of(study)
    one, other = whole.within({"model": "a"}).showing("speed"), whole.showing("speed").within({"model": "a"})
    assert one.trials == other.trials and one.branch == other.branch and one.direction == "maximize"
    drawn = plot.history(study, branch={"model": "a"}, measure="speed")
    assert "speed · model = a" in drawn.layout.title.text and drawn.layout.yaxis.title.text == "speed"


def test_trials_without_the_measure_have_no_value():
    study = bough.Study(SPACE, method="random", seed=0)
    for told in ({"value": 1.0, "size": 3.0}, {"value": 2.0}, {"value": 3.0, "size": math.nan}):
        study.tell(study.ask(), told)
    shown = StudySnapshot.of(study).showing("size")
    assert shown.values.tolist() == [3.0] and len(shown.trials) == 3
    for draw in FIGURES.values():
        if draw.measured:
            draw(study, measure="size")


def test_a_branch_without_the_measure_has_no_value_but_knows_it():
    study = bough.Study(SPACE, method="random", seed=0)
    study.add_many(
        (config, {"value": 1.0, **({"depth": 3.0} if config["model"] == "a" else {})})
        for config in SPACE.sample(8, 1)
    )
    whole = StudySnapshot.of(study)
    assert whole.within({"model": "b"}).showing("depth").done == ()
    assert len(whole.within({"model": "a"}).showing("depth").done) == len(whole.showing("depth").done) > 0
    assert "no finished trial" in str(plot.history(study, branch={"model": "b"}, measure="depth").layout)
    with pytest.raises(ConfigError, match="no trial has a measure 'dept'; did you mean 'depth'"):
        plot.history(study, branch={"model": "b"}, measure="dept")


def test_the_cost_is_the_seconds_where_none_was_told():
    ran: dict[str, Any] = {"state": "done", "value": 1.0, "attempt": 1, "started": 9.0}
    trials = [bough.Trial(n, {"model": "b", "z": n / 4}, finished=10.0 + n, **ran) for n in range(3)]
    snapshot = StudySnapshot("s", SPACE, "minimize", tuple(trials))
    assert snapshot.measures == ("value", "cost") and snapshot.showing("cost").values.tolist() == [
        1.0,
        2.0,
        3.0,
    ]
    one = dataclasses.replace(snapshot.trials[1], cost=7.0)
    some = dataclasses.replace(snapshot, trials=(snapshot.trials[0], one, snapshot.trials[2]))
    assert some.showing("cost").values.tolist() == [7.0]


def test_objectives_are_predicted_by_the_model_of_the_study(study: bough.Study):
    configs = [trial.config for trial in study.trials[:8]]
    for name in ("error", "speed"):
        mean, sd = study.predict(configs, measure=name)
        told = np.array([trial.measures[name] for trial in study.trials[:8]])
        good = np.argsort(told * study.goals.signs[study.goals.names.index(name)])[:4]
        # Values far worse than the others are cut off for the model.
        assert np.median(np.abs(mean - told)[good]) < 1e-3 and np.median(sd[good]) < 0.01
    assert np.array_equal(study.predict(configs), study.predict(configs, measure="error"))
    with pytest.raises(StudyError, match="predicts its objectives \\('error', 'speed'\\), not 'memory'"):
        study.predict(configs, measure="memory")
    notes = {m: plot.slice(study, measure=m).layout.title.text for m in ("speed", "memory")}
    assert "the study's model" in notes["speed"] and "a tree ensemble" in notes["memory"]
    curve = next(t for t in plot.slice(study, ["z"], measure="speed").data if t.name == "model")
    assert np.allclose(curve.y, 10 * np.array(curve.x, dtype=float), atol=0.5)


def test_what_a_running_trial_reported_of_the_measure_is_its_curve():
    study = bough.Study(SPACE, method="random", seed=0, stopping="none", objectives=["error", "speed"])
    trial = study.ask()
    for step in (1, 2):
        study.report(trial, {"error": step / 10, "speed": 7.0 + step}, step)
    study.tell(trial, {"error": 0.3, "speed": 10.0})
    (line,) = plot.curves(study, measure="speed").data
    assert list(line.y)[:2] == [8.0, 9.0] and plot.curves(study).data[0].y[0] == 0.1


def test_wrong_measures_are_named(study: bough.Study):
    with pytest.raises(ConfigError, match="no trial has a measure 'spede'; did you mean 'speed'"):
        plot.history(study, measure="spede")
    for draw in (plot.front, plot.hypervolume):
        with pytest.raises(ConfigError, match=f"figure '{draw.name}' takes no measure"):
            draw(study, measure="error")
    with pytest.raises(ConfigError, match="no trial has a measure 'spede'"):
        plot.regret([study], measure="spede")


def test_regret_compares_studies_by_a_measure(study: bough.Study):
    drawn = plot.regret({"one": [study]}, measure="speed")
    assert drawn.layout.title.text == "<b>Best speed so far</b>"
    assert drawn.data[0].y[-1] == max(t.measures["speed"] for t in study.trials if t.feasible)
    assert plot.regret([study]).layout.title.text.startswith("<b>Best error so far</b>")


def test_the_reader_of_a_report_chooses_the_measure(study: bough.Study, tmp_path: Path):
    page = plot.report(study, tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.findall("<option>(.*?)</option>", page) == ["error", "speed", "memory", "recall"]
    found = re.search(r'id="figures">(.*?)</script>', page)
    assert found is not None
    data = json.loads(found[1])
    measured = [name for name in data["figures"] if FIGURES[name].measured]
    assert set(data["measures"]) == {"speed", "memory", "recall"}
    for name, figures in data["measures"].items():
        assert list(figures) == measured
        assert all(f" · {name}" in figure["layout"]["title"]["text"] for figure in figures.values())
    first = plot.report(study, tmp_path / "r.html", measure="epochs").read_text(encoding="utf-8")
    assert re.findall("<option>(.*?)</option>", first) == ["epochs", "error", "speed", "memory", "recall"]
    for goals in (GOALS, {"objectives": {}, "constraints": ["memory <= 1"]}):  # nothing measured yet
        empty = plot.report(bough.Study(SPACE, **goals), tmp_path / "e.html").read_text(encoding="utf-8")
        assert "<option>memory</option>" in empty
    plain = bough.minimize(lambda config: config["z"], SPACE, trials=5, method="random", seed=0)
    assert 'id="measure"' not in plot.report(plain, tmp_path / "p.html").read_text(encoding="utf-8")
