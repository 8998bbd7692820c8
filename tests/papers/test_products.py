"""Interactions along a path (Ma & Blaschko 2020, App. E): products, and which of them to have."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.errors import MethodError
from bough.gp.fit import fit_map
from bough.gp.kernels import SE
from bough.gp.likelihood import Data, log_likelihood
from bough.gp.params import JointPrior
from bough.papers.ma2020.additive_tree import additive_tree, interacting
from bough.papers.ma2020.evidence import BestByEvidence
from bough.points import FloatArray, Points
from bough.space import Choice, Float, Space
from bough.space.sampling import sample_points

DEEP = Space(
    {
        "r": Float(0, 1),
        "m": Choice(
            {
                "a": {"x": Float(0, 1), "n": Choice({"c": {"y": Float(0, 1)}, "d": {}})},
                "b": {"z": Float(0, 1)},
            }
        ),
    }
)


def correlation(x: FloatArray, log_length: float) -> FloatArray:
    return np.exp(-0.5 * ((x[:, None] - x[None]) / np.exp(log_length)) ** 2)


@pytest.mark.parametrize(("products", "groups"), [("pairs", 2), ("paths", 3)])
def test_products_by_a_loop_over_vertices(products: str, groups: int) -> None:
    """What the products add: s·k_u·k_v where both are active, and with paths s·k_r·k_x·k_y."""
    rng = np.random.default_rng(0)
    plain = additive_tree(DEEP.layout, DEEP.tree, base=SE).model.kernel
    kernel = additive_tree(DEEP.layout, DEEP.tree, base=SE, products=products).model.kernel
    points = sample_points(DEEP, 30, rng)
    theta = JointPrior(kernel.params).draw(rng)
    start = sum(param.size for param in plain.params)
    found = kernel(theta, points, points)[0] - plain(theta[:start], points, points)[0]
    columns = {p.path: i for i, p in enumerate(DEEP.parameters)}
    r, x, y, z = (columns[name] for name in ("r", "m=a/x", "m=a/n=c/y", "m=b/z"))
    sets = [(r, x), (r, y), (x, y), (r, z)] + ([(r, x, y)] if groups == 3 else [])
    on = DEEP.layout.active(points.on)
    expected = np.zeros_like(found)
    sizes = {tuple(sorted(DEEP.layout.group[list(some)].tolist())): some for some in sets}
    rest = theta[start:]
    for vertices in interacting(DEEP.layout, DEEP.tree, products):
        some = sorted(sizes.pop(tuple(sorted(vertices))), key=lambda c: DEEP.layout.group[c])
        active = on[:, list(some)].all(axis=1)
        term = np.exp(rest[0]) * np.outer(active, active)
        for column, log_length in zip(some, rest[1:]):
            term = term * correlation(points.x[:, column], log_length)
        expected += term
        rest = rest[1 + len(some) :]
    assert not sizes and not len(rest)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def sixty_points() -> tuple[Space, Points, FloatArray, FloatArray, np.random.Generator]:
    """A space of two branches, random points of it, and the values of its shared and its inner parameter."""
    space = Space({"r": Float(0, 1), "m": Choice({"a": {"x": Float(0, 1)}, "b": {"y": Float(0, 1)}})})
    rng = np.random.default_rng(0)
    points = sample_points(space, 60, rng)
    configs = space.decode(points)
    inner = np.array([c.get("x", c.get("y")) for c in configs]) - 0.5
    r = np.array([c["r"] for c in configs]) - 0.5
    return space, points, r, inner, rng


@pytest.mark.parametrize(("interacts", "chosen"), [(False, 0), (True, 1)])
def test_evidence_includes_products_only_where_parameters_interact(interacts: bool, chosen: int) -> None:
    space, points, r, inner, rng = sixty_points()
    y = 8 * r * inner if interacts else r + np.sin(4 * inner)
    y = (y - y.mean()) / y.std()
    made = [additive_tree(space.layout, space.tree, base=SE, products=p) for p in (None, "pairs")]
    surrogate = BestByEvidence(made)
    data = Data(points, y, np.full(60, np.nan))
    theta = surrogate.fit(data, rng)
    assert int(theta[0]) == chosen
    (posterior,) = surrogate.posterior(theta, data)
    np.testing.assert_allclose(posterior.predict(points)[0], y, atol=0.2)


@pytest.mark.parametrize(("strength", "chosen"), [(0.9, 0), (1.6, 1)])
def test_a_product_needs_half_a_log_n_per_hyperparameter(strength: float, chosen: int) -> None:
    """Products gain 8.9 and about 17 nats; six hyperparameters cost 3 log 60 = 12.3."""
    space, points, r, inner, rng = sixty_points()
    y = r + np.sin(4 * inner) + strength * r * inner + 0.1 * rng.standard_normal(60)
    data = Data(points, (y - y.mean()) / y.std(), np.full(60, np.nan))
    made = [additive_tree(space.layout, space.tree, base=SE, products=p) for p in (None, "pairs")]
    alone, both = (log_likelihood(m.model, fit_map(m.model, data, rng), data)[0] for m in made)
    assert (both - alone > 3 * np.log(60)) == bool(chosen)
    assert 1 < (both - alone) / 6 < np.log(60)
    assert int(BestByEvidence(made).fit(data, rng)[0]) == chosen


@pytest.mark.parametrize("products", ["pairs", "paths", "joint", "evidence"])
def test_every_kind_of_product_proposes(products: str) -> None:
    study = bough.Study(DEEP, method=bough.method("add-tree-interactions", products=products), seed=0)
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, trial.config["r"] ** 2 + trial.config.get("x", 0.5))
    assert len(study.trials) == 6


def test_evidence_takes_no_samples() -> None:
    with pytest.raises(MethodError, match="products='evidence' compares modes: leave out samples"):
        bough.method("add-tree-interactions", products="evidence", samples=3)
    assert bough.method("add-tree-interactions", samples=3).options == {"samples": 3}
