"""Samples are legal, spread as promised, reproducible; neighbours differ in one parameter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bough.errors import SpaceError
from bough.points import Points
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.neighbourhood import neighbours, perturb
from bough.space.sampling import (
    box_points,
    path_points,
    sample_points,
    sobol_points,
    spread_points,
)

SPACE = Space(
    {
        "m": Choice(
            {
                "a": {"x": Float(1e-3, 1e3, log=True), "k": Int(1, 5)},
                "b": {"y": Choice({"u": {"z": Int(1, 64, log=True)}, "v": {}})},
                "c": {},
            }
        ),
        "n": Int(0, 9),
        "s": Categorical(["p", "q", "r"]),
        "o": Categorical(["lo", "mid", "hi"], ordered=True),
        "w": Float(0, 1, when="n >= 5"),
    },
    forbid=["m == 'c' and s == 'r'", "k == 5 and n == 0"],
)


def forbidden(config):
    return (config["m"] == "c" and config["s"] == "r") or (config.get("k") == 5 and config["n"] == 0)


@pytest.mark.parametrize("draw", [sample_points, sobol_points, spread_points])
def test_samples_are_legal_valid_and_reproducible(draw):
    points = draw(SPACE, 777, np.random.default_rng(3))
    again = draw(SPACE, 777, np.random.default_rng(3))
    other = draw(SPACE, 777, np.random.default_rng(4))
    assert len(points) == 777
    assert (points.x == again.x).all()
    assert (points.x != other.x).any()
    for config in SPACE.decode(points):
        assert not forbidden(config)
        assert SPACE.validate(config) == config


def test_uniform_a_choice_first_then_its_children():
    n = 30_000
    free = Space(SPACE.declared)
    configs = free.sample(n, np.random.default_rng(0))
    error = 5 * np.sqrt(n / 4)  # five standard deviations of any count
    by_model = Counter(config["m"] for config in configs)
    assert all(abs(by_model[option] - n / 3) < error for option in "abc")
    by_y = Counter(config["y"] for config in configs if config["m"] == "b")
    assert abs(by_y["u"] - n / 6) < error
    by_n = Counter(config["n"] for config in configs)
    assert all(abs(by_n[i] - n / 10) < error for i in range(10))
    logs = np.log10([config["x"] for config in configs if config["m"] == "a"])
    assert abs(np.mean(logs)) < 5 * np.sqrt(36 / 12 / len(logs))
    z = [config["z"] for config in configs if config.get("y") == "u"]
    share = np.mean(np.array(z) <= 8)
    expected = np.log(8.5 / 0.5) / np.log(64.5 / 0.5)
    assert abs(share - expected) < 5 * np.sqrt(0.25 / len(z))


def test_rejection_keeps_the_rest_uniform():
    space = Space(
        {"a": Categorical(list("uvwxyz")), "b": Categorical(list("uvwxyz"))}, forbid=["a == b", "a == 'u'"]
    )
    counts = Counter((c["a"], c["b"]) for c in space.sample(25_000, np.random.default_rng(0)))
    assert len(counts) == 25  # 5 values of a, each with 5 others
    assert all(abs(count - 1000) < 5 * np.sqrt(1000) for count in counts.values())


def test_a_needle_is_found():
    names = [f"p{i}" for i in range(12)]
    space = Space({name: Int(0, 3) for name in names}, forbid=[f"{name} != 2" for name in names])
    assert space.sample(3, np.random.default_rng(0)) == [dict.fromkeys(names, 2)] * 3
    assert len(sobol_points(space, 3, np.random.default_rng(0))) == 3


@pytest.mark.parametrize("draw", [sample_points, sobol_points, spread_points])
def test_an_empty_space_is_reported(draw):
    space = Space({"a": Float(0, 1), "b": Float(2, 3)}, forbid=["a < b"])  # no ranges decide this clause
    with pytest.raises(SpaceError, match="no legal configuration was found"):
        draw(space, 1, np.random.default_rng(0))


def test_nothing_asked_nothing_drawn():
    assert len(sample_points(SPACE, 0, np.random.default_rng(0))) == 0
    assert len(sobol_points(SPACE, 0, np.random.default_rng(0))) == 0
    assert len(spread_points(SPACE, 0, np.random.default_rng(0))) == 0


def test_sobol_fills_more_evenly_than_chance():
    space = Space({"x": Float(0, 1), "y": Float(0, 1)})
    points = sobol_points(space, 256, np.random.default_rng(0))
    cells = Counter(map(tuple, np.floor(points.x * 16).astype(int).tolist()))
    assert max(cells.values()) == 1  # a (0, 8, 2)-net in base 2: one point per cell


def test_one_point_per_path():
    points = path_points(SPACE, 100, np.random.default_rng(0))
    paths = SPACE.tree.paths(100)
    assert [p.key for p in SPACE.tree.path_of(points)] == [p.key for p in paths]
    assert SPACE.legal(points).all()
    few = path_points(SPACE, 3, np.random.default_rng(0))
    assert len(few) == len({p.key for p in SPACE.tree.path_of(few)}) == 3


def test_a_path_without_legal_points_is_left_out():
    space = Space({"m": Choice({"a": {"x": Int(0, 1)}, "b": {}})}, forbid=["m == 'b'"])
    assert space.decode(path_points(space, 10, np.random.default_rng(0)))[0]["m"] == "a"
    assert len(path_points(space, 10, np.random.default_rng(0))) == 1


@pytest.mark.parametrize("n", [1, 5, 64])
def test_points_in_a_box(n):
    for path in SPACE.tree.paths(100):
        points = box_points(SPACE, path, n, np.random.default_rng(0))
        assert len(points) == n
        assert (points.on == path.on).all()
        active = SPACE.layout.active(points.on)
        assert ((points.x >= path.low) & (points.x <= path.high))[active].all()
        assert SPACE.legal(points).all()


def test_a_range_of_integers_is_filled_evenly():
    space = Space({"n": Int(1, 10), "l": Int(1, 100, log=True), "x": Int(0, 1, when="n > 6 and l > 50")})
    path = next(p for p in space.tree.paths(10) if p.on[1])
    configs = space.decode(box_points(space, path, 1024, np.random.default_rng(0)))
    assert len(configs) == 1024
    counts = Counter(config["n"] for config in configs)
    assert set(counts) == {7, 8, 9, 10}
    assert all(count == 256 for count in counts.values())  # in base 2 a Halton sequence is exact here
    assert {config["l"] for config in configs} == set(range(51, 101))


def test_relations_in_a_box():
    space = Space({"a": Float(0, 1), "b": Float(0, 1), "x": Float(0, 1, when="a < b")})
    for path in space.tree.paths(10):
        points = box_points(space, path, 20, np.random.default_rng(0))
        assert len(points) == 20
        assert (points.on == path.on).all()


def changed(before, after):
    """Parameters that both configs have, with different values."""
    return {name for name in before.keys() & after.keys() if before[name] != after[name]}


def test_neighbours_change_one_parameter_and_what_it_opens():
    rng = np.random.default_rng(0)
    points = sample_points(SPACE, 40, rng)
    for row in range(40):
        start = points.take([row])
        before = SPACE.decode(start)[0]
        found = neighbours(SPACE, start, rng)
        configs = SPACE.decode(found)
        assert SPACE.legal(found).all()
        assert len({tuple(config.items()) for config in configs}) == len(configs)
        for after in configs:
            assert SPACE.validate(after) == after
            assert len(changed(before, after)) == 1
        options = {(name, after[name]) for after in configs for name in changed(before, after)}
        other_models = {"a", "b", "c"} - {before["m"]} - ({"c"} if before["s"] == "r" else set())
        assert {value for name, value in options if name == "m"} == other_models
        adjacent = {("n", before["n"] + step) for step in (-1, 1) if 0 <= before["n"] + step <= 9}
        assert {a for a in adjacent if not forbidden(before | dict([a]))} <= options
        order = ["lo", "mid", "hi"]
        place = order.index(before["o"])
        assert {("o", order[i]) for i in (place - 1, place + 1) if 0 <= i < 3} <= options


def test_neighbours_redraw_what_a_branch_opens():
    start = SPACE.encode([{"m": "c", "n": 1, "s": "p", "o": "lo"}])
    drawn = set()
    for seed in range(20):
        for config in SPACE.decode(neighbours(SPACE, start, np.random.default_rng(seed))):
            if config["m"] == "a":
                drawn.add(config["x"])
    assert len(drawn) == 20


def test_a_constant_has_no_neighbours():
    space = Space({"c": Categorical(["only"])})
    start = sample_points(space, 1, np.random.default_rng(0))
    assert len(neighbours(space, start, np.random.default_rng(0))) == 0


def test_perturbing_stays_on_the_branch():
    rng = np.random.default_rng(0)
    points = sample_points(SPACE, 500, rng)
    moved = perturb(SPACE, points, rng, 0.1)
    switch = SPACE.layout.switch
    assert (moved.on == points.on).all()
    assert (moved.x[:, switch] == points.x[:, switch]).all()
    assert SPACE.legal(moved).all()
    active = SPACE.layout.active(points.on)
    x = [parameter.path for parameter in SPACE].index("m=a/x")
    steps = (moved.x - points.x)[active[:, x], x]
    assert (steps != 0).mean() > 0.95
    assert 0.05 < np.std(steps) < 0.15
    poisoned = Points(np.where(active, points.x, np.nan), points.on)
    assert np.isfinite(perturb(SPACE, poisoned, rng, 0.1).x[active]).all()
    assert (SPACE.snap(moved.x).x == moved.x).all()
