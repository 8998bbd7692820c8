"""The search over anchors (Jenatton et al. 2017, sec. 3): one path by eq. (6), then one of its anchors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from tests.acquisition.fakes import Plain
from tests.acquisition.test_maximise import none
from tests.papers.test_path import LinearPaths, shared_space

import bough
from bough.papers.jenatton2017.anchor_search import RANKING_ANCHORS, anchor_points, anchor_search
from bough.papers.jenatton2017.two_step import path_ei, shared_columns
from bough.points import FloatArray, Points, row_keys
from bough.space import Choice, Float, Space
from bough.space.halton import halton
from bough.space.tree import Path
from bough.strategies import streams


@pytest.mark.parametrize("seed", range(3))
def test_one_path_is_kept_however_good_another_is(seed: int) -> None:
    space = shared_space()
    rotation = np.random.default_rng(seed).random(space.layout.columns)
    paths = path_ei([LinearPaths(space, seed)], [0.0])
    boxes = space.tree.paths(99)
    anchors, owner = anchor_points(space, boxes, RANKING_ANCHORS, rotation)
    worth = paths(anchors)
    by_path = [worth[owner == i].max() for i in range(len(boxes))]
    order = np.argsort(by_path)[::-1]
    first, second = boxes[order[0]].on, boxes[order[1]].on

    def prefers_second(x: FloatArray, on: np.ndarray) -> FloatArray:
        return np.where((on == second).all(axis=1), 10.0, 0.0)

    options = dict(avoid=none(space), rotation=rotation, anchors=RANKING_ANCHORS)
    options |= dict(rng=np.random.default_rng(9))
    found = anchor_search(space, Plain(prefers_second), paths, **options)
    assert (found.on[0] == first).all()
    two = anchor_search(space, Plain(prefers_second), paths, keep=2, **options)
    assert (two.on[0] == second).all()


def test_the_anchors_of_a_path_do_not_depend_on_the_others() -> None:
    """The points of a Halton sequence, put into the box of each path."""
    space = shared_space()
    boxes, rotation = space.tree.paths(99), np.linspace(0.1, 0.9, space.layout.columns)
    together, owner = anchor_points(space, boxes, 40, rotation)
    unit = halton(40, rotation)
    for row, box in enumerate(boxes):
        alone, _ = anchor_points(space, [box], 40, rotation)
        mine = together.take(owner == row)
        assert row_keys(space.layout, alone) == row_keys(space.layout, mine)
        real = space.layout.active(box.on[None])[0] & (space.layout.levels == 0)
        open_ = np.flatnonzero(real & (box.low < box.high))
        assert (mine.on == box.on).all()
        if len(open_):
            expected = box.low[open_] + unit[:, open_] * (box.high - box.low)[open_]
            np.testing.assert_allclose(mine.x[:, open_], expected, atol=1e-12)
        else:
            assert len(mine) == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_search_equals_a_loop_over_anchors(seed: int) -> None:
    """Eq. (6) by scipy over 64 anchors of every path, then the criterion over those of the best."""
    space, rng = shared_space(), np.random.default_rng(seed)
    rotation, slope = rng.random(space.layout.columns), rng.normal(size=space.layout.columns)
    posterior, best = LinearPaths(space, seed), -0.1
    boxes = space.tree.paths(99)

    def bent(x: FloatArray, on: np.ndarray) -> FloatArray:
        return np.where(space.layout.active(on), np.sin(5 * x) * slope, 0.0).sum(axis=1)

    def anchors_of(box: Path, count: int) -> Points:
        return Points.concat(
            [space.scatter((box.low + unit * (box.high - box.low))[None]) for unit in halton(count, rotation)]
        )

    worth = []
    for box in boxes:
        mean, sd = posterior.path_predict(anchors_of(box, 64))
        z = (best - mean) / sd
        worth.append(np.max(sd * (z * norm.cdf(z) + norm.pdf(z))))
    anchors = anchors_of(boxes[int(np.argmax(worth))], 200)
    order = np.argsort(-bent(anchors.x, anchors.on))
    tried = anchors.take(order[:1])
    expected = next(
        row for row in order if row_keys(space.layout, anchors.take([row])) != row_keys(space.layout, tried)
    )
    for avoid, row in ((none(space), order[0]), (tried, expected)):
        found = anchor_search(
            space,
            Plain(bent),
            path_ei([posterior], [best]),
            avoid=avoid,
            rotation=rotation,
            rng=rng,
            anchors=200,
        )
        assert row_keys(space.layout, found) == row_keys(space.layout, anchors.take([row]))


def test_shared_variables_stay_on_an_anchor_when_the_leaf_is_refined() -> None:
    """The criterion rises towards a corner of the shared variables, and has a peak in the leaf at 0.3."""
    space = Space({"r": Float(0, 1), "s": Float(0, 1), "m": Choice({"a": {"x": Float(0, 1)}, "b": {}})})
    shared = shared_columns(space)
    columns = {p.path: i for i, p in enumerate(space.parameters)}
    leaf, pair = columns["m=a/x"], [columns["r"], columns["s"]]
    assert not shared[leaf] and shared[pair].all()

    def rises(x: FloatArray, on: np.ndarray) -> FloatArray:
        return x[:, columns["r"]] + x[:, columns["s"]] - 4 * (x[:, leaf] - 0.3) ** 2

    of_a = space.encode([{"r": 0.5, "s": 0.5, "m": "a", "x": 0.5}]).on

    def only_a(points: Points) -> FloatArray:
        return (points.on == of_a).all(axis=1).astype(float)

    rotation = np.random.default_rng(0).random(space.layout.columns)
    options = dict(avoid=none(space), rotation=rotation, rng=np.random.default_rng(0), anchors=200)
    found = anchor_search(space, Plain(rises), only_a, refine=True, **options)
    config = space.decode(found)[0]
    assert config["x"] == pytest.approx(0.3, abs=1e-3)
    distance = np.abs(halton(200, rotation)[:, pair] - [config["r"], config["s"]]).max(axis=1)
    assert distance.min() < 1e-9 and config["r"] + config["s"] > 1.0  # a good anchor, but no corner
    coarse = anchor_search(space, Plain(rises), only_a, **options)
    assert rises(coarse.x, coarse.on) < rises(found.x, found.on)


@pytest.mark.parametrize("search", ["anchors", "refined"])
def test_a_study_stays_on_one_set_of_anchors(search: str) -> None:
    """The objective falls towards a corner of the shared variable, which has 40 values throughout."""
    space = bough.Space({"r": Float(0, 1), "m": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}})})
    study = bough.Study(space, method=bough.method("tree", anchors=40, search=search), seed=3)
    for _ in range(24):
        trial = study.ask()
        study.tell(trial, trial.config["r"] + (trial.config.get("x", trial.config.get("y")) - 0.4) ** 2)
    rotation = np.random.default_rng([3, streams.ANCHORS]).random(space.layout.columns)
    lattice = halton(40, rotation)
    columns = {p.path: i for i, p in enumerate(space.parameters)}
    searched = [trial.config for trial in study.trials[4:]]
    assert all(np.abs(lattice[:, columns["r"]] - c["r"]).min() < 1e-9 for c in searched)
    on_anchors = [
        min(
            np.hypot(row[columns["r"]] - c["r"], row[columns[f"m={c['m']}/{name}"]] - c[name])
            for row in lattice
        )
        < 1e-9
        for c in searched
        for name in ("x", "y")
        if name in c
    ]
    assert all(on_anchors) == (search == "anchors")
    tried = {tuple(c.values()) for c in searched}
    assert len(tried) == len(searched)


def test_a_path_without_anything_new_gives_way_to_the_next() -> None:
    space = Space({"a": Choice({"one": {}, "two": {"x": Float(0, 1)}})})
    tried = space.encode([{"a": "one"}])

    def one_first(points: Points) -> FloatArray:
        same = (points.on == tried.on).all(axis=1)
        return np.where(same, 1.0, 0.0)

    flat = Plain(lambda x, on: np.zeros(len(x)))
    options = dict(avoid=tried, rotation=np.full(space.layout.columns, 0.3), rng=np.random.default_rng(0))
    found = anchor_search(space, flat, one_first, **options)
    assert space.decode(found)[0]["a"] == "two"
    again = anchor_search(space, flat, one_first, **options)
    assert row_keys(space.layout, found) == row_keys(space.layout, again)


def test_the_options_of_tree_choose_the_search() -> None:
    """With anchors shared values are inside their range; the exact search of a linear model takes corners."""
    space = bough.Space({"r": Float(0, 1), "m": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}})})

    def after_the_design(**options: object) -> list[float]:
        study = bough.Study(space, method=bough.method("tree", **options), seed=2)
        for _ in range(9):
            trial = study.ask()
            inner = trial.config.get("x", trial.config.get("y"))
            study.tell(trial, trial.config["r"] + (inner - 0.4) ** 2)
        return [trial.config["r"] for trial in study.trials[4:]]

    assert all(0 < r < 1 for r in after_the_design(anchors=50))
    assert all(r in (0.0, 1.0) for r in after_the_design(search="exact"))
