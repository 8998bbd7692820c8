"""The text at axes: titles do not overlap, and there is no number where no value is known."""

from __future__ import annotations

import bough


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
