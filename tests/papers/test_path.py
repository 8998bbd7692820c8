"""Two-step path EI: eq. (6) against Monte Carlo over the weights, corners against dense grids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.acquisition.fakes import Plain
from tests.acquisition.test_maximise import none

from bough.papers.jenatton2017.two_step import CORNERS, path_ei, rank_paths, two_step
from bough.points import FloatArray, Points, row_keys
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.sampling import box_points, sample_points


def shared_space() -> Space:
    """Two shared reals and a shared category above the leaves, and a shared int on one side."""
    left = {"r": Float(0, 1), "leaf": Choice({"0": {"x0": Float(0, 1)}, "1": {"x1": Float(0, 1)}})}
    right = {"n": Int(0, 9), "leaf": Choice({"0": {"x2": Float(0, 1)}, "1": {}})}
    return Space(
        {"side": Choice({"left": left, "right": right}), "s": Float(0, 1), "c": Categorical(["u", "v", "w"])}
    )


@dataclass(frozen=True)
class LinearPaths:
    """b + z'c with c ~ N(centre, root root'); z: activity of groups, one-hot category, shared values."""

    space: Space
    seed: int

    def features(self, points: Points) -> FloatArray:
        layout = self.space.layout
        shared = [p.path in ("s", "side=left/r", "side=right/n") for p in self.space.parameters]
        values = np.where(layout.active(points.on), points.x, 0.0)[:, shared]
        category = [p.path for p in self.space.parameters].index("c")
        one_hot = np.floor(points.x[:, [category]] * 3) == np.arange(3)
        return np.hstack([points.on, one_hot, values]).astype(float)

    def weights(self, size: int) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng(self.seed)
        return rng.normal(0, 0.5, size), 0.4 * rng.normal(size=(size, size)) / np.sqrt(size)

    def path_predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        z = self.features(points)
        centre, root = self.weights(z.shape[1])
        return z @ centre, np.linalg.norm(z @ root, axis=1)


def test_path_ei_is_the_expectation_over_the_weights() -> None:
    space = shared_space()
    posteriors = [LinearPaths(space, 0), LinearPaths(space, 1)]
    points = sample_points(space, 6, np.random.default_rng(0))
    best = [-0.2, 0.1]
    gains = []
    for posterior, incumbent in zip(posteriors, best):
        z = posterior.features(points)
        centre, root = posterior.weights(z.shape[1])
        draws = centre + np.random.default_rng(1).normal(size=(400_000, len(centre))) @ root.T
        gains.append(np.maximum(incumbent - draws @ z.T, 0.0).mean(axis=0))
    assert np.exp(path_ei(posteriors, best)(points)) == pytest.approx(
        np.mean(gains, axis=0), rel=0.02, abs=1e-3
    )


@pytest.mark.parametrize("seed", range(5))
def test_no_interior_point_of_a_path_beats_its_best_corner(seed: int) -> None:
    space = shared_space()
    criterion = path_ei([LinearPaths(space, seed)], [0.0])
    boxes = space.tree.paths(99)
    rng = np.random.default_rng(seed)
    value, at = rank_paths(space, criterion, boxes, rng, linear=True)
    assert value == pytest.approx(criterion(Points(at, np.stack([box.on for box in boxes]))))
    for box, largest in zip(boxes, value):
        assert criterion(box_points(space, box, 512, rng)).max() <= largest + 1e-12


def test_interior_points_count_where_the_model_is_not_linear() -> None:
    space = shared_space()
    column = [p.path for p in space.parameters].index("s")
    bump = lambda points: -((points.x[:, column] - 0.5) ** 2)  # noqa: E731
    boxes, rng = space.tree.paths(99), np.random.default_rng(0)
    assert rank_paths(space, bump, boxes, rng, linear=True)[0] == pytest.approx(-0.25)
    assert rank_paths(space, bump, boxes, rng, linear=False)[0] == pytest.approx(0.0, abs=1e-3)


def test_many_shared_variables_are_climbed_corner_by_corner() -> None:
    space = Space(
        {f"r{i}": Float(0, 1) for i in range(14)} | {"leaf": Choice({"a": {"x": Float(0, 1)}, "b": {}})}
    )
    assert CORNERS < 2**14
    slope = np.random.default_rng(0).normal(size=space.layout.columns) * (
        np.array(space.layout.kinds) == "real"
    )
    slope[[p.path == "leaf=a/x" for p in space.parameters]] = 0.0

    def criterion(points: Points) -> FloatArray:
        return points.x @ slope

    value, at = rank_paths(space, criterion, space.tree.paths(9), np.random.default_rng(0), linear=True)
    assert value == pytest.approx(np.maximum(slope, 0.0).sum())
    shared = slope != 0
    assert (at[:, shared] == (slope > 0)[shared]).all()


@pytest.mark.parametrize("linear", [True, False])
def test_step_two_searches_only_the_best_paths_and_moves_on_when_they_are_used_up(linear: bool) -> None:
    space = shared_space()
    paths = path_ei([LinearPaths(space, 3)], [0.0])
    boxes = space.tree.paths(99)
    worth, _ = rank_paths(space, paths, boxes, np.random.default_rng(0), linear)
    order = np.argsort(-worth)
    # The full criterion likes every other path better, and an interior point of the leaf.
    disliked = boxes[order[0]].on

    def function(x: FloatArray, on: np.ndarray) -> FloatArray:
        return np.where((on == disliked).all(axis=1), 0.0, 10.0) - (
            (x - 0.6) ** 2 * space.layout.active(on)
        ).sum(axis=1)

    criterion = Plain(function)
    near = sample_points(space, 10, np.random.default_rng(5))
    options = dict(near=near, avoid=near, linear=linear)
    found = two_step(space, criterion, paths, rng=np.random.default_rng(0), keep=1, **options)
    assert (found.on[0] == disliked).all()
    again = two_step(space, criterion, paths, rng=np.random.default_rng(0), keep=1, **options)
    assert row_keys(space.layout, found) == row_keys(space.layout, again)
    wider = two_step(space, criterion, paths, rng=np.random.default_rng(0), keep=2, **options)
    assert (wider.on[0] == boxes[order[1]].on).all()


def test_a_path_without_anything_new_gives_way_to_the_next() -> None:
    space = Space({"a": Choice({"one": {}, "two": {"x": Float(0, 1)}})})
    tried = space.encode([{"a": "one"}])

    def paths(points: Points) -> FloatArray:
        return points.on[:, 1] * 1.0  # "one" ranks first

    criterion = Plain(lambda x, on: np.zeros(len(x)))
    found = two_step(space, criterion, paths, near=tried, avoid=tried, rng=np.random.default_rng(0), keep=1)
    assert space.decode(found)[0]["a"] == "two"
    assert len(
        two_step(space, criterion, paths, near=none(space), avoid=none(space), rng=np.random.default_rng(0))
    )
