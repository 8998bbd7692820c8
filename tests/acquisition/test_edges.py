"""Edges: the share of a neighbourhood that lies inside, against counting; its gradient."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.acquisition.edges import MARGIN, BoundaryPenalty
from bough.points import Points

SPACE = bough.Space(
    {
        "kind": bough.Choice({"a": {"x": bough.Float(0, 1), "n": bough.Int(1, 40)}, "b": {}}),
        "c": bough.Categorical(["p", "q"]),
        "r": bough.Float(0, 1),
    }
)


def share(u: float) -> float:
    """How much of [u − MARGIN, u + MARGIN] lies in [0, 1], by counting."""
    around = np.linspace(u - MARGIN, u + MARGIN, 200_001)
    return float(np.mean((around >= 0) & (around <= 1)))


def test_the_weight_is_the_share_of_the_neighbourhood_inside() -> None:
    configs = [
        {"kind": "a", "x": x, "n": n, "c": "p", "r": r}
        for x, n, r in ((0.0, 1, 0.5), (0.03, 20, 1.0), (0.5, 38, 0.93), (0.97, 40, 0.0))
    ]
    points = SPACE.encode(configs)
    columns = [i for i, p in enumerate(SPACE.parameters) if p.name in ("x", "n", "r")]
    expected = [np.prod([share(u) for u in row[columns]]) for row in points.x]
    assert np.exp(BoundaryPenalty(SPACE.layout)(points)) == pytest.approx(expected, abs=1e-4)


def test_inactive_columns_do_not_count() -> None:
    points = SPACE.encode([{"kind": "b", "c": "q", "r": 0.5}])
    poisoned = Points(np.where(SPACE.layout.active(points.on), points.x, np.nan), points.on)
    value, gradient = BoundaryPenalty(SPACE.layout).with_gradient(poisoned)
    assert value == pytest.approx([0.0])
    assert not gradient.any()


def test_gradient() -> None:
    rng = np.random.default_rng(0)
    points = SPACE.encode(SPACE.sample(40, rng))
    x = points.x.copy()
    real = [i for i, p in enumerate(SPACE.parameters) if p.name in ("x", "r")]
    x[:, real] = rng.choice([0.02, 0.07, 0.3, 0.95], (40, len(real)))
    points = Points(x, points.on)
    value, gradient = BoundaryPenalty(SPACE.layout).with_gradient(points)
    for column in real:
        step = np.zeros(x.shape[1])
        step[column] = 1e-6
        up, down = (BoundaryPenalty(SPACE.layout)(Points(x + s * step, points.on)) for s in (1, -1))
        assert gradient[:, column] == pytest.approx((up - down) / 2e-6, abs=1e-5)
    assert value.max() <= 0


def test_an_optimum_in_a_corner_is_still_found() -> None:
    corner, weight = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0]), np.linspace(0.3, 1.5, 6)

    def function(config: dict[str, float]) -> float:
        away = np.abs(np.array(list(config.values())) - corner)
        return float(weight @ away**1.5 + 0.5 * away[0] * away[1])

    space = bough.Space({f"x{i}": bough.Float(0, 1) for i in range(6)})
    study = bough.minimize(function, space, trials=40, seed=0, progress=False)
    assert function(study.best.config) < 0.05
