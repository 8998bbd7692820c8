"""Configs to points and back, activity, snapping, and what stands on a threshold."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from bough.errors import ConfigError, SpaceError
from bough.points import Points
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.sampling import sample_points

SPACE = Space(
    {
        "model": Choice(
            {
                "svm": {"C": Float(1e-5, 1e5, log=True), "degree": Int(1, 9)},
                "linear": {"C": Float(-2, 2), "fit": Categorical([True, False])},
                "none": {},
            }
        ),
        "n": Int(1, 1000, log=True),
        "p": Float(0, 1, step=0.05),
        "size": Categorical(["s", "m", "l"], ordered=True),
        "extra": Float(0, 1, when="size >= 'm' and not (degree > 5)"),
    },
    forbid=["`model=linear/C` > 1 and size == 's'"],
)


def brute_force_active(config):
    """Names that must be active, from the declaration above and nothing else."""
    names = {"model", "n", "p", "size"}
    if config["model"] == "svm":
        names |= {"C", "degree"}
    if config["model"] == "linear":
        names |= {"C", "fit"}
    if config["size"] in ("m", "l") and not ("degree" in config and config["degree"] > 5):
        names.add("extra")
    return names


def test_round_trip():
    points = sample_points(SPACE, 2000, np.random.default_rng(0))
    configs = SPACE.decode(points)
    again = SPACE.encode(configs)
    assert (again.on == points.on).all()
    np.testing.assert_allclose(again.x, points.x, rtol=0, atol=1e-14)
    for config, other in zip(configs, SPACE.decode(again)):
        assert config.keys() == other.keys() == brute_force_active(config)
        for name, value in config.items():
            assert type(other[name]) is type(value)
            if not isinstance(value, float):
                assert other[name] == value
        assert SPACE.validate(config) == config
        assert other["p"] == config["p"]  # a step is exact
        assert not (config["model"] == "linear" and config["C"] > 1 and config["size"] == "s")


def test_values_are_plain_python():
    for config in SPACE.sample(50, np.random.default_rng(0)):
        assert {type(value) for value in config.values()} <= {str, int, float, bool}


def test_inactive_columns_are_written_as_a_half_and_never_read():
    points = sample_points(SPACE, 500, np.random.default_rng(0))
    active = SPACE.layout.active(points.on)
    assert (points.x[~active] == 0.5).all()
    assert (SPACE.encode(SPACE.decode(points)).x[~active] == 0.5).all()
    poisoned = Points(np.where(active, points.x, np.nan), points.on)
    assert SPACE.decode(poisoned) == SPACE.decode(points)
    assert (SPACE.legal(poisoned) == SPACE.legal(points)).all()
    snapped = SPACE.snap(poisoned.x)
    assert (snapped.x == points.x).all()
    assert (snapped.on == points.on).all()


def test_snapping_is_idempotent_and_clips():
    raw = np.random.default_rng(0).normal(0.5, 1, (500, len(SPACE)))
    points = SPACE.snap(raw)
    again = SPACE.snap(points.x)
    assert (points.x == again.x).all()
    assert (points.on == again.on).all()
    assert ((points.x >= 0) & (points.x <= 1)).all()
    assert raw.min() < 0  # the input was not changed


def test_the_input_of_snap_is_left_alone():
    raw = np.random.default_rng(0).random((10, len(SPACE)))
    copy = raw.copy()
    SPACE.snap(raw)
    assert (raw == copy).all()


def test_no_rows():
    nothing = SPACE.snap(np.empty((0, len(SPACE))))
    assert SPACE.decode(nothing) == []
    assert SPACE.encode([]).x.shape == (0, len(SPACE))
    assert SPACE.legal(nothing).shape == (0,)


@pytest.mark.parametrize(
    "domain", [Float(0, 1), Float(-1e6, 1e6), Float(1e-9, 1e3, log=True), Float(0.1, 0.7)]
)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_numbers_on_a_threshold_stay_on_their_side(domain, op):
    """A value, its unit position and the value decoded from that agree about every comparison."""
    compare = {
        "<": lambda v, c: v < c, "<=": lambda v, c: v <= c, ">": lambda v, c: v > c,
        ">=": lambda v, c: v >= c, "==": lambda v, c: v == c, "!=": lambda v, c: v != c,
    }[op]  # fmt: skip
    rng = np.random.default_rng(0)
    for threshold in [0.3, 0.1 + 0.2, domain.low, domain.high, *domain.rank_at(rng.random(5)).tolist()]:
        space = Space({"x": domain, "child": Int(0, 1, when=f"x {op} {threshold!r}")})
        near = [threshold, math.nextafter(threshold, -math.inf), math.nextafter(threshold, math.inf)]
        for value in near:
            if not domain.low <= value <= domain.high:
                continue
            config = {"x": value} | ({"child": 1} if compare(value, threshold) else {})
            assert space.validate(config) == config
            point = space.encode([config])
            assert (space.snap(point.x).on == point.on).all()
            assert space.decode(point)[0].keys() == config.keys()
            assert space.validate(space.decode(point)[0])
        units = domain.position(np.array([threshold]))[0] + np.array([-1e-15, -1e-16, 0, 1e-16, 1e-15])
        points = space.snap(np.column_stack([units, np.zeros(5)]))
        for config in space.decode(points):
            assert ("child" in config) == compare(config["x"], threshold)


def test_relations_see_exact_numbers():
    space = Space(
        {"a": Float(-1e6, 1e6), "b": Float(0, 1), "x": Int(0, 1, when="a <= b")},
        forbid=["a == b and b > 0.5"],
    )
    for value in np.random.default_rng(0).random(200).tolist():
        config = {"a": value, "b": value, "x": 0}
        if value > 0.5:
            with pytest.raises(ConfigError, match="forbidden"):
                space.validate(config)
        else:
            assert space.validate(config) == config


def test_legality_of_points_is_that_of_configs():
    points = SPACE.snap(np.random.default_rng(0).random((2000, len(SPACE))))
    legal = SPACE.legal(points)
    assert 0 < legal.mean() < 1
    for config, ok in zip(SPACE.decode(points), legal):
        assert ok == (not (config["model"] == "linear" and config["C"] > 1 and config["size"] == "s"))


def test_two_parameters_of_one_name_are_two_columns():
    svm, linear = SPACE["model=svm/C"], SPACE["model=linear/C"]
    assert (svm.name, linear.name) == ("C", "C")
    assert svm.domain != linear.domain
    rest = {"n": 5, "p": 0.5, "size": "s"}
    config = {"model": "svm", "C": 1e4, "degree": 2} | rest
    assert SPACE.validate(config) == config
    with pytest.raises(ConfigError, match="'C' must be a number in"):
        SPACE.validate({"model": "linear", "C": 1e4, "fit": True} | rest)
    with pytest.raises(KeyError, match="ambiguous"):
        SPACE["C"]
    with pytest.raises(KeyError, match="no parameter"):
        SPACE["nope"]


def test_a_name_is_in_the_space():
    assert "C" in SPACE and "model=svm/C" in SPACE and SPACE["n"] in SPACE
    assert "nope" not in SPACE
    with pytest.raises(SpaceError, match=r"takes the name of a parameter, not .*; space.contains\(config\)"):
        assert {"n": 5} in SPACE


def test_defaults():
    assert Space({"x": Float(0, 1)}).default is None
    space = Space(
        {
            "m": Choice(
                {"a": {"x": Float(1, 100, log=True), "y": Int(1, 9, default=2)}, "b": {"z": Int(0, 1)}}
            ),
            "c": Categorical(["u", "v"], default="v"),
            "f": Float(0, 1, default=0.1),
            "g": Float(0, 1, when="f <= 0.1"),
        }
    )
    assert space.default == {"m": "a", "x": pytest.approx(10), "y": 2, "c": "v", "f": 0.1, "g": 0.5}
    assert space.validate(space.default) == space.default


def test_a_forbidden_default_gives_way_where_it_was_not_given():
    declared = {"a": Categorical(["u", "v"]), "b": Int(1, 3, default=2)}
    assert Space(declared, forbid=["a == 'u' and b == 2"]).default == {"a": "v", "b": 2}
    with pytest.raises(SpaceError, match="defaults are forbidden by 'b == 2'"):
        _ = Space(declared, forbid=["b == 2"]).default


def test_spaces_pickle_small_and_equal():
    _ = SPACE.layout, SPACE.tree.paths(10)
    packed = pickle.dumps(SPACE)
    assert len(packed) < 3000
    assert pickle.loads(packed) == SPACE  # noqa: S301


def test_iteration_and_length():
    assert len(SPACE) == len(list(SPACE)) == 9
    assert [parameter.path for parameter in SPACE][:3] == ["model", "model=svm/C", "model=svm/degree"]


def test_a_space_contains_exactly_what_it_validates() -> None:
    space = Space(
        {"m": Choice({"a": {"x": Float(0, 1)}, "b": {}}), "n": Int(1, 3)}, forbid=["m == 'b' and n == 2"]
    )
    assert space.contains({"m": "a", "x": 0.5, "n": 2})
    for wrong in ({"m": "a", "n": 2}, {"m": "b", "x": 0.5, "n": 1}, {"m": "b", "n": 2}, {"m": "b", "n": 4}):
        assert not space.contains(wrong)
