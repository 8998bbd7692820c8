"""``BoughSearchCV(race=True)``: who is dropped, ``cv_results_`` against cross-validation, errors."""

from __future__ import annotations

import pickle
import warnings
from typing import Any, ClassVar

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_validate
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bough.errors import StudyError
from bough.integrations.sklearn import BoughSearchCV

X, Y = load_iris(return_X_y=True)


class Level(BaseEstimator):
    """Scores its level plus the mean of the fold. ``fits`` has the levels that were fitted."""

    fits: ClassVar[list[float]] = []

    def __init__(self, level: float = 0.0, fails_above: float = np.inf) -> None:
        self.level = level
        self.fails_above = fails_above

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Level:
        self.fits.append(self.level)
        if X.mean() > self.fails_above:
            raise RuntimeError("too high")
        self.weight_ = 0.0 if sample_weight is None else float(np.sum(sample_weight))
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return float(self.level + X.mean() + 0.05 * np.sin(100 * self.level + X.sum()))


ROWS = np.arange(20.0)[:, None] % 7
LEVELS = {"level": [0.0, 1.0, 2.0, 3.0, -1.0, -2.0]}


def raced(estimator: Any = None, space: Any = LEVELS, **options: Any) -> BoughSearchCV:
    options = {"trials": 6, "cv": 5, "random_state": 0, "method": "random", "race": True, **options}
    return BoughSearchCV(Level() if estimator is None else estimator, space, **options)


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_results_are_those_of_cross_validation(jobs: int) -> None:
    folds = StratifiedKFold(6, shuffle=True, random_state=0)
    metrics = ["accuracy", "neg_mean_squared_error"]
    space = {"max_depth": stats.randint(1, 5), "criterion": ["gini", "entropy"]}
    search = raced(
        DecisionTreeClassifier(random_state=0),
        space,
        trials=7,
        cv=folds,
        scoring=metrics,
        refit="accuracy",
        return_train_score=True,
        n_jobs=jobs,
    )
    with parallel_config(backend="threading"), warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, Y)
    found = search.cv_results_
    assert search.n_splits_ == 6
    assert len(found["params"]) == 7 and not np.ma.is_masked(found["param_max_depth"])
    assert 6 in found["n_folds"] and min(found["n_folds"]) < 6
    for row, params in enumerate(found["params"]):
        expected = cross_validate(
            clone(search.estimator).set_params(**params),
            X,
            Y,
            cv=folds,
            scoring=metrics,
            return_train_score=True,
        )
        ran = [fold for fold in range(6) if not np.isnan(found[f"split{fold}_test_accuracy"][row])]
        assert len(ran) == found["n_folds"][row]
        for name in (f"{part}_{metric}" for part in ("test", "train") for metric in metrics):
            splits = [found[f"split{fold}_{name}"][row] for fold in range(6)]
            np.testing.assert_allclose(np.array(splits)[ran], expected[name][ran], rtol=1e-12)
            assert found[f"mean_{name}"][row] == pytest.approx(expected[name][ran].mean(), rel=1e-12)
            assert found[f"std_{name}"][row] == pytest.approx(expected[name][ran].std(), rel=1e-9)
        assert found["mean_fit_time"][row] > 0
    complete = found["n_folds"] == 6
    for metric in metrics:
        ranks, means = found[f"rank_test_{metric}"], found[f"mean_test_{metric}"][complete]
        np.testing.assert_array_equal(ranks[complete], stats.rankdata(-means, method="min"))
        assert set(ranks[~complete]) == {complete.sum() + 1}
    assert complete[search.best_index_]
    assert search.best_score_ == max(found["mean_test_accuracy"][complete]) == search.study_.best.value
    for trial, row in zip(search.study_.trials, range(7), strict=True):
        kept = {metric: pytest.approx(found[f"mean_test_{metric}"][row]) for metric in metrics}
        assert trial.measures == (kept if complete[row] else {})
    states = ["done" if each else "stopped" for each in complete]
    assert [trial.state for trial in search.study_.trials] == states


def test_losers_are_dropped_after_three_of_five_folds() -> None:
    Level.fits.clear()
    search = raced(refit=False).fit(ROWS)
    seen: list[float] = []
    for params, ran in zip(search.cv_results_["params"], search.cv_results_["n_folds"], strict=True):
        # levels differ by far more than the noise: a candidate loses unless it is the best one so far
        assert ran == (5 if params["level"] >= max(seen, default=-np.inf) else 3)
        assert Level.fits.count(params["level"]) == ran
        seen.append(params["level"])
    assert search.best_params_ == {"level": 3.0}


def test_all_candidates_see_the_same_folds_of_a_splitter_that_draws_them() -> None:
    search = raced(space={"level": [1.0] * 4}, trials=4, cv=KFold(6, shuffle=True)).fit(ROWS)
    assert list(search.cv_results_["n_folds"]) == [6] * 4
    for fold in range(6):
        assert len(set(search.cv_results_[f"split{fold}_test_score"])) == 1


@pytest.mark.parametrize("jobs", [2, 4])
def test_parallel_jobs_stay_busy(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    together: list[int] = []
    search = raced(space={"level": stats.uniform(0, 1)}, trials=24, n_jobs=jobs, cv=10)
    run = BoughSearchCV._format_results

    def counted(self: Any, candidates: list[Any], *rest: Any) -> Any:
        together.append(len(candidates) - sum(together))
        return run(self, candidates, *rest)

    monkeypatch.setattr(BoughSearchCV, "_format_results", counted)
    with parallel_config(backend="threading"):
        search.fit(ROWS)
    assert sum(together) == sum(search.cv_results_["n_folds"]) < 24 * 10
    assert np.mean([each >= jobs for each in together]) > 0.6
    assert max(together) < 2 * jobs


def test_groups_and_weights_reach_splitter_and_estimator() -> None:
    groups = np.arange(20) // 4
    warnings.simplefilter("ignore")  # scikit-learn: the scorer takes no weights
    weights = []

    def weighed(estimator: Level, X: Any, y: Any = None) -> float:
        weights.append(estimator.weight_)
        return estimator.score(X)

    plain = raced(cv=GroupKFold(5), scoring=weighed, trials=1)
    plain.fit(ROWS, groups=groups, sample_weight=np.arange(20.0))
    assert sorted(weights[:5]) == sorted(190.0 - sum(range(4 * g, 4 * g + 4)) for g in range(5))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = raced(
            Level().set_fit_request(sample_weight=True), cv=GroupKFold(5), trials=1, scoring=weighed
        )
        routed.fit(ROWS, groups=groups, sample_weight=np.arange(20.0))
    np.testing.assert_array_equal(routed.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_a_failing_fit_ends_its_candidate_or_has_the_error_score() -> None:
    high = {"level": [1.0, 2.0], "fails_above": [3.0, 9.0]}  # the mean of one of the five folds is above 3.0
    folds = list(KFold(5).split(ROWS))
    assert sum(ROWS[train].mean() > 3.0 for train, _ in folds) == 1
    with pytest.warns(FitFailedWarning):
        search = raced(space=high, trials=4, error_score=np.nan, cv=folds).fit(ROWS)
    failed = [trial for trial in search.study_.trials if trial.state == "failed"]
    assert {trial.config["fails_above"] for trial in failed} == {3.0}
    assert all(trial.error.endswith("RuntimeError: too high") for trial in failed)
    assert search.best_params_["fails_above"] == 9.0
    with pytest.warns(FitFailedWarning):
        search = raced(Level(fails_above=3.0), trials=1, error_score=-5.0, cv=folds).fit(ROWS)
    model = search.best_estimator_
    with pytest.warns(FitFailedWarning):
        expected = cross_validate(model, ROWS, cv=folds, error_score=-5.0)["test_score"]
    assert min(expected) == -5.0
    assert search.best_score_ == search.study_.best.value == pytest.approx(expected.mean(), rel=1e-12)
    with pytest.raises(RuntimeError, match="too high"):
        raced(space={**high, "fails_above": [3.0]}, error_score="raise", cv=folds).fit(ROWS)


def test_a_search_whose_fits_all_fail_says_so() -> None:
    never = {"level": [1.0, 2.0], "fails_above": [-1.0]}
    for race in (True, False):
        search = raced(space=never, trials=9, race=race)
        with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="fits failed"):
            search.fit(ROWS)
        assert [trial.state for trial in search.study_.trials] == ["failed"] * 2


def test_a_score_that_is_not_a_number_fails_the_candidate() -> None:
    def no_number(estimator: Level, X: Any, y: Any = None) -> float:
        return np.nan if estimator.level < 2 else estimator.score(X)

    with pytest.warns(UserWarning, match="non-finite"):
        search = raced(scoring=no_number).fit(ROWS)
    failed = [trial.error for trial in search.study_.trials if trial.state == "failed"]
    assert len(failed) == 4 and all("the score is nan" in error for error in failed)
    assert search.best_params_ == {"level": 3.0}


def test_a_stored_race_goes_on_against_its_incumbent(tmp_path: Any) -> None:
    stored = {"storage": f"sqlite:///{tmp_path}/s.db", "name": "s"}
    first = raced(space={"level": stats.uniform(0, 1)}, trials=1, study=stored)
    first.fit(ROWS)
    first.study_.enqueue({"level": 0.999}), first.study_.enqueue({"level": 0.001})
    again = clone(first)
    assert again.fit(ROWS).best_params_ == {"level": 0.999}
    lost = clone(first).fit(ROWS)  # its only candidate loses; the best of all fits is scored again
    assert list(lost.cv_results_["n_folds"]) == [3, 5]
    assert lost.best_params_ == {"level": 0.999} and lost.best_score_ == again.best_score_
    assert len(lost.study_.trials) == 3
    with pytest.raises(StudyError, match="races over folds: open it with race=True"):
        clone(first).set_params(race=False).fit(ROWS)
    with pytest.raises(StudyError, match="5 instances, and they changed"):
        clone(first).set_params(cv=6).fit(ROWS)


def test_a_study_without_a_race_cannot_begin_one(tmp_path: Any) -> None:
    stored = {"storage": f"sqlite:///{tmp_path}/s.db", "name": "s"}
    raced(race=False, trials=1, study=stored).fit(ROWS)
    with pytest.raises(StudyError, match="run without instances"):
        raced(study=stored).fit(ROWS)


@pytest.mark.parametrize(("folds", "options"), [(3, {"cv": 3}), (2, {"cv": [([0, 1], [2]), ([1, 2], [0])]})])
def test_too_few_folds_are_refused(folds: int, options: dict[str, Any]) -> None:
    search = raced(**options)
    with pytest.raises(ValueError, match=f"at least 4 folds, and cv makes {folds}"):
        search.fit(ROWS)
    assert search.cv is options["cv"]


def test_an_interrupted_race_leaves_no_trial_running() -> None:
    def interrupted(estimator: Level, X: Any, y: Any = None) -> float:
        if len(search.study_.trials) == 2:
            raise KeyboardInterrupt
        return estimator.score(X)

    search = raced(scoring=interrupted)
    with pytest.raises(KeyboardInterrupt):
        search.fit(ROWS)
    assert [trial.state for trial in search.study_.trials] == ["done", "queued"]
    assert search.cv == 5


def test_a_race_that_is_asked_to_stop_tries_no_further_candidate() -> None:
    def stopping(estimator: Level, X: Any, y: Any = None) -> float:
        search.study_.stop_runs("enough")
        return estimator.score(X)

    search = raced(scoring=stopping)
    assert list(search.fit(ROWS).cv_results_["n_folds"]) == [5]


def test_a_raced_search_is_pickled_and_says_which_fold_runs(capsys: pytest.CaptureFixture[str]) -> None:
    search = raced(verbose=1, trials=2).fit(ROWS)
    assert "Fold 3 of 5: Fitting 1 folds for each of 1 candidates" in capsys.readouterr().out
    copied = pickle.loads(pickle.dumps(search))  # noqa: S301
    assert copied.best_params_ == search.best_params_ and copied.study_.best.value == search.best_score_
    np.testing.assert_array_equal(copied.cv_results_["n_folds"], search.cv_results_["n_folds"])


def test_a_refit_function_that_takes_a_dropped_candidate_is_warned() -> None:
    def fewest(results: dict[str, Any]) -> int:
        return int(np.argmin(results["n_folds"]))

    with pytest.warns(UserWarning, match="which the race dropped after 3 of 5 folds"):
        search = raced(refit=fewest).fit(ROWS)
    assert search.cv_results_["n_folds"][search.best_index_] == 3


def test_several_metrics_need_one_to_race_by() -> None:
    score = make_scorer(lambda y, predicted: 1.0)
    search = raced(LogisticRegression(), {"C": [1.0, 2.0]}, scoring={"a": score, "b": score}, refit=False)
    with pytest.raises(ValueError, match="refit must name"):
        search.fit(X, Y)
    assert not hasattr(search, "study_")

    def scores(model: Any, X: Any, y: Any) -> dict[str, float]:
        return {"a": 1.0, "b": 2.0}

    search = raced(LogisticRegression(), {"C": [1.0, 2.0]}, scoring=scores, refit=False)
    with pytest.raises(ValueError, match="refit must name"):
        search.fit(X, Y)
    assert [trial.state for trial in search.study_.trials] == ["queued"]


@pytest.mark.slow
@parametrize_with_checks(
    [BoughSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, trials=2, cv=4, random_state=0, race=True)],
    expected_failed_checks=lambda estimator: {
        "check_supervised_y_2d": "scikit-learn excuses its own searches",
        "check_requires_y_none": "scikit-learn excuses its own searches",
        "check_dtype_object": "all candidates fail on their first fold, before the refit raises a TypeError",
    },
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
