"""Choose a scaler and a classifier, and tune the classifier, with scikit-learn.

Needs the extra ``sklearn``.

    python examples/sklearn_pipeline.py
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.svm import SVC

import bough

SPACE = bough.Space(
    {
        "scale": bough.Categorical(["standard", "robust"]),
        "model": bough.Choice(
            {
                "logistic": {"C": bough.Float(1e-4, 1e2, log=True)},
                "svm": {"C": bough.Float(1e-2, 1e3, log=True), "gamma": bough.Float(1e-5, 1, log=True)},
                "neighbours": {"n_neighbors": bough.Int(1, 40, log=True)},
            }
        ),
    }
)
SCALERS = {"standard": StandardScaler, "robust": RobustScaler}
MODELS = {"logistic": LogisticRegression, "svm": SVC, "neighbours": KNeighborsClassifier}


def pipeline(config: dict) -> Pipeline:
    """The pipeline for a config: the parameters besides the two choices are arguments of the classifier."""
    arguments = dict(config)
    scaler, model = SCALERS[arguments.pop("scale")], MODELS[arguments.pop("model")]
    return make_pipeline(scaler(), model(**arguments))


def main(trials: int = 30) -> bough.Study:
    inputs, labels = load_wine(return_X_y=True)

    def error(config: dict) -> dict[str, float]:
        folds = 1 - cross_val_score(pipeline(config), inputs, labels, cv=5)
        return {"value": folds.mean(), "noise": folds.std(ddof=1) / np.sqrt(len(folds))}

    study = bough.minimize(error, SPACE, trials=trials, seed=0)
    print(f"error {study.best.value:.1%} with {study.best.config}")
    return study


if __name__ == "__main__":
    main()
