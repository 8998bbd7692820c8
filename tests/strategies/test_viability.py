"""The probability of success: its formula against a plain loop, its gradient, and what it must never do."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.points import Points
from bough.space.sampling import sample_points
from bough.strategies import viability
from bough.strategies.viability import (
    MIN_PROBABILITY,
    PENALTY_EXPONENT,
    PRIOR_FAILURE,
    PRIOR_SUCCESS,
    STRENGTH,
    WIDTH,
    Viability,
)


@pytest.fixture
def space() -> bough.Space:
    return bough.Space(
        {
            "kind": bough.Choice(
                {
                    "a": {"x": bough.Float(0, 1), "y": bough.Float(0, 1)},
                    "b": {"c": bough.Categorical(["p", "q", "r"]), "z": bough.Float(0, 1)},
                }
            ),
            "w": bough.Float(0, 1),
        }
    )


def by_loop(space: bough.Space, tried: Points, success: np.ndarray, point: Points) -> float:
    """The formula of the module's docstring, one term at a time."""
    layout = space.layout
    columns = [c for c in range(layout.columns) if point.on[0, layout.group[c]]]
    rows = [i for i in range(len(tried)) if (tried.on[i] == point.on[0]).all()]
    branch = (PRIOR_SUCCESS + sum(success[i] for i in rows)) / (PRIOR_SUCCESS + PRIOR_FAILURE + len(rows))
    above, below = STRENGTH * branch, STRENGTH
    for i in rows:
        distance2 = 0.0
        for c in columns:
            gap = point.x[0, c] - tried.x[i, c]
            distance2 += float(gap != 0) if layout.kinds[c] == "nominal" else gap**2
        weight = np.exp(-0.5 * distance2 / (WIDTH**2 * len(columns)))
        above, below = above + weight * success[i], below + weight
    log_p = np.log(above / below)
    return float(log_p + PENALTY_EXPONENT * min(0.0, log_p - np.log(MIN_PROBABILITY)))


def test_equals_the_formula_and_reads_no_inactive_value(space: bough.Space) -> None:
    rng = np.random.default_rng(0)
    tried, points = sample_points(space, 30, rng), sample_points(space, 20, rng)
    success = rng.random(30) < 0.25
    expected = [by_loop(space, tried, success, points.take([i])) for i in range(len(points))]
    assert min(expected) < np.log(MIN_PROBABILITY) < max(expected)
    for kept in (tried, Points(np.where(space.layout.active(tried.on), tried.x, np.nan), tried.on)):
        assert Viability(space.layout, kept, success)(points) == pytest.approx(expected, abs=1e-12)


def test_gradient(space: bough.Space) -> None:
    rng = np.random.default_rng(1)
    tried, points = sample_points(space, 30, rng), sample_points(space, 10, rng)
    viability = Viability(space.layout, tried, rng.random(30) < 0.5)
    _, gradient = viability.with_gradient(points)
    step = 1e-6
    for column in range(space.layout.columns):
        if space.layout.nominal[column]:
            assert not gradient[:, column].any()
            continue
        shift = np.zeros(space.layout.columns)
        shift[column] = step
        up, down = (viability(Points(points.x + s * shift, points.on)) for s in (1, -1))
        active = space.layout.active(points.on)[:, column]
        numeric = np.where(active, (up - down) / (2 * step), 0.0)
        assert gradient[:, column] == pytest.approx(numeric, abs=1e-6)


def test_one_failure_warns_but_many_ban(space: bough.Space) -> None:
    rng = np.random.default_rng(2)
    failing = space.encode([{"kind": "a", "x": 0.2, "y": 0.2, "w": 0.5}])
    far = space.encode([{"kind": "a", "x": 0.9, "y": 0.9, "w": 0.5}])
    other = space.encode([{"kind": "b", "c": "p", "z": 0.5, "w": 0.5}])
    once = Viability(space.layout, failing, np.array([False]))
    here, there, elsewhere = (np.exp(once(p)[0]) for p in (failing, far, other))
    assert 0.05 < here < there < elsewhere
    assert there > 0.3
    branch = Points.concat([p for p in [sample_points(space, 40, rng)] for p in [p.take(p.on[:, 1])]])
    many = Viability(space.layout, branch, np.zeros(len(branch), dtype=bool))
    assert np.exp(many(far)[0]) < 0.2
    assert np.exp(many(other)[0]) == pytest.approx(np.exp(once(other)[0]))


def test_in_portions_it_is_the_same(space: bough.Space, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    tried, points = sample_points(space, 40, rng), sample_points(space, 50, rng)
    criterion = Viability(space.layout, tried, rng.random(40) < 0.5)
    value, gradient = criterion.with_gradient(points)
    monkeypatch.setattr(viability, "CELLS", 200)
    in_portions, its_gradient = criterion.with_gradient(points)
    np.testing.assert_allclose(in_portions, value, rtol=1e-13)
    np.testing.assert_allclose(its_gradient, gradient, rtol=1e-12, atol=1e-14)
