"""Fronts, hypervolume and its expected improvement: enumeration, Monte Carlo, finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bough.acquisition.hypervolume import (
    free_boxes,
    hypervolume,
    inferred_reference,
    log_ehvi,
    non_dominated,
    spread_out,
)


def dominated_volume(front: np.ndarray, reference: np.ndarray) -> float:
    """Inclusion and exclusion over all subsets: exact, and shares nothing with the sweep."""
    inside = front[np.all(front < reference, axis=1)]
    total = 0.0
    for size in range(1, len(inside) + 1):
        for subset in itertools.combinations(inside, size):
            total -= (-1) ** size * np.prod(reference - np.max(subset, axis=0))
    return total


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_hypervolume_by_inclusion_and_exclusion(objectives: int, seed: int) -> None:
    rng = np.random.default_rng([seed, objectives])
    values = np.round(rng.random((9, objectives)), 1)  # ties and duplicates, some beyond the reference
    reference = np.full(objectives, 0.8)
    assert hypervolume(values, reference) == pytest.approx(dominated_volume(values, reference), abs=1e-12)


@pytest.mark.parametrize("objectives", [2, 3, 4])
def test_boxes_cover_the_free_region_once_and_nothing_else(objectives: int) -> None:
    rng = np.random.default_rng(objectives)
    front, reference = rng.random((12, objectives)), np.full(objectives, 0.9)
    boxes = free_boxes(front, reference)
    outcomes = rng.uniform(-0.2, 1.0, (4000, objectives))
    covering = np.sum(
        np.all((boxes.low < outcomes[:, None]) & (outcomes[:, None] <= boxes.high), axis=2), axis=1
    )
    inside = np.all(outcomes <= reference, axis=1)
    beaten = np.any(np.all(front[None] < outcomes[:, None], axis=2), axis=1)
    np.testing.assert_array_equal(covering, (inside & ~beaten).astype(int))


def test_two_objectives_need_a_strip_per_point_and_one_more() -> None:
    front = np.array([[0.1, 0.9], [0.4, 0.5], [0.8, 0.2]])
    assert len(free_boxes(front, np.ones(2)).low) == 4
    x = np.linspace(0.05, 0.95, 30)
    curve = np.stack([x, 1 - x, np.abs(x - 0.5)], axis=1)
    assert len(free_boxes(curve, np.ones(3)).low) <= 2 * 30 + 1


def test_the_front_keeps_the_first_of_equal_points() -> None:
    values = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [2.0, 2.0]])
    np.testing.assert_array_equal(non_dominated(values), [True, True, False, False])


@pytest.mark.parametrize("objectives", [1, 2, 3])
@pytest.mark.parametrize("rows", [0, 1, 7, 300])
def test_the_front_is_what_comparing_all_pairs_leaves(objectives: int, rows: int) -> None:
    """Small whole numbers, so that many values are equal."""
    values = np.random.default_rng(rows).integers(0, 6, (rows, objectives)).astype(float)

    def beats(i: int, j: int) -> bool:
        equal = bool((values[i] == values[j]).all())
        return i < j if equal else bool((values[i] <= values[j]).all())

    wanted = [not any(beats(i, j) for i in range(rows) if i != j) for j in range(rows)]
    np.testing.assert_array_equal(non_dominated(values), wanted)


def improvement(front: np.ndarray, reference: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    base = hypervolume(front, reference)
    return np.array([hypervolume(np.vstack([front, outcome]), reference) - base for outcome in outcomes])


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
def test_expected_improvement_by_monte_carlo(objectives: int) -> None:
    rng = np.random.default_rng(objectives)
    front, reference = rng.random((5, objectives)), np.ones(objectives)
    mean, sd = rng.random((1, objectives)), rng.uniform(0.1, 0.4, (1, objectives))
    draws = mean + sd * rng.standard_normal((600, objectives))
    gains = improvement(front, reference, draws)
    expected = np.exp(log_ehvi(mean, sd, free_boxes(front, reference))[0][0])
    assert expected == pytest.approx(gains.mean(), abs=4 * gains.std() / np.sqrt(len(gains)))


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
@pytest.mark.parametrize("far", [0.0, 3.0])
def test_slopes_by_finite_differences(objectives: int, far: float) -> None:
    rng = np.random.default_rng([objectives, int(far)])
    boxes = free_boxes(rng.random((6, objectives)), np.ones(objectives))
    mean = far + rng.random((3, objectives))
    sd = rng.uniform(0.05, 0.3, (3, objectives))
    _, by_mean, by_sd = log_ehvi(mean, sd, boxes)
    step = 1e-6
    for j in range(objectives):
        shift = step * (np.arange(objectives) == j)
        slope = (log_ehvi(mean + shift, sd, boxes)[0] - log_ehvi(mean - shift, sd, boxes)[0]) / (2 * step)
        np.testing.assert_allclose(by_mean[:, j], slope, rtol=1e-5, atol=1e-6)
        slope = (log_ehvi(mean, sd + shift, boxes)[0] - log_ehvi(mean, sd - shift, boxes)[0]) / (2 * step)
        np.testing.assert_allclose(by_sd[:, j], slope, rtol=1e-5, atol=1e-6)


def test_one_objective_is_plain_expected_improvement() -> None:
    from bough.acquisition.functions import log_ei

    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=20), rng.uniform(0.1, 1, 20)
    boxes = free_boxes(np.array([[0.3], [0.7]]), np.array([2.0]))
    np.testing.assert_allclose(log_ehvi(mean[:, None], sd[:, None], boxes)[0], log_ei(mean, sd, 0.3)[0])


def test_the_reference_follows_shift_and_scale() -> None:
    values = np.random.default_rng(1).random((10, 3))
    scale, shift = np.array([2.0, 0.5, 100.0]), np.array([5.0, -3.0, 0.0])
    moved = inferred_reference(values * scale + shift)
    np.testing.assert_allclose(moved, inferred_reference(values) * scale + shift)
    assert np.all(inferred_reference(np.ones((3, 2))) > 1.0)


def test_the_reference_lies_a_tenth_behind_the_front_whatever_else_was_seen() -> None:
    values = np.array([[0.0, 3.0], [2.0, 1.0], [50.0, 70.0]])
    np.testing.assert_allclose(inferred_reference(values), [2.0 + 0.2, 3.0 + 0.2])
    np.testing.assert_allclose(inferred_reference(np.array([[1.0, 1.0], [3.0, 6.0]])), [1.2, 1.5])


def test_a_long_front_is_thinned_without_losing_its_ends() -> None:
    rng = np.random.default_rng(0)
    directions = np.abs(rng.standard_normal((120, 4)))
    front = 1.0 - directions / np.linalg.norm(directions, axis=1, keepdims=True)
    few = spread_out(front, 30)
    assert len(few) == 30 and len(front) > 100
    assert np.array_equal(few.min(axis=0), front.min(axis=0))
    assert {tuple(row) for row in few} <= {tuple(row) for row in front}
    reference = np.full(4, 1.1)
    assert hypervolume(few, reference) / hypervolume(front[:40], reference) > 0.85
    assert spread_out(front, 1000) is front
    # Fewer points dominate less, so every outcome seems to gain at least as much.
    mean, sd = rng.random((40, 4)), np.full((40, 4), 0.2)
    exact = log_ehvi(mean, sd, free_boxes(front[:40], reference))[0]
    rough = log_ehvi(mean, sd, free_boxes(spread_out(front[:40], 20), reference))[0]
    assert np.all(rough >= exact - 1e-9) and np.corrcoef(rough, exact)[0, 1] > 0.9
