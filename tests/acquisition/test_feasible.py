"""The search for the best candidate reaches optima on faces and corners of the legal set."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bough.acquisition.maximise.feasible import feasible_ascent
from bough.acquisition.maximise.paths import search_paths
from bough.points import FloatArray, Points
from bough.space import Choice, Float, Int, Mixture, Space

NAMES = list("abcdefghij")
SIMPLEX = Space({name: Float(0, 1) for name in NAMES}, require=[Mixture(NAMES)])


class Linear:
    def __init__(self, weights: list[float]) -> None:
        self.weights = np.array(weights, dtype=float)

    def __call__(self, points: Points) -> FloatArray:
        return np.nan_to_num(points.x) @ self.weights

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        return self(points), np.tile(self.weights, (len(points), 1))


class Hill:
    """A paraboloid around a centre that may lie outside of the legal set."""

    def __init__(self, centre: list[float]) -> None:
        self.centre = np.array(centre)

    def __call__(self, points: Points) -> FloatArray:
        return -((points.x - self.centre) ** 2).sum(axis=1)

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        return self(points), -2 * (points.x - self.centre)


def search(space: Space, criterion: object) -> Points:
    none = space.snap(np.empty((0, len(space))))
    found = search_paths(space, criterion, near=none, avoid=none, rng=np.random.default_rng(0))  # type: ignore[arg-type]
    assert space.legal(found).all()
    return found


def test_a_linear_criterion_ends_in_the_best_corner_of_a_simplex_of_ten() -> None:
    found = search(SIMPLEX, Linear(list(range(10))))
    np.testing.assert_allclose(found.x[0], np.eye(10)[9], atol=1e-6)


def test_an_optimum_on_a_face_is_found() -> None:
    # The projection onto the simplex subtracts 0.1 from the first four and clips the others at 0.
    found = search(SIMPLEX, Hill([0.5, 0.4, 0.3, 0.2, -1, -1, -1, -1, -1, -1]))
    np.testing.assert_allclose(found.x[0], [0.4, 0.3, 0.2, 0.1, 0, 0, 0, 0, 0, 0], atol=2e-3)


def test_a_narrow_valley_on_a_face_is_followed() -> None:
    """Curvatures from 1 to 100; with a multiplier for the sum, x = c − λ / 2w is the optimum."""
    names = list("abcdef")
    space = Space({name: Float(0, 1) for name in names}, require=[Mixture(names)])
    w, c = np.array([1.0, 2, 5, 10, 30, 100]), np.array([0.5, 0.4, 0.3, 0.3, 0.2, 0.1])

    class Valley(Hill):
        def __call__(self, points: Points) -> FloatArray:
            return -((points.x - c) ** 2) @ w

        def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
            return self(points), -2 * w * (points.x - c)

    best = c - (c.sum() - 1) / (0.5 / w).sum() / (2 * w)
    starts = space.snap(np.random.default_rng(0).dirichlet(np.ones(6), 4))
    box = np.zeros(starts.x.shape)
    _, value = feasible_ascent(space, Valley([]), starts, box, box + 1, box == 0)
    np.testing.assert_allclose(value, -((best - c) ** 2) @ w, atol=1e-3)


def test_integers_that_share_a_total_reach_the_best_combination() -> None:
    space = Space({f"u{i}": Int(0, 20) for i in range(4)}, require=["sum(u0, u1, u2, u3) == 20"])
    criterion = Hill([0.55, 0.4, 0.12, 0.05])
    every = [row for row in itertools.product(range(21), repeat=4) if sum(row) == 20]
    best = max(criterion(space.encode([dict(zip(("u0", "u1", "u2", "u3"), row)) for row in every])))
    assert float(criterion(search(space, criterion))[0]) == pytest.approx(float(best), abs=1e-9)


def test_reals_and_integers_on_a_branch_reach_the_corner_that_linear_programming_gives() -> None:
    space = Space(
        {"m": Choice({"on": {"a": Float(0, 10), "b": Float(0, 10), "n": Int(0, 50)}, "off": {}})},
        require=["a + 2 * b <= 10", "n <= 3 * a"],
    )
    found = space.decode(search(space, Linear([-20, 1, 3, 1])))[0]
    assert found == {"m": "on", "a": pytest.approx(10), "b": pytest.approx(0, abs=1e-6), "n": 30}
