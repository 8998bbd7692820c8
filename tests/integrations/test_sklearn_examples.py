"""Four searches of scikit-learn's example gallery as tasks: the class is swapped, nothing else changes.

Each runs as scikit-learn's search and as ours, on the same data, folds and budget.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits, make_classification
from sklearn.decomposition import NMF, PCA
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from bough.integrations.sklearn import BoughSearchCV

pytestmark = pytest.mark.slow

DIGITS, LABELS = (each[:200] for each in load_digits(return_X_y=True))


def swapped(search: type, *arguments: Any, trials: int, **options: Any) -> Any:
    """scikit-learn's search, or ours with the same arguments."""
    if search is BoughSearchCV:
        return BoughSearchCV(*arguments, trials=trials, random_state=0, **options)
    if search is RandomizedSearchCV:
        return RandomizedSearchCV(*arguments, n_iter=trials, random_state=0, **options)
    return GridSearchCV(*arguments, **options)


def both(other: type, *arguments: Any, **options: Any) -> tuple[Any, Any]:
    return swapped(other, *arguments, **options), swapped(BoughSearchCV, *arguments, **options)


def test_a_random_search_of_a_linear_classifier():
    """Randomized against grid search: an SGD classifier with an elastic net."""
    space = {
        "average": [True, False],
        "l1_ratio": stats.uniform(0, 1),
        "alpha": stats.loguniform(1e-2, 1e0),
    }
    model = SGDClassifier(loss="hinge", penalty="elasticnet", tol=0.01, random_state=0)
    theirs, ours = both(RandomizedSearchCV, model, space, trials=10, cv=3)
    for search in (theirs, ours):
        search.fit(DIGITS, LABELS)
    assert set(theirs.cv_results_) == set(ours.cv_results_)
    assert len(ours.cv_results_["params"]) == 10
    assert set(ours.best_params_) == set(space)
    assert ours.best_score_ > theirs.best_score_ - 0.03
    assert ours.predict(DIGITS).shape == LABELS.shape


def test_a_grid_of_pipelines_with_different_steps():
    """Dimensionality reduction selected by a grid: a list of dicts whose steps have different parameters."""
    pipeline = Pipeline(
        [
            ("scaling", MinMaxScaler()),
            ("reduce_dim", "passthrough"),
            ("classify", LogisticRegression(max_iter=300, tol=0.01)),
        ]
    )
    grid = [
        {
            "reduce_dim": [
                PCA(iterated_power=7, random_state=0),
                NMF(max_iter=50, tol=0.01, random_state=0),
            ],
            "reduce_dim__n_components": [4, 12],
            "classify__C": [1, 10, 100],
        },
        {
            "reduce_dim": [SelectKBest(chi2)],
            "reduce_dim__k": [4, 12],
            "classify__C": [1, 10, 100],
        },
    ]
    theirs, ours = both(GridSearchCV, pipeline, grid, trials=10, cv=3)
    for search in (theirs, ours):
        search.fit(DIGITS, LABELS)
    assert len(theirs.cv_results_["params"]) == 18
    assert len(ours.cv_results_["params"]) == 10
    assert all(
        ("reduce_dim__k" in each) != ("reduce_dim__n_components" in each)
        for each in ours.cv_results_["params"]
    )
    assert np.ma.getmaskarray(ours.cv_results_["param_reduce_dim__k"]).any()
    assert ours.best_score_ > theirs.best_score_ - 0.03


def test_nested_cross_validation():
    """Nested against flat cross-validation: a search is an estimator that others clone and fit."""
    data, labels = make_classification(150, 6, random_state=0)
    space = {"C": [1, 10, 100], "gamma": [0.01, 0.1]}
    for search in both(
        GridSearchCV, SVC(kernel="rbf"), space, trials=6, cv=KFold(4, shuffle=True, random_state=0)
    ):
        flat = search.fit(data, labels).best_score_
        nested = cross_val_score(search, data, labels, cv=KFold(4, shuffle=True, random_state=1))
        assert nested.shape == (4,) and 0.6 < nested.mean() < flat + 0.05


def test_several_metrics_of_a_tree():
    """Several metrics at once, the winner chosen by one of them."""
    from sklearn.datasets import make_hastie_10_2
    from sklearn.tree import DecisionTreeClassifier

    data, labels = make_hastie_10_2(n_samples=600, random_state=42)
    space = {"min_samples_split": range(2, 403, 20)}
    scoring = {"AUC": "roc_auc", "Accuracy": "accuracy"}
    model = DecisionTreeClassifier(random_state=42)
    theirs, ours = both(GridSearchCV, model, space, trials=10, cv=3, scoring=scoring, refit="AUC")
    for search in (theirs, ours):
        search.fit(data, labels)
        assert {"mean_test_AUC", "std_test_Accuracy", "rank_test_AUC"} <= set(search.cv_results_)
    assert ours.best_score_ > theirs.best_score_ - 0.02
