"""``explain`` for branches: what is counted, what the model expects, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ConfigError, StudyError, TrialError
from bough.strategies.model_based import ModelBased
from bough.study import Study

SPACE = bough.Space(
    {
        "model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}, "c": {}}),
        "layers": bough.Int(1, 3),
        "u": bough.Float(0, 1, when="layers >= 2"),
    }
)


def objective(config: dict[str, Any]) -> float:
    if config["model"] == "c":
        raise MemoryError("c never works")
    best = (config["x"] - 0.3) ** 2 if config["model"] == "a" else 1 + config["y"]
    return float(best + (config.get("u", 0.5) - 0.5) ** 2)


@pytest.fixture(scope="module")
def study() -> Study:
    return bough.minimize(objective, SPACE, trials=16, seed=0, progress=False)


def test_every_branch_is_counted_and_the_best_is_first(study: Study) -> None:
    told = study.explain()["branches"]
    assert len(told) == 6 and all(isinstance(each["branch"], dict) for each in told)
    assert sum(each["trials"] for each in told) == 16
    assert sum(each["failed"] for each in told) == sum(t.state == "failed" for t in study.trials)
    assert min(e["best"] for e in told if e["best"] is not None) == study.best.value
    assert sum(each["holds_optimum"] for each in told) == pytest.approx(1)
    assert [each["holds_optimum"] for each in told] == sorted(
        (e["holds_optimum"] for e in told), reverse=True
    )
    assert told[0]["branch"]["model"] == "a"
    assert max(each["gain_share"] for each in told) == 1
    for each in told:
        if each["best"] is not None:  # no noise: what was seen is reached
            assert each["may_reach"] <= each["best"] + 1e-3
    broken = next(each for each in told if each["branch"]["model"] == "c" and each["trials"])
    assert broken["failed"] == broken["trials"]
    assert {"model": "b", "layers": [2, 3]} in [each["branch"] for each in told]


def test_a_branch_may_hold_several_paths(study: Study) -> None:
    one = study.explain(branch={"model": "a"})
    parts = [each for each in study.explain()["branches"] if each["branch"]["model"] == "a"]
    assert one["branch"] == {"model": "a"} and len(parts) == 2
    assert one["trials"] == sum(each["trials"] for each in parts)
    assert one["holds_optimum"] == pytest.approx(sum(each["holds_optimum"] for each in parts), abs=0.1)
    assert study.explain(branch={"model": "b", "layers": 3})["branch"] == {"model": "b", "layers": [2, 3]}
    assert study.explain(branch={})["trials"] == 16


def test_it_is_told_in_the_direction_of_the_study(study: Study) -> None:
    upward = Study(SPACE, direction="maximize", seed=0)
    for trial in study.trials:
        upward.enqueue(trial.config)
        again = upward.ask()
        upward.tell(again, float("nan") if trial.value is None else -trial.value)
    ours, theirs = study.explain(branch={"model": "a"}), upward.explain(branch={"model": "a"})
    assert theirs["best"] == -ours["best"]
    assert theirs["may_reach"] == pytest.approx(-ours["may_reach"], abs=0.05)


def test_a_branch_may_reach_the_lower_quantile_of_its_only_point() -> None:
    space = bough.Space({"kind": bough.Choice({"a": {"x": bough.Float(0, 1)}, "only": {}})})
    study = Study(space, seed=0)
    for x in (0.1, 0.4, 0.7):
        study.add({"kind": "a", "x": x}, value=10 * x)
    study.add({"kind": "only"}, value=3.0, noise=2.0)
    (mean,), (sd,) = study.predict([{"kind": "only"}])
    told = study.explain(branch={"kind": "only"})
    assert sd > 0.5
    assert told["may_reach"] == pytest.approx(mean - 1.645 * sd, abs=0.3 * sd)  # from 400 draws


def test_the_share_of_draws_agrees_with_other_draws_at_all_points() -> None:
    options = bough.Categorical([0, 1])
    space = bough.Space({"kind": bough.Choice({"a": {"x": options}, "b": {"y": options}})})
    small = Study(space, seed=0)
    for config, value in (({"kind": "a", "x": 0}, 0.0), ({"kind": "b", "y": 1}, 0.3)):
        small.add(config, value)
    strategy = small._strategy
    assert isinstance(strategy, ModelBased)
    with small._current() as view:
        history = small._history(view)
    paths = space.tree.paths(9)
    found = strategy.outlook(space, history, [[path] for path in paths], np.random.default_rng(1))
    posterior = strategy.model(history).posteriors[0]
    points = space.encode([{"kind": k, name: v} for k, name in (("a", "x"), ("b", "y")) for v in (0, 1)])
    draws = posterior.sample(points, 20_000, np.random.default_rng(2))
    by_hand = np.mean(draws[:, :2].min(axis=1) < draws[:, 2:].min(axis=1))
    assert found.holds_optimum[0] == pytest.approx(by_hand, abs=4 * 0.5 / np.sqrt(400))


@pytest.mark.parametrize("acquisition", ["log-pi", "lcb", "thompson", "mes", "kg"])
def test_the_share_of_the_gain_is_that_of_expected_improvement(study: Study, acquisition: str) -> None:
    """Other scores are no logarithms of gains, so their differences are no shares."""
    other = Study(SPACE, method=bough.method("auto", acquisition=acquisition), seed=0)
    usual = Study(SPACE, seed=0)
    for each in (other, usual):
        each.add_many((trial.config, trial.value) for trial in study.trials if trial.value is not None)
    shares, expected = (
        [told["gain_share"] for told in each.explain()["branches"]] for each in (other, usual)
    )
    assert 0 < min(expected) < 1 == max(expected)
    assert shares == pytest.approx(expected, rel=1e-6)


def test_methods_without_a_model_count_trials() -> None:
    study = Study(SPACE, method="random", seed=0)
    study.tell(study.ask(), 1.0)
    told = study.explain()["branches"]
    assert sum(each["trials"] for each in told) == 1
    assert all("holds_optimum" not in each for each in told)
    assert any(each["reason"] == "not tried yet: no model compares the branches" for each in told)


@pytest.mark.parametrize(
    ("models", "reason"),
    [
        ("aaac", "chosen lately (trial 3): its only trial failed"),
        ("cacc", "chosen lately (trial 3): all 3 of its trials failed"),
        ("ccaaaa", "not chosen since trial 1: all 2 of its trials failed"),
    ],
)
def test_a_branch_that_always_failed_is_recent_if_its_last_trial_is(models: str, reason: str) -> None:
    study = Study(SPACE, seed=0)
    for model in models:
        study.enqueue({"model": model, "layers": 1} | ({"x": 0.5} if model == "a" else {}))
        study.tell(study.ask(), float("nan") if model == "c" else 1.0)
    assert study.explain(branch={"model": "c"})["reason"] == reason


def test_retracted_results_do_not_count() -> None:
    study = Study(SPACE, method="random", seed=0)
    for value in (1.0, 2.0):
        study.enqueue({"model": "a", "x": 0.5, "layers": 1})
        study.tell(study.ask(), value)
    study.retract(0, "wrong data")
    told = study.explain(branch={"model": "a"})
    assert (told["trials"], told["best"]) == (1, 2.0)


def test_a_space_with_very_many_branches_describes_the_tried_ones() -> None:
    many = bough.Space(
        {f"s{i}": bough.Choice({"on": {f"x{i}": bough.Float(0, 1)}, "off": {}}) for i in range(9)}
    )
    study = Study(many, method="random", seed=0)
    with pytest.raises(StudyError, match="too many branches to list"):
        study.explain()
    for _ in range(3):
        study.tell(study.ask(), 1.0)
    assert len(study.explain()["branches"]) == 3


def test_every_branch_that_is_told_can_be_asked_for(study: Study) -> None:
    for each in study.explain()["branches"]:
        found = study.explain(branch=each["branch"])
        assert (found["branch"], found["last_trial"]) == (each["branch"], each["last_trial"])


@pytest.mark.parametrize(
    ("branch", "message"),
    [
        ({"modell": "a"}, "'modell' is not a switch: the switches are layers, model"),
        (
            {"model": "z", "layers": 9},
            r"no branch has model='z' and layers=9; there are .*model='a'.*, .*model='b'",
        ),
        ({"layers": 9}, "no branch has layers=9; there are "),
        ({"layers": [2, 9]}, r"no branch has layers=\[2, 9\]; there are "),
        ({"x": 0.5}, "'x' is not a switch"),
        ("a", "a branch is a dict of switches and their values, not 'a'"),
    ],
)
def test_what_is_wrong_with_a_branch_is_said(study: Study, branch: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        study.explain(branch=branch)


def test_a_trial_or_a_branch() -> None:
    with pytest.raises(TrialError, match="a trial or a branch, not both"):
        Study(SPACE, seed=0).explain(0, branch={"model": "a"})
    goals = Study(SPACE, objectives=["error", "size"], seed=0)
    with pytest.raises(StudyError, match="several objectives"):
        goals.explain()
