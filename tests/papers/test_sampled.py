"""Chains side by side: the densities of ``gp.likelihood``, and states that follow them."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.gp.likelihood import Data, log_density
from bough.papers.levesque2017.sampled import ChainDensities
from bough.papers.levesque2017.surrogates import conditional, joint
from bough.points import Points
from bough.space.sampling import sample_points

SPACE = bough.Space(
    {
        "m": bough.Choice(
            {
                "a": {"x": bough.Float(0, 1), "k": bough.Categorical(["u", "v", "w"])},
                "b": {"n": bough.Int(1, 9)},
            }
        ),
        "s": bough.Categorical(["p", "q"]),
        "w": bough.Float(0, 1),
    }
)


@pytest.mark.parametrize("kind", ["conditional", "matern", "laplace"])
def test_densities_of_chains_are_those_of_the_model(kind: str) -> None:
    rng = np.random.default_rng(0)
    points = sample_points(SPACE, 20, rng)
    poisoned = Points(np.where(SPACE.layout.active(points.on), points.x, np.nan), points.on)
    noise = np.where(np.arange(20) % 3 == 0, 0.1, np.nan)
    data = Data(poisoned, rng.normal(size=20), noise)
    made = conditional(SPACE.layout) if kind == "conditional" else joint(SPACE.layout, base=kind)
    thetas = np.stack([made.model.prior.draw(rng) for _ in range(4)])
    thetas[:, -1] = np.log(1e-2)
    found = ChainDensities(made.model, SPACE.layout, data, kind == "laplace", kind == "conditional")(thetas)
    expected = [log_density(made.model, theta, data) for theta in thetas]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_states_follow_the_density() -> None:
    """One column: the share of samples below a length-scale against integration on a grid."""
    space = bough.Space({"x": bough.Float(0, 1)})
    points = sample_points(space, 6, np.random.default_rng(1))
    data = Data(points, np.sin(6 * points.x[:, 0]), np.full(6, 0.1))
    made = joint(space.layout, samples=800)
    states = made.fit(data, np.random.default_rng(2))
    assert states.shape == (800, 3)
    grid = np.linspace(-3.0, 4.0, 40)
    other = np.linspace(-4.0, 6.0, 40)
    logs = np.array(
        [[log_density(made.model, np.array([a, ell, -3.0]), data) for a in other] for ell in grid]
    )  # the noise is reported, so its own value has no influence
    mass = np.exp(logs - logs.max()).sum(axis=1)
    share = np.cumsum(mass) / mass.sum()
    for quantile in (0.25, 0.5, 0.75):
        at = np.interp(quantile, share, grid + 0.5 * (grid[1] - grid[0]))
        assert np.mean(states[:, 1] < at) == pytest.approx(quantile, abs=0.1)


def test_samples_begin_where_the_last_ones_ended_and_have_the_wanted_number() -> None:
    rng = np.random.default_rng(3)
    data = Data(sample_points(SPACE, 12, rng), rng.normal(size=12), np.full(12, np.nan))
    made = conditional(SPACE.layout, samples=7)
    first = made.fit(data, np.random.default_rng(4))
    assert first.shape[0] == 7
    again = made.fit(data, np.random.default_rng(5), first)
    assert again.shape == first.shape and not np.array_equal(again, first)
    assert len(made.posterior(again, data)) == 7
