"""Add-Tree-GP-UCB against the maximum of the same bound over every configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from bough.acquisition.additive import SeparableBound, additive_ucb, best_tree_path, beta
from bough.acquisition.maximise.finite import every_point
from bough.acquisition.maximise.pool import row_keys
from bough.gp.kernels.base import On, Scale
from bough.gp.kernels.stationary import Constant, Matern52
from bough.gp.likelihood import Data, Model
from bough.gp.params import prior_median
from bough.gp.posterior import posterior
from bough.points import FloatArray, Points
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.sampling import sample_points

from .test_maximise import none


@dataclass(frozen=True)
class Terms:
    """An additive posterior made of cosines: each group's mean and sd are functions of its own columns."""

    space: Space
    seed: int

    def _waves(self, group: int) -> tuple[FloatArray, FloatArray, float]:
        rng = np.random.default_rng([self.seed, group])
        own = self.space.layout.group == group
        if self.space.tree.is_tree:
            own &= ~self.space.layout.switch  # a tree's switches enter by activity alone
        return (
            np.where(own, rng.normal(0, 3, own.shape), 0.0),
            rng.normal(0, 2, own.shape) * own,
            rng.normal(),
        )

    def vertex_predict(self, group: int, points: Points) -> tuple[FloatArray, FloatArray]:
        return self.vertex_predict_grad(group, points)[:2]

    def vertex_predict_grad(
        self, group: int, points: Points
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        slow, fast, offset = self._waves(group)
        own = self.space.layout.group == group
        x = np.where(own, points.x, 0.0)
        mean, sd = np.cos(x @ slow) + offset, 1.2 + np.sin(x @ fast)
        numeric = own & ~self.space.layout.nominal
        by_mean, by_sd = -np.sin(x @ slow)[:, None] * slow, np.cos(x @ fast)[:, None] * fast
        return mean, sd, by_mean * numeric, by_sd * numeric


TREE = Space(
    {
        "model": Choice(
            {
                "a": {
                    "n": Int(1, 12),
                    "sub": Choice({"p": {"c": Categorical([0, 1, 2])}, "q": {"m": Int(0, 5)}}),
                },
                "b": {"k": Int(1, 9, log=True)},
                "c": {},
            }
        ),
        "scale": Choice({"no": {}, "yes": {"s": Int(0, 7)}}),
        "z": Int(0, 3),
    }
)
GRAPH = Space(
    {
        "layers": Int(1, 3),
        "u1": Int(0, 5),
        "u2": Int(0, 5, when="layers >= 2"),
        "u3": Int(0, 5, when="layers >= 3"),
        "drop": Categorical(["no", "yes"]),
        "rate": Int(0, 3, when="drop == 'yes' and layers >= 2"),
    }
)


@pytest.mark.parametrize("space", [TREE, GRAPH], ids=["tree", "graph"])
@pytest.mark.parametrize("seed", range(5))
def test_the_composed_point_is_the_best_of_all(space: Space, seed: int) -> None:
    t = 7
    found = additive_ucb(space, [Terms(space, seed)], t, avoid=none(space), rng=np.random.default_rng(seed))
    # The sum over active groups, written out plainly.
    points = every_point(space, 10**5)
    total = np.zeros(len(points))
    for group in space.tree.groups:
        dimension = sum(not space.layout.switch[column] for column in group.columns)
        kappa = np.sqrt(0.2 * max(dimension, 1) * np.log(2 * t))
        mean, sd = Terms(space, seed).vertex_predict(group.index, points)
        total += np.where(points.on[:, group.index], kappa * sd - mean, 0.0)
    mine = row_keys(space.layout, points).index(row_keys(space.layout, found)[0])
    assert total[mine] == pytest.approx(total.max(), abs=1e-9)


def test_dynamic_programming_equals_listing_all_paths() -> None:
    boxes = TREE.tree.paths(1000)
    rng = np.random.default_rng(0)
    for _ in range(20):
        gain = rng.normal(size=TREE.layout.groups)
        path, _ = best_tree_path(TREE, gain)
        assert gain[path].sum() == pytest.approx(max(gain[box.on].sum() for box in boxes))


def test_dynamic_programming_does_not_multiply_independent_choices() -> None:
    space = Space({f"s{i}": Choice({"off": {}, "on": {f"x{i}": Int(0, 3)}}) for i in range(60)})
    gain = np.random.default_rng(1).normal(size=space.layout.groups)
    path, options = best_tree_path(space, gain)
    assert len(path) == 61 and len(options) == 60
    found = additive_ucb(space, [Terms(space, 2)], 3, avoid=none(space), rng=np.random.default_rng(0))
    assert len(found) == 1 and space.legal(found).all()


def test_forbidden_and_tried_points_are_not_returned() -> None:
    space = Space(dict(TREE.declared), forbid=["z > 1"])
    tried = none(space)
    for seed in range(5):
        found = additive_ucb(space, [Terms(space, 0)], 2, avoid=tried, rng=np.random.default_rng(seed))
        assert space.legal(found).all()
        assert row_keys(space.layout, found)[0] not in row_keys(space.layout, tried)
        tried = Points.concat([tried, found])


def test_bound_of_a_gaussian_process_and_its_gradient() -> None:
    space = Space({"m": Choice({"a": {"x": Float(0, 1), "y": Float(0, 1)}, "b": {}}), "z": Float(0, 1)})
    terms = []
    for group in space.tree.groups:
        columns = tuple(column for column in group.columns if not space.layout.switch[column])
        terms.append(On(group.index, Constant()))
        if columns:
            terms.append(On(group.index, Scale(Matern52(columns))))
    model = Model(sum(terms[1:], start=terms[0]))
    rng = np.random.default_rng(0)
    tried = sample_points(space, 15, rng)
    y = rng.normal(size=15)
    gp = posterior(model, prior_median(model.params), Data(tried, y, np.full(15, np.nan)))
    bound = SeparableBound([gp, gp], np.full(space.layout.groups, 1.5))
    points = sample_points(space, 6, rng)
    value, slope = bound.with_gradient(points)
    assert value == pytest.approx(bound(points))
    mean, sd = gp.predict(points)
    assert (value >= 1.5 * sd - mean - 1e-9).all()  # the sum of deviations is at least that of the sum
    for column in np.flatnonzero(~space.layout.nominal):
        shift = np.eye(space.layout.columns)[column] * 1e-5
        ahead, behind = Points(points.x + shift, points.on), Points(points.x - shift, points.on)
        assert slope[:, column] == pytest.approx((bound(ahead) - bound(behind)) / 2e-5, rel=1e-4, abs=1e-6)
    found = additive_ucb(space, [gp], 16, avoid=none(space), rng=rng)
    own = [np.sum((space.layout.group == group) & ~space.layout.switch) for group in range(3)]
    kappa = np.sqrt([beta(int(dimension), 16) for dimension in own])
    many = sample_points(space, 20_000, rng)
    bound = SeparableBound([gp], kappa)
    assert bound(found)[0] >= bound(many).max() - 1e-6


def test_beta_grows_with_dimension_and_time() -> None:
    assert beta(3, 10) == pytest.approx(0.6 * np.log(20))
    assert beta(0, 10) == beta(1, 10) > 0
    assert beta(1, 11) > beta(1, 10)
