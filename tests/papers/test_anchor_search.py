"""The search over anchors (Jenatton et al. 2017, sec. 3): one path by eq. (6), then one of its anchors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.acquisition.fakes import Plain
from tests.acquisition.test_maximise import none
from tests.papers.test_path import LinearPaths, shared_space

import bough
from bough.acquisition.maximise.candidates import spread
from bough.papers.jenatton2017.anchor_search import RANKING_ANCHORS, anchor_search
from bough.papers.jenatton2017.two_step import path_ei, shared_columns
from bough.points import FloatArray, Points, row_keys
from bough.space import Choice, Float, Space


@pytest.mark.parametrize("seed", range(3))
def test_one_path_is_kept_however_good_another_is(seed: int) -> None:
    space = shared_space()
    paths = path_ei([LinearPaths(space, seed)], [0.0])
    boxes = space.tree.paths(99)
    anchors, owner = spread(space, boxes, RANKING_ANCHORS, np.random.default_rng(seed))
    worth = paths(anchors)
    by_path = [worth[owner == i].max() for i in range(len(boxes))]
    order = np.argsort(by_path)[::-1]
    first, second = boxes[order[0]].on, boxes[order[1]].on

    def prefers_second(x: FloatArray, on: np.ndarray) -> FloatArray:
        return np.where((on == second).all(axis=1), 10.0, 0.0)

    options = dict(avoid=none(space), anchors=50)
    found = anchor_search(space, Plain(prefers_second), paths, rng=np.random.default_rng(seed), **options)
    assert (found.on[0] == first).all()
    two = anchor_search(
        space, Plain(prefers_second), paths, rng=np.random.default_rng(seed), keep=2, **options
    )
    assert (two.on[0] == second).all()


def test_shared_variables_stay_on_an_anchor_and_the_leaf_is_refined() -> None:
    """The criterion rises towards a corner of the shared variables, and has a peak in the leaf at 0.3."""
    space = Space({"r": Float(0, 1), "s": Float(0, 1), "m": Choice({"a": {"x": Float(0, 1)}, "b": {}})})
    shared = shared_columns(space)
    columns = {p.path: i for i, p in enumerate(space.parameters)}
    leaf = columns["m=a/x"]
    assert not shared[leaf] and shared[columns["r"]] and shared[columns["s"]]

    def rises(x: FloatArray, on: np.ndarray) -> FloatArray:
        return x[:, columns["r"]] + x[:, columns["s"]] - 4 * (x[:, leaf] - 0.3) ** 2

    of_a = space.encode([{"r": 0.5, "s": 0.5, "m": "a", "x": 0.5}]).on

    def only_a(points: Points) -> FloatArray:
        return (points.on == of_a).all(axis=1).astype(float)

    found = anchor_search(
        space, Plain(rises), only_a, avoid=none(space), rng=np.random.default_rng(0), anchors=200
    )
    config = space.decode(found)[0]
    assert config["x"] == pytest.approx(0.3, abs=1e-3)
    assert 0.5 < config["r"] < 1.0 and 0.5 < config["s"] < 1.0  # a good anchor, but no corner


def test_a_path_without_anything_new_gives_way_to_the_next() -> None:
    space = Space({"a": Choice({"one": {}, "two": {"x": Float(0, 1)}})})
    tried = space.encode([{"a": "one"}])

    def one_first(points: Points) -> FloatArray:
        same = (points.on == tried.on).all(axis=1)
        return np.where(same, 1.0, 0.0)

    flat = Plain(lambda x, on: np.zeros(len(x)))
    found = anchor_search(space, flat, one_first, avoid=tried, rng=np.random.default_rng(0))
    assert space.decode(found)[0]["a"] == "two"
    again = anchor_search(space, flat, one_first, avoid=tried, rng=np.random.default_rng(0))
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
