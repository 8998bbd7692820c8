"""The covariance of ``auto`` against its formula, term by term."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.surrogates.fitting import fit

import bough
from bough.gp.kernels import Nested
from bough.gp.kernels.nested import SCALES
from bough.gp.params import LogNormal
from bough.points import Points
from bough.space.sampling import sample_points
from bough.surrogates.nested import nested

from .spaces import poisoned, random_points, random_space

SPACE = bough.Space(
    {
        "kind": bough.Choice(
            {
                "a": {"x": bough.Float(0, 1), "c": bough.Categorical(["p", "q", "r"])},
                "b": {"y": bough.Float(0, 1), "n": bough.Int(1, 4)},
                "none": {},
            }
        ),
        "w": bough.Float(0, 1),
    }
)


def matern(r2: float) -> float:
    r = math.sqrt(5 * r2)
    return (1 + r + r**2 / 3) * math.exp(-r)


def by_formula(theta: np.ndarray, a: Points, b: Points) -> float:
    """k of the module's docstring for one row each, from distances between parameters."""
    layout = SPACE.layout
    o, s, j, phi = np.exp(theta[:SCALES])
    lengths = np.exp(theta[SCALES:])

    def distance2(column: int) -> float:
        on = [bool(p.on[0, layout.group[column]]) for p in (a, b)]
        if layout.kinds[column] != "nominal":
            left, right = (p.x[0, column] if active else 0.5 for p, active in zip((a, b), on))
            return (left - right) ** 2
        m = layout.levels[column]
        if all(on):
            return float(a.x[0, column] != b.x[0, column])
        return (m - 1) / (2 * m) if any(on) else 0.0  # from an option to the centroid of all

    r2 = sum(distance2(c) / lengths[c] ** 2 for c in range(layout.columns))
    total = j * matern(r2 / phi**2)
    for group in range(layout.groups):
        if a.on[0, group] and b.on[0, group]:
            own = [c for c in layout.columns_of(group) if SPACE.parameters[c].name != "kind"]
            total += o * (group > 0)
            if own:
                total += s * matern(sum(distance2(c) / lengths[c] ** 2 for c in own))
    return float(total)


def test_equals_the_formula() -> None:
    rng = np.random.default_rng(0)
    a, b = sample_points(SPACE, 8, rng), sample_points(SPACE, 6, rng)
    kernel = nested(SPACE.layout, SPACE.tree).model.kernel
    assert isinstance(kernel, Nested)
    assert {SPACE.parameters[c].name for c in kernel.implied} == {"kind"}
    theta = rng.normal(0, 0.4, SCALES + SPACE.layout.columns)
    expected = [[by_formula(theta, a.take([i]), b.take([k])) for k in range(6)] for i in range(8)]
    assert kernel(theta, a, b)[0] == pytest.approx(np.array(expected), abs=1e-12)
    assert kernel.diag(theta, a)[0] == pytest.approx(
        [by_formula(theta, a.take([i]), a.take([i])) for i in range(8)]
    )


@pytest.mark.parametrize("seed", range(8))
def test_fused_kernel_equals_its_expression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    a, b = (poisoned(space, random_points(space, n, rng)) for n in (9, 7))
    kernel = nested(space.layout, space.tree).model.kernel
    assert isinstance(kernel, Nested)
    assert kernel.expression.params == kernel.params
    theta = rng.normal(0, 0.4, SCALES + space.layout.columns)

    def close(fused: np.ndarray, slow: np.ndarray) -> None:
        np.testing.assert_allclose(fused, slow, rtol=1e-8, atol=1e-9)

    for left, right in ((a, b), (a, a)):
        fused, slow = (k(theta, left, right) for k in (kernel, kernel.expression))
        close(fused[0], slow[0])
        w = rng.normal(size=fused[0].shape)
        for ours, theirs in zip(fused[1](w), slow[1](w)):
            close(ours, theirs)
    fused, slow = kernel.diag(theta, a), kernel.expression.diag(theta, a)
    close(fused[0], slow[0])
    v = rng.normal(size=len(a))
    close(fused[1].theta(v), slow[1].theta(v))
    close(fused[1].a(v), slow[1].a(v))


def test_switch_without_groups_of_its_own_keeps_a_term() -> None:
    # "t" opens one parameter for two of its options: no group stands for a single option
    space = bough.Space(
        {
            "t": bough.Categorical(["u", "v", "w"]),
            "x": bough.Float(0, 1, when="t in ('u', 'v')"),
        }
    )
    kernel = nested(space.layout, space.tree).model.kernel
    assert isinstance(kernel, Nested)
    assert kernel.implied == frozenset()


def test_priors_are_those_given() -> None:
    priors = [LogNormal(float(i), 0.5) for i in range(5)]
    kernel = Nested(SPACE.layout, frozenset(), *priors)
    assert [param.prior for param in kernel.params[:SCALES]] == priors[:SCALES]
    lengths = [param.prior for param in kernel.params[SCALES:]]
    group_sizes = np.bincount(SPACE.layout.group)[SPACE.layout.group]
    assert lengths == [LogNormal(4.0 + 0.5 * math.log(size), 0.5) for size in group_sizes]


@pytest.mark.parametrize(("term", "index"), [("levels", 0), ("groups", 1), ("interactions", 2)])
def test_a_term_can_be_left_out(term: str, index: int) -> None:
    points = sample_points(SPACE, 12, np.random.default_rng(1))
    gp = nested(SPACE.layout, SPACE.tree, without=term)
    y = np.random.default_rng(2).normal(size=12)
    theta = fit(gp, points, y, np.full(12, np.nan), np.random.default_rng(3)).posteriors[0].theta
    assert np.exp(theta[index]) < 1e-3
    assert (np.exp(np.delete(theta[:3], index)) > 1e-2).all()
