"""Maximisers against brute force: on finite spaces by enumeration, on others at known optima."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bough.acquisition.maximise.alternate import alternate_search
from bough.acquisition.maximise.candidates import (
    CandidateFilter,
    best_of_each,
    best_row,
    every_point,
    near_incumbents,
    select_starts,
    spread,
    transplant,
)
from bough.acquisition.maximise.exchanges import exchanges
from bough.acquisition.maximise.local import local_search, local_search_from
from bough.acquisition.maximise.paths import search_boxes, search_paths
from bough.acquisition.maximise.sample import best_of_samples
from bough.points import Points, row_keys
from bough.space import Categorical, Choice, Float, Int, Space

from .fakes import Plain

MAXIMISERS = {"samples": best_of_samples, "local": local_search, "paths": search_paths}


def branching(**more) -> Space:
    return Space(
        {
            "model": Choice(
                {
                    "svm": {"C": Float(1e-3, 1e3, log=True), "gamma": Float(1e-3, 1e3, log=True)},
                    "forest": {"trees": Int(1, 200, log=True), "rule": Categorical(["gini", "mse", "mae"])},
                    "bayes": {},
                }
            ),
            "scale": Float(0.0, 1.0),
        },
        **more,
    )


def finite() -> Space:
    return Space(
        {
            "kind": Choice(
                {"a": {"x": Int(0, 9), "c": Categorical([0, 1, 2])}, "b": {"y": Int(1, 64, log=True)}}
            ),
            "z": Int(0, 4),
            "w": Categorical(["low", "mid", "high"], ordered=True, when="z >= 3"),
        }
    )


def column(space: Space, path: str) -> int:
    return [parameter.path for parameter in space.parameters].index(path)


def ruggedness(space: Space, seed: int) -> Plain:
    """A smooth random function of the active columns, with some interaction and several hills."""
    rng = np.random.default_rng(seed)
    frequency, phase = rng.normal(0, 4, (space.layout.columns, 6)), rng.uniform(0, 6, 6)
    offset = rng.normal(0, 1, space.layout.groups)

    def function(x: np.ndarray, on: np.ndarray) -> np.ndarray:
        seen = np.where(space.layout.active(on), x, 0.0)
        return np.cos(seen @ frequency + phase).sum(axis=1) + on @ offset

    return Plain(function)


def none(space: Space) -> Points:
    return Points(np.empty((0, space.layout.columns)), np.empty((0, space.layout.groups), dtype=bool))


def test_every_point_is_every_configuration_once() -> None:
    space = finite()
    tails = [{"z": z} for z in range(3)] + [{"z": z, "w": w} for z in (3, 4) for w in ("low", "mid", "high")]
    heads = [{"kind": "a", "x": x, "c": c} for x, c in product(range(10), range(3))]
    heads += [{"kind": "b", "y": y} for y in range(1, 65)]
    expected = {tuple(sorted({**head, **tail}.items(), key=str)) for head in heads for tail in tails}
    points = every_point(space, 10_000)
    found = [tuple(sorted(config.items(), key=str)) for config in space.decode(points)]
    assert len(found) == len(set(found)) and set(found) == expected
    assert every_point(space, len(expected)) is not None
    assert every_point(space, len(expected) - 1) is None
    assert every_point(branching(), 10**6) is None


@pytest.mark.parametrize("seed", range(4))
def test_small_finite_spaces_are_solved_exactly_and_exhausted_without_repeats(seed: int) -> None:
    space = Space({"kind": Choice({"a": {"x": Int(0, 3)}, "b": {"y": Categorical([0, 1])}}), "z": Int(0, 1)})
    criterion = ruggedness(space, seed)
    points = every_point(space, 100)
    order = np.argsort(-criterion(points))
    avoid = none(space)
    for row in order:  # the best first, then the second best, ...
        found = search_paths(space, criterion, near=none(space), avoid=avoid, rng=np.random.default_rng(0))
        assert row_keys(space.layout, found) == row_keys(space.layout, points.take([int(row)]))
        avoid = Points.concat([avoid, found])
    assert not len(
        search_paths(space, criterion, near=none(space), avoid=avoid, rng=np.random.default_rng(0))
    )


def test_search_of_boxes_and_local_search_find_the_best_of_a_finite_space() -> None:
    space, local = finite(), 0
    for seed in range(6):
        criterion = ruggedness(space, seed)
        best = criterion(every_point(space, 10_000)).max()
        options = dict(near=none(space), avoid=none(space), rng=np.random.default_rng(seed))
        found = search_boxes(space, criterion, space.tree.paths(99), **options)
        assert criterion(found) == pytest.approx(best)
        local += criterion(local_search(space, criterion, **options))[0] >= best - 1e-6
    assert local >= 4  # it climbs from where it happens to start: now and then to a lower hill


def test_search_of_paths_beats_a_great_many_samples() -> None:
    space, nothing = branching(), none(branching())
    wins = 0
    for seed in range(8):
        criterion, rng = ruggedness(space, seed), np.random.default_rng(seed)
        found = search_paths(space, criterion, near=nothing, avoid=nothing, rng=rng)
        reference = best_of_samples(space, criterion, near=nothing, avoid=nothing, rng=rng, samples=50_000)
        wins += criterion(found)[0] >= criterion(reference)[0] - 1e-6
    assert wins >= 7  # functions of some twenty hills each: now and then the best one is missed


@pytest.mark.parametrize("corner", [0.0, 1.0])
def test_optima_on_the_border_are_reached_exactly(corner: float) -> None:
    space = branching()
    c, gamma, scale = (column(space, name) for name in ("model=svm/C", "model=svm/gamma", "scale"))
    svm = space.encode([{"model": "svm", "C": 1.0, "gamma": 1.0, "scale": 0.5}]).on[0]

    def function(x: np.ndarray, on: np.ndarray) -> np.ndarray:
        hill = -np.abs(x[:, c] - corner) - (x[:, gamma] - 0.37) ** 2
        return np.where((on == svm).all(axis=1), hill, -5.0) - 3 * (x[:, scale] - corner) ** 2

    criterion = Plain(function)
    found = search_paths(space, criterion, near=none(space), avoid=none(space), rng=np.random.default_rng(1))
    assert found.x[0, [c, scale]] == pytest.approx([corner, corner], abs=1e-12)
    assert found.x[0, gamma] == pytest.approx(0.37, abs=1e-3)


def test_ints_and_categories_next_to_reals_are_optimised_together() -> None:
    space = branching()
    trees, rule, scale = (
        column(space, name) for name in ("model=forest/trees", "model=forest/rule", "scale")
    )
    target = space.encode([{"model": "forest", "trees": 137, "rule": "mse", "scale": 0.8}])

    def function(x: np.ndarray, on: np.ndarray) -> np.ndarray:
        # A narrow diagonal ridge: the best scale depends on the number of trees, and on the rule.
        shift = np.where(x[:, rule] == target.x[0, rule], 0.0, 0.3)
        ridge = x[:, scale] - target.x[0, scale] + 0.5 * (x[:, trees] - target.x[0, trees]) + shift
        value = -30 * ridge**2 - (x[:, trees] - target.x[0, trees]) ** 2 - shift
        return np.where((on == target.on[0]).all(axis=1), value, -5.0)

    found = search_paths(
        space, Plain(function), near=none(space), avoid=none(space), rng=np.random.default_rng(2)
    )
    (config,) = space.decode(found)
    assert (config["model"], config["rule"]) == ("forest", "mse")
    # within 0.07 along the ridge and 0.01 across it
    assert function(found.x, found.on) == pytest.approx([0.0], abs=5e-3)


@pytest.mark.parametrize("name", MAXIMISERS)
def test_results_are_snapped_legal_new_and_repeatable(name: str) -> None:
    space = branching(forbid=["model == 'svm' and scale > 0.5", "model == 'forest' and rule == 'mse'"])
    criterion = ruggedness(space, 3)
    avoid = none(space)
    for seed in range(5):
        one, two = (
            MAXIMISERS[name](space, criterion, near=avoid, avoid=avoid, rng=np.random.default_rng(seed))
            for _ in range(2)
        )
        assert row_keys(space.layout, one) == row_keys(space.layout, two)
        assert space.legal(one).all()
        assert row_keys(space.layout, space.snap(one.x)) == row_keys(space.layout, one)
        assert row_keys(space.layout, one)[0] not in row_keys(space.layout, avoid)
        avoid = Points.concat([avoid, one])


def test_forbidden_optimum_is_not_returned_and_the_border_is_approached() -> None:
    space = Space({"x": Float(0, 1), "k": Int(0, 20)}, forbid=["x > 0.7 and k > 5"])
    criterion = Plain(lambda x, on: -((x[:, 0] - 0.9) ** 2) - (x[:, 1] - 0.8) ** 2)
    found = search_paths(space, criterion, near=none(space), avoid=none(space), rng=np.random.default_rng(0))
    grid = space.snap(
        np.stack(np.meshgrid(np.linspace(0, 1, 1001), np.linspace(0, 1, 21)), -1).reshape(-1, 2)
    )
    best = criterion(grid.take(space.legal(grid))).max()
    assert space.legal(found).all() and criterion(found)[0] > best - 0.01


def test_a_space_of_a_million_paths_is_searched_without_listing_them() -> None:
    space = Space({f"s{i}": Choice({"off": {}, "on": {f"x{i}": Float(0, 1)}}) for i in range(20)})
    wanted = np.random.default_rng(5).random(20) < 0.5
    switches = [column(space, f"s{i}") for i in range(20)]
    inner = [column(space, f"s{i}=on/x{i}") for i in range(20)]

    def function(x: np.ndarray, on: np.ndarray) -> np.ndarray:
        right = (x[:, switches] > 0.5) == wanted
        active = space.layout.active(on)[:, inner]
        return right.sum(axis=1) - (np.where(active, x[:, inner] - 0.3, 0.0) ** 2).sum(axis=1)

    criterion = Plain(function)
    near = none(space)
    best = []
    for seed in range(6):  # each search starts from what the last one found, as a study does
        found = search_paths(space, criterion, near=near, avoid=near, rng=np.random.default_rng(seed))
        near = Points.concat([found, near])
        best.append(criterion(found)[0])
    assert best == sorted(best) and best[-1] > 19.9  # of 20


@pytest.mark.parametrize("seed", range(3))
def test_a_good_path_is_found_though_shared_columns_hide_it(seed: int) -> None:
    shared = {f"r{i}": Float(0, 1) for i in range(10)}
    space = Space({**shared, "leaf": Choice({f"p{i}": {f"x{i}": Float(0, 1)} for i in range(40)})})
    rng = np.random.default_rng(seed)
    centre, worth = rng.random(space.layout.columns), rng.normal(0, 0.2, space.layout.groups)

    def function(x: np.ndarray, on: np.ndarray) -> np.ndarray:
        # Among random points the shared columns make differences of several units, paths of a fifth.
        weight = np.where(space.layout.group == 0, 10.0, 1.0) * (np.array(space.layout.kinds) == "real")
        return on @ worth - (weight * np.where(space.layout.active(on), x - centre, 0.0) ** 2).sum(axis=1)

    found = search_paths(space, Plain(function), near=none(space), avoid=none(space), rng=rng)
    assert Plain(function)(found)[0] == pytest.approx(worth[0] + worth[1:].max(), abs=1e-4)


def test_transplanting_keeps_what_paths_have_in_common() -> None:
    space = branching()
    boxes = space.tree.paths(9)
    point = space.encode([{"model": "svm", "C": 10.0, "gamma": 0.1, "scale": 0.9}])
    points = transplant(space, boxes, point)
    assert (points.on == np.stack([box.on for box in boxes])).all()
    assert points.x[:, column(space, "scale")] == pytest.approx(0.9)
    assert (
        sum(config.get("C") == pytest.approx(10.0) for config in space.decode(points) if "C" in config) == 1
    )


def test_local_search_crosses_a_plateau_without_cycling() -> None:
    space = Space({"k": Int(0, 40)})
    levels = np.array([0.0] * 8 + [1.0] + [0.0] * 32)  # flat, with one good value
    criterion = Plain(lambda x, on: levels[np.floor(x[:, 0] * 41).astype(int)])
    start = space.encode([{"k": 1}])
    seen, value = local_search_from(
        space, criterion, start, criterion(start), np.random.default_rng(0), steps=50
    )
    assert value.max() == 1.0
    flat = Plain(lambda x, on: np.zeros(len(x)))
    seen, value = local_search_from(space, flat, start, flat(start), np.random.default_rng(0), steps=1000)
    assert len(seen) < 500  # patience ends


def test_exchanges_reach_every_level_or_geometric_distances() -> None:
    space = Space({"few": Int(1, 12, log=True), "many": Int(0, 999), "nominal": Categorical(list("abcdef"))})
    here = space.encode([{"few": 3, "many": 500, "nominal": "b"}])
    moves = exchanges(space, here, np.zeros((1, 3)), np.ones((1, 3)))
    configs = space.decode(moves.points())
    assert (moves.owner == 0).all()
    assert {config["few"] for config in configs} == set(range(1, 13))
    assert {config["nominal"] for config in configs} == set("abcdef")
    distances = {abs(config["many"] - 500) for config in configs}
    assert distances == {0, 1, 2, 4, 8, 16, 32, 64, 128, 256}
    assert all(
        sum(config[name] != old for name, old in space.decode(here)[0].items()) <= 1 for config in configs
    )
    narrow = exchanges(space, here, np.array([[0.0, 0.49, 0.25]]), np.array([[1.0, 0.51, 0.25]])).points()
    assert all(490 <= config["many"] <= 510 and config["nominal"] == "b" for config in space.decode(narrow))


def test_refinement_never_loses_and_stays_in_its_box() -> None:
    space = branching()
    criterion = ruggedness(space, 8)
    rng = np.random.default_rng(0)
    starts = spread(space, space.tree.paths(9), 4, rng)[0]
    boxes = space.tree.path_of(starts)
    low, high = np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])
    reached, value = alternate_search(space, criterion, starts, low, high)
    assert (value >= criterion(starts)).all() and value == pytest.approx(criterion(reached))
    assert (reached.on == starts.on).all()
    active = space.layout.active(starts.on)
    assert ((reached.x >= low) & (reached.x <= high))[active].all()


def test_spread_fills_every_box_evenly() -> None:
    space = branching()
    boxes = space.tree.paths(9)
    points, owner = spread(space, boxes, 64, np.random.default_rng(0))
    for index, box in enumerate(boxes):
        mine = points.take(owner == index)
        assert (mine.on == box.on).all()
        scale = mine.x[:, column(space, "scale")]
        assert np.bincount((scale * 8).astype(int), minlength=8) == pytest.approx(8, abs=2)


def test_starts_are_the_best_of_the_best_branches_and_well_apart() -> None:
    space = branching()
    points = spread(space, space.tree.paths(9), 64, np.random.default_rng(0))[0]
    value = ruggedness(space, 1)(points)
    rows = select_starts(space, points, value, branches=2, starts=6)
    branch = space.tree.branch_ids(points)
    leaders = {}
    for row in np.argsort(-value):
        leaders.setdefault(branch[row], row)
    assert set(branch[rows]) == set(list(leaders)[:2])
    assert set(list(leaders.values())[:2]) <= set(rows.tolist())
    for a, b in product(rows, rows):
        if a != b and branch[a] == branch[b]:
            gap = np.abs(points.x[a] - points.x[b])[space.layout.active(points.on[[a]])[0]]
            assert gap.max() > 0.25
    assert len(select_starts(space, points, np.full(len(points), -np.inf), 2, 3)) == 0


def test_steps_around_good_points_stay_on_their_branches() -> None:
    space = branching()
    near = spread(space, space.tree.paths(9), 3, np.random.default_rng(0))[0]
    steps = near_incumbents(space, near, 4, np.random.default_rng(1))
    assert {row.tobytes() for row in steps.on} == {row.tobytes() for row in near.on}
    assert not len(near_incumbents(space, none(space), 4, np.random.default_rng(1)))


def test_pool_picks_the_best_allowed_row() -> None:
    space = finite()
    points = every_point(space, 10_000).take(slice(0, 5))
    value = np.array([1.0, 5.0, np.nan, 3.0, 4.0])
    best = best_row(points, CandidateFilter(space, points.take([1])).score(points, value))
    assert row_keys(space.layout, best) == row_keys(space.layout, points.take([4]))
    assert best_of_each(np.array([1.0, 2, 2, 0, -1]), np.array([0, 0, 0, 1, 1]), 2).tolist() == [1, 3]
    poisoned = Points(np.where(space.layout.active(points.on), points.x, np.nan), points.on)
    assert row_keys(space.layout, poisoned) == row_keys(space.layout, points)
