"""Several directions and constraints of Optuna studies."""

from __future__ import annotations

import optuna
from optuna.trial import TrialState, create_trial

import bough
from bough.integrations.optuna import BoughSampler
from bough.integrations.optuna_results import OptunaGoals, results_of

SHARED = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})


def two_values(x: float, y: float) -> tuple[float, float]:
    return x + 0.1 * y, 1 - x + 0.1 * (1 - y) ** 2


def test_several_directions_propose_what_a_study_with_goals_proposes() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=BoughSampler(SHARED, seed=4))
    native = bough.Study(SHARED, seed=4, objectives={"value 0": "minimize", "value 1": "maximize"})
    for _ in range(9):
        asked, trial = study.ask(), native.ask()
        x, y = asked.suggest_float("x", 0, 1), asked.suggest_float("y", 0, 1)
        assert {"x": x, "y": y} == trial.config
        first, second = two_values(x, y)
        study.tell(asked, (first, -second))
        native.tell(trial, {"value 0": first, "value 1": -second})
    assert len(study.best_trials) == len(native.front)


def test_constraints_propose_what_a_study_with_limits_proposes() -> None:
    def constraints(trial: optuna.trial.FrozenTrial) -> tuple[float]:
        return (0.6 - trial.params["x"],)

    sampler = BoughSampler(SHARED, seed=4, constraints_func=constraints)
    study = optuna.create_study(sampler=sampler)
    native = bough.Study(SHARED, seed=4, objectives=["value"], constraints=["c <= 0"])
    for number in range(9):
        asked, trial = study.ask(), native.ask()
        x, y = asked.suggest_float("x", 0, 1), asked.suggest_float("y", 0, 1)
        if number:  # Optuna knows of constraints from the first result on
            assert {"x": x, "y": y} == trial.config
        else:
            native = bough.Study(SHARED, seed=4, objectives=["value"], constraints=["c <= 0"])
            native.enqueue({"x": x, "y": y})
            trial = native.ask()
        study.tell(asked, x + y)
        native.tell(trial, {"value": x + y, "c": 0.6 - x})
    assert study.best_params["x"] >= 0.6


def test_structure_is_learned_with_several_directions_too() -> None:
    def objective(trial: optuna.Trial) -> tuple[float, float]:
        if trial.suggest_categorical("model", ["a", "b"]) == "a":
            return two_values(trial.suggest_float("x", 0, 1), 0.5)
        return 2.0, trial.suggest_float("y", 0, 1)

    study = optuna.create_study(directions=["minimize", "minimize"], sampler=BoughSampler(seed=0))
    study.optimize(objective, n_trials=15)
    assert len(study.best_trials) >= 4


def test_infinite_values_missing_constraints_and_pruned_trials() -> None:
    def trial(number: int, **options: object) -> optuna.trial.FrozenTrial:
        made = create_trial(**options)  # type: ignore[arg-type]
        made.number = number
        return made

    inf = float("inf")
    trials = [
        trial(0, values=[1.0, inf], system_attrs={"constraints": [0.5]}),
        trial(1, values=[-inf, 2.0], system_attrs={"constraints:0": -1.0}),
        trial(2, values=[3.0, 5.0]),
        trial(3, state=TrialState.PRUNED),
        trial(4, state=TrialState.FAIL),
    ]
    goals = OptunaGoals.of(optuna.create_study(directions=["minimize", "maximize"]), trials)
    told = results_of(trials, goals, [b""] * 5)
    assert goals.constraints == ("0",)
    assert told.values[told.done].tolist() == [[1.0, -5.0], [1.0, -2.0], [3.0, -5.0]]
    assert told.slacks[told.done].tolist() == [[0.5], [-1.0], [1.0]]
    assert told.failed.tolist() == [False] * 3 + [True] * 2  # one that was pruned without a report, too


def test_an_infinite_constraint_is_missed_or_met() -> None:
    study = optuna.create_study()
    for slack in (-3.0, float("inf"), -2.0):
        trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
        trial.set_constraint("memory", slack)
        study.tell(trial, 1.0)
    assert results_of(study.trials, OptunaGoals.of(study, study.trials), [b""] * 3).slacks.T.tolist() == [
        [-3.0, 1.0, -2.0]
    ]
