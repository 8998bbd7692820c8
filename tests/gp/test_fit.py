"""Fits that start with the mode and the curvature of an earlier one."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.gp import fit
from bough.gp.fit import fit_map, fit_warm
from bough.gp.likelihood import Data, log_posterior
from bough.space.sampling import sample_points
from bough.surrogates.nested import nested

SPACE = bough.Space(
    {
        "model": bough.Choice({"a": {"x": bough.Float(0, 1), "n": bough.Int(1, 9)}, "b": {}}),
        "s": bough.Float(0, 1),
        "c": bough.Categorical([1, 2, 3]),
    }
)
MODEL = nested(SPACE.layout, SPACE.tree).model


def observations(rows: int) -> Data:
    points = sample_points(SPACE, 60, np.random.default_rng(0)).take(slice(0, rows))
    x = np.where(SPACE.layout.active(points.on), points.x, 0.5)
    y = np.sin(5 * x).sum(axis=1) + 0.3 * points.on[:, 1]
    return Data(points, (y - y.mean()) / y.std(), np.full(rows, np.nan))


def density(theta: np.ndarray, data: Data) -> float:
    return log_posterior(MODEL, theta, data)[0]


@pytest.mark.parametrize("rows", [6, 20, 45])
def test_a_fit_is_as_good_as_that_of_scipy(rows: int) -> None:
    data = observations(rows)
    found = fit_warm(MODEL, data, np.random.default_rng(1))
    known = fit_map(MODEL, data, np.random.default_rng(1))
    assert found.shape == (1 + len(known), len(known))
    assert density(found[0], data) >= density(known, data) - 0.05
    low, high = MODEL.prior.bounds
    assert (found[0] >= low).all() and (found[0] <= high).all()
    np.testing.assert_allclose(found[1:], found[1:].T)
    assert np.linalg.eigvalsh(found[1:]).min() > 0


def evaluations(monkeypatch: pytest.MonkeyPatch, data: Data, start: np.ndarray) -> tuple[int, np.ndarray]:
    count, original = 0, fit.log_posterior_on

    def counting(model, data):  # type: ignore[no-untyped-def]
        inner = original(model, data)

        def evaluate(theta):  # type: ignore[no-untyped-def]
            nonlocal count
            count += 1
            return inner(theta)

        return evaluate

    with monkeypatch.context() as patch:
        patch.setattr(fit, "log_posterior_on", counting)
        found = fit_warm(MODEL, data, np.random.default_rng(1), start)
    return count, found


def test_known_curvature_saves_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    start = fit_warm(MODEL, observations(45), np.random.default_rng(1))
    forgotten = start.copy()
    forgotten[1:] = 0.1 * np.eye(len(start) - 1)
    later = observations(48)
    warm, found = evaluations(monkeypatch, later, start)
    cold, other = evaluations(monkeypatch, later, forgotten)
    assert warm < cold
    assert density(found[0], later) >= density(other[0], later) - 0.05


def test_a_bad_start_loses_to_the_median_of_the_prior() -> None:
    data = observations(30)
    start = fit_warm(MODEL, data, np.random.default_rng(1))
    lost = start.copy()
    lost[0] = MODEL.prior.bounds[0]
    assert density(lost[0], data) < density(MODEL.prior.median, data)
    found = fit_warm(MODEL, data, np.random.default_rng(1), lost)
    assert density(found[0], data) >= density(start[0], data) - 0.1


def test_without_observations_the_median_is_the_mode() -> None:
    found = fit_warm(MODEL, observations(60).take(np.array([], dtype=int)), np.random.default_rng(0))
    np.testing.assert_array_equal(found[0], MODEL.prior.median)
