"""One point at a time is, to the bit, what many at a time would give."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given

from bough.points import Points
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.sampling import sample_points

from .strategies import World, worlds
from .test_properties import quick

EVERY_KIND = Space(
    {
        "m": Choice({"a": {"x": Float(1e-3, 1e3, log=True), "k": Int(1, 5)}, "b": {}}),
        "z": Int(1, 64, log=True),
        "n": Int(-7, 9, step=4),
        "g": Float(0, 0.7, step=0.1),
        "t": Float(-1, 1),
        "s": Categorical([None, True, 2.5], ordered=True),
        "w": Float(0.1, 0.3, when="t >= 0.1 and (not m == 'a' or s == True)"),
    }
)


def without_shortcut(space: Space) -> Space:
    """An equal space that draws one point as it draws many."""
    other = Space(space.declared, space.forbid)
    other.rules.__dict__["draw_one"] = None
    return other


def check_draws(space: Space, count: int) -> None:
    arrays = without_shortcut(space)
    for seed in range(count):
        one, other = np.random.default_rng(seed), np.random.default_rng(seed)
        drawn, expected = sample_points(space, 1, one), sample_points(arrays, 1, other)
        assert drawn.x.dtype == expected.x.dtype and drawn.on.dtype == expected.on.dtype
        assert np.array_equal(drawn.on, expected.on)
        assert np.array_equal(drawn.x, expected.x)
        assert one.bit_generator.state == other.bit_generator.state, "another number of draws"


def check_values(space: Space, points: Points) -> None:
    many = space.decode(Points.concat([points, points]))[: len(points)]
    alone = [space.decode(points.take([row]))[0] for row in range(len(points))]
    assert json.dumps(alone) == json.dumps(many)  # JSON tells 1 from 1.0 and True, and keeps the order


def test_every_kind_of_parameter():
    assert EVERY_KIND.rules.draw_one is not None
    check_draws(EVERY_KIND, 200)
    x = np.random.default_rng(0).random((200, len(EVERY_KIND)))
    x[0], x[1] = 0.0, 1.0
    check_values(EVERY_KIND, EVERY_KIND.snap(x))


@pytest.mark.parametrize("op", ["<", "<=", "==", ">"])
def test_values_on_a_threshold(op):
    space = Space({"x": Float(1e-3, 7.0, log=True), "y": Float(0, 1, when=f"x {op} 0.3")})
    edge = float(space.rules.pieces[0].units[0])
    x = np.full((6, 2), 0.5)
    x[:, 0] = [0.0, 1.0, edge, np.nextafter(edge, 0), np.nextafter(edge, 1), 0.5]
    check_values(space, space.snap(x))


def test_arrays_decide_where_a_draw_may_be_rejected_or_parameters_are_compared():
    numbers = {"a": Int(0, 9), "b": Int(0, 9)}
    assert Space(numbers, forbid=["a == 3"]).rules.draw_one is None
    assert Space({**numbers, "c": Float(0, 1, when="a < b")}).rules.draw_one is None
    assert (
        Space({**numbers, "c": Float(0, 1, when="a == 1 or not (b == 2 and a < b)")}).rules.draw_one is None
    )
    assert Space({**numbers, "c": Float(0, 1, when="a == 1 or not b == 2")}).rules.draw_one is not None


@quick
@given(worlds(forbid=False))
def test_in_random_spaces(world: World) -> None:
    check_draws(world.space, 10)
    check_values(world.space, sample_points(world.space, 10, np.random.default_rng(0)))
