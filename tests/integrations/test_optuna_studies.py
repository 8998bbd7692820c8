"""Optuna studies as bough studies and back: nothing is lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
import sqlalchemy
from optuna.trial import FrozenTrial, TrialState

import bough
from bough.errors import BoughError, StudyError
from bough.integrations.optuna import export_study, import_study, load_study
from bough.space.discovery import ASKED

optuna.logging.set_verbosity(optuna.logging.WARNING)


def branching(trial: optuna.Trial) -> float:
    model = trial.suggest_categorical("model", ["svm", "forest", None])
    trial.set_user_attr("seconds", 1.5)
    trial.set_user_attr("host", {"name": "a"})
    if model == "svm":
        return trial.suggest_float("C", 1e-3, 1e3, log=True)
    if model == "forest":
        depth = trial.suggest_int("depth", 1, 9, step=2)
        for step in range(3):
            trial.report(depth + step, step)
        if depth > 5:
            raise optuna.TrialPruned
        return float(depth)
    raise RuntimeError("no model")


def of_optuna(directions: list[str], objective: Any, n: int = 25, storage: Any = None) -> optuna.Study:
    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(directions=directions, sampler=sampler, storage=storage, study_name="s")
    study.optimize(objective, n_trials=n, catch=RuntimeError)
    return study


def facts(study: optuna.Study) -> list[Any]:
    return [
        (t.state, t.values, t.params, t.intermediate_values, t.constraints, t.datetime_start, t.distributions)
        for t in study.trials
    ]


def test_from_optuna_and_back(tmp_path: Path) -> None:
    there = of_optuna(["maximize"], branching)
    study = import_study(there, storage=f"sqlite:///{tmp_path}/bough.db", seed=0)
    assert study.space == bough.Space(
        {
            "model": bough.Categorical(["svm", "forest", None]),
            "C": bough.Float(1e-3, 1e3, log=True, when="model == 'svm'"),
            "depth": bough.Int(1, 9, step=2, when="model == 'forest'"),
        }
    )
    assert study.direction == "maximize"
    assert {trial.state for trial in study.trials} == {"done", "stopped", "failed"}
    assert study.best.value == there.best_value and study.best.config == there.best_params
    assert study.best.measures == {"seconds": 1.5} and study.best.notes == {"host": {"name": "a"}}
    back = export_study(bough.open_study("s", f"sqlite:///{tmp_path}/bough.db"))
    assert facts(back) == facts(there)
    assert back.best_trial.user_attrs == there.best_trial.user_attrs
    study.run(lambda config: config.get("C", 0.0), 27, progress=False)
    assert len(study.trials) == 27  # it goes on, and counts what was imported


def test_several_objectives_and_constraints() -> None:
    def objective(trial: optuna.Trial) -> tuple[float, float]:
        x = trial.suggest_float("x", 0, 1)
        return x, 1 - x

    def constraints(trial: optuna.trial.FrozenTrial) -> tuple[float, float]:
        return trial.params["x"] - 0.7, 0.2 - trial.params["x"]

    sampler = optuna.samplers.TPESampler(seed=0, constraints_func=constraints)
    there = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)
    there.set_metric_names(["error", "speed"])
    there.optimize(objective, n_trials=15)
    study = import_study(there)
    assert study.goals.objectives == (("error", "minimize"), ("speed", "maximize"))
    assert [str(limit) for limit in study.goals.limits] == ["`constraint 0` <= 0", "`constraint 1` <= 0"]
    front = [(trial.measures["error"], trial.measures["speed"]) for trial in study.front]
    assert sorted(front) == sorted(tuple(trial.values) for trial in there.best_trials)
    back = export_study(study)
    assert facts(back) == facts(there)
    assert back.metric_names == ["error", "speed"]


def test_from_bough_and_back() -> None:
    space = bough.Space(
        {"m": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"n": bough.Int(1, 3, log=True)}})}
    )
    study = bough.Study(space, objectives=["loss"], constraints=["memory <= 512"], seed=1, method="random")
    for number in range(8):
        trial = study.ask()
        if number == 3:
            study.fail(trial, "out of memory")
        else:
            study.tell(trial, {"loss": number / 3, "memory": 100.1 * number}, noise=0.1, cost=number)
    study.enqueue({"m": "b", "n": 2})
    there = export_study(study)
    assert [t.state for t in there.trials].count(TrialState.WAITING) == 1
    back = import_study(there, seed=1)
    assert back.goals == study.goals
    for old, new in zip(study.trials, back.trials):
        assert (new.config, new.value, new.noise, new.cost, new.measures, new.error) == (
            (old.config, old.value, old.noise, old.cost, old.measures, old.error)
        )
        assert new.feasible == old.feasible


def test_noise_by_measure_survives() -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), objectives=["a", "b"], method="random", seed=0)
    study.tell(study.ask(), {"a": 1.0, "b": 2.0}, noise={"a": 0.1, "b": 0.2})
    assert import_study(export_study(study)).trials[0].noises == study.trials[0].noises != {}


class Wide:
    pass


def test_options_ranges_and_coins_that_bough_lacks() -> None:
    def objective(trial: optuna.Trial) -> float:
        trial.suggest_categorical("kind", [Wide, (1, 2), "x"])  # type: ignore[list-item]
        trial.suggest_float("fixed", 2.0, 2.0)
        if trial.number % 2:
            trial.suggest_int("sometimes", 1, 5)
        return trial.suggest_float("moving", 0, 1 + trial.number % 3)

    with pytest.warns(UserWarning, match="Choices for a categorical"):
        there = of_optuna(["minimize"], objective, 12)
    study = import_study(there)
    assert study.space["kind"].domain == bough.Categorical(["Wide", "(1, 2)", "x"])
    assert study.space["moving"].domain == bough.Float(0, 3)
    assert study.space["fixed"].domain == bough.Categorical([2.0])
    assert ASKED + "sometimes" in {parameter.name for parameter in study.space}
    assert len(study.trials) == 12
    assert all(ASKED not in "".join(trial.params) for trial in export_study(study).trials)


def test_what_cannot_be_imported_is_said_in_one_line() -> None:
    with pytest.raises(StudyError, match="has no finished trial with parameters"):
        import_study(optuna.create_study())
    there = of_optuna(["minimize"], lambda trial: trial.suggest_float("x", 0, 2), 5)
    with pytest.raises(StudyError, match=r"trial . of 's' is not in the space: parameter 'x'"):
        import_study(there, space=bough.Space({"x": bough.Float(0, 1)}))
    assert len(import_study(there, space=bough.Space({"x": bough.Float(0, 9)})).trials) == 5


def test_a_retracted_result_does_not_count_there() -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    for value in (1.0, 2.0):
        study.tell(study.ask(), value)
    study.retract(0, "the sensor was off")
    there = export_study(study)
    assert [trial.state for trial in there.trials] == [TrialState.FAIL, TrialState.COMPLETE]
    assert there.best_value == 2.0
    assert there.trials[0].user_attrs["bough:error"] == "retracted: the sensor was off"


@pytest.mark.parametrize("told", [True, False])
def test_pruned_trials_of_a_study_with_constraints(told: bool) -> None:
    there = optuna.create_study(study_name="s")
    x = optuna.distributions.FloatDistribution(0, 1)
    for number in range(6):
        pruned = number == 5
        there.add_trial(
            optuna.trial.create_trial(
                state=TrialState.PRUNED if pruned else TrialState.COMPLETE,
                value=None if pruned else number / 6,
                params={"x": number / 6},
                distributions={"x": x},
                intermediate_values=dict.fromkeys(range(2 if pruned else 4), number / 6),
                system_attrs={} if pruned and not told else {"constraints": [number / 6 - 0.5]},
            )
        )
    study = import_study(there, method="tpe", seed=0)
    assert study.trials[5].state == "stopped"
    assert study.ask().number == 6
    assert study.count_results() == 5 + told


def test_what_cannot_be_exported_is_said_in_one_line() -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    study.tell(study.ask(), 1.0)
    study.change(bough.Space({"y": bough.Float(0, 1)}))
    with pytest.raises(StudyError, match=r"trial 0 cannot be converted to an Optuna trial: .*'y'"):
        export_study(study)
    limited = bough.Study(bough.Space({"x": bough.Float(0, 1)}), objectives={}, constraints=["m <= 1"])
    with pytest.raises(StudyError, match="has no objective"):
        export_study(limited)


def test_an_export_that_fails_leaves_no_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), method="random", seed=0)
    for value in (1.0, 2.0):
        study.tell(study.ask(), value)
    storage = f"sqlite:///{tmp_path}/optuna.db"
    add = optuna.Study.add_trial

    def add_one(there: optuna.Study, trial: FrozenTrial) -> None:
        if there.trials:
            raise RuntimeError("the disk is full")
        add(there, trial)

    monkeypatch.setattr(optuna.Study, "add_trial", add_one)
    with pytest.raises(RuntimeError, match="the disk is full"):
        export_study(study, storage=storage)
    assert optuna.get_all_study_names(storage) == []
    monkeypatch.undo()
    mine = optuna.create_study(study_name="mine", storage=storage)
    mine.add_trial(optuna.trial.create_trial(value=1.0))
    monkeypatch.setattr(optuna.Study, "add_trial", add_one)
    with pytest.raises(RuntimeError):
        export_study(study, study_name="mine", storage=storage, load_if_exists=True)
    assert len(optuna.load_study(study_name="mine", storage=storage).trials) == 1


@pytest.mark.parametrize("objectives", [None, ["error", "size"]])
def test_a_trial_below_the_highest_fidelity_is_no_result_of_optuna(objectives):
    space = bough.Space({"x": bough.Float(0, 1), "epochs": bough.Int(1, 9, fidelity=True)})
    study = bough.Study(space, method="random", seed=0, objectives=objectives)
    study.run(
        lambda config: config["x"] if objectives is None else {"error": 0.5, "size": config["x"]},
        8,
        progress=False,
    )
    made = export_study(study)
    is_complete = [trial.state == optuna.trial.TrialState.COMPLETE for trial in made.trials]
    assert is_complete == [not trial.partial for trial in study.trials]
    assert 0 < sum(is_complete) < 8


def test_trials_that_lack_a_constraint_keep_their_value() -> None:
    there = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if trial.number % 2:
            trial.set_constraint("memory", x - 0.5 if trial.number > 1 else float("-inf"))
        return x

    there.optimize(objective, n_trials=8)
    study = import_study(there)
    assert [trial.value for trial in study.trials] == [trial.value for trial in there.trials]
    assert [trial.feasible for trial in study.trials] == [
        number % 2 == 1 and (number == 1 or there.trials[number].value <= 0.5) for number in range(8)
    ]


def test_an_exported_study_may_go_on_without_its_limits() -> None:
    study = bough.Study(bough.Space({"x": bough.Float(0, 1)}), constraints=["memory <= 5"], seed=0)
    study.run(lambda config: {"value": config["x"], "memory": 9 * config["x"]}, trials=4, progress=False)
    there = export_study(study)
    there.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    again = import_study(there)
    assert [trial.value for trial in again.trials] == [trial.value for trial in there.trials]
    assert [trial.feasible for trial in again.trials][:4] == [trial.feasible for trial in study.trials]


def test_attributes_that_are_no_finite_number_are_notes() -> None:
    there = optuna.create_study()

    def objective(trial: optuna.Trial) -> float:
        for name, value in {"big": 10**400, "nan": float("nan"), "yes": True, "a`b\n": 1, "": 2}.items():
            trial.set_user_attr(name, value)
        return trial.suggest_float("x", 0, 1)

    there.optimize(objective, n_trials=1)
    trial = import_study(there).trials[0]
    assert trial.measures == {"a`b\n": 1.0, "": 2.0}
    assert trial.notes["big"] == 10**400 and trial.notes["yes"] is True
    assert export_study(import_study(there)).trials[0].user_attrs["big"] == 10**400


FLOAT, INT = optuna.distributions.FloatDistribution(0, 1), optuna.distributions.IntDistribution(0, 2**62)


@pytest.mark.parametrize(
    ("params", "distribution", "message"),
    [
        ({"x": 5.0}, FLOAT, "trial 0 of 'there' cannot be imported: parameter 'x' must be a number"),
        ({"x": 7}, INT, "^parameter 'x' has integers up to 4611686018427387904, too many for an Int"),
        (
            {"x": 1},
            optuna.distributions.CategoricalDistribution([1, 1.0]),
            "^parameter 'x': Categorical option 1.0 is given twice",
        ),
    ],
)
def test_a_parameter_that_cannot_be_imported_is_named(params, distribution, message) -> None:
    there = optuna.create_study(study_name="there")
    made = optuna.create_trial(params={"x": 1}, distributions={"x": distribution}, value=1.0)
    made.params = params  # as after ``enqueue_trial``
    there._storage.create_new_trial(there._study_id, made)
    with pytest.raises(BoughError, match=message):
        import_study(there)
    given = bough.Space({"x": bough.Float(0, 1e19)})
    assert import_study(there, space=given).trials[0].config == params


def test_wrong_arguments_are_named() -> None:
    there = optuna.create_study()
    there.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    with pytest.raises(StudyError, match=r"space must be a .*Space, not dict"):
        import_study(there, space={"x": bough.Float(0, 1)})
    with pytest.raises(StudyError, match="a study's name must be"):
        import_study(there, name="")
    with pytest.raises(StudyError, match="needs a study of Optuna, not str"):
        import_study("there")
    with pytest.raises(StudyError, match="needs a study of bough, not Study"):
        export_study(there)


def test_looking_for_a_study_leaves_other_databases_alone(tmp_path: Path) -> None:
    bough.Study(bough.Space({"x": bough.Float(0, 1)}), name="s", storage=f"sqlite:///{tmp_path}/ours.db")
    (tmp_path / "empty.db").touch()
    before = sqlalchemy.inspect(sqlalchemy.create_engine(f"sqlite:///{tmp_path}/ours.db")).get_table_names()
    for file in ("ours.db", "empty.db"):
        with pytest.raises(StudyError, match="is not an Optuna storage"):
            load_study("s", f"sqlite:///{tmp_path}/{file}")
    assert (tmp_path / "empty.db").stat().st_size == 0
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/ours.db")
    assert sqlalchemy.inspect(engine).get_table_names() == before
    url = f"sqlite:///{tmp_path}/theirs.db"
    of_optuna(["minimize"], lambda trial: trial.suggest_float("x", 0, 1), n=2, storage=url)
    assert len(import_study(load_study("s", url)).trials) == 2
