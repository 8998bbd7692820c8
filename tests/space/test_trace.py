"""``Space.trace``: the space of a function that only asks, and what it refuses."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import SpaceError
from bough.space.asking import AskingTrial
from bough.space.discovery import discover
from bough.space.parameters import Categorical, Float


def pipeline(trial: Any) -> None:
    if trial.categorical("scale", ["none", "standard", True, 1, None]) == "standard":
        trial.categorical("mean", [True, False])
    model = trial.choice("model", ["svm", "net", "bayes"])
    if model == "svm":
        trial.float("C", 1e-3, 1e3, log=True)
        if trial.choice("kernel", ["rbf", "linear"]) == "rbf":
            trial.float("gamma", 1e-3, 1e3, log=True)
    if model == "net":
        for layer in range(1, trial.int("layers", 1, 4) + 1):
            trial.int(f"units {layer}", 8, 512, log=True)
        if trial.float("momentum", 0, 1) > 0.4:
            trial.float("decay", 0, 1, step=0.1)
    if model != "bayes":
        trial.float("shrink", 0, 1)


DECLARED = bough.Space(
    {
        "scale": bough.Categorical(["none", "standard", True, 1, None]),
        "mean": bough.Categorical([True, False], when="scale == 'standard'"),
        "model": bough.Choice(
            {
                "svm": {
                    "C": bough.Float(1e-3, 1e3, log=True),
                    "kernel": bough.Choice(
                        {"rbf": {"gamma": bough.Float(1e-3, 1e3, log=True)}, "linear": {}}
                    ),
                },
                "net": {
                    "layers": bough.Int(1, 4),
                    "units 1": bough.Int(8, 512, log=True),
                    "units 2": bough.Int(8, 512, log=True, when="layers >= 2"),
                    "units 3": bough.Int(8, 512, log=True, when="layers >= 3"),
                    "units 4": bough.Int(8, 512, log=True, when="layers >= 4"),
                    "momentum": bough.Float(0, 1),
                    "decay": bough.Float(0, 1, step=0.1, when="momentum > 0.4"),
                },
                "bayes": {},
            }
        ),
        "shrink": bough.Float(0, 1, when="model in ('svm', 'net')"),
    }
)


def test_a_pipeline_becomes_the_space_that_one_would_declare() -> None:
    assert bough.Space.trace(pipeline) == DECLARED


def test_the_tree_has_choices_as_branches() -> None:
    def ask(trial: Any) -> None:
        if trial.choice("model", ["svm", "bayes"]) == "svm":
            trial.float("C", 0, 1)

    assert str(bough.Space.trace(ask)) == (
        "Space\n└── model: choice\n    ├── svm\n    │   └── C: float 0 to 1\n    └── bayes"
    )


def replay(space: bough.Space, ask: Any, seed: int) -> None:
    """Every sampled config is what the function asks for when it gets those answers."""
    for config in space.sample(100, seed):
        trial = AskingTrial(0, lambda name, _domain, _so_far, c=config: c[name])  # type: ignore[misc]
        ask(trial)
        assert trial.config == config


def random_program(seed: int) -> Any:
    """A function that asks in random branches, of random kinds of switches."""
    rng = np.random.default_rng(seed)

    def block(depth: int, names: Any) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for _ in range(rng.integers(1, 3)):
            name, kind = f"p{next(names)}", rng.integers(0, 4)
            inner = block(depth - 1, names) if depth else []
            rows.append((name, int(kind), int(rng.integers(0, 3)), float(rng.random()), inner))
        return rows

    tree = block(2, itertools.count())

    def ask(trial: Any, rows: list[tuple[Any, ...]] = tree) -> None:
        for name, kind, option, threshold, inner in rows:
            if kind == 0:
                taken = trial.choice(name, ["a", "b", "c"]) == "abc"[option]
            elif kind == 1:
                taken = trial.categorical(name, [0, True, None]) in ([0, True, None][option],)
            elif kind == 2:
                taken = trial.int(name, 1, 40) > 10 * (1 + option)
            else:
                taken = trial.float(name, -2, 3) <= 4 * threshold - 1.5
            if taken:
                ask(trial, inner)

    return ask


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_are_traced_exactly(seed: int) -> None:
    ask = random_program(seed)
    replay(bough.Space.trace(ask), ask, seed)


def test_an_integer_may_be_compared_with_a_value() -> None:
    def ask(trial: Any) -> None:
        if trial.int("n", 1, 9) in (3, 7):
            trial.float("x", 0, 1)

    replay(bough.Space.trace(ask), ask, 0)


def test_many_switches_that_have_nothing_to_do_with_a_parameter_cost_little() -> None:
    rng = np.random.default_rng(0)
    names = [f"s{i}" for i in range(30)]
    domains: dict[str, Any] = {name: Categorical([0, 1, 2]) for name in names} | {"x": Float(0, 1)}
    runs = []
    for _ in range(200):
        run: dict[str, Any] = {name: int(rng.integers(3)) for name in names}
        if (run["s3"] == 1 and run["s7"] != 2) or (run["s3"] == 0 and run["s20"] == 0 and run["s21"] == 1):
            run["x"] = 0.5
        runs.append(run)
    space, configs = discover(domains, runs)
    assert [space.validate(config) for config in configs] == configs


def coin(trial: Any, tosses: list[int] = []) -> None:  # noqa: B006
    tosses.append(0)
    trial.float("x", 0, 1)
    if len(tosses) % 2:
        trial.float("y", 0, 1)


def moving(trial: Any) -> None:
    trial.float("y", 0, trial.int("n", 1, 5))


def twice(trial: Any) -> None:
    trial.float("x", 0, 1)
    trial.float("x", 0, 2)


def evaluates(trial: Any) -> float:
    return 1 / (trial.int("n", 0, 3) - 3)


def test_asking_again_gives_the_same_answer() -> None:
    def ask(trial: Any) -> None:
        assert trial.float("x", 0, 1) == trial.float("x", 0.0, 1.0)

    assert bough.Space.trace(ask) == bough.Space({"x": bough.Float(0, 1)})


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (coin, "no comparison of earlier answers tells when 'y' is asked for"),
        (moving, "parameter 'y' was float 0 to 3 in an earlier trial and is float 0 to 1 in this one"),
        (twice, "asks for 'x' twice, as float 0 to 1 and as float 0 to 2"),
        (evaluates, "raised ZeroDivisionError .* with the answers {'n': 3}"),
        (lambda trial: None, "asked for nothing"),
        (lambda trial: trial.float("x", 2, 1), r"parameter 'x': Float\(2, 1\)"),
        (lambda trial: trial.choice("m", [1, 2]), "the label 1 must be a string"),
        (lambda trial: trial.int("", 1, 2), "printable text"),
        (3, "a function of a trial, not 3"),
        (
            lambda trial: trial.float("asked for: x", 0, 1),
            "names that start with 'asked for: ' are bough's own",
        ),
    ],
)
def test_what_cannot_be_traced_is_refused_in_one_line(ask: Any, says: str) -> None:
    with pytest.raises(SpaceError, match=says) as caught:
        bough.Space.trace(ask)
    assert "\n" not in str(caught.value)
