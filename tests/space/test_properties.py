"""Random branching spaces against brute force: what holds for every space, whatever its conditions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import bough
from bough.errors import SpaceError
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.conditions import canonical, parse
from bough.space.neighbourhood import neighbours, perturb
from bough.space.parameters import UNSET
from bough.space.sampling import (
    box_points,
    path_points,
    sample_points,
    sobol_points,
    spread_points,
)
from bough.space.size import AtMost

from .strategies import World, activity, enumerate_configs, is_legal, text, typed, worlds

quick = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def sample(world: World, n: int = 8) -> list[dict]:
    """Legal configs of ``world``; an example whose forbidden clauses leave nothing is discarded."""
    try:
        return world.space.sample(n, np.random.default_rng(0))
    except SpaceError:
        assume(False)
        raise


@quick
@given(worlds())
def test_samples_are_valid_active_and_legal(world: World) -> None:
    for config in sample(world):
        assert typed(world.space.validate(config)) == typed(config)
        values = activity(world, config)
        assert {knob.name for knob in values} == set(config) == set(world.space.active(config))
        assert is_legal(world, values)
        for knob, value in values.items():
            if knob.values is not None:
                assert typed({"": value}) in [typed({"": option}) for option in knob.values]
            else:
                assert isinstance(value, float) and knob.low <= value <= knob.high


@quick
@given(worlds(forbid=False))
def test_activity_of_points_equals_brute_force(world: World) -> None:
    """Also where values are drawn without regard to activity, and every inactive one is poisoned."""
    space = world.space
    column = {parameter.path: i for i, parameter in enumerate(space.parameters)}
    assert set(column) == {knob.path for knob in world.knobs}
    x = np.random.default_rng(1).random((20, len(column)))
    points = space.snap(x)
    active = space.layout.active(points.on)
    for row, config in enumerate(space.decode(points)):
        expected = {knob.path for knob in activity(world, config)}
        assert expected == {path for path, i in column.items() if active[row, i]}
        assert space.encode([config]).on[0].tolist() == points.on[row].tolist()
    poisoned = type(points)(np.where(active, points.x, np.nan), points.on)
    assert [typed(c) for c in space.decode(poisoned)] == [typed(c) for c in space.decode(points)]


@quick
@given(worlds())
def test_encode_and_decode_are_inverse(world: World) -> None:
    configs = sample(world)
    points = world.space.encode(configs)
    for config, again in zip(configs, world.space.decode(points), strict=True):
        assert list(again) == list(config)
        values = activity(world, config)
        for knob, value in values.items():
            if knob.values is not None:
                assert typed({"": again[knob.name]}) == typed({"": value})
            else:
                assert knob.low <= again[knob.name] <= knob.high
                assert abs(again[knob.name] - value) <= 1e-14 * max(abs(knob.low), abs(knob.high))
                if world.space[knob.path].domain.log:
                    assert abs(again[knob.name] - value) <= 1e-14 * value * math.log(knob.high / knob.low)
    snapped = world.space.snap(np.where(world.space.layout.active(points.on), points.x, 0.3))
    active = world.space.layout.active(points.on)
    np.testing.assert_array_equal(snapped.on, points.on)
    np.testing.assert_array_equal(snapped.x[active], points.x[active])


@quick
@given(worlds())
def test_text_forms_round_trip(world: World) -> None:
    space = world.space
    assert Space.from_json(space.to_json()) == space
    assert Space.from_json(json.loads(space.to_json())).to_json() == space.to_json()
    names = {"Space": Space, "Float": Float, "Int": Int, "Categorical": Categorical, "Choice": Choice}
    assert eval(repr(space), {"bough": bough, **names}) == space  # noqa: S307
    assert all(parameter.name in str(space) for parameter in space.parameters)


@quick
@given(worlds())
def test_canonical_conditions_parse_back(world: World) -> None:
    space = world.space
    for condition in [parse(clause) for clause in space.forbid] + [p.condition for p in space if p.condition]:
        assert parse(str(condition)) == condition
        assert canonical(f"(({condition}))") == str(condition)
    for expr in world.forbids:
        assert canonical(text(expr, world)) in space.forbid


@quick
@given(worlds())
def test_a_choice_is_only_sugar(world: World) -> None:
    """Spelled with categoricals and conditions, in another order: an equal space with the same groups."""
    space = world.space
    names = [parameter.name for parameter in space.parameters]
    assume(len(set(names)) == len(names))
    flat = {
        p.name: replace(p.domain, when=None if p.condition is None else str(p.condition))
        for p in reversed(space.parameters)
    }
    spelled = Space(flat, forbid=space.forbid[::-1])
    assert spelled == space
    assert len(spelled.tree.groups) == len(space.tree.groups)
    assert spelled.tree.is_tree == space.tree.is_tree
    name, domain = next(iter(flat.items()))
    changed = Categorical(["new"]) if isinstance(domain, Float | Int) else Int(0, 1)
    if not any(name in str(condition) for condition in [*space.forbid, *(p.condition for p in space)]):
        assert Space({**flat, name: replace(changed, when=domain.when)}, forbid=space.forbid) != space


@quick
@given(worlds())
def test_every_sampler_stays_in_the_space(world: World) -> None:
    sample(world)
    rng = np.random.default_rng(2)
    space = world.space
    base = sample_points(space, 5, rng)
    for points in (
        sobol_points(space, 9, rng),
        spread_points(space, 9, rng),
        path_points(space, 6, rng),
        neighbours(space, base.take(slice(0, 1)), rng),
        perturb(space, base, rng, 0.2),
    ):
        assert space.legal(points).all()
        for row, config in enumerate(space.decode(points)):
            assert is_legal(world, activity(world, config))
            assert typed(space.validate(config)) == typed(config)
            assert points.on[row].tolist() == space.encode([config]).on[0].tolist()


@quick
@given(worlds())
def test_neighbours_differ_in_one_choice(world: World) -> None:
    """At least one parameter differs, and parameters that both have differ in one only."""
    space = world.space
    here = space.encode(sample(world, 1))
    (config,) = space.decode(here)
    near = neighbours(space, here, np.random.default_rng(3))
    values = activity(world, config)
    for other in space.decode(near):
        assert typed(other) != typed(config)
        moved = activity(world, other)
        changed = [
            knob for knob in values if knob in moved and typed({"": values[knob]}) != typed({"": moved[knob]})
        ]
        assert len(changed) == 1


@quick
@given(worlds(forbid=False))
def test_paths_partition_the_space(world: World) -> None:
    tree, limit = world.space.tree, 400
    count = len(tree.all_paths(limit))
    paths = tree.paths(limit)
    assert len(paths) == min(count, limit)
    assume(count <= limit)
    points = sample_points(world.space, 30, np.random.default_rng(4))
    around = tree.path_of(points)
    group = world.space.layout.group
    for x, on, own in zip(points.x, points.on, around, strict=True):
        inside = [
            path
            for path in paths
            if np.array_equal(path.on, on)
            and np.all(~on[group] | ((path.low <= x + 1e-12) & (x <= path.high + 1e-12)))
        ]
        assert len(inside) == 1
        for mine, listed in ((own.on, inside[0].on), (own.low, inside[0].low), (own.high, inside[0].high)):
            np.testing.assert_array_equal(mine, listed)


@quick
@given(worlds(forbid=False))
def test_points_of_a_path_box_have_its_signature(world: World) -> None:
    rng = np.random.default_rng(5)
    for path in islice(world.space.tree.paths(20), 20):
        points = box_points(world.space, path, 4, rng)
        assert (points.on == path.on).all()


@quick
@given(worlds(finite=True, depth=1))
def test_size_counts_the_configs(world: World) -> None:
    configs = list(islice(enumerate_configs(world), 3000))
    assume(len(configs) < 3000)
    assert len({typed(config) for config in configs}) == len(configs)
    size = world.space.size
    assert size >= len(configs) if isinstance(size, AtMost) else size == len(configs)
    for config in configs[::17]:
        assert typed(world.space.validate(config)) == typed(config)


@quick
@given(worlds(finite=True, depth=1), st.integers(0, 2**32))
def test_sampling_reaches_every_config_or_says_there_is_none(world: World, seed: int) -> None:
    configs = {typed(config) for config in islice(enumerate_configs(world), 13)}
    assume(len(configs) <= 12)
    rng = np.random.default_rng(seed)
    if not configs:
        with pytest.raises(SpaceError):
            world.space.sample(1, rng)
    else:
        assert {typed(config) for config in world.space.sample(3000, rng)} == configs


@quick
@given(worlds())
def test_the_default_config_holds_the_given_defaults(world: World) -> None:
    space = world.space
    given_defaults = {p.path: p.domain.default for p in space if p.domain.default not in (None, UNSET)}
    try:
        config = space.default
    except SpaceError:  # forbidden by some clause
        assert world.forbids
        return
    if config is None:
        assert not given_defaults
        return
    assert typed(space.validate(config)) == typed(config)
    for knob, value in activity(world, config).items():
        if knob.path in given_defaults:
            assert typed({"": value}) == typed({"": given_defaults[knob.path]})
