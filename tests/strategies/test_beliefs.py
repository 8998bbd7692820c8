"""What beliefs do to proposals: they lead at first, fade, and are dropped where results contradict them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.gp.core import compiled_core
from bough.registry import build
from bough.space.beliefs import beliefs_of
from bough.space.fidelity import full_space
from bough.strategies.beliefs import STRENGTH, count_beliefs, draw_believed
from bough.strategies.fidelity_history import history_with_fidelity
from bough.strategies.initial import InitialDesign

BRANCHES = {"a": 0.1, "b": 0.0, "c": 0.3, "d": 0.4}


def space(likely_model: Any = None, likely_x: Any = None, likely_w: Any = None) -> bough.Space:
    inner = {label: {f"x{label}": bough.Float(0, 1, likely=likely_x)} for label in BRANCHES}
    return bough.Space(
        {"model": bough.Choice(inner, likely=likely_model), "w": bough.Float(0, 1, likely=likely_w)}
    )


def value(config: dict[str, Any]) -> float:
    """Smallest at model b, w = 0.7 and xb = 0.7."""
    return BRANCHES[config["model"]] + (config["w"] - 0.7) ** 2 + (config["x" + config["model"]] - 0.7) ** 2


def run(searched: bough.Space, trials: int, **options: Any) -> bough.Study:
    return bough.minimize(value, searched, trials, seed=3, progress=False, **options)


def configs(study: bough.Study) -> list[dict[str, Any]]:
    return [trial.config for trial in study.trials]


def test_beliefs_of_exponent_0_change_no_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.strategies.beliefs.STRENGTH", 0.0)
    monkeypatch.setenv("BOUGH_CORE", "numpy")  # the core knows criteria without beliefs only
    compiled_core.cache_clear()
    plain, believed = space(), space(likely_w=(0.6, 0.8))
    past = history(plain, [(config, value(config)) for config in plain.sample(12, 0)])
    with_beliefs = replace(past, beliefs=beliefs_of(believed))
    before, after = (
        build("auto", plain).propose(plain, each, np.random.default_rng(5)) for each in (past, with_beliefs)
    )
    compiled_core.cache_clear()
    assert np.array_equal(before.x, after.x)


def test_the_design_draws_from_ranges() -> None:
    searched = space(likely_x=(0.6, 0.8), likely_w=(0.6, 0.8))
    points = InitialDesign().points(searched, 0)
    drawn = draw_believed(searched, beliefs_of(searched), points, np.random.default_rng(0))
    active = searched.layout.active(drawn.on)
    numbers = ~searched.layout.nominal
    assert np.array_equal(drawn.on, points.on)
    assert np.all(np.abs(drawn.x[active & numbers] - 0.7) < 0.1)


def test_half_of_the_design_ignores_beliefs() -> None:
    """Wrong beliefs must leave the model something to know about the rest of the space."""
    searched = space({"b": 3}, (0.9, 1.0), (0.9, 1.0))
    believed, plain = configs(run(searched, 4)), configs(run(space(), 4))
    assert [config in plain for config in believed] == [True, False, True, False]
    assert all(config["w"] > 0.8 for config in believed[1::2])


def test_the_design_looks_at_likely_branches_more_often_and_at_others_too() -> None:
    searched, design = space(likely_model={"b": 9, "a": 1}), InitialDesign()
    drawn = draw_believed(
        searched, beliefs_of(searched), design.points(searched, 0).take([0] * 40), np.random.default_rng(0)
    )
    models = [config["model"] for config in searched.decode(drawn)]
    assert models.count("b") >= 24
    assert set(models) - {"b"}


def test_a_right_belief_helps_early() -> None:
    assert run(space({"b": 3}, (0.6, 0.8), (0.6, 0.8)), 8).best.value < run(space(), 8).best.value / 5


def test_wrong_beliefs_are_overcome() -> None:
    study = run(space({"d": 3}, (0.0, 0.1), (0.1, 0.2)), 24)
    assert study.best.value < 0.05


def test_a_wrong_belief_is_dropped_and_explain_says_so() -> None:
    study = run(space(likely_w=(0.1, 0.2)), 15)
    told = study.explain(14)["beliefs"]["w"]
    assert told.startswith("likely (0.1, 0.2), dropped")
    early = study.explain(4)["beliefs"]["w"]
    assert "counts with exponent" in early


def test_a_right_belief_is_kept() -> None:
    study = run(space(likely_w=(0.6, 0.8)), 15)
    assert "counts with exponent" in study.explain(14)["beliefs"]["w"]


def test_beliefs_fade() -> None:
    searched = space(likely_w=(0.6, 0.8))
    design = InitialDesign().size(searched)
    exponents = []
    for n in (1, design, design + 9):
        past = replace(
            history(searched, [(c, 0.0) for c in searched.sample(n, 0)]), beliefs=beliefs_of(searched)
        )
        exponents.append(count_beliefs(searched, past, design, None)[0].exponent)
    assert exponents == [STRENGTH, STRENGTH, STRENGTH / 100]


def test_forbidden_draws_keep_their_point() -> None:
    searched = bough.Space(
        {"x": bough.Float(0, 1, likely=(0.8, 0.9)), "y": bough.Float(0, 1)}, forbid=["x > 0.5"]
    )
    study = bough.minimize(lambda c: c["x"] + c["y"], searched, 6, seed=0, progress=False)
    assert all(c["x"] <= 0.5 for c in configs(study))


def test_beliefs_with_several_objectives() -> None:
    plain, believed = (
        bough.optimize(
            lambda c: {"f": value(c), "g": (c["w"] - 0.2) ** 2},
            searched,
            9,
            objectives=["f", "g"],
            seed=0,
            progress=False,
        )
        for searched in (space(), space(likely_w=(0.05, 0.1)))
    )
    near = [sum(0.03 < c["w"] < 0.12 for c in configs(study)) for study in (plain, believed)]
    assert near[1] >= near[0] + 2


def with_fidelity(likely: Any = None) -> bough.Space:
    return bough.Space(
        {
            "w": bough.Float(0, 1, likely=likely),
            "v": bough.Float(0, 1),
            "epochs": bough.Int(1, 9, fidelity=True),
        }
    )


def test_a_configuration_counts_once_for_beliefs_whatever_its_rungs() -> None:
    """A belief that is given after four configurations, the first of which went up all rungs, is new."""
    searched = full_space(with_fidelity((0.6, 0.8)))
    rungs = searched.encode([{"w": 0.5, "v": 0.5, "epochs": epochs} for epochs in (1, 3, 9)]).x[:, 2]
    tried = [(0.1, 1), (0.1, 3), (0.1, 9), (0.2, 1), (0.3, 1), (0.4, 1)]
    past = history(searched, [({"w": w, "v": 0.5, "epochs": epochs}, w) for w, epochs in tried])
    past = replace(past, beliefs=beliefs_of(searched, {"w": ((0.6, 0.8), 6)}))
    seen = history_with_fidelity(searched, past, (2, rungs[-1]), rungs, learns=True)
    assert (seen.number, seen.beliefs[0].since) == (4, 4)
    assert count_beliefs(searched, seen, 4, None)[0].exponent == STRENGTH


def test_a_fidelity_does_not_hide_that_a_belief_is_wrong() -> None:
    """The best configurations, with an unlikely value, wait for promotion."""
    study = bough.Study(with_fidelity((0.05, 0.2)), seed=0)
    for step, w in enumerate((0.08, 0.1, 0.15, 0.18, 0.6, 0.8, 0.69, 0.7, 0.71)):
        for epochs in (1, 3, 9) if step < 6 else (1, 3):
            study.add({"w": w, "v": 0.37 * step % 1, "epochs": epochs}, (w - 0.7) ** 2 + 1 / epochs)
    trial = study.ask()
    while trial.resumes is not None:
        trial = study.ask()
    assert "dropped" in study.explain(trial.number)["beliefs"]["w"]
