"""Criteria and maximisers on real posteriors, and the searches of two papers on their models."""

from __future__ import annotations

import numpy as np
import pytest

from bough.acquisition.criterion import Expected
from bough.acquisition.maximise.paths import search_paths
from bough.gp.likelihood import Data
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.papers.jenatton2017.two_step import path_ei, rank_paths, two_step
from bough.papers.ma2020.additive_tree import additive_tree
from bough.papers.ma2020.changes import AdditiveGP
from bough.papers.ma2020.parts import tree_parts
from bough.papers.ma2020.separable_ucb import SeparableBound, additive_ucb, beta
from bough.points import FloatArray, Points, row_keys
from bough.space import Choice, Float, Int, Space
from bough.space.sampling import sample_points

from .test_maximise import none

SPACE = Space(
    {
        "side": Choice(
            {
                "left": {
                    "r": Float(0, 1),
                    "leaf": Choice({"0": {"x0": Float(-1, 1)}, "1": {"x1": Float(-1, 1)}}),
                },
                "right": {"n": Int(0, 30), "leaf": Choice({"0": {"x2": Float(-1, 1)}, "1": {}})},
            }
        )
    }
)


def data(seed: int, n: int = 24) -> tuple[Points, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    points = sample_points(SPACE, n, rng)
    y = (np.where(SPACE.layout.active(points.on), points.x - 0.4, 0.0) ** 2).sum(
        axis=1
    ) + 0.1 * points.on.sum(axis=1)
    return points, (y - y.mean()) / y.std(), np.full(n, np.nan)


def poisoned(points: Points) -> Points:
    return Points(np.where(SPACE.layout.active(points.on), points.x, np.nan), points.on)


def surrogate_posteriors(name: str, seed: int):
    points, y, noise = data(seed)
    if name == "tree":
        surrogate = SemiParametric(SPACE.layout, SPACE.tree)
    else:
        surrogate = additive_tree(SPACE.layout, SPACE.tree)
    theta = surrogate.model.prior.median
    return points, y, surrogate.posterior(theta, Data(points, y, noise))


@pytest.mark.parametrize("name", ["tree", "additive"])
def test_criterion_gradients_match_finite_differences_and_ignore_inactive_values(name: str) -> None:
    _, y, posteriors = surrogate_posteriors(name, 0)
    criterion = Expected(posteriors, [y.min()])
    points = sample_points(SPACE, 12, np.random.default_rng(1))
    value, slope = criterion.with_gradient(points)
    assert value == pytest.approx(criterion(points), rel=1e-8)
    again, slope_again = criterion.with_gradient(poisoned(points))
    assert again == pytest.approx(value) and slope_again == pytest.approx(slope)
    active = SPACE.layout.active(points.on)
    for column in np.flatnonzero(~SPACE.layout.nominal):
        shift = np.eye(SPACE.layout.columns)[column] * 1e-5
        ahead, behind = Points(points.x + shift, points.on), Points(points.x - shift, points.on)
        numeric = (criterion(ahead) - criterion(behind)) / 2e-5
        assert slope[:, column] == pytest.approx(
            np.where(active[:, column], numeric, 0.0), rel=1e-3, abs=1e-5
        )


@pytest.mark.parametrize("name", ["tree", "additive"])
@pytest.mark.parametrize("seed", range(3))
def test_search_beats_dense_sampling(name: str, seed: int) -> None:
    tried, y, posteriors = surrogate_posteriors(name, seed)
    criterion = Expected(posteriors, [y.min()])
    near = poisoned(tried.take(np.argsort(y)))
    found = search_paths(SPACE, criterion, near=near, avoid=near, rng=np.random.default_rng(seed))
    assert (
        criterion(found)[0] >= criterion(sample_points(SPACE, 20_000, np.random.default_rng(9))).max() - 1e-6
    )


@pytest.mark.parametrize("seed", range(3))
def test_two_steps_of_the_semi_parametric_model(seed: int) -> None:
    tried, y, posteriors = surrogate_posteriors("tree", seed)
    rank = path_ei(posteriors, [y.min()])
    boxes = SPACE.tree.paths(9)
    value, _ = rank_paths(SPACE, rank, boxes, np.random.default_rng(seed), linear=True)
    # Eq. (6) is convex in the shared variables: no point of a path outranks its best corner.
    for box, largest in zip(boxes, value):
        inside = sample_points(SPACE, 5000, np.random.default_rng(seed))
        inside = inside.take((inside.on == box.on).all(axis=1))
        assert rank(inside).max() <= largest + 1e-9
    criterion = Expected(posteriors, [y.min()])
    found = two_step(SPACE, criterion, rank, near=tried, avoid=tried, rng=np.random.default_rng(seed), keep=1)
    assert (found.on[0] == boxes[int(np.argmax(value))].on).all()


@pytest.mark.parametrize("seed", range(3))
def test_separable_bound_is_maximised_vertex_by_vertex_and_over_paths(seed: int) -> None:
    tried, y, known = surrogate_posteriors("additive", seed)
    posteriors = [AdditiveGP.of(posterior) for posterior in known]
    near = poisoned(tried.take(np.argsort(y)))
    found = additive_ucb(SPACE, posteriors, 25, near=near, avoid=near, rng=np.random.default_rng(seed))
    own = np.bincount(SPACE.layout.group[~SPACE.layout.switch], minlength=SPACE.layout.groups)
    parts = tree_parts(SPACE, near)
    bound = SeparableBound(posteriors, np.sqrt([beta(int(d), 25) for d in own]), parts)
    # The level of a path: the model at the anchors of its vertices, put together into one point.
    x = np.where(SPACE.layout.switch, 0.5, 0.0)
    for part in range(len(parts)):
        x[parts.own[part]] = parts.anchors.x[part, parts.own[part]]

    def whole(points: Points) -> np.ndarray:
        mean, sd = posteriors[0].predict(Points(np.tile(x, (len(points), 1)), points.on))
        return bound(points) + np.sqrt(beta(1, 25)) * sd - mean

    many = sample_points(SPACE, 20_000, np.random.default_rng(1))
    assert whole(found)[0] >= whole(many).max() - 1e-6
    same = additive_ucb(SPACE, posteriors, 25, near=near, avoid=none(SPACE), rng=np.random.default_rng(seed))
    assert row_keys(SPACE.layout, same) == row_keys(SPACE.layout, found)
