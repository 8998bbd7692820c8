"""Structured solvers against numpy on the explicit matrix; block inference against dense inference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.gp.block_solver import factor_blocks
from bough.gp.kernels import Imputed, Kernel, Matern52, SameSignature, Scale, WhereActive
from bough.gp.likelihood import Data, log_likelihood
from bough.gp.posterior import posterior
from bough.gp.solvers import Solver
from bough.papers.jenatton2017 import features as maps
from bough.papers.jenatton2017.block_model import BlockModel, block_log_likelihood, block_solver
from bough.papers.jenatton2017.features import Activity, Fourier, Linear, OneHot, Stack, Weighted
from bough.papers.jenatton2017.semi_parametric import PathGP
from bough.papers.jenatton2017.structured import LowRank
from bough.points import Points

seeds = st.integers(0, 2**32 - 1)


def random_blocks(rng: np.random.Generator, n: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """A block-diagonal positive definite matrix with rows in random order, and the rows of its blocks."""
    label = rng.integers(0, 5, n)
    root = rng.normal(size=(n, n))
    matrix = np.where(label[:, None] == label, root @ root.T + np.eye(n), 0.0)
    return matrix, [np.flatnonzero(label == block) for block in np.unique(label)]


def check(solver: Solver, matrix: np.ndarray, rng: np.random.Generator) -> None:
    """Everything a solver offers, against numpy."""
    b = rng.normal(size=(len(matrix), 3))
    expected = np.linalg.solve(matrix, b)
    white = solver.whiten(b)
    assert len(solver) == len(matrix)
    np.testing.assert_allclose(solver.solve(b), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(solver.solve(b[:, 0]), expected[:, 0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(white.T @ white, b.T @ expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(solver.unwhiten(white), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(solver.inverse(), np.linalg.inv(matrix), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(solver.logdet, np.linalg.slogdet(matrix)[1], rtol=1e-9, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_solvers_agree_with_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 25)), int(rng.integers(1, 4))
    matrix, rows = random_blocks(rng, n)
    blocks = factor_blocks(rows, [matrix[np.ix_(r, r)] for r in rows])
    check(blocks, matrix, rng)
    features = rng.normal(size=(n, int(rng.integers(0, 6))))
    low_rank = LowRank(blocks, features)
    full = matrix + features @ features.T
    check(low_rank, full, rng)
    # Appended rows: a border that keeps the whole matrix positive definite.
    cross = rng.normal(size=(n, m))
    corner = cross.T @ np.linalg.solve(full, cross) + np.eye(m)
    check(low_rank.append(cross, corner), np.block([[full, cross], [cross.T, corner]]), rng)
    some = np.where(np.isin(np.arange(n), rows[0])[:, None], cross, 0.0)
    corner = some.T @ np.linalg.solve(matrix, some) + np.eye(m)
    check(blocks.append(some, corner), np.block([[matrix, some], [some.T, corner]]), rng)


def test_appending_twice_and_to_no_block() -> None:
    rng = np.random.default_rng(3)
    matrix, rows = random_blocks(rng, 12)
    features = rng.normal(size=(12, 4))
    blocks = factor_blocks(rows, [matrix[np.ix_(r, r)] for r in rows])
    full = matrix + features @ features.T
    cross = rng.normal(size=(12, 2))
    corner = cross.T @ np.linalg.solve(full, cross) + np.eye(2)
    whole = np.block([[full, cross], [cross.T, corner]])
    once = LowRank(blocks, features).append(cross[:, :1], corner[:1, :1])
    check(once.append(whole[:13, 13:], corner[1:, 1:]), whole, rng)
    alone = np.zeros((12, 1))
    check(blocks.append(alone, np.eye(1)), np.block([[matrix, alone], [alone.T, np.eye(1)]]), rng)


@pytest.mark.parametrize("variance", [0.0, 1e-12, 1.0, 1e8])
def test_no_weight_variance_breaks_the_low_rank_form(variance: float) -> None:
    """B = I + Fᵀ M⁻¹ F stays well behaved where Σ_c⁻¹ would be infinite, or Λ_c nearly singular."""
    rng = np.random.default_rng(0)
    matrix, rows = random_blocks(rng, 15)
    blocks = factor_blocks(rows, [matrix[np.ix_(r, r)] for r in rows])
    features = np.sqrt(variance) * np.repeat(rng.normal(size=(15, 1)), 3, axis=1)  # collinear too
    b = rng.normal(size=15)
    full = matrix + features @ features.T
    np.testing.assert_allclose(LowRank(blocks, features).solve(b), np.linalg.solve(full, b), rtol=1e-6)


def random_tree(rng: np.random.Generator) -> tuple[BlockModel, int, int]:
    """A binary tree of random depth as a model; returns it with the number of columns and of leaves.

    Group g has children 2g + 1 and 2g + 2; each owns one numeric and one nominal column (3 levels).
    """
    depth = int(rng.integers(1, 4))
    groups, first_leaf = 2 ** (depth + 1) - 1, 2**depth - 1
    local: list[Kernel] = []
    shared = []
    for group in range(groups):
        numeric, nominal = 2 * group, 2 * group + 1
        if group < first_leaf:
            smooth = Fourier((numeric,), 3, seed=group) if rng.random() < 0.5 else Linear((numeric,))
            options = OneHot(nominal, 3, (0, 2))
            shared += [maps.WhereActive(group, smooth), maps.WhereActive(group, options)]
        elif rng.random() < 0.8:  # some options have no parameters
            local.append(WhereActive(group, Scale(Matern52((numeric,), (nominal,)))))
    features = Stack((Weighted(Activity(tuple(range(groups)))), Weighted(Stack(tuple(shared)))))
    return BlockModel(tuple(local), features), groups, first_leaf


def tree_points(rng: np.random.Generator, n: int, groups: int, first_leaf: int, leaves: int) -> Points:
    """Points in the first ``leaves`` leaves, with NaN under all inactive columns."""
    on = np.zeros((n, groups), dtype=bool)
    at = first_leaf + rng.integers(0, leaves, n)
    rows = np.arange(n)
    while True:
        on[rows, at] = True
        if not at.any():
            break
        at = np.maximum((at - 1) // 2, 0)
    x = rng.random((n, 2 * groups))
    x[:, 1::2] = (np.floor(3 * x[:, 1::2]) + 0.5) / 3
    return Points(np.where(np.repeat(on, 2, axis=1), x, np.nan), on)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_block_inference_equals_dense_inference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, groups, first_leaf = random_tree(rng)
    leaves = first_leaf + 1
    n = int(rng.integers(1, 30))
    points = tree_points(rng, n, groups, first_leaf, max(1, leaves - 1))  # the last leaf is empty
    noise = np.where(rng.random(n) < 0.3, 0.2, np.nan)
    data = Data(points, rng.normal(size=n), noise)
    theta = model.prior.draw(rng)
    theta[-1] = np.log(1e-2)

    value, gradient = block_log_likelihood(model, theta, data)
    dense_value, dense_gradient = log_likelihood(model.dense, theta, data)
    np.testing.assert_allclose(value, dense_value, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(gradient, dense_gradient, rtol=1e-8, atol=1e-8)

    solver = block_solver(model, theta, data)
    blocked = PathGP(model.dense, theta, data, solver, solver.solve(data.y))
    exact = posterior(model.dense, theta, data)
    dense = PathGP(model.dense, theta, data, exact.solver, exact.alpha)
    new = tree_points(rng, 8, groups, first_leaf, leaves)
    more, y = tree_points(rng, 3, groups, first_leaf, leaves), rng.normal(size=3)
    for left, right in [(blocked, dense), (blocked.condition(more, y), dense.condition(more, y))]:
        for name in ("predict", "predict_grad", "path_predict", "joint"):
            for ours, theirs in zip(getattr(left, name)(new), getattr(right, name)(new)):
                np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_block_model_without_features_is_the_conditional_kernel() -> None:
    rng = np.random.default_rng(1)
    points = tree_points(rng, 20, 7, 3, 4)
    group = tuple(np.repeat(np.arange(7), 2).tolist())
    kernel = SameSignature(Imputed(Matern52(tuple(range(0, 14, 2))), group))
    model = BlockModel((kernel,), Stack(()))
    theta = model.prior.draw(rng)
    data = Data(points, rng.normal(size=20), np.full(20, np.nan))
    value, gradient = block_log_likelihood(model, theta, data)
    dense_value, dense_gradient = log_likelihood(model.dense, theta, data)
    np.testing.assert_allclose(value, dense_value, rtol=1e-9)
    np.testing.assert_allclose(gradient, dense_gradient, rtol=1e-7, atol=1e-9)
