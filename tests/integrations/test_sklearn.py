"""The search behind scikit-learn's interface: its own checks, branches, lists of dicts, wrong input."""

from __future__ import annotations

import warnings
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import bough
from bough.errors import SpaceError, StudyError
from bough.integrations.sklearn import BoughSearchCV
from bough.integrations.sklearn_space import readable_space

X, Y = load_iris(return_X_y=True)

EXCUSED = {  # scikit-learn excuses its own searches from these
    "check_supervised_y_2d": "DataConversionWarning not caught",
    "check_requires_y_none": "Doesn't fail gracefully",
}


@pytest.mark.slow
@parametrize_with_checks(
    [
        BoughSearchCV(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, trials=2, cv=2, random_state=0),
        BoughSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, trials=2, cv=2, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXCUSED,
)
def test_scikit_learns_checks(estimator, check) -> None:
    check(estimator)


def branching() -> tuple[Pipeline, bough.Space, dict[str, dict[str, object]]]:
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", LogisticRegression())])
    space = bough.Space(
        {
            "scale": bough.Categorical(["standard", "passthrough"]),
            "clf": bough.Choice(
                {
                    "svc": {
                        "C": bough.Float(1e-2, 1e2, log=True),
                        "kernel": bough.Choice(
                            {"linear": {}, "rbf": {"gamma": bough.Float(1e-3, 10, log=True)}}
                        ),
                    },
                    "forest": {"n_estimators": bough.Int(1, 20)},
                }
            ),
        }
    )
    choices = {
        "scale": {"standard": StandardScaler(), "passthrough": "passthrough"},
        "clf": {"svc": SVC(), "forest": RandomForestClassifier(random_state=0)},
    }
    return pipeline, space, choices


def test_estimators_by_label_and_masked_inactive_parameters() -> None:
    pipeline, space, choices = branching()
    search = BoughSearchCV(pipeline, space, choices=choices, trials=14, cv=3, random_state=0).fit(X, Y)
    assert search.best_score_ > 0.93
    assert search.score(X, Y) > 0.9
    assert len(search.cv_results_["params"]) == 14 == len(search.study_.trials)
    assert search.study_.best.value == search.best_score_
    for row, params in enumerate(search.cv_results_["params"]):
        svc = isinstance(params["clf"], SVC)
        assert search.cv_results_["param_clf__C"].mask[row] == (not svc)
        assert ("clf__gamma" in params) == (svc and params["clf__kernel"] == "rbf")
    assert {type(params["clf"]) for params in search.cv_results_["params"]} == {SVC, RandomForestClassifier}


def test_the_same_seed_gives_the_same_search_also_after_clone() -> None:
    pipeline, space, choices = branching()
    search = BoughSearchCV(pipeline, space, choices=choices, trials=6, cv=2, random_state=3)
    first, second = search.fit(X, Y), clone(search).fit(X, Y)
    np.testing.assert_array_equal(first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"])


def test_a_list_of_dicts_as_randomized_search_takes_it() -> None:
    tables = [
        {"kernel": ["rbf"], "C": stats.loguniform(1e-2, 1e2), "gamma": stats.loguniform(1e-3, 10)},
        {
            "kernel": ["poly"],
            "degree": stats.randint(2, 5),
            "coef0": stats.uniform(0, 2),
            "class_weight": [None, "balanced"],
        },
    ]
    search = BoughSearchCV(SVC(), tables, trials=10, cv=2, random_state=1).fit(X, Y)
    kernels = [params["kernel"] for params in search.cv_results_["params"]]
    assert set(kernels) == {"rbf", "poly"}
    for params in search.cv_results_["params"]:
        assert ("gamma" in params) == (params["kernel"] == "rbf")
        assert params.get("degree", 2) in (2, 3, 4)


def test_several_metrics_maximise_the_one_of_refit() -> None:
    search = BoughSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": stats.randint(1, 8)},
        trials=5,
        scoring=["accuracy", "f1_macro"],
        refit="f1_macro",
        random_state=0,
    ).fit(X, Y)
    assert search.study_.best.value == pytest.approx(max(search.cv_results_["mean_test_f1_macro"]))
    for name in ("accuracy", "f1_macro"):
        kept = [trial.measures[name] for trial in search.study_.trials]
        assert kept == pytest.approx(list(search.cv_results_[f"mean_test_{name}"]))


def test_metrics_named_like_parts_of_a_result_do_not_change_it() -> None:
    metrics = dict.fromkeys(("value", "noise", "cost", "right"), "accuracy")
    search = BoughSearchCV(SVC(), {"C": [1.0]}, trials=1, cv=2, scoring=metrics, refit="right").fit(X, Y)
    best = search.study_.best
    assert (best.value, best.noise, best.cost) == (search.best_score_, None, None)
    assert best.measures == {"right": best.value}


def test_a_finite_space_ends_early_and_failures_are_told() -> None:
    search = BoughSearchCV(
        LogisticRegression(), {"C": [1.0, -1.0, 0.1]}, trials=20, cv=2, random_state=0, error_score=np.nan
    )
    with pytest.warns(FitFailedWarning, match="fits failed"):
        search.fit(X, Y)
    assert sorted(trial.state for trial in search.study_.trials) == ["done", "done", "failed"]
    assert search.best_params_["C"] in (1.0, 0.1)


def test_a_stored_search_goes_on_without_a_seed(tmp_path) -> None:
    stored = {"storage": f"sqlite:///{tmp_path}/s.db", "name": "s"}
    for trials in (1, 2):
        search = BoughSearchCV(
            LogisticRegression(), {"C": [0.1, 1.0]}, trials=1, cv=2, method="random", study=stored
        )
        assert len(search.fit(X, Y).study_.trials) == trials


def test_a_search_that_is_asked_to_stop_tries_no_further_candidate() -> None:
    def stopping(estimator: object, x: object, y: object) -> float:
        search.study_.stop_runs("enough")
        return 1.0

    search = BoughSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, trials=3, cv=2, method="random", scoring=stopping
    )
    assert len(search.fit(X, Y).study_.trials) == 1


def test_an_interrupted_search_leaves_no_trial_running() -> None:
    def interrupted(estimator: object, x: object, y: object) -> float:
        raise KeyboardInterrupt

    search = BoughSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, trials=2, cv=2, scoring=interrupted)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    assert [trial.state for trial in search.study_.trials] == ["queued"]


@pytest.mark.parametrize(
    ("space", "choices", "message"),
    [
        ({"C": stats.norm(0, 1)}, None, "parameter 'C': a norm distribution is not"),
        ({"C": stats.uniform(0, 0)}, None, "parameter 'C': Float low must be a finite number"),
        ({"C": {1.0, 2.0}}, None, "'C' must be a list of values"),
        ({"C": {"low": 1}}, None, "'C' must be a list of values"),
        ({"C": bough.Choice({"a": {}, "b": {}})}, None, "'C' is a Choice: make the dict a bough.Space"),
        ({"C": [1.0, 2.0]}, {"C": {"a": SVC()}}, "choices needs a bough.Space"),
        (bough.Space({"C": bough.Float(0, 1)}), 5, "choices must be a dict of dicts"),
        (bough.Space({"C": bough.Float(0, 1)}), {"C": SVC()}, "choices must be a dict of dicts"),
        ({"C": 3.0}, None, "'C' must be a list of values"),
        ({"C": []}, None, "'C' has no values"),
        ("C", None, "space must be a bough.Space, a dict or a list of dicts"),
        (
            bough.Space({"clf": bough.Choice({"a": {}, "b": {}})}),
            {"clf": {"a": SVC()}},
            "no estimator for option 'b'",
        ),
        (bough.Space({"C": bough.Float(0, 1)}), {"clf": {"a": SVC()}}, "choices names 'clf'"),
    ],
)
def test_wrong_spaces_are_named(space, choices, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        BoughSearchCV(SVC(), space, choices=choices, trials=2).fit(X, Y)


def two_metrics(model: Any, X: Any, y: Any) -> dict[str, float]:
    return {"a": 1.0, "b": 2.0}


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="'n_iter': did you mean 'trials'"):
        BoughSearchCV(SVC(), {"C": bough.Float(0.1, 1)}, n_iter=9)
    with pytest.raises(ValueError, match="trials must be"):
        BoughSearchCV(SVC(), {"C": [1, 2]}, trials=0).fit(X, Y)
    search = BoughSearchCV(SVC(), {"C": [1, 2]}, scoring=["accuracy", "f1_macro"], refit=False, trials=1)
    with pytest.raises(ValueError, match="refit must name"):
        search.fit(X, Y)
    assert not hasattr(search, "study_")  # nothing was scored for it
    search = BoughSearchCV(SVC(), {"C": [1, 2]}, scoring=two_metrics, refit=False, trials=1)
    with pytest.raises(ValueError, match="refit must name"):
        search.fit(X, Y)
    assert [trial.state for trial in search.study_.trials] == ["queued"]  # tried first by a corrected search
    for study in ("mine", {"direction": "minimize"}, {"file": "x"}, 5):
        with pytest.raises(
            StudyError, match="study must be a dict with some of learn_from, name, seed, stop"
        ):
            BoughSearchCV(SVC(), {"C": [1, 2]}, study=study).fit(X, Y)


def test_a_dict_may_mix_lists_scipys_distributions_and_parameters_of_bough() -> None:
    space = {
        "C": bough.Float(0.1, 10, log=True),
        "kernel": ["rbf", "poly"],
        "degree": stats.randint(3, 4),
        "gamma": bough.Float(0.1, 1, when="kernel == 'rbf'"),
    }
    search = BoughSearchCV(SVC(), space, trials=6, cv=2, random_state=0).fit(X, Y)
    for params in search.cv_results_["params"]:
        assert params["degree"] == 3
        assert ("gamma" in params) == (params["kernel"] == "rbf")
    assert search.study_.best.config["kernel"] in ("rbf", "poly")


def test_a_stored_search_knows_its_candidates_by_value(tmp_path) -> None:
    """By their place in the list, other values would inherit the scores."""
    stored = {"storage": f"sqlite:///{tmp_path}/s.db", "name": "s"}

    def search(values: list[object], name: str = "clf") -> BoughSearchCV:
        pipeline = Pipeline([("clf", SVC())])
        return BoughSearchCV(pipeline, {name: values}, trials=1, cv=2, random_state=0, study=stored).fit(X, Y)

    first = search([SVC(), LogisticRegression(C=2)])
    assert first.study_.space["clf"].domain.options == ("SVC()", "LogisticRegression(C=2)")
    with pytest.raises(StudyError, match="exists and differs"):
        search([LogisticRegression(C=2), SVC()])
    assert len(search([SVC(), LogisticRegression(C=2)]).study_.trials) == 2


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([None, "balanced", {0: 1.0, 1: 2.0, 2: 1.0}], (None, "balanced", "{0: 1.0, 1: 2.0, 2: 1.0}")),
        (np.array([1, 2]), (1, 2)),
        ([(1, 2), (3,)], ("(1, 2)", "(3,)")),
        ([np.nan, 1.0], ("0: nan", "1: 1.0")),
        ([1, 1.0], ("0: 1", "1: 1.0")),
        ([len, lambda a: a], ("<built-in function len>", "<lambda>")),
    ],
)
def test_lists_of_anything(values, options) -> None:
    space, to_params = readable_space({"p": values}, {})
    assert space["p"].domain.options == options
    for option, value in zip(options, values):
        assert to_params({"p": option})["p"] is value or to_params({"p": option})["p"] == value


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("error_score", [np.nan, -1.0])
def test_the_study_has_the_error_of_a_failed_fit(jobs: int, error_score: float) -> None:
    space = {"C": [1.0, -1.0, 0.1, 2.0]}
    search = BoughSearchCV(SVC(), space, trials=4, cv=2, random_state=0, error_score=error_score)
    with joblib.parallel_config("threading"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.set_params(n_jobs=jobs).fit(X, Y)
    (failed,) = (trial for trial in search.study_.trials if trial.state == "failed")
    assert failed.config == {"C": -1.0}
    assert "InvalidParameterError: The 'C' parameter of SVC must be a float" in failed.error
    results = search.cv_results_
    assert set(results) >= {"mean_test_score", "params"} and not {"fold_scores", "n_folds"} & set(results)
    assert [params["C"] for params in results["params"]] == [t.config["C"] for t in search.study_.trials]
    row = failed.number
    np.testing.assert_equal(results["mean_test_score"][row], error_score)
    assert results["rank_test_score"][row] == 4 and results["rank_test_score"][search.best_index_] == 1


def test_parameters_that_the_estimator_lacks_are_named_before_a_study_exists() -> None:
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", SVC())])
    space = bough.Space({"clf": bough.Choice({"svc": {"C": bough.Float(0.1, 1)}, "other": {}})})
    for wrong, message in [
        (space, "parameter 'clf' replaces an estimator by the text"),
        ({"svm__C": bough.Float(0.1, 1)}, "Invalid parameter 'svm' for estimator Pipeline"),
    ]:
        search = BoughSearchCV(pipeline, wrong, trials=3)
        with pytest.raises(SpaceError, match=message) as caught:
            search.fit(X, Y)
        assert "\n" not in str(caught.value) and not hasattr(search, "study_")


def test_a_fit_that_fails_on_one_fold_is_named() -> None:
    class Picky(SVC):
        def fit(self, x, y):
            if len(x) > 100 and self.C > 1:
                raise RuntimeError("too many rows")
            return super().fit(x, y)

    folds = [(np.arange(90), np.arange(90, 150)), (np.arange(120), np.arange(120, 150))]
    search = BoughSearchCV(Picky(), {"C": [0.5, 2.0]}, trials=2, cv=folds, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, Y)
    assert [t.error for t in search.study_.trials if t.error] == ["on fold 1: RuntimeError: too many rows"]


def test_scores_that_are_not_finite_are_warned_of_once() -> None:
    def score(estimator: SVC, x: object, y: object) -> float:
        return estimator.C if estimator.C < 2 else np.nan

    search = BoughSearchCV(SVC(), {"C": [0.5, 1.0, 2.0, 3.0, 4.0]}, trials=5, cv=2, scoring=score)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        search.fit(X, Y)
    assert [str(each.message) for each in warned] == [
        "3 of 5 candidates have no score; the last one: the score is nan"
    ]
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() == 3 and search.best_params_ == {"C": 1.0}


@pytest.mark.parametrize("race", [False, True])
def test_a_space_that_is_used_up_is_warned_of(race: bool) -> None:
    search = BoughSearchCV(SVC(), {"C": [0.1, 1.0]}, trials=6, cv=4, race=race)
    why = "the search ends before trials=6: all 2 configurations of the space have been tried"
    with pytest.warns(UserWarning, match=f"^{why}$") as warned:
        search.fit(X, Y)
    assert [each.filename for each in warned if str(each.message) == why] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.set_params(trials=2).fit(X, Y)


class BetterWhenRough(ClassifierMixin, BaseEstimator):
    """Scores best at the lowest fidelity."""

    def __init__(self, x: float = 0.0, epochs: int = 1) -> None:
        self.x, self.epochs = x, epochs

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        return 1 - (self.x - 0.3) ** 2 - self.epochs / 100


def test_the_best_candidate_has_the_highest_fidelity():
    space = bough.Space({"x": bough.Float(0, 1), "epochs": bough.Int(1, 9, fidelity=True)})
    search = BoughSearchCV(BetterWhenRough(), space, trials=12, random_state=0, cv=2)
    search.fit(np.zeros((20, 1)), np.arange(20) % 2)
    assert search.best_params_ == search.study_.best.config
    assert search.best_estimator_.epochs == 9
    ranks, rough = (
        search.cv_results_["rank_test_score"],
        [p["epochs"] < 9 for p in search.cv_results_["params"]],
    )
    assert sorted(ranks) == list(range(1, 13)) and max(ranks[np.invert(rough)]) < min(ranks[rough])
