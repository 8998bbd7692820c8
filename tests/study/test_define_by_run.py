"""Studies without a space: the objective asks for its parameters, and the study learns their structure."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import ConflictError, SpaceError, StudyError
from bough.space.discovery import ASKED
from bough.storage import MemoryStorage
from bough.study import copy_study, export_study, import_study
from bough.study.lessons import AskedResult


def asks(trial: Any) -> None:
    model = trial.choice("model", ["svm", "forest", "bayes"])
    if model == "svm":
        trial.float("C", 1e-3, 1e3, log=True)
        if trial.categorical("kernel", ["linear", "rbf"]) == "rbf":
            trial.float("gamma", 1e-3, 1e3, log=True)
    if model == "forest":
        trial.int("depth", 1, 10)


def branching(trial: Any) -> float:
    asks(trial)
    config = trial.config
    if config["model"] == "svm":
        return 0.1 * abs(np.log10(config["C"]) - 1) + 0.1 * abs(np.log10(config.get("gamma", 1.0)) + 1)
    return 2.0 + 0.1 * config.get("depth", 5)


def configs(study: bough.Study) -> list[dict[str, Any]]:
    return [trial.config for trial in study.trials]


def quietly(objective: Any, trials: int, **options: Any) -> bough.Study:
    options = {"method": "random", "seed": 0, "progress": False} | options
    return bough.minimize(objective, trials=trials, **options)


def test_it_learns_the_space_and_finds_the_optimum() -> None:
    study = quietly(branching, 22, method="auto")
    assert study.space == bough.Space.trace(asks)
    assert study.best.value is not None and study.best.value < 0.15
    for trial in study.trials:
        assert study.space.validate(trial.config) == trial.config
    assert study.predict([study.best.config])[0].shape == (1,)


def test_a_seed_gives_one_sequence_also_when_it_is_resumed_or_pickled() -> None:
    whole = quietly(branching, 14, method="auto")
    halved = quietly(branching, 7, method="auto").run(branching, 10, progress=False)
    halved = pickle.loads(pickle.dumps(halved)).run(branching, 14, progress=False)  # noqa: S301
    assert configs(whole) == configs(halved)


def test_answers_are_what_the_objective_got() -> None:
    got = []

    def objective(trial: Any) -> float:
        value = branching(trial)
        got.append(trial.config)
        return value

    assert configs(quietly(objective, 20)) == got


def test_workers_ask_in_their_own_processes() -> None:
    def objective(trial: Any) -> float:  # a worker cannot import this module
        if trial.choice("model", ["svm", "bayes"]) == "svm":
            return float(trial.float("C", 0, 1))
        return 2.0

    study = quietly(objective, 10, workers=2)
    assert {parameter.name for parameter in study.space} == {"model", "C"}
    for trial in study.trials:
        study.space.validate(trial.config)


def test_maximize_and_several_objectives() -> None:
    study = bough.maximize(lambda trial: trial.float("x", 0, 1), trials=8, seed=0, progress=False)
    assert study.best.value == max(trial.config["x"] for trial in study.trials)

    def two(trial: Any) -> dict[str, float]:
        x = trial.float("x", 0, 1)
        return {"left": x, "right": 1 - x}

    front = bough.optimize(two, trials=6, objectives=["left", "right"], seed=0, progress=False).front
    assert len(front) == 6


def test_failures_halfway_are_no_branch() -> None:
    def objective(trial: Any) -> float:
        model = trial.choice("model", ["svm", "forest"])
        if trial.number % 3 == 0:
            raise RuntimeError("halfway")
        return float(trial.float("C" if model == "svm" else "depth", 0, 1))

    study = quietly(objective, 15)
    assert [t.number for t in study.trials if t.state == "failed"] == [0, 3, 6, 9, 12]
    assert {parameter.name for parameter in study.space} == {"model", "C", "depth"}
    for trial in study.trials:
        study.space.validate(trial.config)


def test_a_coin_toss_becomes_a_hidden_switch() -> None:
    def objective(trial: Any) -> float:
        x = trial.float("x", 0, 1)
        return float(x + (trial.float("y", 0, 1) if trial.number % 2 else 0.0))

    study = quietly(objective, 8)
    assert ASKED + "y" in {parameter.name for parameter in study.space}
    assert [("y" in trial.config) for trial in study.trials] == [False, True] * 4


@pytest.mark.parametrize("workers", [1, 2])
def test_a_first_guess_that_was_wrong_does_not_change_the_order_of_the_questions(workers: int) -> None:
    """After two trials, either answer may tell when ``l2`` exists; its place in a config is then a guess."""

    def objective(trial: Any) -> float:
        k = trial.int("k", 1, 20) if trial.choice("pre", ["none", "pca"]) == "pca" else 0
        if trial.choice("model", ["lin", "boost"]) == "boost":
            depth, rate = trial.int("depth", 1, 8), trial.float("rate", 1e-3, 1, log=True)
            return float(0.1 + abs(rate - 0.1) + abs(depth - 5) * 0.02)
        return 0.5 - 0.01 * k + (0.1 if trial.categorical("l2", [True, False, None]) is None else 0)

    for seed in range(3):
        study = bough.minimize(objective, trials=20, seed=seed, workers=workers, progress=False)
        assert "asked for" not in str(study.space)
        assert study.space["model=boost/rate"].condition is not None
        assert study.space["model=lin/l2"].condition is not None


def test_a_range_that_changes_fails_its_trial_in_one_line() -> None:
    study = quietly(lambda trial: trial.float("x", 0, 1 + trial.number % 2), 4)
    assert [trial.state for trial in study.trials] == ["done", "failed"] * 2
    error = study.trials[1].error
    assert error is not None
    assert "parameter 'x' was float 0 to 1 in an earlier trial and is float 0 to 2" in error
    with pytest.raises(SpaceError, match="'x' was float 0 to 1"):
        quietly(lambda trial: trial.float("x", 0, 1 + trial.number % 2), 4, on_error="raise")


@pytest.mark.slow
def test_ranges_that_differ_between_workers_are_noticed() -> None:
    study = quietly(lambda trial: trial.float("x", 0, 1 + trial.number % 2), 2, workers=2)
    assert sorted(trial.state for trial in study.trials) == ["done", "failed"]


@pytest.mark.parametrize(
    ("objective", "says"),
    [
        (lambda config: config["x"], "a trial has no item 'x': without a space the objective asks"),
        (lambda trial: 1.0, "asked its trial for nothing"),
        (lambda trial: trial.float("x", 0, 1) + trial.float("x", 0, 2), "asks for 'x' twice"),
        (lambda trial: trial.int("n", 5, 1), "parameter 'n': Int"),
        (lambda trial: trial.suggest_float("x", 0, 1), "a trial has no 'suggest_float': write trial.float"),
        (lambda trial: trial.params["x"], "a trial has no 'params': the answers so far are trial.config"),
        (
            lambda trial: trial.report(1.0, 0),
            r"a trial has no 'report': give the objective a second argument",
        ),
        (lambda trial: trial.uniform("x"), "a trial has no 'uniform': ask for float, int"),
        (lambda trial: trial.categorical("m", [dict]), "parameter 'm': Categorical option <class 'dict'>"),
    ],
)
def test_mistakes_are_told_in_one_line(objective: Any, says: str) -> None:
    with pytest.raises(StudyError, match=says):
        quietly(objective, 20)


def test_a_number_is_no_space() -> None:
    with pytest.raises(StudyError, match="the second argument is the space: write trials=30"):
        bough.minimize(branching, 30)  # type: ignore[arg-type]


def test_a_late_result_teaches_nothing() -> None:
    study = quietly(branching, 6)
    late = study.trials[2]
    asked = AskedResult(late.number, {"z": 1.0}, "done", value=9.0, domains={"z": bough.Float(0, 1)})
    with pytest.raises(ConflictError):
        study.record_result(asked)
    assert configs(study)[2] == late.config and "z" not in study.domains  # type: ignore[attr-defined]


def test_a_stored_study_goes_on_as_if_it_had_never_stopped(storage_url: str | None) -> None:
    def stops_early(trial: Any) -> float:
        value = branching(trial)
        if trial.number in (2, 5):
            raise RuntimeError("halfway")
        return value

    whole = quietly(stops_early, 14, method="tpe")
    url = storage_url or MemoryStorage()
    for trials in (1, 4, 9):
        quietly(stops_early, trials, method="tpe", storage=url, name="s")
    resumed = bough.open_study("s", url).run(stops_early, 14, progress=False)
    assert configs(resumed) == configs(whole)
    assert resumed.space == whole.space == bough.Space.trace(asks)
    assert [trial.state for trial in resumed.trials] == [trial.state for trial in whole.trials]
    assert bough.open_study("s", url).best.config == whole.best.config


def test_what_is_stored_can_be_exported_and_imported(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    study = quietly(branching, 8, storage=url, name="s")
    export_study(study, tmp_path / "s.jsonl")
    again = import_study(tmp_path / "s.jsonl", url, name="again")
    assert configs(again) == configs(study) and again.space == study.space
    again.run(branching, 14, progress=False)
    study.run(branching, 14, progress=False)
    assert configs(again) == configs(study)
    assert configs(copy_study(study, "copy", MemoryStorage())) == configs(study)


def test_two_processes_learn_in_one_study(tmp_path: Path) -> None:
    """One holds a trial while the other learns; then it learns something itself."""
    url = f"sqlite:///{tmp_path}/a.db"
    one, other = (quietly(branching, 0, storage=url, name="s") for _ in range(2))
    held = one.ask()
    quietly(branching, 9, storage=url, name="s")
    asked = AskedResult(
        held.number, {"model": "new"}, "done", value=9.0, domains={"model": bough.Categorical(["new"])}
    )
    assert one.record_result(asked).state == "failed", "model has other options by now"
    held = other.ask()
    domains = {**one.domains, "tail": bough.Float(0, 1)}  # type: ignore[attr-defined]
    run = {"model": "bayes", "tail": 0.5}
    asked = AskedResult(held.number, run, "done", value=9.0, domains={name: domains[name] for name in run})
    assert other.record_result(asked).config == other.trials[held.number].config
    assert {name: value for name, value in one.trials[held.number].config.items() if name in run} == run
    assert one.space == other.space and "tail" in one.domains  # type: ignore[attr-defined]
    for trial in one.trials:
        one.space.validate(trial.config)


def test_a_stopped_trial_keeps_what_it_asked_for(tmp_path: Path) -> None:
    def objective(trial: Any, run: Any) -> float:
        x = trial.float("x", 0, 1)
        late = trial.number > 8
        if late:
            x += trial.float("y", 5, 6)
        for step in range(10):
            run.report(x, step)
            if run.stop:
                break
        return float(x)

    study = quietly(objective, 14, storage=f"sqlite:///{tmp_path}/a.db", name="s")
    stopped = [trial for trial in study.trials if trial.state == "stopped" and trial.number > 8]
    assert stopped and all("y" in trial.config for trial in stopped)


@pytest.mark.parametrize("storage", [MemoryStorage(), None])
def test_a_given_space_is_neither_learned_nor_changed(storage: Any, tmp_path: Path) -> None:
    url = storage or f"sqlite:///{tmp_path}/a.db"
    bough.Study(bough.Space({"x": bough.Float(0, 1)}), name="given", storage=url)
    with pytest.raises(StudyError, match="study 'given' exists and has a space that was given"):
        quietly(branching, 5, storage=url, name="given")
    study = quietly(branching, 5, storage=url, name="learned")
    with pytest.raises(StudyError, match="study 'learned' learns its space from its objective"):
        study.change(bough.Space({"x": bough.Float(0, 1)}))
    with pytest.raises(StudyError, match="study 'learned' exists and differs"):
        bough.minimize(len, bough.Space({"x": bough.Float(0, 1)}), 5, storage=url, name="learned")


def test_a_method_of_your_own_follows_the_growing_space() -> None:
    class Uniform:
        def propose(self, space: bough.Space, history: Any, rng: np.random.Generator) -> Any:
            return space.encode(space.sample(1, rng))

    assert len(quietly(branching, 12, method=Uniform()).space) == 5


def test_trials_that_report_are_stopped_and_keep_their_curves() -> None:
    def objective(trial: Any, run: Any) -> float:
        x = (
            trial.float("x", 0, 1)
            if trial.choice("model", ["a", "b"]) == "a"
            else 1.0 + trial.float("y", 0, 1)
        )
        for step in range(20):
            run.report(x + 1 / (1 + step), step)
            if run.stop:
                break
        return float(x)

    study = quietly(objective, 30)
    stopped = [trial for trial in study.trials if trial.state == "stopped"]
    assert stopped and all(0 < len(trial.curve) < 20 for trial in stopped)
    assert all(len(trial.curve) == 20 for trial in study.trials if trial.state == "done")
    for trial in study.trials:
        study.space.validate(trial.config)


def test_corrections_survive_what_is_learned_later() -> None:
    study = quietly(lambda trial: trial.float("x", 0, 1), 4)
    study.retract(1, "wrong data")
    study.run(lambda trial: trial.float("x", 0, 1) + trial.float("y", 0, 1), 6, progress=False)
    assert len(study.space) > 1
    assert [trial.number for trial in study.trials if trial.retracted] == [1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_values_that_a_failed_trial_never_asked_for_teach_nothing(seed: int) -> None:
    failures = 0

    def objective(trial: Any) -> float:
        nonlocal failures
        if trial.choice("model", ["svm", "bayes"]) == "svm":
            return trial.float("C", 0, 1)
        failures += 1
        if failures < 3:  # its proposal had a C, as long as only svm was seen
            raise ValueError("out of memory")
        return 0.5

    study = pickle.loads(pickle.dumps(quietly(objective, 6, seed=seed)))  # noqa: S301
    study.run(objective, 16, progress=False)
    assert failures > 3
    expected = {"model": bough.Choice({"svm": {"C": bough.Float(0, 1)}, "bayes": {}})}
    assert study.space == bough.Space(expected)


def many_branches(trial: Any) -> float:
    option = trial.choice("model", list("abcdef"))
    return trial.float(f"x of {option}", 0, 1) + (
        trial.categorical("size", [1, 2, 3]) if option == "b" else 0
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_every_option_gets_a_look_before_the_model_decides(seed: int) -> None:
    study = quietly(many_branches, 9, method="auto", seed=seed)
    assert {trial.config["model"] for trial in study.trials} == set("abcdef")
    assert {trial.config["size"] for trial in study.trials if "size" in trial.config} == {1, 2, 3}


def test_a_number_of_which_nothing_is_known_comes_from_the_middle_but_for_random_search() -> None:
    def first_answers(method: str) -> Any:
        studies = [quietly(lambda t: t.float("x", 0, 1), 1, method=method, seed=seed) for seed in range(12)]
        return np.array([study.trials[0].config["x"] for study in studies])

    assert np.all(abs(first_answers("auto") - 0.5) <= 0.25)
    assert np.any(abs(first_answers("random") - 0.5) > 0.25)
