"""The objective of ``bough demo``: the error rate of a scikit-learn classifier on handwritten digits.

The space is from Lévesque et al. 2017, section V: nine classifiers, each with its parameters.
"""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

from bough.errors import MissingExtraError
from bough.space import Choice, Float, Int, Space
from bough.trial import Config

__all__ = ["digits_space", "error_and_size", "error_rate", "load_digits"]


def digits_space() -> Space:
    """Nine classifiers, each with its parameters."""
    leaves = {"max_depth": Int(1, 10), "min_samples_split": Int(2, 100), "min_samples_leaf": Int(2, 100)}
    return Space(
        {
            "classifier": Choice(
                {
                    "nearest": {"n_neighbors": Int(1, 30)},
                    "svm": {"C": Float(1e-5, 1e5, log=True), "gamma": Float(1e-5, 1e5, log=True)},
                    "linear-svm": {"C": Float(1e-5, 1e5, log=True)},
                    "tree": leaves,
                    "forest": {"n_estimators": Int(1, 30), **leaves},
                    "boosting": {"n_estimators": Int(1, 30)},
                    "naive-bayes": {},
                    "lda": {},
                    "qda": {"reg_param": Float(1e-3, 1, log=True)},
                }
            )
        }
    )


def load_digits() -> tuple[Any, Any]:
    """scikit-learn's bundled digits, each feature with mean 0 and variance 1: (1797, 64) and their labels."""
    try:
        from sklearn import datasets
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        raise MissingExtraError(
            "the demo tunes scikit-learn, which is not installed: pip install 'bough-opt[sklearn,plot]'"
        ) from None
    features, labels = datasets.load_digits(return_X_y=True)
    return StandardScaler().fit_transform(features), labels


def error_rate(config: Config, features: Any, labels: Any) -> float:
    """Share of wrong answers in 3-fold cross-validation."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as solvers that stop early: the score shows the effect
        score = cross_val_score(_classifier(config), features, labels, cv=folds, error_score="raise")
    return float(1 - score.mean())


def error_and_size(config: Config, features: Any, labels: Any) -> dict[str, float]:
    """The error rate, and the logarithm of the pickled size of the classifier fitted to all digits."""
    error = error_rate(config, features, labels)
    fitted = _classifier(config)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(features, labels)
    kilobytes = len(pickle.dumps(fitted)) / 1000
    return {"error": error, "log10_kilobytes": math.log10(kilobytes), "kilobytes": kilobytes}


def _classifier(config: Config) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    options = {name: value for name, value in config.items() if name != "classifier"}
    match config["classifier"]:
        case "nearest":
            return KNeighborsClassifier(**options)
        case "svm":
            return SVC(max_iter=5000, **options)
        case "linear-svm":
            return LinearSVC(max_iter=100, random_state=0, **options)
        case "tree":
            return DecisionTreeClassifier(random_state=0, **options)
        case "forest":
            return RandomForestClassifier(random_state=0, **options)
        case "boosting":
            return AdaBoostClassifier(random_state=0, **options)
        case "naive-bayes":
            return GaussianNB()
        case "lda":
            return LinearDiscriminantAnalysis()
        case "qda":
            return QuadraticDiscriminantAnalysis(**options)
    raise ValueError(f"unknown classifier {config['classifier']!r}")
