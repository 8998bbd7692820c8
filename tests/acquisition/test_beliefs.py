"""Densities of beliefs against SciPy's and plain sums, and the weight that they give a criterion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import truncnorm

import bough
from bough.acquisition.beliefs import (
    UNIFORM_SHARE,
    BeliefWeight,
    OptionDensity,
    RangeDensity,
    density,
    is_likely,
)
from bough.points import Points
from bough.space.beliefs import beliefs_of
from bough.space.sampling import sample_points

SPACE = bough.Space(
    {
        "model": bough.Choice(
            {
                "a": {"x": bough.Float(0, 1, likely=(0.6, 0.8)), "y": bough.Float(0, 1, likely=(0.0, 0.1))},
                "b": {"c": bough.Categorical(["p", "q", "r"], likely={"q": 3, "r": 1})},
            },
            likely={"b": 1},
        ),
        "n": bough.Int(1, 100, log=True, likely=(10, 20)),
        "w": bough.Float(0, 1),
    }
)


def weight(space: bough.Space, exponent: float = 1.0) -> BeliefWeight:
    beliefs = beliefs_of(space)
    densities = [density(space.rules.domains[b.column], b) for b in beliefs]
    return BeliefWeight(space.layout, [b.column for b in beliefs], densities, [exponent] * len(beliefs))


@pytest.mark.parametrize(("centre", "sd"), [(0.5, 0.1), (0.02, 0.3), (0.9, 0.01)])
def test_a_range_is_a_truncated_normal_over_a_uniform_floor(centre: float, sd: float) -> None:
    believed = RangeDensity(centre, sd)
    theirs = truncnorm(-centre / sd, (1 - centre) / sd, centre, sd)

    def q(u: float) -> float:
        return float((1 - UNIFORM_SHARE) * theirs.pdf(u) + UNIFORM_SHARE)

    unit = np.linspace(0, 1, 41)
    expected = np.log([q(u) / q(centre) for u in unit])
    value, slope = believed.log_height(unit)
    assert np.allclose(value, expected)
    step = 1e-6
    inside = unit[1:-1]
    finite = (believed.log_height(inside + step)[0] - believed.log_height(inside - step)[0]) / (2 * step)
    assert np.allclose(slope[1:-1], finite, atol=1e-4)
    # Draws have this density: compare its integral with the share of draws.
    drawn = believed.quantile((np.arange(20000) + 0.5) / 20000)
    for end in (0.1, 0.5, 0.95):
        assert abs(np.mean(drawn < end) - quad(q, 0, end, points=[centre])[0]) < 2e-3


def test_the_range_is_the_central_80_percent() -> None:
    space = bough.Space({"x": bough.Float(1e-4, 1, log=True, likely=(1e-3, 1e-2))})
    (belief,) = beliefs_of(space)
    believed = density(space.rules.domains[0], belief)
    assert isinstance(believed, RangeDensity)
    z = (np.array([0.25, 0.5]) - believed.centre) / believed.sd
    assert np.allclose(truncnorm(-9, 9).cdf(z), [0.1, 0.9])


def test_options_have_their_weights() -> None:
    space = bough.Space({"c": bough.Categorical(["p", "q", "r"], likely={"q": 3, "r": 1})})
    believed = density(space.rules.domains[0], beliefs_of(space)[0])
    assert isinstance(believed, OptionDensity)
    expected = 0.9 * np.array([0, 0.75, 0.25]) + 0.1 / 3
    unit = space.encode([{"c": option} for option in "pqr"]).x[:, 0]
    assert np.allclose(np.exp(believed.log_height(unit)[0]), expected / expected.max())
    drawn = believed.quantile((np.arange(3000) + 0.5) / 3000)
    assert np.allclose([np.mean(drawn == u) for u in unit], expected, atol=1e-3)
    assert is_likely(believed, unit).tolist() == [False, True, False]


def test_a_believed_integer_is_its_whole_cell() -> None:
    space = bough.Space({"n": bough.Int(0, 9, likely=(3, 3))})
    believed = density(space.rules.domains[0], beliefs_of(space)[0])
    assert is_likely(believed, (np.arange(10) + 0.5) / 10).tolist() == [i == 3 for i in range(10)]


@pytest.mark.parametrize(("low", "likely"), [(0.0, (1.0, 2.0)), (-1e300, (1.0, 2.0)), (-1e300, (-1.0, 3.0))])
def test_a_range_narrower_than_rounding_still_has_a_width(low: float, likely: tuple[float, float]) -> None:
    space = bough.Space({"x": bough.Float(low, 1e300, likely=likely)})
    believed = density(space.rules.domains[0], beliefs_of(space)[0])
    unit = space.encode([{"x": likely[0]}, {"x": 0.5e300}]).x[:, 0]
    assert is_likely(believed, unit).tolist() == [True, False]
    assert np.isfinite(believed.log_height(unit)).all()


def test_the_weight_is_the_sum_over_active_columns_and_never_positive() -> None:
    points = sample_points(SPACE, 50, np.random.default_rng(0))
    poisoned = Points(np.where(SPACE.layout.active(points.on), points.x, np.nan), points.on)
    value = weight(SPACE, 0.7)(poisoned)
    for row, config in enumerate(SPACE.decode(points)):
        expected = 0.0
        for belief in beliefs_of(SPACE):
            if SPACE.parameters[belief.column].name in config:
                believed = density(SPACE.rules.domains[belief.column], belief)
                expected += 0.7 * float(believed.log_height(points.x[row, [belief.column]])[0][0])
        assert value[row] == pytest.approx(expected)
    assert np.all(value <= 1e-12)


def test_more_beliefs_do_not_favour_a_branch() -> None:
    """At their best, a branch with two beliefs and one without any count alike."""
    many = bough.Space(
        {
            "model": bough.Choice(
                {"a": {f"x{i}": bough.Float(0, 1, likely=(0.49, 0.51)) for i in range(10)}, "b": {}}
            )
        }
    )
    best = many.encode([{"model": "a", **{f"x{i}": 0.5 for i in range(10)}}, {"model": "b"}])
    assert np.allclose(weight(many)(best), 0.0)


def test_gradient_against_finite_differences() -> None:
    points = sample_points(SPACE, 20, np.random.default_rng(1))
    criterion = weight(SPACE, 1.3)
    _, slope = criterion.with_gradient(points)
    assert np.all(slope[~SPACE.layout.active(points.on)] == 0)
    step = 1e-6
    for column in np.flatnonzero([p.domain.kind == "real" for p in SPACE.parameters]):
        shift = np.zeros(points.x.shape)
        shift[:, column] = step
        up, down = (criterion(Points(points.x + s, points.on)) for s in (shift, -shift))
        assert np.allclose(slope[:, column], (up - down) / (2 * step), atol=1e-4)
