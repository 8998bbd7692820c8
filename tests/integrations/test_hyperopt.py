"""Hyperopt's spaces as bough's; runs where Hyperopt is installed."""

from __future__ import annotations

import math

import pytest

import bough
from bough.errors import SpaceError

pytest.importorskip("hyperopt")

from hyperopt import hp

from bough.integrations.hyperopt import arguments_of, space_of


def spaces() -> dict[str, object]:
    shared = hp.uniform("shared", 0, 1)
    return {
        "model": hp.choice(
            "model",
            [
                {"type": "svm", "C": hp.loguniform("C", -3, 3), "shared": shared,
                 "kernel": hp.choice("kernel", ["linear", ("rbf", hp.lognormal("gamma", 0, 1))])},
                {"type": "forest", "depth": hp.quniform("depth", 1, 10, 1), "shared": shared},
                "bayes",
            ],
        ),
        "batch": hp.choice("batch", [16, 32, None]),
        "trees": hp.uniformint("trees", 1, 50),
        "seed": hp.randint("seed", 5),
        "drop": hp.quniform("drop", 0, 1, 0.25),
        "units": hp.qloguniform("units", 1, 5, 1),
        "bias": hp.normal("bias", 1, 2),
        "how": hp.pchoice("how", [(0.25, "a"), (0.75, "b")]),
    }  # fmt: skip


def test_a_space_with_branches_of_branches() -> None:
    assert space_of(spaces()) == bough.Space(
        {
            "model": bough.Choice(
                {
                    "svm": {
                        "C": bough.Float(math.exp(-3), math.exp(3), log=True),
                        "kernel": bough.Choice(
                            {
                                "linear": {},
                                "rbf": {"gamma": bough.Float(math.exp(-3), math.exp(3), log=True)},
                            }
                        ),
                    },
                    "forest": {"depth": bough.Int(1, 10)},
                    "bayes": {},
                }
            ),
            "shared": bough.Float(0, 1, when="model in ('svm', 'forest')"),
            "batch": bough.Categorical([16, 32, None]),
            "trees": bough.Int(1, 50),
            "seed": bough.Int(0, 4),
            "drop": bough.Float(0, 1, step=0.25),
            "units": bough.Int(3, 148, log=True),
            "bias": bough.Float(-5, 7),
            "how": bough.Categorical(["a", "b"]),
        }
    )


def test_an_objective_of_hyperopt_gets_what_it_got() -> None:
    from hyperopt import space_eval

    given = spaces()
    space = space_of(given)
    labels = list(space.declared["model"].options)  # type: ignore[union-attr]
    for config in space.sample(30, 0):
        point = dict(config)
        point["model"] = labels.index(config["model"])
        point["batch"], point["how"] = [16, 32, None].index(config["batch"]), "ab".index(config["how"])
        if "kernel" in config:
            point["kernel"] = ["linear", "rbf"].index(config["kernel"])
        assert arguments_of(given, config) == space_eval(given, point)


def test_beliefs_and_what_is_left_out() -> None:
    space = space_of({"x": hp.normal("x", 0, 1), "p": hp.pchoice("p", [(0.25, "a"), (0.75, "b")])})
    assert space["x"].domain.likely == pytest.approx((-1.28155, 1.28155), abs=1e-4)
    assert dict(space["p"].domain.likely or ()) == {"a": 0.25, "b": 0.75}
    with pytest.warns(UserWarning, match="'u' has a log scale and steps of 8"):
        assert space_of(hp.qloguniform("u", 2, 5, 8)) == bough.Space({"u": bough.Int(8, 152, step=8)})
    with pytest.raises(SpaceError, match="no hp expression"):
        space_of({"x": 3})
    with pytest.raises(SpaceError, match="'x': two hp expressions have this label"):
        space_of([hp.uniform("x", 0, 1), hp.uniform("x", 0, 2)])
    with pytest.raises(SpaceError, match="parameter 'c': Categorical option 'a' is given twice"):
        space_of(hp.choice("c", ["a", "a"]))
    with pytest.raises(SpaceError, match="parameter 'l': the range of lognormal is too wide"):
        space_of(hp.lognormal("l", 0, 300))
