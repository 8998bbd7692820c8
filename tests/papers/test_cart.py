"""Regression trees against brute force: every split, and what the shared point does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.papers.assael2014.cart import best_split, grow, leaves, route


def uncertainty(y: np.ndarray) -> float:
    return float(np.mean((y - y.mean()) ** 2))


def enumerate_splits(x: np.ndarray, y: np.ndarray, least: int) -> dict[tuple[int, float], float]:
    """The gain of every allowed split, straight from eq. (5) of Assael et al. 2014."""
    gains = {}
    n = len(y)
    for column in range(x.shape[1]):
        for threshold in np.unique(x[:, column]):
            lower, upper = y[x[:, column] <= threshold], y[x[:, column] >= threshold]
            if min(len(lower), len(upper)) < least or max(len(lower), len(upper)) == n:
                continue
            gains[column, float(threshold)] = (
                uncertainty(y) - len(lower) / n * uncertainty(lower) - len(upper) / n * uncertainty(upper)
            )
    return gains


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 3), st.booleans())
def test_best_split_is_that_of_brute_force(seed: int, n: int, d: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random((n, d)), rng.normal(size=n)
    if ties:
        x = np.round(x * 5) / 5
    gains = enumerate_splits(x, y, least=5)
    found = best_split(x, y, least=5)
    best = max(gains.values(), default=-np.inf)
    if found is None:
        assert best <= 1e-10
    else:
        column, threshold, gain = found
        assert gain == pytest.approx(best, abs=1e-10)
        assert gains[column, threshold] == pytest.approx(best, abs=1e-10)


def test_without_variance_or_with_too_few_rows_there_is_no_split() -> None:
    x = np.linspace(0, 1, 20)[:, None]
    assert best_split(x, np.full(20, 3.0), least=5) is None
    assert best_split(x[:5], np.arange(5.0), least=5) is None
    assert best_split(np.full((20, 1), 0.5), np.arange(20.0), least=5) is None


def test_the_threshold_is_a_row_that_belongs_to_both_sides() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 2)), rng.normal(size=60)
    root = grow(x, y, np.arange(2), np.arange(60), least=5)
    split = 0
    for path in leaves(root):
        for node in path:
            if not node.children:
                continue
            lower, upper = (set(child.rows.tolist()) for child in node.children)
            shared = lower & upper
            assert len(shared) == 1  # no ties among continuous draws
            assert x[shared.pop(), node.column] == node.threshold
            assert lower | upper == set(node.rows.tolist())
            split += 1
    assert split > 0
    assert all(len(path[0].rows) >= 5 for path in leaves(root))


def test_routing_agrees_with_the_comparisons_on_the_way_down() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((80, 3)), rng.normal(size=80)
    root = grow(x, y, np.array([0, 2]), np.arange(80), least=5)
    paths = list(leaves(root))
    points = rng.random((200, 3))
    for point, number in zip(points, route(root, points)):
        for child, node in zip(paths[number], paths[number][1:]):
            side = 0 if point[node.column] <= node.threshold else 1
            assert node.children[side] is child
            assert node.column in (0, 2)
