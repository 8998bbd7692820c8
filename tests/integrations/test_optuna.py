"""The sampler against Optuna's own test suite for samplers, and what it adds: branches, failures, pruning."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable

import optuna
import pytest
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)
from optuna.trial import TrialState, create_trial

import bough
from bough.errors import BoughError, SpaceError, StudyError
from bough.integrations.optuna import BoughSampler
from bough.integrations.optuna_trials import domains_of, whole_trials
from bough.space.discovery import discover

optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.mark.slow
class TestOptunasOwnSuite(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: BoughSampler(seed=0)


def branching(trial: optuna.Trial) -> float:
    model = trial.suggest_categorical("model", ["svm", "forest", "bayes"])
    if model == "svm":
        c = trial.suggest_float("C", 1e-3, 1e3, log=True)
        kernel = trial.suggest_categorical("kernel", ["linear", "rbf"])
        gamma = trial.suggest_float("gamma", 1e-3, 1e3, log=True) if kernel == "rbf" else 1.0
        return abs(c - 10.0) ** 0.2 + abs(gamma - 0.1) ** 0.2
    if model == "forest":
        return 3.0 + 0.1 * trial.suggest_int("depth", 1, 10)
    return 5.0


@pytest.mark.slow
def test_it_learns_branches_and_beats_random_search() -> None:
    best = {}
    for name, make in {"bough": BoughSampler, "random": optuna.samplers.RandomSampler}.items():
        study = optuna.create_study(sampler=make(seed=3))
        study.optimize(branching, n_trials=40)
        best[name] = study.best_value
    assert best["bough"] < best["random"]


def test_one_seed_gives_one_sequence_also_after_a_copy_and_resuming() -> None:
    def run(interrupted: bool) -> list[dict[str, object]]:
        sampler: BaseSampler = BoughSampler(seed=5)
        study = optuna.create_study(sampler=sampler)
        study.optimize(branching, n_trials=8)
        if interrupted:
            study.sampler = copy.deepcopy(sampler)
        study.optimize(branching, n_trials=4)
        return [trial.params for trial in study.trials]

    assert run(False) == run(True)


def test_a_given_space_is_used_from_the_first_trial() -> None:
    space = bough.Space({"model": bough.Choice({"a": {"x": bough.Float(0, 1)}, "b": {"y": bough.Int(1, 5)}})})

    def objective(trial: optuna.Trial) -> float:
        if trial.suggest_categorical("model", ["a", "b"]) == "a":
            return trial.suggest_float("x", 0, 1)
        return float(trial.suggest_int("y", 1, 5))

    study = optuna.create_study(sampler=BoughSampler(space, seed=0))
    native = bough.Study(space, seed=0)
    for _ in range(12):
        study.optimize(objective, n_trials=1)
        trial = native.ask()
        native.tell(trial, trial.config.get("x", trial.config.get("y")))
        assert study.trials[-1].params == trial.config


def test_failed_trials_teach_where_not_to_go() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if x < 0.7:
            raise RuntimeError("out of memory")
        return x

    def failures(learn: bool) -> int:
        study = optuna.create_study(sampler=BoughSampler(seed=1, learn_failures=learn))
        study.optimize(objective, n_trials=16, catch=RuntimeError)
        return sum(trial.state == optuna.trial.TrialState.FAIL for trial in study.trials)

    assert failures(True) < failures(False)


def test_pruned_trials_inform_the_model() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        for step in range(5):
            trial.report((x - 0.3) ** 2 + 1.0 / (1 + step), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return (x - 0.3) ** 2 + 0.2

    study = optuna.create_study(sampler=BoughSampler(seed=0), pruner=optuna.pruners.MedianPruner(3, 1))
    study.optimize(objective, n_trials=25)
    assert any(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
    assert abs(study.best_params["x"] - 0.3) < 0.03


def test_a_predicted_value_of_a_pruned_trial_is_no_noise() -> None:
    """A noisy objective would have its best trial repeated."""

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        for step in range(5):
            trial.report(x + 1.0 / (1 + step), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    study = optuna.create_study(sampler=BoughSampler(seed=0), pruner=optuna.pruners.MedianPruner(3, 1))
    study.optimize(objective, n_trials=16)
    assert any(trial.state == TrialState.PRUNED for trial in study.trials)
    assert len({trial.params["x"] for trial in study.trials}) >= 15


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("reports", [False, True])
@pytest.mark.parametrize("error", [RuntimeError(), optuna.TrialPruned()])
def test_trials_without_a_value_are_not_repeated(error: Exception, reports: bool, learn: bool) -> None:
    """Pruned without a report they are failures. With one, they wait for a trial that got as far."""

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        if x > 0.5:
            if reports:
                trial.report(x, 1)
            raise error
        return (x - 0.2) ** 2

    study = optuna.create_study(sampler=BoughSampler(seed=0, learn_failures=learn))
    study.optimize(objective, n_trials=12, catch=RuntimeError)
    lost = [trial.params["x"] for trial in study.trials if trial.state != TrialState.COMPLETE]
    assert 0 < len(lost) == len(set(lost)) < 6


def test_brackets_of_hyperband() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        for step in range(9):
            trial.report(x + 1.0 / (1 + step), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=9)
    study = optuna.create_study(sampler=BoughSampler(seed=0), pruner=pruner)
    study.optimize(objective, n_trials=20)
    assert study.best_value < 0.1


@pytest.mark.parametrize("method", ["auto", "gp"])
def test_trials_may_run_side_by_side(method: str) -> None:
    """One asks for what only another one that runs has asked for."""
    study = optuna.create_study(sampler=BoughSampler(seed=0, method=method))
    for _ in range(3):
        running = [study.ask() for _ in range(3)]
        values = [branching(trial) for trial in running]
        for trial, value in zip(running, values, strict=True):
            study.tell(trial, value)
    assert len(study.trials) == 9


def test_an_unknown_method_is_refused_at_once() -> None:
    with pytest.raises(BoughError, match="unknown method 'foo'"):
        BoughSampler(method="foo")


def test_maximising_mirrors_minimising() -> None:
    sequences = []
    for direction, sign in (("minimize", 1.0), ("maximize", -1.0)):
        study = optuna.create_study(sampler=BoughSampler(seed=2), direction=direction)
        study.optimize(lambda trial, s=sign: s * branching(trial), n_trials=12)  # type: ignore[misc]
        sequences.append([trial.params for trial in study.trials])
    assert sequences[0] == sequences[1]


def test_enqueued_trials_and_options_that_are_not_json() -> None:
    class Plain:
        pass

    options = [Plain, None, "x"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=BoughSampler(seed=0))
        study.enqueue_trial({"kind": None, "x": 0.5})
        study.optimize(
            lambda trial: (
                float(trial.suggest_categorical("kind", options) is Plain)  # type: ignore[arg-type]
                + trial.suggest_float("x", 0, 1)
            ),
            n_trials=15,
        )
    assert study.trials[0].params == {"kind": None, "x": 0.5}
    assert study.best_value < 0.2


GIVEN = bough.Space(
    {
        "x": bough.Float(0, 1),
        "model": bough.Choice({"a": {"lr": bough.Float(0, 0.1)}, "b": {"lr": bough.Float(0.5, 1)}}),
    }
)


def of_given_space(trial: optuna.Trial) -> float:
    low, high = (0.0, 0.1) if trial.suggest_categorical("model", ["a", "b"]) == "a" else (0.5, 1.0)
    return trial.suggest_float("x", 0, 1) + trial.suggest_float("lr", low, high)


@pytest.mark.parametrize("space", [None, GIVEN])
@pytest.mark.parametrize("state", [TrialState.RUNNING, TrialState.FAIL])
def test_trials_that_asked_for_a_part_of_their_path(space: bough.Space | None, state: TrialState) -> None:
    study = optuna.create_study(sampler=BoughSampler(space, method="random", seed=0))
    study.optimize(of_given_space, n_trials=3)
    for value in (0.5, 5.0):  # one of the two is outside of the given range, too
        wide = optuna.distributions.FloatDistribution(0, 10)
        part = create_trial(state=state, params={"x": value}, distributions={"x": wide})
        study._storage.create_new_trial(study._study_id, part)
    study.optimize(of_given_space, n_trials=3)
    assert sum(trial.state == TrialState.COMPLETE for trial in study.trials) == 6


def test_one_name_on_two_branches_of_a_given_space() -> None:
    study = optuna.create_study(sampler=BoughSampler(GIVEN, method="random", seed=0))
    study.optimize(of_given_space, n_trials=8)
    drawn = [trial.params for trial in study.trials]
    assert {config["model"] for config in drawn} == {"a", "b"}
    for config in drawn:
        assert config == GIVEN.validate(config)


@pytest.mark.parametrize("error", [RuntimeError("halfway"), optuna.TrialPruned()])
def test_a_failure_halfway_is_no_branch(error: Exception) -> None:
    study = optuna.create_study(sampler=BoughSampler(method="random", seed=0))

    def objective(trial: optuna.Trial) -> float:
        model = trial.suggest_categorical("model", ["svm", "forest"])
        if trial.number % 3 == 0:
            raise error
        return trial.suggest_float("C", 0, 1) if model == "svm" else trial.suggest_float("depth", 0, 1)

    study.optimize(objective, n_trials=12, catch=RuntimeError)
    domains = domains_of({n: d for t in study.trials for n, d in t.distributions.items()}, study.trials)
    kept, runs = whole_trials(study.trials, domains)
    assert [trial.number for trial in kept] == [n for n in range(12) if n % 3]
    space, _ = discover(domains, runs)
    assert {parameter.name for parameter in space} == {"model", "C", "depth"}


def test_a_branch_that_always_fails_is_kept() -> None:
    study = optuna.create_study(sampler=BoughSampler(method="random", seed=0))

    def objective(trial: optuna.Trial) -> float:
        if trial.suggest_categorical("model", ["svm", "forest"]) == "svm":
            raise RuntimeError("svm never works")
        return trial.suggest_float("depth", 0, 1)

    study.optimize(objective, n_trials=12, catch=RuntimeError)
    domains = domains_of({n: d for t in study.trials for n, d in t.distributions.items()}, study.trials)
    assert len(whole_trials(study.trials, domains)[0]) == 12


def test_enqueued_values_outside_of_their_range_tell_nothing() -> None:
    study = optuna.create_study(sampler=BoughSampler(seed=0))
    for params in ({"x": 5.0}, {"x": 0.25, "n": 4}, {"n": 99}):
        study.enqueue_trial(params)

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1, step=0.5)
        return x + (trial.suggest_int("n", 1, 9) if x > 0 else trial.suggest_float("y", 0, 1))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna says that the values are out of range
        study.optimize(objective, n_trials=10)
        study.enqueue_trial({"x": 7.0})
        study.optimize(objective, n_trials=1)  # "n" is asked for on a path that no proposal has
    assert [trial.params["x"] for trial in study.trials[:2]] == [5.0, 0.25]
    assert all(trial.params["x"] in (0.0, 0.5, 1.0) for trial in study.trials[2:-1])


@pytest.mark.parametrize(("high", "log"), [(2**62, False), (2**40, True), (10**30, True)])
def test_integers_too_large_for_an_int_of_bough(high: int, log: bool) -> None:
    study = optuna.create_study(sampler=BoughSampler(seed=0))
    study.optimize(lambda trial: float(trial.suggest_int("seed", 1, high, log=log)), n_trials=6)
    assert all(isinstance(trial.params["seed"], int) for trial in study.trials)
    assert study.best_value < high / 1000


def test_a_range_that_bough_cannot_search_is_named() -> None:
    study = optuna.create_study(sampler=BoughSampler(seed=0))
    with pytest.raises(SpaceError, match=r"^parameter 'wide': .* too wide"):
        study.optimize(lambda trial: trial.suggest_float("wide", -1e308, 1e308), n_trials=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed must be between 0 and"),
        ({"seed": "a"}, "seed must be an integer, not 'a'"),
        ({"space": {"x": bough.Float(0, 1)}}, "needs a bough.Space, not dict"),
        (
            {"space": bough.Space({"x": bough.Float(0, 1), "epochs": bough.Int(1, 9, fidelity=True)})},
            "does not choose the fidelity 'epochs'",
        ),
        ({"constraints_func": 3}, "^constraints_func must be a function of a finished trial, not 3$"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        BoughSampler(**arguments)  # type: ignore[arg-type]


def test_the_config_of_defaults_is_the_first_trial() -> None:
    space = bough.Space({"x": bough.Float(0, 1, default=0.25), "n": bough.Int(1, 9)})
    study = optuna.create_study(sampler=BoughSampler(space, seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_int("n", 1, 9), n_trials=2)
    assert study.trials[0].params == bough.Study(space, seed=0).ask().config
