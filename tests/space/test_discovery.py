"""A space learned from runs: every run is one of its configurations, conditions are those of the function."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.space import Categorical, Float, Int
from bough.space.discovery import ASKED, discover

DOMAINS = {
    "model": Categorical(["svm", "net", "bayes"]),
    "kernel": Categorical(["rbf", "linear"]),
    "gamma": Float(0, 1),
    "layers": Int(1, 4),
    "u1": Float(0, 1),
    "u2": Float(0, 1),
    "u3": Float(0, 1),
    "momentum": Float(0, 1),
    "decay": Float(0, 1),
}


def run(rng: np.random.Generator) -> dict[str, Any]:
    model = str(rng.choice(["svm", "net", "bayes"]))
    asked: dict[str, Any] = {"model": model}
    if model == "svm":
        asked["kernel"] = str(rng.choice(["rbf", "linear"]))
        if asked["kernel"] == "rbf":
            asked["gamma"] = float(rng.random())
    if model == "net":
        asked["layers"] = int(rng.integers(1, 5))
        for i in range(1, min(asked["layers"], 3) + 1):
            asked[f"u{i}"] = float(rng.random())
        asked["momentum"] = float(rng.random())
        if asked["momentum"] > 0.5:
            asked["decay"] = float(rng.random())
    return asked


def test_conditions_are_those_of_the_function() -> None:
    rng = np.random.default_rng(0)
    space, _ = discover(DOMAINS, [run(rng) for _ in range(60)])
    for _ in range(300):
        new = run(rng)
        if abs(new.get("momentum", 0.0) - 0.5) < 0.1:
            continue  # the threshold is known only as well as the runs around it
        assert set(space.active(new)) == set(new), new


def test_every_run_is_a_configuration() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        runs = [run(rng) for _ in range(1 + seed)]
        space, configs = discover(DOMAINS, runs)
        assert [space.validate(config) for config in configs] == configs
        assert configs == runs


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries({"a": st.sampled_from([0, 1])}, optional={"b": st.just(0.5), "c": st.just(1)})
    )
)
def test_a_coin_toss_becomes_a_hidden_switch(runs: list[dict[str, Any]]) -> None:
    domains = {"a": Categorical([0, 1]), "b": Float(0, 1), "c": Int(1, 3)}
    space, configs = discover(domains, runs)
    for original, config in zip(runs, configs, strict=True):
        assert space.validate(config) == config
        assert {name: value for name, value in config.items() if not name.startswith(ASKED)} == original


def test_without_runs_everything_is_active() -> None:
    space, _ = discover({"x": Float(0, 1), "y": Float(0, 1)}, [])
    assert space.active({"x": 0.1, "y": 0.2}) == ["x", "y"]


def test_a_parameter_that_no_run_has_is_left_out() -> None:
    space, _ = discover({"x": Float(0, 1), "y": Float(0, 1)}, [{"x": 0.5}])
    assert [parameter.name for parameter in space] == ["x"]


def test_a_category_explains_better_than_a_threshold_that_fits_by_chance() -> None:
    """One run of many has the parameter, and it happens to have the smallest number, too."""
    domains = {
        "opt": Categorical(["stochastic", "adam"]),
        "layers": Int(1, 3),
        "n": Int(4, 128),
        "momentum": Float(0, 1),
        "n2": Int(4, 128),
    }
    runs = [
        {"opt": "stochastic", "layers": 1, "n": 5, "momentum": 0.5},
        {"opt": "adam", "layers": 2, "n": 90, "n2": 7},
        {"opt": "adam", "layers": 1, "n": 60},
    ]
    space, _ = discover(domains, runs)
    assert str(space["momentum"].domain.when) == "opt == 'stochastic'"
    assert str(space["n2"].domain.when) == "layers >= 2"
