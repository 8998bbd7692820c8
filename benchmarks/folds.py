"""Fits that ``BoughSearchCV(race=True)`` needs, against scoring every candidate on all folds.

    python -m benchmarks.folds --seeds 5

A branching pipeline is tuned on three datasets of scikit-learn. Both searches have the same space, folds,
seeds and number of candidates. A third of the rows is held out; "test" is the accuracy of the chosen
candidate on these rows. Runs are kept with ``--rows``.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from statistics import fmean

from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from bough.integrations.sklearn import BoughSearchCV

DATASETS = ("breast_cancer", "digits", "wine")
MOST_ROWS = 600
SPACE = bough.Space(
    {
        "scale": bough.Categorical(["none", "standard"]),
        "model": bough.Choice(
            {
                "logistic": {"C": bough.Float(1e-4, 1e2, log=True)},
                "svm": {
                    "C": bough.Float(1e-2, 1e3, log=True),
                    "kernel": bough.Choice({"linear": {}, "rbf": {"gamma": bough.Float(1e-5, 1, log=True)}}),
                },
                "neighbours": {"n_neighbors": bough.Int(1, 40, log=True)},
                "forest": {"max_depth": bough.Int(1, 12), "max_features": bough.Float(0.05, 1.0)},
            }
        ),
    }
)
CHOICES = {
    "scale": {"none": "passthrough", "standard": StandardScaler()},
    "model": {
        "logistic": LogisticRegression(max_iter=200),
        "svm": SVC(max_iter=20_000),
        "neighbours": KNeighborsClassifier(),
        "forest": RandomForestClassifier(20, random_state=0),
    },
}


def searched(dataset: str, folds: int, trials: int, race: bool, seed: int) -> dict[str, float]:
    """The number of fits of one search, its best score, and the accuracy on held-out rows."""
    X, y = (each[:MOST_ROWS] for each in getattr(datasets, f"load_{dataset}")(return_X_y=True))
    X, kept_out, y, labels = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    cv = StratifiedKFold(folds, shuffle=True, random_state=seed)
    search = BoughSearchCV(
        pipeline, SPACE, choices=CHOICES, trials=trials, cv=cv, race=race, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # solvers that did not converge
        search.fit(X, y)
    fits = int(sum(search.cv_results_["n_folds"])) if race else trials * folds
    return {"fits": fits, "score": float(search.best_score_), "test": search.score(kept_out, labels)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--rows", type=Path, default=RESULTS / "folds.jsonl", help="where runs are kept")
    given = parser.parse_args()
    rows = KeptRows(given.rows)
    print("folds dataset        all: fits, score, test   race: fits, score, test")
    for folds in (5, 10):
        for dataset in DATASETS:
            line = f"{folds:5} {dataset:14}"
            for race in (False, True):
                runs = [
                    rows.once(
                        f"{dataset} {folds} {given.trials} {race} {seed}",
                        lambda: searched(dataset, folds, given.trials, race, seed),  # noqa: B023
                    )
                    for seed in range(given.seeds)
                ]
                means = {name: fmean(run[name] for run in runs) for name in runs[0]}
                line += f" {means['fits']:8.0f} {means['score']:.4f} {means['test']:.4f} "
            print(line, flush=True)


if __name__ == "__main__":
    main()
