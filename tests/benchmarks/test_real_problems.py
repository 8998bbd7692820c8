"""The benchmark problems on real data: what they split stays apart, what they compute is right and kept."""

from __future__ import annotations

import math
import sys
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import bough
from benchmarks.problems import FAMILIES, build, cache
from benchmarks.problems.cache import cached
from benchmarks.problems.compress import compress_space, factorise, objective
from benchmarks.problems.network import ACTIVATIONS, Network, train

cash_module = sys.modules["benchmarks.problems.cash"]  # the package exports functions of the same names
mlp_module = sys.modules["benchmarks.problems.mlp"]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FOLDER", tmp_path)


def test_a_pipeline_can_be_better_than_the_mean():
    problem = build("pipeline", 0)
    configs = problem.space.sample(25, np.random.default_rng(0))
    values = [problem.function(config) for config in configs]
    best = configs[int(np.argmin(values))]
    assert min(values) < 0.8
    assert 0.1 < problem.test(best) < 1.0


def test_each_config_is_evaluated_once_and_failures_are_remembered(tmp_path):
    calls = []

    def function(config: dict) -> float:
        calls.append(config)
        if config["x"] < 0:
            raise ValueError("negative")
        return config["x"] / 3

    kept = cached("a", function, tmp_path)
    assert kept({"x": 1, "y": "b"}) == kept({"y": "b", "x": 1}) == 1 / 3
    assert math.isnan(kept({"x": -1})) and math.isnan(kept({"x": -1}))
    assert len(calls) == 2
    assert cached("b", function, tmp_path)({"x": 1, "y": "b"}) == 1 / 3  # another instance
    assert cached("a", function, tmp_path)({"x": 1, "y": "b"}) == 1 / 3  # the same, reopened
    assert len(calls) == 3


def test_a_programming_mistake_is_not_a_failed_trial(tmp_path):
    with pytest.raises(KeyError):
        cached("a", lambda config: config["absent"], tmp_path)({"x": 1})


def _sum_of_cached(folder: Path) -> float:
    kept = cached("many", lambda config: 2.0 * config["i"], folder)
    return sum(kept({"i": i}) for i in range(200))


def test_processes_share_the_file(tmp_path):
    with get_context("fork").Pool(4) as pool:
        assert pool.map(_sum_of_cached, [tmp_path] * 8) == [2.0 * sum(range(200))] * 8


@pytest.mark.parametrize("family", ["assael", "cash", "mlp", "mlp-b", "mlp-c"])
def test_real_problems_can_be_built(shared_data, family):
    for name in FAMILIES[family]:
        problem = build(name, 0)
        assert problem.name == name
        for config in problem.space.sample(5, np.random.default_rng(0)):
            assert problem.space.validate(config) == config


def test_rkhs_optimum_on_a_grid(shared_data):
    problem = build("rkhs", 0)
    least = min(problem.function({"x": x}) for x in np.linspace(0, 1, 20001))
    assert problem.optimum - 1e-6 <= least <= problem.optimum + 1e-3


class Recorder(DummyClassifier):
    """Notes which rows it is fitted on and which it predicts."""

    seen: list[tuple[set[bytes], set[bytes]]] = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.fitted_ = {row.tobytes() for row in X}
        return super().fit(X, y)

    def predict(self, X):
        Recorder.seen.append((self.fitted_, {row.tobytes() for row in X}))
        return super().predict(X)


def test_cash_keeps_folds_and_the_test_fifth_apart(shared_data, monkeypatch):
    monkeypatch.setattr(cash_module, "classifier", lambda config: Recorder())
    monkeypatch.setattr(Recorder, "seen", [])
    problem = build("cash-openml_917_fri_c1_1000_25", 2)  # a data set without equal rows
    majority = 454 / 1000
    config = {"classifier": "gnb"}
    assert problem.function(config) == pytest.approx(majority, abs=0.06)
    folds, Recorder.seen = Recorder.seen, []
    assert problem.test(config) == pytest.approx(majority, abs=0.1)
    (fitted, unseen) = Recorder.seen[0]
    assert [len(fit) for fit, _ in folds] == [400] * 5
    assert all(not fit & judge for fit, judge in folds)
    assert set.union(*(judge for _, judge in folds)) == fitted
    assert len(unseen) == 200
    assert not fitted & unseen


def test_cash_values_are_repeatable_and_differ_between_seeds(shared_data, tmp_path, monkeypatch):
    config = {"classifier": "svm", "C": 3.0, "gamma": 0.05}
    value = build("cash-pima", 0).function(config)
    assert build("cash-pima", 1).function(config) != value
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "another")
    assert build("cash-pima", 0).function(config) == value
    assert 0.15 < value < 0.33  # majority class: 0.35


def test_a_fold_too_small_for_a_classifier_is_a_failed_trial(shared_data):
    problem = build("cash-letter", 0)
    assert math.isnan(problem.function({"classifier": "qda", "reg_param": 1.0}))
    assert problem.function({"classifier": "knn", "n_neighbors": 1}) < 0.6


@pytest.mark.parametrize(
    ("dataset", "fit", "judge"), [("heart", 216, 54), ("w8a", 1000, 2000), ("splice", 1000, 2000)]
)
def test_mlp_splits_and_caps(shared_data, dataset, fit, judge):
    fit_x, fit_y, judge_x, judge_y = mlp_module._rows(dataset, np.random.default_rng(0))
    assert (len(fit_x), len(fit_y), len(judge_x), len(judge_y)) == (fit, fit, judge, judge)
    assert set(fit_y) == set(judge_y) == {0, 1}
    if dataset == "splice":  # LIBSVM's own training set, in any order
        stored = np.load(shared_data / "libsvm" / "splice.npz")["X"][:1000].astype(float)
        assert sorted(map(tuple, fit_x)) == sorted(map(tuple, stored))


def test_both_topologies_of_the_mlp_describe_the_same_networks(shared_data):
    upper, lower = build("mlp-heart", 0), build("mlp-b-heart", 0)
    assert upper.space != lower.space
    for config in lower.space.sample(4, np.random.default_rng(1)):
        assert upper.space.validate(config) == config
        assert upper.function(config) == lower.function(config)


def test_the_topology_in_between_has_a_second_learning_rate(shared_data):
    lower, between = build("mlp-b-heart", 0), build("mlp-c-heart", 0)
    assert {p.name for p in between.space.parameters} - {p.name for p in lower.space.parameters} == {
        "linear_rate"
    }
    linear = {"layers": "0", "penalty": 1e-3, "tolerance": 1e-4, "scale": "none"}
    deep = linear | {"layers": "1", "activation": "relu", "units1": 9, "rate": 0.02}
    assert between.function(deep) == lower.function(deep)
    assert between.space.validate(deep) == deep
    with pytest.raises(bough.BoughError):
        between.space.validate(linear | {"rate": 0.02})
    for rate in (1e-4, 0.05):
        value = between.function(linear | {"linear_rate": rate})
        assert value == lower.function(linear | {"rate": rate})


def test_mlp_learns(shared_data):
    config = {"layers": "1", "units1": 10, "activation": "tanh", "scale": "whiten"}
    config |= {"rate": 0.01, "penalty": 1e-3, "tolerance": 1e-4}
    assert build("mlp-breast-cancer", 0).function(config) < 0.08
    assert build("mlp-breast-cancer", 0).function({**config, "rate": 1e-5}) > 0.15


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_first_step_of_adam_goes_against_the_numerical_gradient(activation):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 4)), rng.integers(3, size=30)

    def fitted(epochs: int) -> Network:
        return train(
            x,
            y,
            (5, 3),
            rng=np.random.default_rng(1),
            activation=activation,
            penalty=5.0,
            rate=1e-6,
            epochs=epochs,
        )

    start, moved = fitted(0), fitted(1)

    def loss() -> float:
        z = start.logits(x)
        entropy = np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(30), y])
        return float(entropy + 5.0 / 30 / 2 * sum(np.sum(w**2) for w, _ in start.layers))

    for (weights, biases), (new_weights, new_biases) in zip(start.layers, moved.layers):
        for before, after in ((weights, new_weights), (biases, new_biases)):
            for index in np.ndindex(before.shape):
                centre = before[index]
                before[index] = centre + 1e-5
                up = loss()
                before[index] = centre - 1e-5
                slope = (up - loss()) / 2e-5
                before[index] = centre
                if abs(slope) > 1e-3:  # the first step has the size of the rate, whatever the gradient's
                    assert after[index] - centre == pytest.approx(-1e-6 * np.sign(slope), rel=1e-3)


def test_compression_of_a_small_network():
    rng = np.random.default_rng(0)
    layers = tuple((rng.normal(size=s), rng.normal(size=s[1])) for s in ((12, 8), (8, 8), (8, 3)))
    network, images = Network(layers, "relu"), rng.random((20, 12))
    function = objective(network, factorise(network), images)
    total, last = 12 * 8 + 8 * 8 + 8 * 3, 8 * 3
    assert function({"layer1": "prune", "threshold1": 0.0, "layer2": "prune", "threshold2": 0.0}) == 1.0
    full = {"layer1": "svd", "rank1": 8, "layer2": "svd", "rank2": 8}
    assert function(full) == pytest.approx((8 * 20 + 8 * 16 + last) / total)
    # nothing left of either layer: the outputs no longer depend on the image
    constant = np.maximum(layers[1][1], 0) @ layers[2][0] + layers[2][1]
    distance = np.mean([np.sum((network.logits(image[None])[0] - constant) ** 2) for image in images])
    none = {"layer1": "prune", "threshold1": 99.0, "layer2": "prune", "threshold2": 99.0}
    assert function(none) == pytest.approx(0.01 * distance + last / total)
    # rank 1 of the first layer against its best approximation by power iteration
    v = np.ones(8)
    for _ in range(500):
        v = layers[0][0].T @ (layers[0][0] @ v)
        v /= np.linalg.norm(v)
    cut = Network(((layers[0][0] @ np.outer(v, v), layers[0][1]), *layers[1:]), "relu")
    distance = np.mean(np.sum((cut.logits(images) - network.logits(images)) ** 2, axis=1))
    one = {"layer1": "svd", "rank1": 1, "layer2": "prune", "threshold2": 0.0}
    assert function(one) == pytest.approx(0.01 * distance + (20 + 64 + last) / total)


def test_the_space_of_compression_is_a_tree_whose_leaves_belong_to_one_path():
    """Definition 1 of Ma & Blaschko 2020: two children of the root, each with two leaves."""
    space = compress_space()
    assert space.tree.is_tree and len(space.tree.paths(9)) == 4
    assert len(space.tree.roles.leaves) == 4
    assert compress_space(product=True).tree.roles.leaves == ()
    config = {"layer1": "svd", "rank1": 10, "layer2": "prune", "threshold2": 0.1}
    assert space.validate(config) == config


def test_the_parameters_of_compression_are_the_papers():
    space = compress_space(product=True)
    assert (space["rank1"].domain, space["threshold2"].domain) == (bough.Int(10, 500), bough.Float(0, 1))
    assert space.active({"layer1": "svd", "rank1": 10, "layer2": "prune", "threshold2": 0.1}) == [
        "layer1", "rank1", "layer2", "threshold2"
    ]  # fmt: skip
