"""Runs of observations: which rows a model sees in one, and that appending them changes no prediction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.gp.posterior import GPPosterior
from bough.history import History
from bough.registry import build
from bough.strategies.base import working_rows
from bough.strategies.conditioning import Runs
from bough.strategies.model_based import ModelBased
from bough.surrogates.base import KernelGP

SPACE = bough.Space(
    {"x": bough.Float(0, 1), "m": bough.Choice({"a": {"p": bough.Float(0, 1)}, "b": {"q": bough.Int(1, 9)}})}
)


def told(n: int) -> History:
    configs = SPACE.sample(n, np.random.default_rng(3))
    return history(
        SPACE, [(config, float(np.sin(5 * config["x"]) + i % 3)) for i, config in enumerate(configs)]
    )


def auto(working_set: int) -> ModelBased:
    strategy = build(bough.method("auto", working_set=working_set), SPACE)
    assert isinstance(strategy, ModelBased)
    return strategy


def test_a_run_appends_to_the_rows_that_it_begins_with() -> None:
    y, runs = np.random.default_rng(0).normal(size=1500), Runs(0.05, 400, 15)
    for n in range(1, 1500):
        rows, begin = runs.rows(y[:n]).tolist(), runs.begin(n)
        assert 0 <= n - begin <= 15
        assert rows == [*runs.rows(y[:begin]).tolist(), *range(begin, n)]
        assert len(rows) == n if n <= 385 else 385 <= len(rows) <= 400
        if n > 400:
            assert rows[:385] == working_rows(y[:begin], 385).tolist()


def test_a_fit_begins_a_run() -> None:
    assert Runs(0.05, 400, 15).begin(127) == 126
    assert [Runs(0.5, 400, 15).begin(n) for n in (92, 93, 95, 96, 111, 112)] == [80, 93, 93, 96, 96, 112]


def test_covariances_with_structure_and_small_working_sets_append_nothing() -> None:
    dense = auto(400).surrogate
    assert isinstance(dense, KernelGP)
    assert [Runs.of(dense, 0.05, limit).appended for limit in (2000, 400, 100, 20)] == [15, 15, 4, 0]
    blocks = replace(dense, model=replace(dense.model, blocks=lambda points: [np.arange(len(points))]))
    assert Runs.of(blocks, 0.05, 400).appended == 0
    y = np.random.default_rng(0).normal(size=90)
    assert Runs(0.05, 20, 0).rows(y).tolist() == working_rows(y, 20).tolist()


@pytest.mark.parametrize(("n", "rows"), [(60, 60), (103, 97), (131, 131), (177, 98)])
def test_appending_changes_no_prediction(n: int, rows: int) -> None:
    strategy = auto(100 if rows < n else 400)
    assert strategy._runs.begin(n) < n
    model = strategy.model(told(n))
    (posterior,) = model.posteriors
    assert isinstance(posterior, GPPosterior)
    data, theta = posterior.data, posterior.theta
    assert len(data.y) == rows
    assert np.array_equal(data.y, model.z[strategy._runs.rows(told(n).y)])
    # The textbook's formula, without a factorisation.
    kernel, points = posterior.model.kernel, told(40).done
    gram = kernel(theta[:-1], data.points, data.points)[0] + np.exp(theta[-1]) * np.eye(rows)
    cross = kernel(theta[:-1], points, data.points)[0]
    mean, sd = posterior.predict(points)
    variance = kernel.diag(theta[:-1], points)[0] - np.sum(cross * np.linalg.solve(gram, cross.T).T, axis=1)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(gram, data.y), atol=1e-6)
    np.testing.assert_allclose(sd**2, np.maximum(variance, 1e-12), atol=1e-7)


@pytest.mark.parametrize("working_set", [50, 95, 400])
def test_a_reopened_study_proposes_as_one_that_kept_its_factorisations(working_set: int) -> None:
    """To the last bit."""
    live = auto(working_set)
    for n in range(92, 101):
        one, other = (
            each.propose(SPACE, told(n), np.random.default_rng(n)) for each in (live, auto(working_set))
        )
        assert np.array_equal(one.x, other.x, equal_nan=True)
