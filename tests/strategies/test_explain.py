"""``explain`` gives the reason for which a trial was really chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.gp.posterior import Posterior
from bough.points import Points
from bough.strategies.model_based import mixture_moments

SPACE = bough.Space(
    {
        "kind": bough.Choice(
            {"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Float(0, 1)}, "c": {"z": bough.Float(0, 1)}}
        )
    }
)


def objective(config: dict[str, Any]) -> float:
    if config["kind"] == "a":
        return float((config["x"] - 0.3) ** 2)
    return 0.3 + float((config.get("y", config.get("z")) - 0.8) ** 2)


BELIEVED = bough.Space({"a": bough.Float(0, 1, likely=(0.7, 0.9)), "b": bough.Float(0, 1)})


def measured(config: dict[str, Any]) -> dict[str, float]:
    a, b = config["a"], config["b"]
    value = (a - 0.8) ** 2 + b**2
    return {"value": value, "error": value, "memory": a + b, "cost": 1 + 2 * b}


def test_every_rule_of_auto_is_the_true_one() -> None:
    study = bough.minimize(objective, SPACE, 10, seed=1, progress=False)
    for trial in study.trials:
        told = study.explain(trial)
        if trial.number < 4:
            assert told["rule"] == "initial design" and told["reason"].startswith("part of the initial")
        else:
            assert told["rule"] == ("exploitation" if trial.number % 2 else "acquisition")


def test_a_branch_that_only_failed_is_not_called_unknown() -> None:
    study = bough.Study(SPACE, seed=1)
    for number in range(12):
        kind = "abc"[number % 3] if number < 6 else "ac"[number % 2]
        study.enqueue({"kind": kind, {"a": "x", "b": "y", "c": "z"}[kind]: 0.05 * number})
        trial = study.ask()
        study.tell(trial, float("nan") if kind == "b" else objective(trial.config))
    study.enqueue({"kind": "b", "y": 0.9})
    reason = study.explain(study.ask())["reason"]
    assert reason.startswith("no trial on this branch has succeeded yet, 2 failed")


def test_a_trial_that_was_queued_is_not_called_a_choice_of_the_method() -> None:
    study = bough.Study(SPACE, seed=1)
    study.enqueue({"kind": "b", "y": 0.123})
    study.run(objective, 6, progress=False)
    assert study.explain(0)["reason"].startswith("not repeated by the method: queued")
    study.enqueue({"kind": "b", "y": 0.321})
    study.run(objective, 7, progress=False)
    assert "queued" in study.explain(6)["reason"]
    assert study.explain(6)["rule"] == "not the method"


def test_initial_trials_of_tpe_are_named() -> None:
    study = bough.minimize(objective, SPACE, 12, method="tpe", seed=1, progress=False)
    for trial in study.trials:
        design = study.explain(trial)["reason"].startswith("part of the initial design")
        assert design == (trial.number < 10)
        assert study.explain(trial)["rule"] == "tpe"


@pytest.mark.parametrize("goals", [{"direction": "maximize"}, {"objectives": {"accuracy": "maximize"}}])
def test_the_mean_has_the_sign_of_the_objective(goals: dict[str, Any]) -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), seed=1, **goals)
    name = study.goals.names[0]
    study.run(lambda config: {name: 100.0 - config["x"]}, 8, progress=False)
    told = study.explain(7)
    assert told["mean"] == pytest.approx(100.0, abs=2.0)


@pytest.mark.parametrize(
    ("name", "acquisition", "told"),
    [
        ("auto", "log-ei", {"criterion", "beliefs", "cost"}),
        ("auto", "log-pi", {"criterion", "beliefs", "cost"}),
        ("auto", "lcb", {"criterion"}),
        ("auto", "thompson", set()),
        ("auto", "mes", set()),
        ("auto", "kg", set()),
        ("gp", "log-ei", {"criterion", "beliefs"}),
        ("gp", "thompson", set()),
        ("add-tree-ucb", None, set()),
    ],
)
def test_only_what_counted_for_a_choice_is_told(name: str, acquisition: str | None, told: set[str]) -> None:
    options = {} if acquisition is None else {"acquisition": acquisition}
    study = bough.Study(BELIEVED, method=bough.method(name, **options), seed=0)
    study.run(measured, trials=8, budget=100, progress=False)
    assert {*study.explain(7)} == {"rule", "reason", "mean", "sd", *told}


@pytest.mark.parametrize("goals", [{"constraints": ["memory <= 1"]}, {"objectives": ["error", "memory"]}])
def test_beliefs_and_costs_are_told_where_there_are_several_goals(goals: dict[str, Any]) -> None:
    study = bough.Study(BELIEVED, seed=0, **goals)
    study.run(measured, trials=8, budget=100, progress=False)
    told = study.explain(7)
    assert {*told} == {"rule", "reason", "objectives", "constraints", "beliefs", "cost"}
    assert told["beliefs"] == {"a": "likely (0.7, 0.9), counts with exponent 0.19"}
    assert told["cost"] == pytest.approx(study.trials[7].cost, rel=0.3)


def test_predictions_of_several_models_are_those_of_their_mixture() -> None:
    """By draws: half from N(0, 1) and half from N(3, 0.5²)."""

    class Normal(Posterior):
        def __init__(self, mean: float, sd: float) -> None:
            self.moments = np.array([mean]), np.array([sd])

        def predict(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
            return self.moments

        predict_grad = condition = sample = None  # type: ignore[assignment]

    mean, sd = mixture_moments([Normal(0.0, 1.0), Normal(3.0, 0.5)], SPACE.encode([{"kind": "a", "x": 0.5}]))
    rng = np.random.default_rng(0)
    drawn = np.concatenate([rng.normal(0.0, 1.0, 100_000), rng.normal(3.0, 0.5, 100_000)])
    assert mean[0] == pytest.approx(drawn.mean(), abs=0.02)
    assert sd[0] == pytest.approx(drawn.std(), abs=0.02)
