"""The options of ``run`` have one home; everything that runs a study accepts and lists all of them."""

from __future__ import annotations

import inspect
from datetime import timedelta

import numpy as np
import pytest

import bough
from bough.client import RemoteStudy
from bough.study.learned_study import LearnedStudy
from bough.study.running.loop import run_trials
from bough.study.running.run_options import LocalRunOptions, RunOptions
from bough.study.study import Study


def keywords(function) -> dict[str, object]:
    """The keyword-only parameters of a function with their defaults."""
    found = inspect.signature(function).parameters.values()
    return {each.name: each.default for each in found if each.kind is each.KEYWORD_ONLY}


def test_the_options_are_those_of_study_run():
    assert set(keywords(Study.run)) == set(LocalRunOptions.__annotations__)
    assert set(keywords(run_trials)) == set(RunOptions.__annotations__)
    assert keywords(run_trials).items() <= keywords(Study.run).items()


@pytest.mark.parametrize(
    "function", [bough.minimize, bough.maximize, bough.optimize, LearnedStudy.run, RemoteStudy.run]
)
def test_help_lists_every_option_with_its_default(function):
    assert keywords(Study.run).items() <= keywords(function).items()


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("wrokers", "did you mean 'workers'"),
        ("n_jobs", "did you mean 'workers'"),
        ("objectives", "bough.optimize takes it"),
        ("zzz", "the options are trials, .*workers"),
    ],
)
def test_a_misspelt_option_is_refused_before_anything_is_stored(sqlite_url, tmp_path, wrong, hint):
    space = bough.Space({"x": bough.Float(0, 1)})
    with pytest.raises(TypeError, match=f"argument {wrong!r}: {hint}"):
        bough.minimize(lambda config: 1.0, space, 3, storage=sqlite_url, name="typo", **{wrong: 2})
    assert not list(tmp_path.iterdir())


def test_counts_and_budgets_may_come_from_numpy():
    space = bough.Space({"x": bough.Float(0, 1)})
    study = bough.Study(space, method="random", seed=0)
    study.run(lambda config: {"value": 0.0, "cost": 1.0}, np.int64(2), workers=np.int64(1), progress=False)
    study.run(lambda config: {"value": 0.0, "cost": 1.0}, budget=np.int64(3), progress=False)
    assert len(study.trials) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trials": "5"}, "trials must be a number"),
        ({"budget": float("nan")}, "budget must be a positive number"),
        ({"timeout": "60"}, "timeout must be a positive number of seconds or None, not '60'"),
        ({"trial_timeout": timedelta(1)}, "trial_timeout must be a positive number of seconds"),
        ({"until": "settled", "method": "random"}, "'random' cannot"),
        ({"instances": []}, "the list is empty"),
        ({"instances": [1, 2], "stopping": "asha"}, "stops by 'asha'"),
        ({"instances": [1, 2]}, r"needs an objective\(config, instance\)"),
        ({"workers": 0}, "workers must be a positive integer"),
        ({"executor": 4}, "executor must be a"),
        ({"callbacks": print}, "callbacks must be a list"),
        (
            {"callbacks": [lambda trial: None]},
            "with two arguments, study and trial, which '<lambda>' does not take",
        ),
        ({"progress": "barr"}, "progress must be"),
        ({"on_error": "rais"}, "on_error must be"),
        ({"space": None, "trials": -1}, "trials must be a number"),
    ],
)
def test_a_wrong_option_of_the_run_stores_no_study(sqlite_url, tmp_path, options, words):
    given = {"space": bough.Space({"x": bough.Float(0, 1)}), "trials": 3, **options}
    with pytest.raises(bough.errors.StudyError, match=words):
        bough.minimize(lambda one: 1.0, **given, storage=sqlite_url, name="wrong")
    assert not list(tmp_path.iterdir())


def test_options_may_be_iterators_although_they_are_checked_first(sqlite_url):
    seen = []
    study = bough.minimize(
        lambda config, instance: instance,
        bough.Space({"x": bough.Float(0, 1)}),
        trials=1,
        method="random",
        instances=iter([1, 2, 3]),
        callbacks=iter([lambda study, trial: seen.append(trial.number)]),
        storage=sqlite_url,
        name="iterators",
        progress=False,
    )
    assert (study.best.value, seen) == (2.0, [0])
