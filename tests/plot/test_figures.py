"""Every figure, of every kind of study: it can be drawn, is valid, small, safe and in one look."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough.plot as figures
from bough.errors import ConfigError, StudyError
from bough.plot import StudySnapshot
from bough.plot.axes import log_axis
from bough.plot.theme import CATEGORIES, label
from bough.space import Categorical, Choice, Float, Space
from bough.trial import Trial

from .examples import SPACES, array, drawn, flat, layers, nested, study

ROOT = Path(__file__).parents[2]
NAMES = list(figures.FIGURES)
WEBGL = {
    "scattergl",
    "parcoords",
    "parcats3d",
    "scatter3d",
    "surface",
    "mesh3d",
    "heatmapgl",
    "splom",
    "pointcloud",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("kind", "direction"),
    [("nested", "minimize"), ("nested", "maximize"), ("layers", "maximize"), ("flat", "minimize")],
)
def test_every_figure_of_every_space(name: str, kind: str, direction: str):
    figure = drawn(name, study(SPACES[kind](), 40, direction=direction))
    assert not {trace.get("type") for trace in figure["data"]} & WEBGL
    assert "example" in figure["layout"]["title"]["text"]


@pytest.mark.parametrize("name", NAMES)
def test_studies_with_nothing_to_show_say_so(name: str):
    running = StudySnapshot(
        "s", nested(), "minimize", (Trial(0, {"model": "bayes", "scale": "none"}, "running"),)
    )
    for snapshot in (
        study(nested(), 0),
        study(nested(), 5, failures=1.1),
        running,
        study(nested(), 1, failures=0),
    ):
        figure = drawn(name, snapshot)
        assert figure["data"] or figure["layout"]["annotations"]


@pytest.fixture(scope="module")
def large() -> StudySnapshot:
    return study(layers(), 10_000)


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_trials_stay_readable_and_small(name: str, large: StudySnapshot):
    figure = drawn(name, large)
    marks = sum(
        len(trace.get("x", ())) for trace in figure["data"] if "markers" in trace.get("mode", "markers")
    )
    assert marks < 7_000
    assert len(json.dumps(figure)) < 1_000_000


@pytest.mark.parametrize("name", NAMES)
def test_text_of_a_study_is_never_markup(name: str):
    evil = "<img src=x onerror=alert(1)>"
    space = Space({evil: Choice({evil: {"x": Float(0, 1)}, "b": {}}), "c": Categorical([evil, "d"])})
    snapshot = replace(study(space, 30), name=evil)
    snapshot = replace(
        snapshot, trials=(*snapshot.trials, Trial(30, snapshot.trials[0].config, "failed", error=evil))
    )
    figure = drawn(name, snapshot)
    for trace in figure["data"]:
        trace.pop("customdata", None)  # addresses for a page's own code, never shown
    assert "<img" not in json.dumps(figure)


@pytest.mark.parametrize("name", NAMES)
def test_dark_differs_from_light_by_its_template_alone(name: str):
    snapshot = study(nested(), 30)
    light, dark = drawn(name, snapshot), drawn(name, snapshot, dark=True)
    assert light["layout"].pop("template") != dark["layout"].pop("template")
    assert light == dark


def test_narrowed_figures_show_that_branch_only():
    figure = drawn("history", study(nested(), 200), branch={"model": "svm"})
    texts = [text for trace in figure["data"] for text in trace.get("text", ())]
    assert texts and all("model = svm" in text for text in texts)
    assert "model = svm" in figure["layout"]["title"]["text"]


def test_history_marks_every_improvement_and_failure():
    snapshot = study(flat(), 100)
    traces = {trace["name"]: trace for trace in drawn("history", snapshot)["data"]}
    best, improved = np.inf, []
    for trial in snapshot.trials:
        if trial.value is not None and trial.value < best:
            best = trial.value
            improved.append(trial.number)
    assert _numbers(traces["improvements"]["x"]) == improved
    assert len(traces["failed"]["x"]) == sum(t.state == "failed" for t in snapshot.trials)


def test_parallel_puts_inactive_parameters_on_the_rail():
    snapshot = study(nested(), 60, failures=0)
    figure = drawn("parallel", snapshot)
    heights = np.concatenate([array(trace["y"]) for trace in figure["data"]])
    active = int(snapshot.active.sum())
    assert int((heights >= -0.02).sum()) == active
    assert int((heights < -0.1).sum()) == snapshot.active.size - active


def test_slice_shows_the_studys_own_model_where_it_has_one():
    snapshot = study(flat(), 40)
    seen: list[dict[str, Any]] = []

    def predict(configs: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
        seen.extend(configs)
        return np.array([c["x"] for c in configs]), np.ones(len(configs))

    figure = drawn("slice", replace(snapshot, predict=predict))
    assert "the study's model" in figure["layout"]["title"]["text"]
    curve = next(trace for trace in figure["data"] if trace.get("name") == "model")
    assert np.allclose(array(curve["y"]), array(curve["x"]))
    best = snapshot.best
    assert best is not None
    for config in seen:  # a cut through the best trial changes one parameter at a time
        assert sum(config[name] != best.config[name] for name in config) <= 1


def test_contour_takes_names_and_refuses_strangers():
    snapshot = study(flat(), 40)
    figure = drawn("contour", snapshot, x="y", y="x")
    assert figure["layout"]["xaxis"]["title"]["text"] == "y"
    with pytest.raises(ConfigError, match=r"'kind' is not numeric; numeric parameters are x, y"):
        figures.contour(snapshot, x="kind")
    with pytest.raises(ConfigError, match=r"no parameter 'kinds'; did you mean 'kind'\?"):
        figures.contour(snapshot, "x", "kinds")
    with pytest.raises(ConfigError, match=r"no parameter 'zz'; it has x, y, kind"):
        figures.contour(study(flat(), 0), "x", "zz")  # also without a trial
    with pytest.raises(ConfigError, match="not 'x' twice"):
        figures.contour(snapshot, "x", "x")


def test_contour_takes_the_best_trial_that_has_two_numeric_parameters():
    space = Space({"model": Choice({"bayes": {}, "svm": {"C": Float(0, 1), "gamma": Float(0, 1)}})})
    trials = [Trial(0, {"model": "bayes"}, "done", value=0.0, attempt=1)]
    for i, config in enumerate(space.sample(40, 0), start=1):
        trials.append(Trial(i, config, "done", value=1.0 + config.get("C", 0.0), attempt=1))
    snapshot = StudySnapshot("example", space, "minimize", tuple(trials))
    figure = drawn("contour", snapshot)
    assert figure["data"][0]["type"] == "contour"
    branch = "<br><span style='font-size:10px'>model=svm</span>"
    titles = {figure["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")}
    assert titles == {f"C{branch}", f"gamma{branch}"}
    # A mark on a bound is not cut in half by the axis.
    assert [trace["cliponaxis"] for trace in figure["data"] if trace["type"] == "scatter"] == [False, False]


def test_contour_and_slice_take_parameters_of_other_branches_than_the_best():
    snapshot = study(nested(), 80)
    best = snapshot.best
    assert best is not None
    other = "trees" if best.config["model"] != "forest" else "gamma"
    figure = drawn("slice", snapshot, params=[other])
    assert figure["layout"]["xaxis"]["title"]["text"].startswith(f"{other}<br>")
    shown = sum(len(trace["text"]) for trace in figure["data"] if trace.get("text"))
    assert shown == sum(other in trial.config for trial in snapshot.done)
    with pytest.raises(ConfigError, match="several parameters: say which of model=svm/C, model=forest/C"):
        figures.slice(snapshot, params="C")
    pair = drawn("contour", snapshot, x="model=forest/C", y="trees")
    assert pair["data"][0]["type"] == "contour"
    apart = drawn("contour", snapshot, x="gamma", y="trees")
    assert "never active together" in apart["layout"]["annotations"][0]["text"].replace("<br>", " ")


def test_outliers_do_not_stretch_the_axis_and_are_marked():
    """One value of 1000 among values below 1: the axis ends near 1, and a triangle marks the outlier."""
    base = study(flat(), 40, failures=0)
    trials = (*base.trials, Trial(40, base.trials[0].config, "done", value=1000.0))
    snapshot = replace(base, trials=trials)
    usual = max(float(t.value or 0) for t in base.trials)
    figure = drawn("history", snapshot)
    assert figure["layout"]["yaxis"]["range"][1] < 2 * usual
    beyond = next(trace for trace in figure["data"] if trace["name"] == "beyond the axis")
    assert _numbers(beyond["x"]) == [40] and "1000" in beyond["text"][0]
    assert "1 value above the axis" in figure["layout"]["title"]["text"]
    points = next(trace for trace in figure["data"] if trace["name"] == "trials")
    assert 40 not in _numbers(points["x"])
    logarithmic = drawn("history", snapshot, log=True)
    assert logarithmic["layout"]["yaxis"]["type"] == "log"
    assert logarithmic["layout"]["yaxis"]["range"][1] > 3
    assert "above the axis" not in logarithmic["layout"]["title"]["text"]
    upside_down = replace(snapshot, direction="maximize", trials=tuple(
        replace(t, value=-float(t.value or 0)) for t in snapshot.trials))  # fmt: skip
    assert drawn("history", upside_down)["layout"]["yaxis"]["range"][0] > -2 * usual
    with pytest.raises(ConfigError, match="a log axis needs values above 0; here is -1000"):
        figures.history(upside_down, log=True)


def test_a_late_win_is_visible_after_a_bad_start():
    """The demo: both searches start at 0.8 and end at 0.0145 and 0.02; the axis must tell these apart."""

    def told(name: str, values: list[float]) -> StudySnapshot:
        trials = (Trial(i, {"x": 0.0, "y": 0.0, "kind": "a"}, "done", value=v) for i, v in enumerate(values))
        return StudySnapshot(name, flat(), "minimize", tuple(trials))

    ours = told("auto", [0.8, 0.023, *[0.02] * 20, *[0.0145] * 30])
    theirs = told("random", [0.8, 0.5, 0.023, *[0.02] * 49])
    figure = json.loads(figures.regret([ours, theirs]).to_json())
    low, high = figure["layout"]["yaxis"]["range"]
    assert (0.02 - 0.0145) / (high - low) > 0.2
    assert (
        sum("triangle" in str(trace["marker"].get("symbol")) for trace in figure["data"] if "marker" in trace)
        == 2
    )
    lines = [trace for trace in figure["data"] if trace["mode"] == "lines"]
    assert all(trace["line"]["shape"] == "hv" for trace in lines)


def test_importance_is_withheld_where_the_model_explains_nothing():
    base = study(flat(), 40, failures=0)
    noise = np.random.default_rng(3).normal(size=40)
    trials = tuple(replace(trial, value=float(value)) for trial, value in zip(base.trials, noise))
    figure = drawn("importance", replace(base, trials=trials))
    assert not figure["data"]
    text = figure["layout"]["annotations"][0]["text"].replace("<br>", " ")
    assert text.startswith("withheld: the model explains")


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_of_some_branches(name: str):
    """Of a branch with a switch, of one without parameters, of a deep one, and of another switch."""
    snapshot = study(nested(), 60)
    for branch in (
        {"model": "svm"},
        {"model": "bayes"},
        {"model": "svm", "model=svm/kernel": "poly"},
        {"scale": "none"},
    ):
        assert drawn(name, snapshot, branch=branch)["layout"]["title"]["text"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_figure_of_every_branch(name: str):
    snapshot = study(nested(), 60)
    for branch in snapshot.root.walk():
        assert drawn(name, snapshot, branch=dict(branch.path))["layout"]["title"]["text"]


def test_notes_count_in_plain_words():
    snapshot = study(nested(), 60).within({"model": "bayes"})
    note = drawn("history", snapshot)["layout"]["title"]["text"]
    assert f"in trial {snapshot.best.number}; {len(snapshot.trials)} trials" in note
    space = Space({"m": Choice({f"o{i}": {f"x{i}": Float(0, 1)} for i in range(8)})})
    names = {trace["name"] for trace in drawn("branches", study(space, 80))["data"] if "name" in trace}
    assert "1 other" in names


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (1e-5, 1e-1, ["1e-5", "0.0001", "0.001", "0.01", "0.1"]),
        (1e-5, 1e5, ["1e-5", "0.001", "0.1", "10", "1000", "1e5"]),
        (8, 256, ["10", "20", "50", "100", "200"]),
        (10, 14, ["10", "11", "12", "13", "14"]),
    ],
)
def test_log_axes_have_round_ticks(low: float, high: float, wanted: list[str]):
    assert log_axis(low, high)["ticktext"] == wanted


def test_every_figure_is_known_by_its_name_title_and_options():
    for name in NAMES:
        figure = getattr(figures, name)
        assert figure.name == figure.__name__ == name and figure.title and figure.__doc__
    assert figures.FIGURES["slice"].options == ("params", "columns", "log")


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_is_on_its_page_and_in_the_reference(name: str):
    page, reference = (ROOT / "docs" / file for file in ("howto/figures.md", "reference.md"))
    described = f"| `{name}(study" in page.read_text(encoding="utf-8")
    assert described, f"add a row '| `{name}(study)` | ... |' to docs/howto/figures.md"
    line = f"::: bough.plot.{name}"
    assert f"{line}\n" in reference.read_text(encoding="utf-8"), f"add the line {line!r} to docs/reference.md"


def test_regret_bands_are_quantiles_over_studies():
    snapshots = [study(flat(), 30, seed=seed, failures=0) for seed in range(5)]
    figure = json.loads(figures.regret({"ours": snapshots}, optimum=0.0).to_json())
    line = figure["data"][-1]
    curves = np.array([np.minimum.accumulate([t.value for t in snapshot.trials]) for snapshot in snapshots])
    assert np.allclose(array(line["y"]), np.median(curves, axis=0))
    assert figure["layout"]["yaxis"]["type"] == "log"
    several = figures.regret([snapshots[0], replace(snapshots[1], name="other"), snapshots[2]])
    assert [trace.name for trace in several.data] == ["example", "other", "example (2)"]


def test_regret_counts_failed_trials():
    """A method that fails often is not faster than another one."""
    space = flat()
    values = [None, 3.0, None, None, 1.0, 2.0]
    trials = [
        Trial(i, config, "failed" if value is None else "done", value=value)
        for i, (config, value) in enumerate(zip(space.sample(6, 0), values))
    ]
    one = StudySnapshot("one", space, "minimize", tuple(trials))
    other = replace(one, trials=tuple(replace(t, state="done", value=4.0 - t.number) for t in trials))
    (line,) = figures.regret([one]).data
    assert list(line.x) == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(line.y, [np.nan, 3.0, 3.0, 3.0, 1.0, 1.0], equal_nan=True)
    upward = replace(one, direction="maximize")
    assert list(figures.regret([upward]).data[0].y)[1:] == [3.0] * 5
    band, middle = figures.regret({"three": [one, other, other]}).data
    assert list(middle.y) == [4.0, 3.0, 2.0, 1.0, 0.0, -1.0]
    assert np.isfinite(np.array(band.y)).all() and min(band.x) == 2


def test_regret_names_the_only_study_that_has_results():
    compared = [study(flat(), 0), replace(study(flat(), 5, failures=0), name="other")]
    assert figures.regret(compared).layout.showlegend
    assert not figures.regret(compared[1:]).layout.showlegend


def test_progress_is_not_compared_across_directions():
    one, other = study(flat(), 5), replace(study(flat(), 5, direction="maximize"), name="other")
    with pytest.raises(StudyError, match="'example' has minimize, 'other' has maximize"):
        figures.regret([one, other])


def test_panels_of_slices_have_room_on_a_phone():
    assert drawn("slice", study(flat(), 20))["layout"]["meta"]["min_width"] == 495


def test_colours_stay_apart_for_colour_blind_eyes():
    """Simulated deuteranopia and protanopia (Viénot, Brettel & Mollon 1999), distances in linear RGB."""
    rgb = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in CATEGORIES]) / 255
    linear = rgb**2.2
    for matrix in (
        [[0.29275, 0.70725, -0.02234], [0.29275, 0.70725, -0.02234], [-0.02234, 0.02234, 1.0]],
        [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    ):
        seen = linear @ np.array(matrix).T
        gaps = np.linalg.norm(seen[:, None] - seen[None], axis=-1) + 9 * np.eye(len(seen))
        assert gaps.min() > 0.1


def test_labels_are_short_and_escaped():
    assert label("a<b & c") == "a&lt;b &amp; c"
    assert len(label("x" * 1000)) <= 40
    assert label(0.1 + 0.2) == "0.3"


def _numbers(values: Any) -> list[int]:
    return [int(value) for value in array(values)]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_of_values_near_the_ends_of_floats(name: str):
    base = study(nested(), 30, failures=0)
    trials = tuple(replace(t, value=10.0 ** (20 * (i % 30) - 290)) for i, t in enumerate(base.trials))
    options = {"log": True} if "log" in figures.FIGURES[name].options else {}
    assert "example" in drawn(name, replace(base, trials=trials), **options)["layout"]["title"]["text"]


def test_a_contour_without_contours_says_so():
    base = study(nested(), 30, failures=0)
    equal = replace(base, trials=tuple(replace(t, value=3.0) for t in base.trials))
    figure = drawn("contour", equal, x="trees", y="model=forest/C")
    text = figure["layout"]["annotations"][0]["text"].replace("<br>", " ")
    assert text == "the model expects the same value for all trees and C"


def test_a_contour_shows_small_differences():
    base = study(nested(), 30, failures=0)
    close = replace(base, trials=tuple(replace(t, value=1 + 1e-9 * (t.value or 0)) for t in base.trials))
    assert drawn("contour", close, x="trees", y="model=forest/C")["data"]


def test_a_branch_has_one_colour_in_every_figure():
    """The first trial is on the last branch, and most trials are there."""
    base = study(nested(), 40, failures=0)
    models = ["bayes", "bayes", "forest", "svm"] * 10
    configs = [next(t.config for t in base.trials if t.config["model"] == model) for model in models]
    trials = tuple(replace(t, config=c, curve=((1, t.value),)) for t, c in zip(base.trials, configs))
    wanted = dict(zip(("svm", "forest", "bayes"), CATEGORIES))
    for name in ("branches", "curves"):
        traces = drawn(name, replace(base, trials=trials))["data"]
        assert {t["name"]: t["line"]["color"] for t in traces if t.get("name") in wanted} == wanted


def test_ranges_of_a_numeric_switch_are_branches_of_curves():
    """The first switch, rate, has two ranges of values: dropout exists above 0.01."""
    space = Space({"rate": Float(1e-5, 1e-1, log=True), "dropout": Float(0, 0.5, when="rate > 0.01")})
    base = study(space, 20, failures=0)
    trials = tuple(replace(t, curve=((1, t.value),)) for t in base.trials)
    traces = drawn("curves", replace(base, trials=trials))["data"]
    assert [trace["name"] for trace in traces] == ["≤ 0.01", "&gt; 0.01"]


def test_branches_shows_a_single_trial():
    traces = drawn("branches", study(nested(), 1, failures=0))["data"]
    assert {trace["mode"] for trace in traces} == {"markers"}


def test_long_names_above_axes_stay_apart():
    names = ["learning_rate_of_encoder", "learning_rate_of_decoder", "weight_decay_of_encoder", "depth"]
    figure = drawn("parallel", study(Space({name: Float(0, 1) for name in names}), 10, failures=0))
    shown = [note["text"] for note in figure["layout"]["annotations"] if "<b>" in note["text"]]
    assert shown == ["<b>…of_encoder</b>", "<b>…of_decoder</b>", "<b>weight_deca…</b>", "<b>depth</b>"]
