"""Tune a multi-layer perceptron on a LIBSVM data set: section 4.2 of Jenatton et al. 2017.

The value is the error rate on the test rows. Splits and limits are from the paper: the test set that LIBSVM
defines, else a random fifth of the data; at most 1000 training rows. We differ in three points: at most 2000
test rows (10,000 there), 60 epochs instead of five minutes, and a network in NumPy instead of scikit-learn's,
so an evaluation takes about 50 ms. Training that diverges counts as the worst error, 1.

The two topologies of figure 3 are ``mlp`` (all parameters duplicated for each number of layers) and ``mlp-b``
(all shared except the regularisation; networks with a layer i share its units). The intermediate one that
section 4.2 mentions is ``mlp-c``: ``mlp-b`` with a separate learning rate for networks without hidden layers.
The seed determines splits, the choice of rows, and the initial weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem
from benchmarks.problems.cache import cached
from benchmarks.problems.network import ACTIVATIONS, train

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "libsvm"

MLP_DATA = (
    "a1a", "a2a", "a5a", "a8a", "a9a", "australian", "breast-cancer", "colon-cancer", "diabetes", "fourclass",
    "german.numer", "heart", "ionosphere", "liver-disorders", "madelon", "mushrooms", "phishing",
    "skin_nonskin", "sonar", "splice", "svmguide1", "svmguide3", "w1a", "w8a",
)  # fmt: skip

TRAINING_FIRST = {"splice": 1000, "madelon": 2000}
"""Files with this many of LIBSVM's training rows, followed by its test rows. The test rows of ``svmguide3``
have only one class, so it is split at random."""

MOST_TRAINING, MOST_TEST, EPOCHS = 1000, 2000, 60
DEEPEST = 4


Topology = Literal["duplicated", "shared", "between"]
"""The upper tree of figure 3, the lower one, and the one in between."""


def mlp_space(topology: Topology) -> bough.Space:
    """0 to 4 hidden layers."""

    def units(when: str | None = None) -> bough.Int:
        return bough.Int(1, 30, when=when)

    def activation(when: str | None = None) -> bough.Categorical:
        return bough.Categorical(list(ACTIVATIONS), when=when)

    def rate(when: str | None = None) -> bough.Float:
        return bough.Float(1e-5, 1e-1, log=True, when=when)

    common: dict[str, Any] = {
        "rate": rate(),
        "tolerance": bough.Float(1e-5, 1e-2, log=True),
        "scale": bough.Categorical(["none", "rows", "largest", "whiten"]),
    }
    penalty = {"penalty": bough.Float(1e-6, 1e-1, log=True)}
    depths = [str(depth) for depth in range(DEEPEST + 1)]
    if topology != "duplicated":
        hidden = "layers != '0'"
        rates = {"linear_rate": rate("layers == '0'"), "rate": rate(hidden)}
        return bough.Space(
            {
                "layers": bough.Choice(dict.fromkeys(depths, penalty)),
                **(common | rates if topology == "between" else common),
                "activation": activation(hidden),
                **{f"units{i}": units(f"layers in {tuple(depths[i:])!r}") for i in range(1, DEEPEST)},
                f"units{DEEPEST}": units(f"layers == '{DEEPEST}'"),
            }
        )
    leaves: dict[str, dict[str, Any]] = {"0": {**common, **penalty}}
    for depth in range(1, DEEPEST + 1):
        widths = {f"units{i}": units() for i in range(1, depth + 1)}
        leaves[str(depth)] = {**common, **penalty, "activation": activation(), **widths}
    return bough.Space({"layers": bough.Choice(leaves)})


def mlp(dataset: str, topology: Topology = "duplicated", *, seed: int = 0) -> Problem:
    """Data set ``dataset`` of ``MLP_DATA``."""
    fit_x, fit_y, judge_x, judge_y = _rows(dataset, np.random.default_rng([seed, 17]))

    def function(config: Config) -> float:
        scale = _SCALES[config["scale"]](fit_x)
        depth = int(config["layers"])
        with np.errstate(over="ignore", invalid="ignore"):
            network = train(
                scale(fit_x),
                fit_y,
                [config[f"units{i}"] for i in range(1, depth + 1)],
                rng=np.random.default_rng([seed, 18]),
                activation=config.get("activation", "identity"),
                penalty=config["penalty"],
                rate=config["rate"],
                tolerance=config["tolerance"],
                epochs=EPOCHS,
            )
            logits = network.logits(scale(judge_x))
        if not np.all(np.isfinite(logits)):
            return 1.0
        return float(np.mean(np.argmax(logits, axis=1) != judge_y))

    # all topologies describe the same networks and share their evaluations
    kept = cached(f"mlp-{dataset} v2 seed {seed}", function)

    def value(config: Config) -> float:
        return kept({"rate" if key == "linear_rate" else key: entry for key, entry in config.items()})

    prefix = {"duplicated": "mlp", "shared": "mlp-b", "between": "mlp-c"}[topology]
    return Problem(f"{prefix}-{dataset}", mlp_space(topology), value, None, lambda c: c["layers"])


def _rows(dataset: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features and labels (0 or 1) for training, and for testing."""
    stored = np.load(DATA / f"{dataset}.npz")
    x, y = stored["X"], stored["y"]
    if dataset in ("a1a", "a2a", "a5a", "a8a", "a9a"):
        # LIBSVM tests on the rest of a9a and on a9a's test set; we use the latter for all
        whole = np.load(DATA / "a9a.npz")
        fit, judge = rng.permutation(len(y)), rng.permutation(len(whole["y_test"]))[:MOST_TEST]
        judge_x, judge_y = whole["X_test"][judge], whole["y_test"][judge]
    else:
        first = TRAINING_FIRST.get(dataset)
        order = np.arange(len(y)) if first else rng.permutation(len(y))
        cut = first or len(y) - len(y) // 5
        fit, judge = rng.permutation(order[:cut]), rng.permutation(order[cut:])[:MOST_TEST]
        judge_x, judge_y = x[judge], y[judge]
    fit = fit[:MOST_TRAINING]
    return (
        x[fit].astype(np.float32),
        (y[fit] > 0).astype(int),
        judge_x.astype(np.float32),
        (judge_y > 0).astype(int),
    )


def _by_row(fit: np.ndarray) -> Any:
    return lambda x: x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def _by_largest(fit: np.ndarray) -> Any:
    largest = np.abs(fit).max(axis=0)
    return lambda x: x / np.where(largest > 0, largest, 1.0)


def _whiten(fit: np.ndarray) -> Any:
    mean, spread = fit.mean(axis=0), fit.std(axis=0)
    return lambda x: (x - mean) / np.where(spread > 0, spread, 1.0)


_SCALES: dict[str, Any] = {
    "none": lambda fit: lambda x: x,
    "rows": _by_row,
    "largest": _by_largest,
    "whiten": _whiten,
}
