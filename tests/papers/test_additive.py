"""Add-Tree-GP-UCB against the maximum of the same bound over every configuration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest
from tests.acquisition.test_maximise import none

from bough.acquisition.maximise.candidates import every_point
from bough.gp.kernels import Constant, Matern52, Scale, WhereActive
from bough.gp.likelihood import Data, GPModel
from bough.gp.posterior import posterior
from bough.papers.ma2020.additive_tree import additive_tree
from bough.papers.ma2020.changes import AdditiveGP
from bough.papers.ma2020.parts import best_tree_path, by_activity, convex_tree_path, path_parts, tree_parts
from bough.papers.ma2020.separable_ucb import SeparableBound, additive_ucb, beta
from bough.points import FloatArray, IntArray, Points, row_keys
from bough.space import Categorical, Choice, Float, Int, Space
from bough.space.sampling import sample_points

WAVES = 4
"""Features of each group: a constant and three cosines of its own columns."""


@dataclass(frozen=True)
class Terms:
    """f_v(x) = phi_v(x)'w_v with w ~ N(m, S) and S dense: terms that are correlated across the groups."""

    space: Space
    seed: int
    compiled: ClassVar[None] = None

    @cached_property
    def weights(self) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng([self.seed, 99])
        size = WAVES * self.space.layout.groups
        root = rng.normal(size=(size, size)) / np.sqrt(size)
        return rng.normal(size=size), root @ root.T

    def features(self, points: Points, group: int | None = None) -> tuple[FloatArray, FloatArray]:
        """(n, features) and their gradients (n, features, columns); zero where a group is inactive."""
        layout = self.space.layout
        value = np.zeros((len(points), layout.groups, WAVES))
        slope = np.zeros((*value.shape, layout.columns))
        for index in range(layout.groups) if group is None else [group]:
            rng = np.random.default_rng([self.seed, index])
            own = layout.group == index
            if by_activity(self.space):
                own = own & ~layout.switch  # these switches have no terms
            slow = np.where(own, rng.normal(0, 3, (WAVES, layout.columns)), 0.0)
            slow[0] = 0.0
            phase = np.where(np.arange(WAVES) > 0, rng.uniform(0, 6, WAVES), 0.0)
            angle = np.where(own, points.x, 0.0) @ slow.T + phase
            on = points.on[:, index, None]
            value[:, index] = np.cos(angle) * on
            slope[:, index] = (-np.sin(angle) * on)[:, :, None] * slow * ~layout.nominal
        n = len(points)
        return value.reshape(n, -1), slope.reshape(n, -1, layout.columns)

    def joint(self, points: Points) -> tuple[FloatArray, FloatArray]:
        mean, covariance = self.weights
        value, _ = self.features(points)
        return value @ mean, value @ covariance @ value.T

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        return self._moments(*self.features(points))[:2]

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        return self._moments(*self.features(points))

    def changes(self, anchors: Points) -> TermChanges:
        return TermChanges(self, anchors)

    def _moments(
        self, value: FloatArray, slope: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        mean, covariance = self.weights
        sd = np.sqrt(np.maximum(np.einsum("nf,nf->n", value @ covariance, value), 1e-18))
        by_sd = np.einsum("nf,nfc->nc", value @ covariance, slope) / sd[:, None]
        return value @ mean, sd, np.einsum("f,nfc->nc", mean, slope), by_sd


@dataclass(frozen=True)
class TermChanges:
    terms: Terms
    anchors: Points

    def predict(self, points: Points, of: IntArray) -> tuple[FloatArray, FloatArray]:
        return self.predict_grad(points, of)[:2]

    def predict_grad(
        self, points: Points, of: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        value, slope = self.terms.features(points)
        return self.terms._moments(value - self.terms.features(self.anchors)[0][of], slope)


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


ORDERED = Space(
    {
        "drop": Categorical(["none", "some", "all"], ordered=True),
        "rate": Int(0, 9, when="drop == 'some'"),
        "n": Int(0, 9),
    }
)
"""A tree whose switch has an order, and therefore a term of its own."""


def written_out(terms: Terms, near: Points, points: Points, t: int) -> FloatArray:
    """The bound at every point, from the moments of f at the anchors and of the change of each term."""
    space, layout = terms.space, terms.space.layout
    mean, covariance = terms.weights
    total, level = np.zeros(len(points)), np.zeros((len(points), len(mean)))
    for group in range(layout.groups):
        own, alone = layout.group == group, np.arange(layout.groups) == group
        counted = own & layout.switch & (not by_activity(space))
        change = terms.features(points, group)[0]
        known = np.flatnonzero(near.on[:, group])
        if len(known):
            features = terms.features(Points(np.where(own, near.x, 0.0), near.on & alone), group)[0]
            alike = (points.x[:, None, counted] == near.x[known][:, counted]).all(axis=2)
            at = features[known[alike.argmax(axis=1)]] * points.on[:, [group]]  # the first, also of none
            level, change = level + at, change - at
        kappa = np.sqrt(0.2 * max(np.sum(own & ~layout.switch), 1) * np.log(2 * t))
        total += kappa * np.sqrt(((change @ covariance) * change).sum(axis=1)) - change @ mean
    deviation = np.sqrt(((level @ covariance) * level).sum(axis=1))
    return total + np.sqrt(0.2 * np.log(2 * t)) * deviation - level @ mean


def test_switches_without_an_order_count_by_activity() -> None:
    half = Space({"drop": Categorical(["no", "yes"]), "rate": Int(0, 9, when="drop == 'yes'")})
    assert [by_activity(space) for space in (TREE, half, GRAPH, ORDERED)] == [True, True, False, False]


@pytest.mark.parametrize("space", [TREE, GRAPH, ORDERED], ids=["tree", "graph", "ordered"])
@pytest.mark.parametrize("tried", [0, 2, 12])
@pytest.mark.parametrize("seed", range(3))
def test_the_composed_point_is_the_best_of_all(space: Space, tried: int, seed: int) -> None:
    terms, t, rng = Terms(space, seed), 7, np.random.default_rng(seed)
    near = sample_points(space, tried, rng)
    found = additive_ucb(space, [terms], t, near=near, avoid=none(space), rng=rng)
    points = every_point(space, 10**5)
    mine = row_keys(space.layout, points).index(row_keys(space.layout, found)[0])
    total = written_out(terms, near, points, t)
    assert total[mine] == pytest.approx(total.max(), abs=1e-7)


@pytest.mark.parametrize("space", [TREE, GRAPH, ORDERED], ids=["tree", "graph", "ordered"])
@pytest.mark.parametrize("seed", range(2))
def test_algorithm_2_as_printed_bounds_every_term_by_itself(space: Space, seed: int) -> None:
    """The largest sum over a path of sqrt(beta) sigma_v - mu_v, over every configuration."""
    terms, t, rng = Terms(space, seed), 7, np.random.default_rng(seed)
    near = sample_points(space, 12, rng)
    found = additive_ucb(space, [terms], t, near=near, avoid=none(space), rng=rng, anchored=False)
    points = every_point(space, 10**5)
    mine = row_keys(space.layout, points).index(row_keys(space.layout, found)[0])
    total = written_out(terms, near.take([]), points, t)
    assert total[mine] == pytest.approx(total.max(), abs=1e-7)
    anchored = written_out(terms, near, points, t)
    assert not np.allclose(anchored, total)  # the two bounds differ


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_holds_for_the_sum_and_is_tight_at_the_anchors(seed: int) -> None:
    """sd f <= sd A_p + sum of sd D_v."""
    terms, kappa = Terms(TREE, seed), 1.3
    near = sample_points(TREE, 10, np.random.default_rng(seed))
    parts = tree_parts(TREE, near)
    changes = SeparableBound([terms], np.full(TREE.layout.groups, kappa), parts)
    mean, covariance = terms.joint(parts.anchors)

    def gap(points: Points) -> FloatArray:
        """By how much the separable bound lies above that of f itself."""
        on = points.on.astype(float)
        level = kappa * np.sqrt(((on @ covariance) * on).sum(axis=1)) - on @ mean
        whole_mean, whole_sd = terms.predict(points)
        return changes(points) + level - (kappa * whole_sd - whole_mean)

    assert (gap(every_point(TREE, 10**5).take(slice(0, None, 7))) >= -1e-7).all()
    assert gap(near.take([0])) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("space", [TREE, GRAPH, ORDERED], ids=["tree", "graph", "ordered"])
def test_points_are_taken_apart_into_one_part_of_each_active_vertex(space: Space) -> None:
    rng = np.random.default_rng(0)
    near, points = sample_points(space, 5, rng), every_point(space, 10**5).take(slice(0, None, 3))
    parts = tree_parts(space, near) if by_activity(space) else path_parts(space, near, 100, rng)[0]
    row, part, alone = parts.split(points)
    groups = sorted(zip(row.tolist(), parts.group[part].tolist()))
    assert groups == [(i, g) for i, on in enumerate(points.on) for g in np.flatnonzero(on).tolist()]
    own = parts.own[part]
    assert (alone.on.sum(axis=1) == 1).all() and (alone.x[own] == points.x[row][own]).all()
    assert (alone.x >= parts.low[part])[own].all() and (alone.x <= parts.high[part])[own].all()


@pytest.mark.parametrize("seed", range(10))
def test_paths_too_many_to_list_are_climbed_to_the_best_of_all_single_changes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gain, root = rng.normal(size=TREE.layout.groups), rng.normal(size=(3, TREE.layout.groups))
    covariances = [root.T @ root, np.diag(rng.uniform(0, 2, len(gain)))]
    boxes = np.stack([box.on for box in TREE.tree.paths(1000)])

    def value(on: FloatArray) -> float:
        return gain @ on + 0.8 * np.mean([np.sqrt(on @ covariance @ on) for covariance in covariances])

    path, _ = convex_tree_path(TREE, gain, 0.8, covariances, boxes)
    values = [value(box.astype(float)) for box in boxes]
    on = np.isin(np.arange(len(gain)), path).astype(float)
    # Started from every path, the climb cannot end below the best of them.
    assert value(on) == pytest.approx(max(values))
    few = np.isin(np.arange(len(gain)), convex_tree_path(TREE, gain, 0.8, covariances, boxes[:1])[0])
    assert value(few.astype(float)) >= values[0] - 1e-12


def test_what_only_the_sum_of_terms_shows_does_not_hide_what_is_unknown() -> None:
    """A constant that may move between a vertex and its children leaves the bound at tried points alone."""
    inside = {
        k: {f"r{k}": Float(0, 1), f"e{k}": Choice({"p": {f"s{k}": Float(0, 1)}, "q": {}})} for k in "ab"
    }
    space = Space({"d": Choice(inside)})
    model = additive_tree(space.layout, space.tree).model
    rng = np.random.default_rng(0)
    tried = sample_points(space, 60, rng)
    y = np.where(space.layout.active(tried.on) & ~space.layout.nominal, tried.x, 0.0).sum(axis=1)
    gp = AdditiveGP.of(posterior(model, model.prior.median, Data(tried, y, np.full(60, 1e-3))))
    order = tried.take(np.argsort(y))
    parts = tree_parts(space, order)
    best = order.take([0])
    kappa = np.ones(space.layout.groups)
    groups = np.flatnonzero(best.on[0])
    alone = gp.predict(Points(best.x[[0] * len(groups)], np.eye(space.layout.groups, dtype=bool)[groups]))[1]
    assert sum(alone) > 100 * gp.predict(best)[1][0]  # the sum of the terms' own deviations
    assert SeparableBound([gp], kappa, parts)(best)[0] == pytest.approx(0.0, abs=1e-4)  # of their changes
    members = parts.anchors.take(np.flatnonzero(best.on[0]))
    mean, covariance = gp.joint(members)
    assert mean.sum() == pytest.approx(gp.predict(best)[0][0])
    assert np.sqrt(covariance.sum()) == pytest.approx(gp.predict(best)[1][0], rel=1e-3)


def test_dynamic_programming_equals_listing_all_paths() -> None:
    boxes = TREE.tree.paths(1000)
    rng = np.random.default_rng(0)
    for _ in range(20):
        gain = rng.normal(size=TREE.layout.groups)
        path, _ = best_tree_path(TREE, gain)
        assert gain[path].sum() == pytest.approx(max(gain[box.on].sum() for box in boxes))


def test_dynamic_programming_does_not_multiply_independent_choices() -> None:
    space = Space({f"s{i}": Choice({"off": {}, "on": {f"x{i}": Int(0, 3)}}) for i in range(30)})
    gain = np.random.default_rng(1).normal(size=space.layout.groups)
    path, options = best_tree_path(space, gain)
    near = sample_points(space, 5, np.random.default_rng(2))
    assert len(path) == 31 and len(options) == 30
    found = additive_ucb(
        space, [Terms(space, 2)], 3, near=near, avoid=none(space), rng=np.random.default_rng(0)
    )
    assert len(found) == 1 and space.legal(found).all()


def test_forbidden_and_tried_points_are_not_returned() -> None:
    space = Space(dict(TREE.declared), forbid=["z > 1"])
    tried = none(space)
    for seed in range(5):
        found = additive_ucb(
            space, [Terms(space, 0)], 2, near=tried, avoid=tried, rng=np.random.default_rng(seed)
        )
        assert space.legal(found).all()
        assert row_keys(space.layout, found)[0] not in row_keys(space.layout, tried)
        tried = Points.concat([tried, found])


def test_bound_of_a_gaussian_process_and_its_gradient() -> None:
    space = Space({"m": Choice({"a": {"x": Float(0, 1), "y": Float(0, 1)}, "b": {}}), "z": Float(0, 1)})
    terms = []
    for group in space.tree.groups:
        columns = tuple(column for column in group.columns if not space.layout.switch[column])
        terms.append(WhereActive(group.index, Constant()))
        if columns:
            terms.append(WhereActive(group.index, Scale(Matern52(columns))))
    model = GPModel(sum(terms[1:], start=terms[0]))
    rng = np.random.default_rng(0)
    tried = sample_points(space, 15, rng)
    y = rng.normal(size=15)
    gp = AdditiveGP.of(posterior(model, model.prior.median, Data(tried, y, np.full(15, np.nan))))
    parts = tree_parts(space, tried.take(np.argsort(y)))
    bound = SeparableBound([gp, gp], np.full(space.layout.groups, 1.5), parts)
    points = sample_points(space, 6, rng)
    value, slope = bound.with_gradient(points)
    assert value == pytest.approx(bound(points))
    for column in np.flatnonzero(~space.layout.nominal):
        shift = np.eye(space.layout.columns)[column] * 1e-5
        ahead, behind = Points(points.x + shift, points.on), Points(points.x - shift, points.on)
        assert slope[:, column] == pytest.approx((bound(ahead) - bound(behind)) / 2e-5, rel=1e-4, abs=1e-6)


def test_beta_grows_with_dimension_and_time() -> None:
    assert beta(3, 10) == pytest.approx(0.6 * np.log(20))
    assert beta(0, 10) == beta(1, 10) > 0
    assert beta(1, 11) > beta(1, 10)
