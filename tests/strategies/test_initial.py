"""The initial design: every path once, what came from elsewhere counts, and a bound for very many paths."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.errors import MethodError
from bough.history import History
from bough.points import Points
from bough.space.sampling import sample_points
from bough.strategies.initial import MAX_POINTS, MIDDLE_SHARE, MIN_POINTS, InitialDesign, initial_design

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


def test_no_path_can_be_late_where_the_first_points_are_on_all_of_them() -> None:
    seen, missing = (
        BRANCHES.encode([{"kind": kind, "x": x, "w": x} for x in (0.1, 0.9) for kind in kinds])
        for kinds in ("abca", "abab")
    )
    design = InitialDesign()
    assert len(design.early_points(BRANCHES, history(BRANCHES, seen))) == 0
    early = design.early_points(BRANCHES, history(BRANCHES, missing))
    np.testing.assert_array_equal(early.x, missing.x[:MIN_POINTS])


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


@pytest.mark.parametrize("kind", ["paths", "random", "sobol", "lhs"])
def test_other_designs_have_their_size_and_depend_on_the_seed_only(kind: str) -> None:
    design = initial_design((kind, 12))
    points = design.points(BRANCHES, 3)
    assert len(points) == 12 and BRANCHES.legal(points).all()
    assert np.array_equal(points.x, design.points(BRANCHES, 3).x)
    assert not np.array_equal(points.x, design.points(BRANCHES, 4).x)
    assert initial_design(kind) == InitialDesign(kind=kind)


def test_a_point_per_path_may_lie_anywhere_in_its_ranges() -> None:
    x = np.concatenate([initial_design("paths").points(BRANCHES, seed).x[:3, 1] for seed in range(60)])
    assert x.min() < 0.1 and x.max() > 0.9
    kinds = {config["kind"] for config in BRANCHES.decode(initial_design("paths").points(BRANCHES, 0))[:3]}
    assert kinds == set("abc")


def test_a_latin_hypercube_has_one_point_in_every_slice() -> None:
    space = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})
    points = initial_design(["lhs", 10]).points(space, 1)
    for column in points.x.T:
        assert sorted(np.floor(10 * column).astype(int)) == list(range(10))


@pytest.mark.parametrize("option", [0, -1, 2.5, "halton", ("sobol", 0), ("sobol",), (5, "sobol"), True])
def test_a_wrong_initial_design_is_refused_in_one_line(option: object) -> None:
    with pytest.raises(MethodError, match=r"option 'initial' is .*: give a number of initial points.*sobol"):
        bough.method("gp", initial=option)


def test_the_design_is_what_a_study_begins_with() -> None:
    study = bough.Study(BRANCHES, method=bough.method("gp", initial=("lhs", 6)), seed=5)
    asked = []
    for _ in range(6):
        asked.append(study.ask())
        study.tell(asked[-1], 1.0)
    design = BRANCHES.decode(initial_design(("lhs", 6)).points(BRANCHES, 5))
    assert [trial.config for trial in asked] == design
    assert study.explain(study.trials[2])["reason"] == "part of the initial design (lhs)"
