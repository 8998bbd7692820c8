"""Points inside limits: uniform draws where hardly anything is legal, and the nearest legal point."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from bough.space import Categorical, Float, Int, Mixture, Space
from bough.space.neighbourhood import neighbours, perturb
from bough.space.sampling import sample_points, sobol_points

NAMES = list("abcdefghij")
UNIT = {name: Float(0, 1) for name in NAMES}


def values(space: Space, n: int, seed: int = 0) -> np.ndarray:
    return np.array([list(config.values()) for config in space.sample(n, seed)])


def test_a_mixture_of_ten_is_drawn_uniformly_on_its_simplex() -> None:
    drawn = values(Space(UNIT, require=[Mixture(NAMES)]), 2000)
    assert np.abs(drawn.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(drawn.mean(axis=0) - 0.1).max() < 5 * np.sqrt(0.0082 / 2000)
    assert np.abs(drawn.var(axis=0) - 0.1 * 0.9 / 11).max() < 0.002  # of Dirichlet(1, ..., 1)


def test_the_inside_of_a_simplex_of_ten_does_not_starve() -> None:
    """Rejection would accept one draw in 10! = 3.6 million."""
    drawn = values(Space(UNIT, require=[f"sum({', '.join(NAMES)}) <= 1"]), 400)
    assert drawn.sum(axis=1).max() <= 1
    assert np.abs(drawn.mean(axis=0) - 1 / 11).max() < 5 * np.sqrt(0.0069 / 400)
    assert np.abs(drawn.var() - 10 / 121 / 12) < 0.001


def test_a_narrow_set_of_integers_is_drawn_uniformly() -> None:
    names = [f"u{i}" for i in range(4)]
    space = Space({name: Int(0, 12) for name in names}, require=[f"sum({', '.join(names)}) == 3"])
    every = [row for row in itertools.product(range(4), repeat=4) if sum(row) == 3]
    drawn = [tuple(row) for row in values(space, 1000).astype(int)]
    counts = np.array([drawn.count(row) for row in every])
    assert counts.sum() == 1000
    assert np.sum((counts - 50) ** 2 / 50) < 50  # chi-square with 19 degrees of freedom: p < 0.0002


MIXED = Space(
    {
        "x": Float(1e-3, 10, log=True),
        "y": Float(0, 10),
        "z": Float(0, 10),
        "n": Int(1, 50),
        "m": Int(1, 1000, log=True),
        "kind": Categorical(["p", "q"]),
    },
    require=["x + 2 * y <= 4", "y < z", "n + m <= 20", "n * y <= 6", "sum(x, y, z) >= 5"],
    forbid=["kind == 'q' and n > 5"],
)


def test_draws_steps_and_sequences_are_legal_where_relations_are_many() -> None:
    rng = np.random.default_rng(3)
    points = sample_points(MIXED, 20, rng)
    for found in (points, sobol_points(MIXED, 10, rng), perturb(MIXED, points, rng, 0.1)):
        assert MIXED.legal(found).all()
        for config in MIXED.decode(found):
            assert MIXED.validate(config) == config
    around = neighbours(MIXED, points.take([0]), rng)
    assert len(around) > 3
    assert MIXED.legal(around).all()


def test_snapping_leaves_legal_points_as_they_are() -> None:
    points = sample_points(MIXED, 10, np.random.default_rng(4))
    again = MIXED.snap(points.x)
    np.testing.assert_array_equal(again.x, points.x)
    np.testing.assert_array_equal(again.on, points.on)


@pytest.mark.parametrize(
    "require", [["a + b + c == 1"], ["a + b + c <= 0.6", "a >= 2 * b"], ["a < b", "b < c"]]
)
def test_snapping_finds_the_nearest_legal_point(require: list[str]) -> None:
    """Oracle: SciPy's SLSQP on the same problem."""
    space = Space({name: Float(0, 1) for name in "abc"}, require=require)
    limits = {
        "a + b + c == 1": {"type": "eq", "fun": lambda z: z.sum() - 1},
        "a + b + c <= 0.6": {"type": "ineq", "fun": lambda z: 0.6 - z.sum()},
        "a >= 2 * b": {"type": "ineq", "fun": lambda z: z[0] - 2 * z[1]},
        "a < b": {"type": "ineq", "fun": lambda z: z[1] - z[0]},
        "b < c": {"type": "ineq", "fun": lambda z: z[2] - z[1]},
    }
    for x in np.random.default_rng(5).random((8, 3)):
        wanted = minimize(
            lambda z, x=x: ((z - x) ** 2).sum(),
            np.full(3, 0.3),
            constraints=[limits[each] for each in require],
            bounds=[(0, 1)] * 3,
            options={"ftol": 1e-14},
        ).x
        found = space.snap(x[None])
        assert space.legal(found)[0]
        np.testing.assert_allclose(found.x[0], wanted, atol=2e-6)


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_a_point_where_all_terms_are_zero_moves_inside_a_strict_limit(low: float) -> None:
    space = Space({"a": Float(low, 1), "b": Float(low, 1)}, require=["a < b"])
    corner = space.snap(np.full((1, 2), -low / (1 - low)))
    assert space.legal(corner)[0]
    assert np.allclose(list(space.decode(corner)[0].values()), 0.0, atol=1e-9)


def test_spaces_without_relations_draw_the_same_points_as_ever() -> None:
    space = Space({"a": Float(0, 1), "n": Int(1, 9)}, forbid=["n == 3"])
    x = np.random.default_rng(0).random((20, 2))
    np.testing.assert_array_equal(space.scatter(x).x, space.snap(x).x)
