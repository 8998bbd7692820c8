"""Batched projected BFGS against SciPy's L-BFGS-B, on convex and curved functions with and without bounds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from bough.acquisition.criterion import Expected
from bough.acquisition.maximise.gradient import RULES, gradient_ascent, projected_bfgs
from bough.points import Points

from .fakes import SquaredExponential, flat

PATIENT = RULES._replace(race=False, gain_tolerance=1e-9)


def by_scipy(function, gradient, start, low, high) -> np.ndarray:
    """Negated minimum that L-BFGS-B reaches from each start."""
    return -np.array(
        [
            minimize(function, x, jac=gradient, method="L-BFGS-B", bounds=np.c_[lo, hi], tol=1e-14).fun
            for x, lo, hi in zip(start, low, high)
        ]
    )


def negated(function, gradient):
    """The objective in the form that projected_bfgs takes."""
    return lambda rows, x: (-np.array([function(row) for row in x]), -np.array([gradient(row) for row in x]))


@pytest.mark.parametrize("seed", range(5))
def test_convex_quadratics_with_bounds_reach_the_constrained_minimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = 12, 6
    root = rng.normal(size=(d, d))
    hessian, centre = root @ root.T + 0.1 * np.eye(d), rng.uniform(-0.5, 1.5, d)  # often outside the box
    function = lambda x: 0.5 * (x - centre) @ hessian @ (x - centre)  # noqa: E731
    gradient = lambda x: hessian @ (x - centre)  # noqa: E731
    low, high = np.zeros((n, d)), np.ones((n, d))
    low[n // 2 :, 0] = high[n // 2 :, 0] = 0.3  # half of them with a pinned coordinate
    start = rng.uniform(size=(n, d))
    x, value = projected_bfgs(
        negated(function, gradient), start, low, high, PATIENT._replace(steps=200, gain_tolerance=1e-15)
    )
    assert value == pytest.approx(by_scipy(function, gradient, start, low, high), rel=1e-7, abs=1e-8)
    assert (x >= low).all() and (x <= high).all()
    # Kuhn-Tucker: the slope is zero inside and points outwards at a bound.
    slope = -(x - centre) @ hessian
    inside = (x > low) & (x < high)
    assert np.abs(slope[inside]).max() < 1e-3
    assert (slope[(x == low) & (low < high)] <= 1e-3).all()
    assert (slope[(x == high) & (low < high)] >= -1e-3).all()


@pytest.mark.parametrize("d", [2, 5, 10])
def test_rosenbrock_valleys_reach_what_scipy_reaches(d: int) -> None:
    rng = np.random.default_rng(d)
    start = rng.uniform(-1.5, 1.5, (10, d))
    low, high = np.full((10, d), -2.0), np.full((10, d), 2.0)
    high[:5, 0] = 0.5  # the valley's end is cut off
    _, value = projected_bfgs(negated(rosen, rosen_der), start, low, high, PATIENT._replace(steps=500))
    reference = by_scipy(rosen, rosen_der, start, low, high)
    # From d = 4 on there is a second valley; each start may fall into either, but never stop between.
    for reached in value:
        assert np.abs(reference - reached).min() < 1e-4
    assert value.max() == pytest.approx(reference.max(), abs=1e-6)


def test_starts_do_not_influence_each_other() -> None:
    rng = np.random.default_rng(0)
    start, low, high = rng.uniform(-1, 1, (6, 3)), np.full((6, 3), -2.0), np.full((6, 3), 2.0)
    together = projected_bfgs(negated(rosen, rosen_der), start, low, high, PATIENT._replace(steps=40))
    for row in range(6):
        own = (whole[row : row + 1] for whole in (start, low, high))
        alone = projected_bfgs(negated(rosen, rosen_der), *own, PATIENT._replace(steps=40))
        assert alone[0][0] == pytest.approx(together[0][row], abs=1e-12)


def test_each_step_is_one_evaluation_and_values_never_fall() -> None:
    batches: list[int] = []
    rng = np.random.default_rng(1)
    start, low, high = rng.uniform(-1, 1, (8, 4)), np.full((8, 4), -2.0), np.full((8, 4), 2.0)

    def objective(rows, x):
        batches.append(len(rows))
        return negated(rosen, rosen_der)(rows, x)

    before = -np.array([rosen(x) for x in start])
    values = [before]
    for steps in (0, 3, 10, 30):
        batches.clear()
        values.append(projected_bfgs(objective, start, low, high, PATIENT._replace(steps=steps))[1])
        assert len(batches) <= steps + 1
        assert batches == sorted(batches, reverse=True)  # finished starts leave the batch
    assert all((later >= earlier).all() for earlier, later in pairwise(values))


def test_a_function_that_breaks_down_is_survived() -> None:
    def objective(rows, x):
        value, slope = -((x - 0.5) ** 2).sum(axis=1), -2 * (x - 0.5)
        bad = x[:, 0] > 0.45
        return np.where(bad, np.nan, value), np.where(bad[:, None], np.nan, slope)

    start = np.array([[0.1, 0.1], [0.9, 0.9]])
    x, value = projected_bfgs(objective, start, np.zeros((2, 2)), np.ones((2, 2)), PATIENT)
    assert value[0] > -0.1 and x[0, 0] <= 0.45  # went as far as it could
    assert (x[1] == start[1]).all()  # never had a value


def test_only_columns_that_may_move_do() -> None:
    rng = np.random.default_rng(2)
    criterion = Expected([SquaredExponential(rng.random((6, 4)), rng.normal(size=6))], [-0.5])
    starts = flat(rng.random((5, 4)))
    moving = np.array([[True, False, True, False]] * 4 + [[False] * 4])
    low, high = np.full((5, 4), 0.2), np.full((5, 4), 0.8)
    reached, value = gradient_ascent(criterion, starts, low, high, moving)
    assert (reached.x[~moving] == starts.x[~moving]).all()
    assert (reached.x[moving] >= 0.2).all() and (reached.x[moving] <= 0.8).all()
    assert value == pytest.approx(criterion(reached))
    inside = Points(np.where(moving, np.clip(starts.x, 0.2, 0.8), starts.x), starts.on)
    assert (value[:4] > criterion(inside)[:4]).all() and value[4] == pytest.approx(criterion(starts)[4])


@pytest.mark.parametrize("scale", [1e-100, 1e-160, 1e-200, 1e-310])
def test_gradients_too_small_to_be_squared_are_survived(scale: float) -> None:
    """An expected improvement without its logarithm is as small as this where there is hardly any hope."""
    centre = np.array([0.3, 0.6])

    def objective(rows, x):
        bump = scale * np.exp(-((x - centre) ** 2).sum(axis=1))
        return bump, -2 * (x - centre) * bump[:, None]

    start = np.random.default_rng(3).random((8, 2))
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        x, value = projected_bfgs(
            objective, start, np.zeros((8, 2)), np.ones((8, 2)), PATIENT._replace(gain_tolerance=0.0)
        )
    assert (value >= objective(None, start)[0]).all()
    if scale > 1e-150:
        assert x == pytest.approx(np.broadcast_to(centre, x.shape), abs=1e-5)
