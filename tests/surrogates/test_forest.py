"""The forest against loops over trees, leaves and rows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.surrogates.fitting import fit

from bough import Categorical, Choice, Float, Int, Space
from bough.gp.likelihood import Data
from bough.points import Points
from bough.surrogates.forest import Forest, features

SPACE = Space(
    {
        "m": Choice({"a": {"x": Float(0, 1), "n": Int(1, 9)}, "b": {"k": Categorical(["p", "q", "r"])}}),
        "z": Float(0, 1),
    }
)


def sample(n: int, seed: int) -> tuple[Points, np.ndarray, np.ndarray]:
    points = SPACE.encode(SPACE.sample(n, np.random.default_rng(seed)))
    x = np.where(SPACE.layout.active(points.on), points.x, np.nan)
    y = np.nansum(x**2, axis=1)
    return Points(x, points.on), (y - y.mean()) / y.std(), np.full(n, np.nan)


def test_features_impute_inactive_values_and_split_categories() -> None:
    configs = [{"m": "a", "x": 0.25, "n": 5, "z": 0.5}, {"m": "b", "k": "q", "z": 1.0}]
    seen = features(SPACE.layout, SPACE.encode(configs)).tolist()
    assert sorted(seen[0]) == sorted([0.25, 0.5, 0.5, 1, 0, 0, 0, 0])  # x, n, z; m; k inactive
    assert sorted(seen[1]) == sorted([-1, -1, 1.0, 0, 1, 0, 1, 0])


def test_mean_and_variance_by_a_loop_over_trees_and_their_rows() -> None:
    points, y, noise = sample(40, 0)
    fitted = fit(Forest(SPACE.layout, trees=7), points, y, noise, np.random.default_rng(0))
    known = fitted.posteriors[0]
    bootstrap, samples = np.random.default_rng(int(fitted.theta[0])), []
    for _ in range(7):
        samples.append(bootstrap.integers(40, size=40))
        bootstrap.integers(2**31)  # the seed of the tree
    test = sample(15, 1)[0]
    mean, sd = known.predict(test)
    rows, queries = features(SPACE.layout, points), features(SPACE.layout, test)
    trees = [(tree.apply(rows), tree.apply(queries), drawn) for tree, drawn in zip(known.trees, samples)]
    for i in range(len(queries)):
        means, squares = [], []
        for leaf_of_row, leaf_of_query, drawn in trees:
            inside = y[[row for row in drawn if leaf_of_row[row] == leaf_of_query[i]]]
            means.append(inside.mean())
            squares.append(np.mean(inside**2))
        assert mean[i] == pytest.approx(np.mean(means), abs=1e-9)
        # law of total variance: second moments of all leaves, minus the mean squared
        assert sd[i] ** 2 == pytest.approx(max(np.mean(squares) - np.mean(means) ** 2, 1e-10), abs=1e-9)


def test_conditioning_grows_the_same_forest_as_all_data_at_once() -> None:
    points, y, noise = sample(30, 3)
    surrogate = Forest(SPACE.layout)
    theta = np.array([17.0])
    part = surrogate.posterior(theta, Data(points.take(slice(0, 20)), y[:20], noise[:20]))[0]
    whole = surrogate.posterior(theta, Data(points, y, noise))[0]
    test = sample(10, 4)[0]
    grown = part.condition(points.take(slice(20, 30)), y[20:])
    np.testing.assert_array_equal(grown.predict(test), whole.predict(test))
    assert not np.array_equal(part.predict(test)[0], whole.predict(test)[0])
    mean, sd, d_mean, d_sd = whole.predict_grad(test)
    np.testing.assert_array_equal((mean, sd), whole.predict(test))
    assert not d_mean.any()
    assert not d_sd.any()
