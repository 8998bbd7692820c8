"""The arc embedding: distances between active and inactive points."""

from __future__ import annotations

import numpy as np

from bough.gp.kernels import SE
from bough.papers.jenatton2017.arc import Arc, ArcMap
from bough.points import Layout, Points

# Column 0 always active; 1 (numeric) and 2 (nominal, 3 levels) belong to group 1.
LAYOUT = Layout(
    kinds=("real", "real", "nominal"),
    levels=np.array([0, 0, 3]),
    group=np.array([0, 1, 1]),
    switch=np.zeros(3, dtype=bool),
    groups=2,
)
THETA = np.log([1 / 0.7, 1 / 1.3, 1 / 0.9, 0.6])  # ω = 0.7, 1.3, 0.9 and ρ = 0.6


def points(*rows: tuple[float, float, float, bool]) -> Points:
    x = np.array([row[:3] for row in rows])
    on = np.array([[True, row[3]] for row in rows])
    return Points(np.where(on[:, LAYOUT.group], x, np.nan), on)


def test_distances_of_the_embedding() -> None:
    some = points((0.2, 0.1, 1 / 6, True), (0.2, 0.9, 1 / 6, True), (0.2, 0.1, 0.5, True), (0.2, 0, 0, False))
    features, _ = ArcMap((0,), ((1, 1),), ((2, 1, 3),))(THETA, some)
    distance = np.linalg.norm(features[:, None] - features, axis=2)
    chord = 2 * 1.3 * np.sin(0.5 * np.pi * 0.6 * 0.8)
    np.testing.assert_allclose(distance[0, 1], chord)
    np.testing.assert_allclose(distance[0, 2], 0.9)  # another category
    inactive = np.hypot(1.3, 0.9 / np.sqrt(2))  # the same from every active point
    np.testing.assert_allclose(distance[3, :3], inactive)


def test_two_inactive_points_differ_only_where_they_are_active() -> None:
    pair = points((0.2, 0.0, 0.0, False), (0.6, 1.0, 0.9, False))
    k, _ = Arc(LAYOUT, SE)(THETA, pair, pair)
    np.testing.assert_allclose(k[0, 1], np.exp(-0.5 * (0.7 * 0.4) ** 2))
