"""Every figure, of every kind of study: it can be drawn, is valid, small, safe and in one look."""

from __future__ import annotations

import builtins
import itertools
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough.plot as figures
from bough.errors import ConfigError, MissingExtraError, StudyError
from bough.plot import StudySnapshot
from bough.plot.axes import log_axis
from bough.plot.theme import CATEGORIES, label
from bough.plot.tree_layout import lay_out
from bough.space import Categorical, Choice, Float, Space
from bough.trial import Trial

from .examples import SPACES, flat, layers, nested, study

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


def drawn(name: str, snapshot: StudySnapshot, **options: Any) -> dict[str, Any]:
    """The figure as the browser gets it; plotly checks every attribute on the way."""
    data: dict[str, Any] = json.loads(getattr(figures, name)(snapshot, **options).to_json())
    return data


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


def test_the_tree_conserves_trials_and_overlaps_nowhere():
    for kind in SPACES:
        snapshot = study(SPACES[kind](), 120)
        layout = lay_out(snapshot.root, snapshot.minimizes)
        columns: dict[float, list[tuple[float, float]]] = {}
        for bar in layout.bars:
            columns.setdefault(bar.x, []).append((bar.top, bar.top + bar.height))
        for spans in columns.values():
            spans.sort()
            assert all(low <= high for (_, low), (high, _) in itertools.pairwise(spans))
        assert min(bar.top for bar in layout.bars) >= 0
        assert max(bar.top + bar.height for bar in layout.bars) <= layout.height
        scale = next(bar.height for bar in layout.bars if not bar.branch.path) / 120
        for ribbon in layout.ribbons:
            if ribbon.tally.trials:
                assert ribbon.height >= scale * ribbon.tally.trials - 1e-9


def test_a_huge_tree_is_folded_to_its_busiest_branches():
    space = Space({"m": Choice({f"option {i}": {f"x{i}": Float(0, 1)} for i in range(300)})})
    layout = lay_out(study(space, 500).root, True)
    labels = [bar.branch.label for bar in layout.bars]
    assert len(labels) == 13
    assert labels[11] == "289 more"
    assert sum(bar.branch.tally.trials for bar in layout.bars if bar.branch.path) == 500


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_joined_branches_show_the_best_of_their_trials(direction: str) -> None:
    space = Space({"m": Choice({f"option {i}": {f"x{i}": Float(0, 1)} for i in range(300)})})
    root, pick = study(space, 500, direction=direction).root, {"minimize": min, "maximize": max}[direction]
    layout = lay_out(root, direction == "minimize")
    shown = {bar.branch.label for bar in layout.bars}
    values = [
        (b.tally.best.value, b.label in shown) for b in root.walk() if b.path and b.tally.best is not None
    ]
    folded = next(bar.branch.tally.best for bar in layout.bars if bar.branch.label == "289 more")
    assert folded is not None and folded.value == pick(value for value, is_shown in values if not is_shown)
    whole = layout.ribbons[0].tally.best
    assert whole is not None and whole.value == pick(value for value, _ in values)


def test_clicking_a_bar_gives_the_address_of_its_branch():
    snapshot = study(nested(), 60)
    addresses = drawn("tree", snapshot)["data"][0]["customdata"]
    assert [["model", "svm"], ["model=svm/kernel", "rbf"]] in addresses
    for address in addresses:
        assert snapshot.within(dict(address)).branch == tuple(map(tuple, address))


def test_parallel_puts_inactive_parameters_on_the_rail():
    snapshot = study(nested(), 60, failures=0)
    figure = drawn("parallel", snapshot)
    heights = np.concatenate([_array(trace["y"]) for trace in figure["data"]])
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
    assert np.allclose(_array(curve["y"]), _array(curve["x"]))
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
    assert {figure["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")} == {
        "model=svm/C",
        "model=svm/gamma",
    }


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


def test_ribbons_keep_their_width_where_switches_are_parallel():
    """Every trial takes a branch of each of three independent switches: none gets only a third of them."""
    options = {"a": {}, "b": {}}
    space = Space(
        {name: Choice(options | {"c": {f"x_{name}": Float(0, 1)}}) for name in ("one", "two", "three")}
    )
    layout = lay_out(study(space, 90).root, True)
    root = next(bar for bar in layout.bars if not bar.branch.path)
    first = [ribbon for ribbon in layout.ribbons if ribbon.x0 == root.x]
    assert len(first) == 3
    for ribbon in first:
        assert ribbon.height == pytest.approx(root.height) and ribbon.top0 == pytest.approx(root.top)


def test_the_bar_of_a_branch_is_found_by_name():
    """Pages frame the chosen branch: other shapes before or after the bars must not matter."""
    figure = drawn("tree", study(nested(), 60))
    shapes = {shape["name"]: shape for shape in figure["layout"]["shapes"] if "name" in shape}
    points = figure["data"][0]
    assert len(shapes) == len(points["customdata"])
    for i, (x, y) in enumerate(zip(_array(points["x"]), _array(points["y"]))):
        bar = shapes[f"branch {i}"]
        assert bar["xanchor"] == x and (bar["y0"] + bar["y1"]) / 2 == pytest.approx(y)


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
    assert np.allclose(_array(line["y"]), np.median(curves, axis=0))
    assert figure["layout"]["yaxis"]["type"] == "log"
    several = figures.regret([snapshots[0], replace(snapshots[1], name="other"), snapshots[2]])
    assert [trace.name for trace in several.data] == ["example", "other", "example (2)"]


def test_save_writes_a_page_that_needs_nothing_else(tmp_path):
    figure = figures.tree(study(nested(), 10))
    page = figures.save(figure, tmp_path / "tree.html").read_text(encoding="utf-8")
    assert "Plotly.newPlot" in page and 'src="http' not in page
    with pytest.raises(StudyError, match=r"\.html, \.json, \.png, \.svg or \.pdf, not 'tree.bmp'"):
        figures.save(figure, tmp_path / "tree.bmp")
    with pytest.raises(StudyError, match="width and height are for"):
        figures.save(figure, tmp_path / "tree.html", width=300)
    with pytest.raises(StudyError, match="cannot write"):
        figures.save(figure, tmp_path / "no" / "where.html")


def test_pictures_without_kaleido_say_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(
        MissingExtraError, match=r"\.png files need Kaleido.*pip install 'bough-opt\[image\]'"
    ):
        figures.save(figures.tree(study(nested(), 10)), tmp_path / "tree.png")
    assert not (tmp_path / "tree.png").exists()


@pytest.mark.parametrize(
    ("browser", "error", "says"),
    [
        (None, StudyError, r"\.pdf files need Chrome or Chromium, which was not found: install it, or save"),
        ("/nowhere/chrome", StudyError, "/nowhere/chrome cannot be started: No such file"),
        ("/bin/false", StudyError, "/bin/false printed no PDF: exit code 1"),
        (ImportError, MissingExtraError, r"\.pdf files need Kaleido, .*pip install 'bough-opt\[image\]'"),
    ],
)
def test_a_report_that_cannot_be_printed_says_why(
    browser: Any, error: type[Exception], says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    chromium = pytest.importorskip("choreographer.browsers.chromium")
    if browser is ImportError:
        monkeypatch.setitem(sys.modules, "choreographer.browsers.chromium", None)
    monkeypatch.setattr(chromium.Chromium, "find_browser", lambda **_: browser)
    with pytest.raises(error, match=says):
        figures.report(study(nested(), 10), tmp_path / "report.pdf")
    assert not (tmp_path / "report.pdf").exists()


def test_without_plotly_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("plotly"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    for name in NAMES:
        with pytest.raises(MissingExtraError, match=r"pip install 'bough-opt\[plot\]'"):
            getattr(figures, name)(study(nested(), 10))


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
    return [int(value) for value in _array(values)]


def _array(values: Any) -> np.ndarray:
    """Plotly sends NumPy arrays as base64 with a type."""
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).astype(float)
    return np.array([np.nan if value is None else value for value in values], dtype=float)
