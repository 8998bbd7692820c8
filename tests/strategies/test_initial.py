"""The initial design: every path once, what came from elsewhere counts, and a bound for very many paths."""

from __future__ import annotations

import numpy as np

import bough
from bough.history import History
from bough.points import Points
from bough.space.sampling import sample_points
from bough.strategies.initial import MAX_POINTS, MIDDLE_SHARE, MIN_POINTS, InitialDesign

BRANCHES = bough.Space(
    {"kind": bough.Choice({label: {"x": bough.Float(0, 1)} for label in "abc"}), "w": bough.Float(0, 1)}
)


def history(space: bough.Space, done: Points, seed: int = 0) -> History:
    none = done.take([])
    numbers = np.arange(len(done))
    return History(
        seed=seed,
        number=len(done),
        done=done,
        y=np.zeros(len(done)),
        noise=np.full(len(done), np.nan),
        done_numbers=numbers,
        failed=none,
        failed_numbers=numbers[:0],
        pending=none,
        pending_numbers=numbers[:0],
    )


def visited(space: bough.Space, done: Points, seed: int = 0) -> list[str]:
    """Branches that the design asks for, one after the other, after ``done``."""
    design, kinds = InitialDesign(), []
    while (point := design.next(space, history(space, done, seed))) is not None:
        kinds.append(space.decode(point)[0]["kind"])
        done = Points.concat([done, point])
    return kinds


def test_every_path_comes_first_then_what_is_missing() -> None:
    empty = sample_points(BRANCHES, 1, np.random.default_rng(0)).take([])
    kinds = visited(BRANCHES, empty)
    assert len(kinds) == MIN_POINTS == 3 + 1
    assert set(kinds[:3]) == set("abc")
    assert kinds == visited(BRANCHES, empty)


def test_a_branch_that_is_known_already_is_not_visited_for_its_own_sake() -> None:
    known = BRANCHES.encode([{"kind": "b", "x": 0.2, "w": 0.9}])
    kinds = visited(BRANCHES, known)
    assert len(kinds) == MIN_POINTS - 1
    assert set(kinds[:2]) == {"a", "c"}


def test_the_look_at_a_branch_avoids_the_ends_of_ranges_but_no_category() -> None:
    space = bough.Space(
        {
            "kind": bough.Choice({k: {f"x_{k}": bough.Float(1e-4, 1e4, log=True)} for k in "abcd"}),
            "n": bough.Int(0, 100),
            "shape": bough.Categorical(["round", "square", "flat"]),
        }
    )
    points = Points.concat([InitialDesign().points(space, seed) for seed in range(100)])
    inner, shapes = space.decode(points), set()
    for config in inner:
        assert 100 * (0.5 - MIDDLE_SHARE / 2) - 1 <= config["n"] <= 100 * (0.5 + MIDDLE_SHARE / 2) + 1
        assert 1e-2 <= config[f"x_{config['kind']}"] <= 1e2
        shapes.add(config["shape"])
    assert shapes == {"round", "square", "flat"}


def test_a_branch_whose_middle_is_forbidden_gets_its_look_all_the_same() -> None:
    space = bough.Space(
        {"kind": bough.Choice({k: {f"x_{k}": bough.Float(0, 1)} for k in "abcde"}), "z": bough.Float(0, 1)},
        forbid=["z > 0.2 and z < 0.8"],
    )
    for seed in range(20):
        design = space.decode(InitialDesign().points(space, seed))
        assert {config["kind"] for config in design} == set("abcde")


def test_a_space_without_branches_is_looked_at_all_over() -> None:
    space = bough.Space({"x": bough.Float(0, 1)})
    x = np.concatenate([InitialDesign().points(space, seed).x[:, 0] for seed in range(20)])
    assert len(x) == 20 * MIN_POINTS
    assert x.min() < 0.1 and x.max() > 0.9


def test_very_many_paths_are_bounded() -> None:
    many = bough.Space(
        {f"c{i}": bough.Choice({str(k): {f"x{i}": bough.Float(0, 1)} for k in range(5)}) for i in range(6)}
    )
    design = InitialDesign()
    assert design.size(many) == MAX_POINTS
    assert len(design.points(many, seed=1)) == MAX_POINTS
    assert InitialDesign(3).size(many) == 3
