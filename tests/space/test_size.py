"""``space.size`` against counting by hand, and its bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bough.errors import SpaceError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.size import AtMost


def listed(space, levels):
    """Distinct configs found by decoding every cell of a full grid over the unit cube."""
    grids = [(np.arange(level) + 0.5) / level for level in levels]
    x = np.array(list(itertools.product(*grids)))
    points = space.snap(x)
    points = points.take(space.legal(points))
    return len({tuple(config.items()) for config in space.decode(points)})


@pytest.mark.parametrize(
    ("parameters", "forbid"),
    [
        ({"a": Int(1, 4), "b": Categorical(["x", "y"])}, []),
        ({"a": Choice({"u": {"x": Int(1, 3)}, "v": {"y": Choice({"p": {"z": Int(1, 2)}, "q": {}})}})}, []),
        ({"l": Int(1, 4), **{f"u{i}": Int(1, 2, when=f"l >= {i}") for i in range(1, 5)}}, []),
        ({"a": Int(1, 4), "b": Int(1, 4), "c": Int(1, 3, when="a < b")}, []),
        ({"a": Int(1, 4), "b": Int(2, 8, step=2), "c": Int(1, 3, when="not (b == 4) or a == 1")}, ["a < b"]),
        ({"a": Categorical(["x", "y"]), "b": Int(1, 3, when="a == 'x'")}, ["b == 2", "a == 'y'"]),
        ({"a": Categorical(["x", "y"]), "b": Int(1, 3, when="a == 'x'")}, ["not (b == 2)"]),
        ({"a": Int(1, 3), "b": Int(1, 3), "c": Int(1, 3)}, ["a == 1 and b != 2", "b == 3 or c == 1"]),
    ],
)
def test_finite_spaces(parameters, forbid):
    space = Space(parameters, forbid)
    assert space.size == listed(space, space.layout.levels)
    assert type(space.size) is int


def test_many_independent_choices_get_an_upper_bound():
    blocks = {
        f"c{i}": Choice(
            {"a": {f"x{i}": Int(1, 3)}, "b": {f"y{i}": Choice({"p": {f"z{i}": Int(1, 2)}, "q": {}})}}
        )
        for i in range(40)
    }
    size = Space(blocks).size
    assert isinstance(size, AtMost) and size >= 6**40


def test_infinite_spaces():
    assert Space({"a": Float(0, 1)}).size == math.inf
    assert Space({"a": Choice({"x": {"f": Float(0, 1)}, "y": {}})}).size == math.inf
    assert Space({"a": Float(0, 1), "b": Float(0, 1, when="a < b2"), "b2": Float(0, 1)}).size == math.inf


def test_clauses_may_make_a_space_finite():
    assert (
        Space({"a": Choice({"x": {"f": Float(0, 1)}, "y": {"n": Int(1, 5)}})}, forbid=["a == 'x'"]).size == 5
    )
    assert Space({"f": Float(0, 1)}, forbid=["f > 0"]).size == 1


def test_large_ranges_are_counted_in_pieces():
    assert Space(
        {"a": Int(1, 10**6), "b": Int(1, 10**6)}, forbid=["a < 100 and b >= 10"]
    ).size == 10**12 - 99 * (10**6 - 9)


def test_what_is_too_much_to_count_says_so():
    space = Space({"a": Int(1, 10**6), "b": Int(1, 10**6)}, forbid=["a < b"])
    assert isinstance(space.size, AtMost)
    assert space.size == 10**12
    assert repr(space.size) == str(space.size) == f"at most {10**12}"
    many = Space({f"a{i}": Int(1, 4) for i in range(20)}, forbid=[f"a{i} == a{i + 1}" for i in range(19)])
    assert isinstance(many.size, AtMost)
    assert many.size == 4**20


@pytest.mark.parametrize(
    ("parameters", "forbid"),
    [
        ({"a": Int(1, 3)}, ["a >= 1"]),
        ({"a": Categorical(["x", "y"])}, ["a == 'x'", "a == 'y'"]),
        ({"a": Float(0, 1)}, ["a <= 0.5", "a > 0.4"]),
        ({"a": Int(1, 3), "b": Int(1, 3)}, ["a <= b", "a > b"]),
        ({"a": Choice({"x": {"n": Int(1, 2)}, "y": {}})}, ["a == 'y'", "n >= 1"]),
    ],
)
def test_a_space_that_forbids_everything_is_refused(parameters, forbid):
    with pytest.raises(SpaceError, match=r"forbid excludes every configuration: ['\"]a"):
        Space(parameters, forbid)


def test_a_long_chain_does_not_recurse_too_deep():
    chain = {"p0": Int(0, 1)} | {f"p{i}": Int(0, 1, when=f"p{i - 1} == 1") for i in range(1, 500)}
    space = Space(chain)
    assert space.size == 501
    assert len(space.sample(5, np.random.default_rng(0))) == 5
