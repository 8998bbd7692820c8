"""The dense solver against numpy, also where the matrix is singular."""

from __future__ import annotations

import numpy as np
import pytest

from bough.gp.solvers import factor, factor_lower, factor_stack


@pytest.fixture(params=[1, 5, 64, 65, 150])
def matrix(request: pytest.FixtureRequest) -> np.ndarray:
    rng = np.random.default_rng(request.param)
    root = rng.normal(size=(request.param, request.param))
    return root @ root.T + np.eye(request.param)


def test_agrees_with_numpy(matrix: np.ndarray) -> None:
    solver, b = factor(matrix), np.random.default_rng(0).normal(size=(len(matrix), 3))
    expected = np.linalg.solve(matrix, b)
    np.testing.assert_allclose(solver.solve(b), expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(solver.solve(b[:, 0]), expected[:, 0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(solver.unwhiten(solver.whiten(b)), expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose((solver.whiten(b) ** 2).sum(0), (b * expected).sum(0), rtol=1e-8)
    np.testing.assert_allclose(solver.inverse(), np.linalg.inv(matrix), rtol=1e-7, atol=1e-10)
    assert solver.logdet == pytest.approx(np.linalg.slogdet(matrix)[1])
    assert len(solver) == len(matrix)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_appended_rows_are_those_of_the_whole(matrix: np.ndarray, n: int) -> None:
    start = min(n, len(matrix) - 1)
    small = factor(matrix[:start, :start]).append(matrix[:start, start:], matrix[start:, start:])
    np.testing.assert_allclose(small.root, factor(matrix).root, rtol=1e-8, atol=1e-9)
    assert small.logdet == pytest.approx(np.linalg.slogdet(matrix)[1])


def test_arguments_are_left_alone(matrix: np.ndarray) -> None:
    copy = matrix.copy()
    solver = factor(matrix)
    inverse = solver.inverse()
    solver.inverse()
    np.testing.assert_array_equal(matrix, copy)
    np.testing.assert_array_equal(solver.inverse(), inverse)


def test_singular_matrices_get_jitter_and_no_more_than_needed() -> None:
    x = np.random.default_rng(0).normal(size=(30, 3))
    singular = x @ x.T
    lower = factor_lower(singular)
    assert np.abs(lower @ lower.T - singular).max() < 1e-6
    ones = factor_lower(np.ones((4, 4)))
    np.testing.assert_allclose(ones @ ones.T, np.ones((4, 4)), atol=1e-6)
    zero = factor_lower(np.zeros((3, 3)))
    assert np.all(np.isfinite(zero)) and np.all(np.diag(zero) > 0)


def test_a_repeated_point_can_be_appended() -> None:
    solver = factor(np.array([[1.0]])).append(np.array([[1.0]]), np.array([[1.0]]))
    assert np.all(np.isfinite(solver.root))


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        factor(np.array([[np.nan]]))


def test_a_stack_with_a_singular_matrix_is_factorised_with_jitter() -> None:
    singular, regular = np.ones((2, 2)), np.array([[2.0, 0.5], [0.5, 1.0]])
    found = factor_stack(np.tril([singular, regular]))  # only the lower triangles are read
    np.testing.assert_allclose(found @ found.transpose(0, 2, 1), [singular, regular], atol=1e-6)
