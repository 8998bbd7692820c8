"""Groups and paths: what they hold, that paths partition the space, and that they do not explode."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bough.points import Points, rows_by_signature
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.sampling import sample_points

NESTED = Space(
    {
        "model": Choice(
            {
                "svm": {
                    "C": Float(1e-5, 1e5, log=True),
                    "kernel": Choice({"rbf": {"gamma": Float(0, 1)}, "linear": {}}),
                },
                "forest": {"trees": Int(1, 30), "depth": Int(1, 10)},
                "bayes": {},
            }
        ),
        "scale": Categorical(["none", "standard"]),
    }
)
FLAT = Space(
    {
        "model": Categorical(["svm", "forest", "bayes"]),
        "C": Float(1e-5, 1e5, log=True, when="model == 'svm'"),
        "kernel": Categorical(["rbf", "linear"], when="model == 'svm'"),
        "gamma": Float(0, 1, when="kernel == 'rbf' and model == 'svm'"),
        "trees": Int(1, 30, when="model not in ('svm', 'bayes')"),
        "depth": Int(1, 10, when="model == 'forest'"),
        "scale": Categorical(["none", "standard"]),
    }
)
LAYERS = Space(
    {
        "layers": Int(1, 4),
        **{f"units{i}": Int(8, 512, log=True, when=f"layers >= {i}") for i in range(1, 5)},
        "lr": Float(1e-5, 1, log=True),
        "warm": Float(0, 1, when="lr > 0.01"),
    }
)


def described(space):
    return [
        (str(g.condition), [space.parameters[c].name for c in g.columns], g.parents)
        for g in space.tree.groups
    ]


def test_groups_of_a_choice():
    assert described(NESTED) == [
        ("None", ["model", "scale"], ()),
        ("model == 'svm'", ["C", "kernel"], (0,)),
        ("model == 'forest'", ["trees", "depth"], (0,)),
        ("model == 'bayes'", [], (0,)),
        ("kernel == 'rbf'", ["gamma"], (1,)),
        ("kernel == 'linear'", [], (1,)),
    ]
    assert NESTED.tree.is_tree


def test_a_choice_and_its_desugared_form_are_equal():
    assert NESTED == FLAT
    assert {g[0] for g in described(NESTED)} == {g[0] for g in described(FLAT)}
    assert [g.columns for g in NESTED.tree.groups] == [g.columns for g in FLAT.tree.groups]
    assert Space({**FLAT.declared, "scale": Categorical(["none", "maxabs"])}) != NESTED
    assert Space(FLAT.declared, forbid=["scale == 'none'"]) != NESTED
    shuffled = dict(reversed(FLAT.declared.items()))
    assert Space(shuffled) == FLAT


def test_what_is_no_tree():
    assert not LAYERS.tree.is_tree
    shared = Space({"m": Categorical(["a", "b", "c"]), "x": Int(0, 1, when="m in ('a', 'b')")})
    assert not shared.tree.is_tree
    assert Space({"x": Float(0, 1)}).tree.is_tree


def test_layout():
    layout = LAYERS.layout
    names = [parameter.name for parameter in LAYERS]
    assert layout.kinds == ("ordinal",) * 5 + ("real",) * 2
    assert layout.levels.tolist() == [4, 505, 505, 505, 505, 0, 0]
    assert [names[c] for c in np.flatnonzero(layout.switch)] == ["layers", "lr"]
    assert layout.group[names.index("units1")] != 0  # written as a condition, though always true
    assert layout.groups == 6


@pytest.mark.parametrize("space", [NESTED, FLAT, LAYERS], ids=["nested", "flat", "layers"])
def test_paths_partition_the_space(space):
    paths = space.tree.paths(1000)
    assert len(space.tree.all_paths(1000)) == len(paths) == len({path.key for path in paths})
    points = sample_points(space, 500, np.random.default_rng(0))
    active = space.layout.active(points.on)
    for row, path in enumerate(space.tree.path_of(points)):
        inside = [
            p.key
            for p in paths
            if (p.on == points.on[row]).all()
            and ((p.low <= points.x[row]) & (points.x[row] <= p.high))[active[row]].all()
        ]
        assert inside == [path.key]


@pytest.mark.parametrize("space", [NESTED, LAYERS], ids=["nested", "layers"])
def test_corners_of_a_path_have_its_signature(space):
    for path in space.tree.paths(1000):
        for corner in (path.low, path.high, (path.low + path.high) / 2):
            point = space.snap(corner[None])
            assert (point.on[0] == path.on).all()
            assert space.tree.path_of(point)[0].key == path.key


def test_path_boxes():
    paths = LAYERS.tree.paths(100)
    assert len(paths) == 4 * 2  # four depths, and lr below or above the threshold
    lr = [parameter.name for parameter in LAYERS].index("lr")
    ranges = sorted({(path.low[lr], path.high[lr]) for path in paths})
    assert np.array(ranges) == pytest.approx(np.array([[0, 0.6], [0.6, 1]]))
    assert {(path.low[0], path.high[0]) for path in paths} == {((i + 0.5) / 4,) * 2 for i in range(4)}
    coarse = Space({"n": Int(1, 10), "x": Int(0, 1, when="n > 7")}).tree.paths(10)
    assert [(path.low[0], path.high[0]) for path in coarse] == [(0.05, 0.65), (0.75, 0.95)]
    assert [path.on.tolist() for path in coarse] == [[True, False], [True, True]]


def test_every_option_of_a_switch_is_a_path_even_with_equal_signature():
    space = Space({"m": Categorical(["a", "b", "c"]), "x": Int(0, 1, when="m != 'c'")})
    assert len(space.tree.all_paths(10)) == 3


def test_forbidden_clauses_do_not_split_paths():
    space = Space({"n": Int(1, 10), "x": Int(0, 1, when="n > 7")}, forbid=["n == 2", "x == 1"])
    assert len(space.tree.all_paths(10)) == 2


def test_independent_choices_are_not_multiplied_out():
    space = Space({f"c{i}": Choice({"a": {f"x{i}": Float(0, 1)}, "b": {}}) for i in range(60)})
    assert len(space.tree.all_paths(100)) == 101  # 2^60 would not end
    assert len(space.tree.paths(100)) == 100


def test_a_relation_leaves_the_signature_open():
    space = Space({"a": Float(0, 1), "b": Float(0, 1), "x": Float(0, 1, when="a < b")})
    assert [path.on.tolist() for path in space.tree.paths(10)] == [[True, True], [True, False]]
    decided = Space(
        {"a": Categorical(["u", "v"]), "b": Categorical(["v", "u"]), "x": Int(0, 1, when="a == b")}
    )
    assert sum(path.on[1] for path in decided.tree.paths(10)) == 2


def test_signature():
    points = NESTED.encode([{"model": "bayes", "scale": "none"}])
    assert points.on.tolist() == [[True, False, False, True, False, False]]


def test_path_of_ignores_inactive_columns():
    points = sample_points(NESTED, 50, np.random.default_rng(1))
    poisoned = Points(np.where(NESTED.layout.active(points.on), points.x, np.nan), points.on)
    assert [p.key for p in NESTED.tree.path_of(points)] == [p.key for p in NESTED.tree.path_of(poisoned)]


def test_groups_follow_their_parents_whatever_the_declaration_order():
    declared = {
        "a": Categorical(["x", "y"]),
        "b": Categorical(["x", "y"], when="a == 'x'"),
        "c": Categorical(["x", "y"], when="b == 'x'"),
        "d": Int(0, 1, when="c == 'x' or a == 'y'"),
    }
    for order in itertools.permutations(declared):
        space = Space({name: declared[name] for name in order})
        assert space == Space(declared)
        for group in space.tree.groups:
            assert all(parent < group.index for parent in group.parents)
        for config in space.sample(20, np.random.default_rng(0)):
            assert ("b" in config) == (config["a"] == "x")
            assert ("c" in config) == (config.get("b") == "x")
            assert ("d" in config) == (config.get("c") == "x" or config["a"] == "y")


def test_branch_ids_agree_with_paths():
    space = Space(
        {
            "kind": Categorical(["a", "b", "c"]),
            "grade": Categorical(["low", "mid", "high"], ordered=True),
            "n": Int(1, 9),
            "x": Float(0, 1, when="kind == 'a' and n >= 4"),
            "y": Float(0, 1, when="grade in ('low', 'high')"),
        }
    )
    points = sample_points(space, 300, np.random.default_rng(0))
    ids, keys = space.tree.branch_ids(points), [path.key for path in space.tree.path_of(points)]
    assert [keys.index(key) for key in keys] == [ids.tolist().index(i) for i in ids]
    assert len(set(keys)) == 3 * 3 * 2  # kind, grade, and n on either side of 4
    first_seen = list(dict.fromkeys(ids.tolist()))
    assert first_seen == sorted(first_seen)
    rows = space.tree.rows_by_path(points)
    assert {key: found.tolist() for key, found in rows.items()} == {
        key: [row for row, own in enumerate(keys) if own == key] for key in keys
    }


def test_rows_by_signature_lists_rows_in_order_of_occurrence():
    on = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 0, 0]], dtype=bool)
    assert [rows.tolist() for rows in rows_by_signature(on).values()] == [[0, 2], [1], [3]]
    assert [rows.tolist() for rows in rows_by_signature(on[[0, 2]]).values()] == [[0, 1]]
    assert rows_by_signature(on[:0]) == {}


def test_depth_is_the_longest_chain_of_groups_above():
    depth = {str(g.condition): int(d) for g, d in zip(NESTED.tree.groups, NESTED.tree.depths)}
    assert depth["None"] == 0 and depth["model == 'svm'"] == 1 and depth["kernel == 'rbf'"] == 2


def test_a_walk_visits_only_groups_that_can_be_active():
    options = 1500
    wide = Space({"m": Choice({f"o{i}": {f"x{i}": Float(0, 1)} for i in range(options)})})
    visits = 0
    count = type(wide.tree._walk)._options

    def counted(self, step, on, pieces):
        nonlocal visits
        visits += 1
        return count(self, step, on, pieces)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(wide.tree._walk), "_options", counted)
        paths = wide.tree.paths(options + 1)
    assert len(paths) == options
    assert [np.flatnonzero(path.on).tolist() for path in paths] == [[0, i + 1] for i in range(options)]
    assert visits <= 2 * options + 2


@pytest.mark.parametrize(
    "when", ["p < q", "p > q and p > 0.5", "p <= 0.2 or q < p", "not (p < 0.9)", "p < 0.5 and p > 0.6"]
)
def test_never_active_is_never_drawn(when):
    space = Space({"p": Float(0, 1), "q": Float(0, 1), "x": Float(0, 1, when=when)})
    drawn = any("x" in config for config in space.sample(300, np.random.default_rng(0)))
    assert space.tree.never_active(10) == ([] if drawn else [2])


def test_never_active_gives_up_where_there_are_many_paths():
    switches = {f"c{i}": Categorical(["a", "b"]) for i in range(4)}
    space = Space({**switches, "x": Float(0, 1, when=" and ".join(f"{name} == 'a'" for name in switches))})
    assert space.tree.never_active(2) == []
