"""Mistakes of a new user: one line that says what is wrong, and nothing stored."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import bough
from bough.errors import (
    BoughError,
    ConfigError,
    MalformedError,
    SpaceError,
    StorageError,
    StudyError,
    TrialError,
)

space = bough.Space(
    {
        "model": bough.Choice({"svm": {"C": bough.Float(1e-3, 1e3, log=True)}, "bayes": {}}),
        "x": bough.Float(0, 1),
        "k": bough.Categorical(["a", "b"]),
    }
)


async def _asynchronous(config: Any) -> float:
    return 1.0


class _AsynchronousCall:
    async def __call__(self, config: dict[str, Any]) -> float:
        return 0.0


class _YieldingCall:
    def __call__(self, config: dict[str, Any]) -> Any:
        yield 0.0


def _yielding(config: Any) -> Any:
    yield 1.0


def _first(config: Any) -> float:
    return 1.0


class _NoFloat:
    def __float__(self) -> float:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        return "<_NoFloat>"


def _nested(depth: int) -> list[Any]:
    return [_nested(depth - 1)] if depth else []


def changed(**parameters: Any) -> bough.Space:
    return bough.Space({**space.declared, **parameters})


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (lambda study: study.ask("3"), TrialError, "ask for a whole number of trials, not '3'"),
        (lambda study: study.trial("0"), TrialError, "named by its number or a Trial, not '0'"),
        (lambda study: study.trial(-1), TrialError, "there is no trial -1"),
        (lambda study: study.ask(2.5), TrialError, "ask for a whole number of trials, not 2.5"),
        (
            lambda study: study.tell(study.ask(), 1.0, cost=-1),
            TrialError,
            "cost must be .* not negative, not -1",
        ),
        (
            lambda study: study.tell(study.ask(), {"loss": 1.0}),
            TrialError,
            r"has no 'value' \(there is 'loss'\)",
        ),
        (
            lambda study: study.enqueue({"modle": "svm"}),
            ConfigError,
            "'model' is missing: is 'modle' misspelt",
        ),
        (lambda study: study.predict({"x": 0.5}), ConfigError, r"takes a list of configs: .*\[config\]"),
        (lambda study: study.run(_asynchronous, 3), StudyError, "the objective is async: .*asyncio.run"),
        (
            lambda study: study.run(_AsynchronousCall(), 3),
            StudyError,
            "the objective is async: .*asyncio.run",
        ),
        (
            lambda study: study.run(functools.partial(_AsynchronousCall()), 3),
            StudyError,
            "the objective is async: .*asyncio.run",
        ),
        (lambda study: study.run(_YieldingCall(), 3), StudyError, "the objective yields: let it return"),
        (lambda study: study.run(_yielding, 3), StudyError, "the objective yields: let it return"),
        (lambda study: study.run(5, 3), StudyError, "the objective must be a function of a config, not int"),
        (lambda study: study.run(lambda: 1.0, 3), StudyError, "called with a config, .* too many positional"),
        (lambda study: study.run(lambda a, b, c: 1.0, 3), StudyError, "missing a required argument: 'c'"),
        (
            lambda study: study.run(lambda **names: 1.0, 3),
            StudyError,
            r"lambda config: objective\(\*\*config",
        ),
        (
            lambda study: study.run(lambda config: 1.0, 3, callbacks=lambda study, trial: None),
            StudyError,
            "callbacks must be a list of functions",
        ),
        (lambda study: study.run(_first, 3, budget=10**400), StudyError, "budget must be a positive number"),
        (lambda study: study.run(_first, 3, timeout=[1.0]), StudyError, "timeout must be a positive number"),
        (lambda study: study.run(_first, 3, trial_timeout=10**400), StudyError, "trial_timeout must be a"),
        (lambda study: study.add_many([({"x": 1},)]), TrialError, r"is \(config, value\) or \(config, value"),
        (
            lambda study: study.add_many([(1, 2, 3, 4)]),
            TrialError,
            r"is \(config, value\) or \(config, value",
        ),
        (lambda study: study.trial(10**5000), TrialError, "there is no trial a very large number"),
        (lambda study: study.trial(True), TrialError, "a trial is named by its number or a Trial, not True"),
        (lambda study: study.ask(True), TrialError, "ask for a whole number of trials, not True"),
        (lambda study: study.run(_first, True), StudyError, "trials must be a number of trials or None"),
        (lambda study: study.run(_first, 3, workers=True), StudyError, "workers must be a positive integer"),
        (
            lambda study: study.tell(study.ask(), _NoFloat()),
            TrialError,
            r"the value of trial 0 must be a number, and float\(\) of <_NoFloat> .*raises RuntimeError",
        ),
        (lambda study: study.ask(lease=10**5000), TrialError, "lease must be a positive number"),
        (lambda study: bough.studies("sqlite:///a\0b"), StorageError, "has a NUL"),
        (
            lambda study: study.change(changed(y=bough.Float(0, 1)), backfill={"y": 10**5000}),
            StudyError,
            r"backfill: parameter 'y' must be a number in \[0.0, 1.0\], not a very large number",
        ),
        (lambda study: study.add_many([0.5]), TrialError, r"is \(config, value\) .*, not 0.5 \(float\)"),
        (lambda study: study.add_many({"x": 0.5}), TrialError, r"give a list of \(config, value\)"),
        (lambda study: study.add_many(None), TrialError, r"give a list of \(config, value\)"),
        (
            lambda study: study.tell(study.ask(), 1.0, notes={"n": 10**400}),
            TrialError,
            "notes must be JSON data: the number 1000.* is too large",
        ),
        (
            lambda study: study.tell(study.ask(), 1.0, notes={"n": _nested(200)}),
            TrialError,
            "notes must be JSON data: .* nested 100 levels deep at most",
        ),
    ],
)
def test_a_wrong_call_of_a_study(
    act: Callable[[bough.Study], Any], kind: type[BoughError], words: str
) -> None:
    study = bough.Study(space, method="random", seed=0)
    with pytest.raises(kind, match=words):
        act(study)
    assert all(trial.state == "running" for trial in study.trials)


def test_a_number_where_measures_are_needed() -> None:
    study = bough.Study(space, method="random", seed=0, constraints=["memory <= 5"])
    study.run(lambda config: 1.0, 1, progress=False)
    said = "the objective returned 1.0 (float), not a dict with 'value', 'memory'"
    assert study.trials[0].error == said


def earlier() -> bough.Study:
    study = bough.Study(space, name="old", method="random", seed=0)
    for trial in study.ask(3):
        study.tell(trial, 1.0)
    return study


old = earlier()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"constraints": ["x <= 0.5"]}, "'x <= 0.5' names a parameter: .* require="),
        ({"learn_from": [old, old]}, "learn_from names 'old' twice"),
        ({"seed": 10**5000}, "seed must be between 0 and .*, not a very large number"),
        (
            {"objectives": ["a", "b"], "reference": {"a": 10**400}},
            "reference of 'a' must be a finite number, not 1000",
        ),
        ({"space": changed(x=bough.Float(0, 2))}, "its parameter 'x' is float 0 to 1, not float 0 to 2;"),
        (
            {"space": changed(x=bough.Float(0, 1, when="k == 'a'"))},
            "'x' is active always, not when k == 'a';",
        ),
        ({"space": changed(k=bough.Categorical(["a"]))}, "'k' has an option 'b' that yours lacks;"),
        ({"space": changed(k=bough.Categorical(["a", "b", "c"]))}, "'k' lacks your option 'c';"),
    ],
)
def test_a_study_that_cannot_be(options: dict[str, Any], words: str, tmp_path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    if "space" in options:
        bough.Study(space, name="new", storage=storage)
    with pytest.raises(StudyError, match=words):
        bough.Study(options.pop("space", space), name="new", storage=storage, **options)


def test_a_misspelt_measure_is_not_corrected() -> None:
    study = bough.Study(space, objectives={"error": "minimize"}, method="random")
    trial = study.tell(study.ask(), {"error": 1.0})
    with pytest.raises(TrialError, match="trial 0 has no measure 'eror': did you mean 'error'"):
        study.correct(trial, {"eror": 0.5}, "a slip")
    assert study.correct(trial, {"error": 0.5, "memory": 3}, "a slip").measures == {"error": 0.5, "memory": 3}


def test_a_space_in_the_place_of_the_objective() -> None:
    with pytest.raises(StudyError, match="must be a function of a trial, not Space"):
        bough.minimize(space, trials=2)  # type: ignore[arg-type]


def test_a_text_is_no_list_of_options() -> None:
    for ask in (lambda trial: trial.categorical("k", "abc"), lambda trial: trial.choice("k", "abc")):
        study = bough.minimize(lambda trial, ask=ask: len(ask(trial)), trials=1, progress=False)
        assert "parameter 'k': Categorical options must be a list of values, not 'abc'" in str(
            study.trials[0].error
        )


def test_an_error_of_bough_itself_names_no_line_of_bough() -> None:
    study = bough.minimize(lambda trial: 1.0, trials=1, progress=False)
    assert "asked its trial for nothing" in str(study.trials[0].error)
    assert "learned_study.py" not in str(study.trials[0].error)


def test_an_option_that_a_condition_misspells_is_named_once() -> None:
    with pytest.raises(SpaceError) as error:
        bough.Space({"m": bough.Categorical(["a", "b"]), "x": bough.Float(0, 1, when="m == 'c'")})
    assert str(error.value).endswith("'c' is not a value of 'm', which must be one of 'a', 'b'")


def test_a_folder_is_no_storage(tmp_path) -> None:
    with pytest.raises(BoughError, match="names a folder, not a file"):
        bough.Study(space, name="s", storage=f"sqlite:///{tmp_path}")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"x": bough.Float(0, 1)}, r"not dict; write bough.Space\(\{...\}\)"),
        (lambda config: 1.0, r"not function; minimize\(objective, space\) and study.run\(objective\) take"),
    ],
)
def test_something_else_in_the_place_of_the_space(wrong: Any, words: str) -> None:
    with pytest.raises(BoughError, match=words):
        bough.minimize(lambda config: 1.0, wrong, trials=2)


def test_an_objective_is_no_argument_of_a_study() -> None:
    with pytest.raises(MalformedError, match=r"study.run\(objective\) take an objective"):
        bough.Study(lambda config: 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="too many arguments: only 'space' may be given without a name"):
        bough.Study(lambda config: 1.0, space)  # type: ignore[arg-type, call-arg]


def test_options_that_no_function_here_has() -> None:
    study = bough.Study(space, method="random", seed=0)
    with pytest.raises(TypeError, match="'trial': did you mean 'trials'"):
        study.run(lambda config: 1.0, trial=7)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'direction': use bough.minimize or bough.maximize, or objectives="):
        bough.minimize(lambda config: 1.0, space, direction="maximize")  # type: ignore[call-arg]
    with pytest.raises(StudyError, match="called with two arguments, study and trial, which '<lambda>' does"):
        study.run(lambda config: 1.0, 3, callbacks=[lambda study: None])


def test_options_in_a_set_have_no_order() -> None:
    with pytest.raises(SpaceError, match="must be a list: a set has another order in every process"):
        bough.Categorical({"a", "b"})  # type: ignore[arg-type]
    study = bough.minimize(lambda trial: len(trial.choice("k", {"a", "b"})), trials=1, progress=False)
    assert "a set has another order" in str(study.trials[0].error)
    assert bough.Categorical({"b": 1, "a": 2}.keys()).options == ("b", "a")  # type: ignore[arg-type]


def test_names_of_optuna_have_a_counterpart() -> None:
    study: Any = bough.Study(space, method="random", seed=0)
    with pytest.raises(AttributeError, match=r"no attribute 'best_params': write study\.best\.config"):
        study.best_params  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'trails'$"):
        study.trails  # noqa: B018

    def prunes(config: Any, run: Any) -> float:
        run.report(0.5, 1)
        return 1.0 if run.should_prune() else 0.0

    with pytest.raises(TypeError, match="'n_trials': did you mean 'trials'"):
        study.run(prunes, n_trials=1, progress=False)
    with pytest.raises(TypeError, match="'study_name': did you mean 'name'"):
        bough.Study(space, study_name="s")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'n_trials': bough calls it 'trials', an option of run and minimize"):
        bough.Study(space, n_trials=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'sampler': bough calls it 'method', an option of Study"):
        study.run(prunes, sampler="tpe")
    study.run(prunes, trials=1, progress=False)
    assert "no attribute 'should_prune': write run.stop" in str(study.trials[0].error)


def test_a_misspelt_option_of_a_method() -> None:
    with pytest.raises(BoughError, match="no option 'cost_awar': did you mean 'cost_aware'"):
        bough.Study(space, method=bough.method("auto", cost_awar=False))


def test_an_error_inside_a_property_keeps_its_text():
    class Subclass(bough.Study):
        @property
        def broken(self) -> float:
            return self.nothing_of_the_kind

    study = Subclass(bough.Space({"x": bough.Float(0, 1)}))
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = study.broken
