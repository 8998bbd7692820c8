"""The sampler with a given space: proposals belong to their trials, and objectives may return early."""

from __future__ import annotations

import pickle

import optuna
import pytest
from optuna.trial import TrialState

import bough
from bough.errors import StudyError
from bough.integrations.optuna import BoughSampler

optuna.logging.set_verbosity(optuna.logging.WARNING)

SQUARE = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})


def answers(trial: optuna.Trial, *names: str) -> tuple[float, ...]:
    return tuple(trial.suggest_float(name, 0, 1) for name in names)


def test_studies_that_share_a_sampler_get_their_own_values() -> None:
    def run(samplers: list[BoughSampler]) -> list[dict[str, float]]:
        studies = [optuna.create_study(sampler=sampler) for sampler in samplers]
        for _ in range(7):
            trials = [study.ask() for study in studies]
            for name in "xy":
                for trial in trials:
                    answers(trial, name)
            for study, trial, best in zip(studies, trials, (0.2, 0.8), strict=True):
                study.tell(trial, sum((value - best) ** 2 for value in trial.params.values()))
        return [trial.params for study in studies for trial in study.trials]

    sampler = BoughSampler(SQUARE, seed=1)
    assert run([sampler, sampler]) == run([BoughSampler(SQUARE, seed=1), BoughSampler(SQUARE, seed=1)])


@pytest.mark.parametrize("url", [None, "sqlite://"])
def test_a_sampler_that_is_copied_between_two_answers_goes_on(url: str | None) -> None:
    def run(copied: bool) -> list[float]:
        study = optuna.create_study(sampler=BoughSampler(SQUARE, method="random", seed=1), storage=url)
        trials = [study.ask() for _ in range(3)]
        for trial in trials:
            answers(trial, "x")
        if copied:
            study.sampler = pickle.loads(pickle.dumps(study.sampler))  # noqa: S301 - our own object
        return [value for trial in trials for value in answers(trial, "y")]

    assert run(True) == run(False)


def test_trials_that_run_side_by_side_keep_apart() -> None:
    study = optuna.create_study(sampler=BoughSampler(SQUARE, seed=1))
    trials = [study.ask() for _ in range(3)]
    for name in "xy":
        for trial in trials:
            answers(trial, name)
    assert [trial.params for trial in trials] == [
        trial.config for trial in bough.Study(SQUARE, seed=1).ask(3)
    ]


def test_a_parameter_of_the_space_that_no_trial_asks_for() -> None:
    study = optuna.create_study(sampler=BoughSampler(SQUARE, seed=0))
    with pytest.raises(StudyError, match=r"^the objective does not ask for 'y': remove it from the space"):
        study.optimize(lambda trial: answers(trial, "x")[0], n_trials=20)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 10
    assert len({trial.params["x"] for trial in study.trials}) > 5  # the model has learned from each trial


def test_an_objective_that_returns_early_teaches_the_model() -> None:
    study = optuna.create_study(sampler=BoughSampler(SQUARE, seed=1))
    native = bough.Study(SQUARE, seed=1)

    def early(trial: optuna.Trial) -> float:
        (x,) = answers(trial, "x")
        return 10.0 if 0.1 < x < 0.8 else x + answers(trial, "y")[0]

    study.optimize(early, n_trials=12)
    for trial in study.trials:
        proposed = native.ask()
        native.tell(proposed, trial.value)
        assert trial.params.items() <= proposed.config.items()
    assert {len(trial.params) for trial in study.trials} == {1, 2}
    assert len(study.trials[0].params) == 1


def test_a_parameter_with_one_value_need_not_be_asked_for() -> None:
    space = bough.Space({"x": bough.Float(0, 1), "kind": bough.Categorical(["a"])})
    study = optuna.create_study(sampler=BoughSampler(space, seed=1))
    study.optimize(lambda trial: answers(trial, "x")[0], n_trials=12)
    assert len({trial.params["x"] for trial in study.trials}) == 12


@pytest.mark.parametrize(
    ("domain", "shown"),
    [
        (bough.Float(0.1, 1, log=True), "Float(0.1, 1.0, log=True)"),
        (bough.Int(0, 1), "Int(0, 1)"),
        (bough.Categorical(["a", "b"]), "Categorical(['a', 'b'])"),
    ],
)
def test_a_parameter_that_the_objective_asks_for_otherwise(domain: bough.Float, shown: str) -> None:
    study = optuna.create_study(sampler=BoughSampler(bough.Space({"x": domain}), seed=0))
    with pytest.raises(StudyError) as caught:
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    asked = "FloatDistribution(high=1.0, log=False, low=0.0, step=None)"
    assert str(caught.value) == f"the objective asks for 'x' as {asked}, but the space has {shown}"
