"""Choose and tune a scikit-learn classifier: the space of Lévesque et al. 2017 (sec. V) on real data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "cash"

CASH_DATA = (
    "adult", "bank", "car", "chess_krvk", "letter", "magic", "musk2", "page_blocks", "pima", "semeion",
    "spambase", "german_credit", "statlog_image", "statlog_shuttle", "steel_plates", "titanic", "thyroid",
    "wine_quality_red", "openml_46_splice", "openml_772_quake", "openml_917_fri_c1_1000_25",
    "openml_1049_pc4",
)  # fmt: skip
"""The paper's 24 data sets without OpenML 389 (fbis.wc), which could not be had, and OpenML 184, which is
``chess_krvk`` once more."""


def cash_space() -> bough.Space:
    """Nine classifiers, 14 hyperparameters, one level of conditions."""

    def leaf_sizes() -> dict[str, bough.Int]:
        return {
            "max_depth": bough.Int(1, 10),
            "min_samples_split": bough.Int(2, 100),
            "min_samples_leaf": bough.Int(2, 100),
        }

    return bough.Space(
        {
            "classifier": bough.Choice(
                {
                    "knn": {"n_neighbors": bough.Int(1, 30)},
                    "svm": {
                        "C": bough.Float(1e-5, 1e5, log=True),
                        "gamma": bough.Float(1e-5, 1e5, log=True),
                    },
                    "linsvm": {"C": bough.Float(1e-5, 1e5, log=True)},
                    "dt": leaf_sizes(),
                    "rf": {"n_estimators": bough.Int(1, 30), **leaf_sizes()},
                    "adab": {"n_estimators": bough.Int(1, 30)},
                    "gnb": {},
                    "lda": {},
                    "qda": {"reg_param": bough.Float(1e-3, 1e3, log=True)},
                }
            )
        }
    )


def artificial_cash(seed: int = 0) -> Problem:
    """A smooth function over the CASH space that costs nothing to evaluate, for timing suggestions."""
    space = cash_space()
    rng = np.random.default_rng([seed, 99])
    centre = rng.uniform(0.2, 0.8, len(space))
    weight = rng.uniform(0.5, 2.0, len(space))
    names = list(space.tree.groups)
    offset = rng.uniform(0, 0.5, len(names))

    def function(config: Config) -> float:
        point = space.encode([config])
        active = space.layout.active(point.on)[0] & ~space.layout.switch
        gap = (point.x[0] - centre)[active]
        return float(np.sum(weight[active] * gap**2) + np.sum(offset[point.on[0]]))

    return Problem("cash-artificial", space, function, None, lambda c: c["classifier"])


def cash(dataset: str, *, rows: int = 1000, seed: int = 0) -> Problem:
    """5-fold cross-validated error of a data set of the ``cash`` folder, at most ``rows`` rows of it."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.preprocessing import StandardScaler

    stored = np.load(DATA / f"{dataset}.npz")
    rng = np.random.default_rng([seed, 5])
    chosen = rng.permutation(len(stored["y"]))[:rows]
    features = StandardScaler().fit_transform(stored["X"][chosen].astype(float))
    labels = stored["y"][chosen]
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)

    def function(config: Config) -> float:
        model = classifier(config)
        return float(1 - np.mean(cross_val_score(model, features, labels, cv=folds, error_score="raise")))

    return Problem(f"cash-{dataset}", cash_space(), function, None, lambda c: c["classifier"])


def classifier(config: Config):
    """The scikit-learn estimator that a config of ``cash_space`` stands for."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    options = {name: value for name, value in config.items() if name != "classifier"}
    if config["classifier"] == "qda":
        # the paper's range reaches beyond what scikit-learn accepts as a share of regularisation
        options["reg_param"] = options["reg_param"] / (1 + options["reg_param"])
    kinds = {
        "knn": KNeighborsClassifier,
        "svm": lambda **o: SVC(max_iter=20_000, **o),
        "linsvm": lambda **o: LinearSVC(max_iter=2_000, **o),
        "dt": lambda **o: DecisionTreeClassifier(random_state=0, **o),
        "rf": lambda **o: RandomForestClassifier(random_state=0, **o),
        "adab": lambda **o: AdaBoostClassifier(random_state=0, **o),
        "gnb": GaussianNB,
        "lda": LinearDiscriminantAnalysis,
        "qda": QuadraticDiscriminantAnalysis,
    }
    return kinds[config["classifier"]](**options)
