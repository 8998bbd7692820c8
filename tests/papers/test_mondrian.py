"""Mondrian features: the Laplace kernel in the limit, and a partition that any point can find."""

from __future__ import annotations

import numpy as np

from bough.gp.kernels import Laplace
from bough.papers.levesque2017.mondrian import Mondrian
from bough.points import Points


def random_points(rng: np.random.Generator, n: int) -> Points:
    """Two real columns and a nominal one with four options."""
    x = rng.random((n, 3))
    x[:, 2] = (np.floor(4 * x[:, 2]) + 0.5) / 4
    return Points(x, np.ones((n, 1), dtype=bool))


def test_converges_to_the_laplace_kernel() -> None:
    rng = np.random.default_rng(0)
    a, b = random_points(rng, 12), random_points(rng, 9)
    theta = np.log([0.5, 1.0, 0.8])
    limit, _ = Laplace((0, 1), (2,))(theta, a, b)
    errors = []
    for trees in (100, 6400):
        k, _ = Mondrian((0, 1), ((2, 4),), trees=trees)(theta, a, b)
        # Each entry is a mean of `trees` coin tosses: its error is normal with at most this deviation.
        deviation = np.sqrt(limit * (1 - limit) / trees)
        assert (np.abs(k - limit) < 5 * deviation + 1e-12).all()
        errors.append(np.sqrt(np.mean((k - limit) ** 2)))
    assert errors[1] < errors[0] / 4  # 1/√64 = 1/8 on average


def test_a_partition_does_not_depend_on_the_other_points() -> None:
    rng = np.random.default_rng(1)
    points = random_points(rng, 10)
    theta = np.log([0.3, 0.3, 1.0])
    kernel = Mondrian((0, 1), ((2, 4),), trees=20)
    together = kernel.cells(theta, points)
    alone = np.vstack([kernel.cells(theta, points.take([i])) for i in range(10)])
    np.testing.assert_array_equal(together, alone)
    assert (together[:, 1:] != together[:, :-1]).all()  # every tree has cells of its own


def test_cells_are_boxes_that_shorter_length_scales_split() -> None:
    """On a line, a cell is an interval, and a partition with a longer lifetime refines it."""
    line = Points(np.linspace(0, 1, 400)[:, None], np.ones((400, 1), dtype=bool))
    counts = []
    for lengthscale in (1.0, 0.1):
        cells = Mondrian((0,), trees=30).cells(np.log([lengthscale]), line)
        changes = (cells[1:] != cells[:-1]).sum(axis=0)
        distinct = np.array([len(np.unique(column)) for column in cells.T])
        np.testing.assert_array_equal(distinct, changes + 1)  # no interval comes back
        counts.append(changes.mean())
    # Cuts of a unit interval are a Poisson process with rate 1/ℓ.
    assert abs(counts[0] - 1.0) < 0.8 and abs(counts[1] - 10.0) < 2.5
