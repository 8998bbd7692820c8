"""A branch that came late catches up; studies without one are as ever."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough import Choice, Float, Space
from bough.strategies.initial import InitialDesign

NARROW = {"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}}
WIDE = {**NARROW, "new": {"z": Float(0, 1)}}
BEFORE, AFTER = Space({"model": Choice(NARROW)}), Space({"model": Choice(WIDE)})


def value(config: dict[str, float]) -> float:
    """The new branch is the best one, but not at a point in the middle."""
    if config["model"] == "new":
        return (config["z"] - 0.9) ** 2
    return 0.02 + (config.get("x", config.get("y", 0.0)) - 0.5) ** 2


@pytest.fixture(scope="module")
def changed() -> bough.Study:
    study = bough.Study(BEFORE, seed=0).run(value, trials=14, progress=False)
    study.change(AFTER)
    return study.run(value, trials=28, progress=False)


@pytest.mark.parametrize("before", [5, 14, 40])
def test_the_first_trial_of_a_new_branch_is_that_of_the_design(before: int) -> None:
    study = bough.Study(BEFORE, seed=0, method="auto")
    rng = np.random.default_rng(1)
    study.add_many((config, value(config)) for config in BEFORE.sample(before - 2, rng))
    study.fail(study.ask(), "no memory")
    study.ask()
    study.change(AFTER)
    trial = study.ask()
    assert study.explain(trial)["rule"] == "initial design"
    design = InitialDesign().points(AFTER, 0)
    assert trial.config in [config for config in AFTER.decode(design) if config["model"] == "new"]
    assert study.explain(study.ask())["rule"] != "initial design", "once"


def test_a_new_branch_gets_trials_until_it_has_shown_what_it_can(changed: bough.Study) -> None:
    rules = [changed.explain(number)["rule"] for number in range(15, 28)]
    assert "branch exploration" in rules
    assert changed.best.config["model"] == "new"
    assert changed.best.value < 0.001


def test_other_trials_keep_their_turns(changed: bough.Study) -> None:
    odd = [changed.explain(number)["rule"] for number in range(15, 28, 2)]
    assert "branch exploration" not in odd


def test_a_study_whose_design_saw_every_branch_explores_none() -> None:
    study = bough.Study(AFTER, seed=0).run(value, trials=14, progress=False)
    assert {study.explain(number)["rule"] for number in range(14)} <= {
        "initial design",
        "acquisition",
        "exploitation",
    }


def test_a_parameter_that_all_trials_lack_makes_no_branch_late() -> None:
    study = bough.Study(BEFORE, seed=0).run(value, trials=8, progress=False)
    study.change(Space({"model": Choice(NARROW), "rate": Float(0, 1)}))
    trial = study.ask()
    assert study.explain(trial)["rule"] != "initial design"
