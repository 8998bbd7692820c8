"""Blocks without covariance (Ma & Blaschko 2020, App. B; Lévesque et al. 2017, eq. 9-10)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bough.gp import likelihood
from bough.gp.block_solver import Blocks
from bough.gp.likelihood import Data, log_density, log_posterior
from bough.gp.params import JointPrior
from bough.gp.posterior import posterior
from bough.papers.levesque2017.surrogates import conditional
from bough.papers.ma2020.additive_tree import additive_tree
from bough.space import Choice, Float, Int, Space
from bough.space.sampling import sample_points


def leaf(name: str) -> dict[str, Float]:
    return {name: Float(0, 1)}


SMALL = Space(
    {
        "side": Choice(
            {
                "left": {"r": Float(0, 1), "leaf": Choice({"a": leaf("x1"), "b": leaf("x2")})},
                "right": {"q": Int(0, 9), "leaf": Choice({"a": leaf("x3"), "b": {}})},
            }
        )
    }
)
"""As the paper's synthetic function: the root has no parameter, so the two sides share no vertex."""

ROOTED = Space({"w": Float(0, 1), "side": Choice({"left": leaf("x"), "right": leaf("y")})})
PRODUCT = Space({"one": Choice({"a": leaf("x"), "b": {}}), "two": Choice({"c": leaf("y"), "d": {}})})


@pytest.mark.parametrize("kind", ["add-tree", "conditional"])
def test_inference_by_blocks_is_dense_inference(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihood, "BLOCKS_FROM_ROWS", 0)
    surrogate = additive_tree(SMALL.layout, SMALL.tree) if kind == "add-tree" else conditional(SMALL.layout)
    by_blocks, dense = surrogate.model, replace(surrogate.model, blocks=None)
    rng = np.random.default_rng(0)
    points, other, more = (sample_points(SMALL, n, rng) for n in (40, 25, 3))
    data = Data(points, rng.normal(size=40), np.full(40, np.nan))
    for _ in range(3):
        theta = JointPrior(by_blocks.params).draw(rng)
        theta[-1] = np.log(1e-2)  # well conditioned, so the two agree to many digits
        value, gradient = log_posterior(by_blocks, theta, data)
        expected, slope = log_posterior(dense, theta, data)
        assert value == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8)
        assert log_density(by_blocks, theta, data) == pytest.approx(log_density(dense, theta, data), rel=1e-9)
        mine, full = posterior(by_blocks, theta, data), posterior(dense, theta, data)
        assert isinstance(mine.solver, Blocks) and len(mine.solver.rows) == (2 if kind == "add-tree" else 4)
        for found, known in zip(mine.predict_grad(other), full.predict_grad(other)):
            np.testing.assert_allclose(found, known, atol=1e-7)
        grown, whole = mine.condition(more, np.ones(3)), full.condition(more, np.ones(3))
        np.testing.assert_allclose(grown.predict(other), whole.predict(other), atol=1e-7)


def test_rows_of_different_blocks_have_no_covariance() -> None:
    model = additive_tree(SMALL.layout, SMALL.tree).model
    rng = np.random.default_rng(1)
    points = sample_points(SMALL, 30, rng)
    covariance, _ = model.kernel(model.prior.draw(rng)[:-1], points, points)
    assert model.blocks is not None
    left, right = model.blocks(points)
    assert sorted([*left, *right]) == list(range(30))
    assert np.all(covariance[np.ix_(left, right)] == 0.0)
    sides = [config["side"] for config in SMALL.decode(points)]
    assert {sides[i] for i in left}.isdisjoint({sides[i] for i in right})


@pytest.mark.parametrize("space", [ROOTED, PRODUCT], ids=["rooted", "product"])
def test_a_parameter_at_the_root_and_independent_choices_couple_all_rows(space: Space) -> None:
    assert additive_tree(space.layout, space.tree).model.blocks is None
