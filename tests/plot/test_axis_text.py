"""The text at axes: titles do not overlap, and there is no number where no value is known."""

from __future__ import annotations

import pytest

import bough
from bough.plot.draw_parallel import _short_names
from bough.space import Choice, Float, Int, Space

from .examples import drawn, study


def test_the_branch_is_below_the_name():
    under = {"n_estimators": bough.Int(1, 9), "a/b": bough.Float(0, 1)}
    space = bough.Space({"model": bough.Choice({"forest": under}), "scale": bough.Float(0, 1)})
    study = bough.minimize(lambda config: config["scale"], space, 4, method="random", seed=0, progress=False)
    drawn = bough.plot.slice(study, params=["n_estimators", "a/b", "scale"])
    titles = [drawn.layout[axis].title.text for axis in ("xaxis", "xaxis2", "xaxis3")]
    branch = "<br><span style='font-size:10px'>model=forest</span>"
    assert titles == [f"n_estimators{branch}", f"a/b{branch}", "scale"]


def test_no_numbers_on_an_axis_without_values():
    space = bough.Space({"model": bough.Categorical(["a", "b"]), "x": bough.Float(0, 1, when="model == 'a'")})
    study = bough.Study(space, method="random", seed=0)
    study.ask()
    assert bough.plot.branches(study).layout.yaxis2.showticklabels is False


def test_long_options_and_branches_of_axes_stay_apart():
    boosting = {"rate": Float(0, 1), "depth": Int(1, 9), "leaves": Int(2, 99), "rounds": Int(1, 99)}
    options = {"gradient_boosting": boosting, "gradient_boosting_hist": boosting, "svm": {"C": Float(0, 1)}}
    figure = drawn("parallel", study(Space({"model": Choice(options)}), 40, failures=0))
    texts = [note["text"] for note in figure["layout"]["annotations"]]
    assert {"…boosting", "…hist", "svm"} <= set(texts)
    rates = [text for text in texts if text.endswith("<b>rate</b>")]
    assert "…boosting<" in rates[0] and "…boosting_hist<" in rates[1]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["classifier_1", "classifier_2", "tree"], ["…1", "…2", "tree"]),
        (["RandomForestClassifier", "RandomForestRegressor"], ["Rand…ifier", "Rand…essor"]),
        (["the_same_start_a_end_of_both", "the_same_start_b_end_of_both"], ["…start_a_…", "…start_b_…"]),
        (["a" * 20, "a" * 21], ["aaaa…aaaaa", "aaaa…aaaaa"]),
    ],
)
def test_long_names_show_what_tells_them_apart(names: list[str], shown: list[str]):
    assert _short_names(names, 10) == shown
