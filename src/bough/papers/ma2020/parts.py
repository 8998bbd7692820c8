"""The units that Algorithm 2 of Ma & Blaschko 2020 searches separately, and how they combine into paths.

A *part* is one vertex restricted to one of the boxes its paths allow. Its anchor is the best finished point
inside. On a tree whose switches act through activity only, each vertex is one part, and the paths need not be
listed. On other graphs they are listed, or sampled if there are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space import Space
from bough.space.binding import Test
from bough.space.sampling import sample_points
from bough.space.tree import Path, bounds_of

__all__ = ["Parts", "best_tree_path", "by_activity", "convex_tree_path", "path_parts", "tree_parts"]

MAX_STEPS = 20
"""Linearisations from one start; each improves, and few are needed."""

MIN_VARIANCE = 1e-24
"""Floor of variances that are divisors."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Vertices in boxes, and where each is anchored.

    group: (parts,) the vertex. own: (parts, columns) columns to search. low, high: (parts, columns) the box.
    anchors: one row per part, in which only its vertex is active, or no group if nothing was tried there.
    """

    group: IntArray
    own: BoolArray
    low: FloatArray
    high: FloatArray
    anchors: Points

    def __len__(self) -> int:
        return len(self.group)

    def inside(self, group: int, points: Points) -> tuple[IntArray, IntArray]:
        """Rows of ``points`` and the part of a vertex each lies in: at most one, as boxes are disjoint."""
        parts, rows = np.flatnonzero(self.group == group), np.flatnonzero(points.on[:, group])
        own = np.flatnonzero(self.own[parts[:1]].any(axis=0))
        x = points.x[np.ix_(rows, own)][:, None]
        low, high = self.low[np.ix_(parts, own)], self.high[np.ix_(parts, own)]
        row, part = np.nonzero(((x >= low) & (x <= high)).all(axis=2))
        return rows[row], parts[part]

    def split(self, points: Points) -> tuple[IntArray, IntArray, Points]:
        """Points taken apart: a row, a part it lies in, and the row with the vertex of that part alone."""
        found = [self.inside(group, points) for group in np.unique(self.group).tolist()]
        row, part = (np.concatenate([np.empty(0, dtype=np.intp), *each]) for each in zip(*found, strict=True))
        alone = np.zeros((len(row), points.on.shape[1]), dtype=bool)
        alone[np.arange(len(row)), self.group[part]] = True
        return row, part, Points(points.x[row], alone)


def by_activity(space: Space) -> bool:
    """Whether every option of every switch has a group, so switches need no terms.

    This holds for a categorical that some condition compares with one option (``space.groups``); a
    categorical with ordered options still has a term.
    """
    return space.tree.is_tree and bool(space.layout.nominal[space.layout.switch].all())


def tree_parts(space: Space, near: Points) -> Parts:
    """Every group of a tree ``by_activity``; ``near``: finished points, best first."""
    groups = np.arange(space.layout.groups)
    own = (space.layout.group == groups[:, None]) & ~space.layout.switch
    return _anchored(space, groups, own, np.zeros(own.shape), np.ones(own.shape), near)


def path_parts(
    space: Space, near: Points, limit: int, rng: np.random.Generator
) -> tuple[Parts, Sequence[Path], BoolArray]:
    """The parts of the paths of any graph, these paths, and the parts (paths, parts) of each.

    If there are more than ``limit`` paths: those of ``limit`` good and ``limit`` random points.
    """
    boxes = space.tree.all_paths(limit)
    if len(boxes) > limit:
        sample = Points.concat([near.take(slice(0, limit)), sample_points(space, limit, rng)])
        _, first = np.unique(space.tree.branch_ids(sample), return_index=True)
        boxes = tuple(space.tree.path_of(sample.take(first)))
    numbers: dict[bytes, int] = {}
    owners: list[tuple[int, Path]] = []
    needs: list[list[int]] = []
    for box in boxes:
        needs.append([])
        for group in np.flatnonzero(box.on):
            columns = space.layout.columns_of(int(group))
            key = bytes(f"{group}:", "ascii") + box.low[columns].tobytes() + box.high[columns].tobytes()
            if key not in numbers:
                numbers[key] = len(owners)
                owners.append((int(group), box))
            needs[-1].append(numbers[key])
    members = np.zeros((len(boxes), len(owners)), dtype=bool)
    for row, need in enumerate(needs):
        members[row, need] = True
    groups = np.array([group for group, _ in owners], dtype=np.intp)
    low, high = bounds_of([box for _, box in owners])
    own = space.layout.group == groups[:, None]
    return _anchored(space, groups, own, low, high, near), boxes, members


def best_tree_path(space: Space, gain: FloatArray) -> tuple[list[int], dict[int, int]]:
    """The groups on the path with the largest sum of ``gain`` (groups,), and the best option of each switch.

    best(v) = gain_v + sum over the switches of v of the best of best(child) over their options. Each
    switch is decided separately, so combinations of independent choices are never enumerated.
    """
    children = _children(space)
    total = gain.copy()
    taken: dict[int, int] = {}
    for group in reversed(space.tree.groups):  # children follow their parents
        for column in group.columns:
            if column in children:
                options = children[column]
                taken[column] = max(options, key=lambda option: total[options[option]])
                total[group.index] += total[options[taken[column]]]
    path = [0]
    for index in path:  # grows while it is walked
        switches = [column for column in space.tree.groups[index].columns if column in taken]
        path += [children[column][taken[column]] for column in switches]
    return path, taken


def convex_tree_path(
    space: Space, gain: FloatArray, kappa: float, covariances: Sequence[FloatArray], starts: BoolArray
) -> tuple[list[int], dict[int, int]]:
    """A path p (0/1 over groups) where gain' p + kappa mean_i sqrt(p' C_i p) is large; as ``best_tree_path``.

    A norm is convex: its tangent at p lies below it everywhere and touches it at p (Cauchy-Schwarz). The best
    path by the tangent, found by dynamic programming, is therefore never worse than p. The ascent
    ends where no tangent improves. starts: (n, groups) known paths; the best path by the sum of the
    separate standard deviations is added to them.
    """

    def norms(p: FloatArray) -> list[float]:
        return [max(float(p @ covariance @ p), MIN_VARIANCE) ** 0.5 for covariance in covariances]

    def tangent(p: FloatArray) -> FloatArray:
        slopes = [covariance @ p / norm for covariance, norm in zip(covariances, norms(p), strict=True)]
        return np.asarray(gain + kappa * np.mean(slopes, axis=0))

    def climb(slope: FloatArray) -> tuple[float, tuple[list[int], dict[int, int]]]:
        value, reached = -np.inf, best_tree_path(space, slope)
        for _ in range(MAX_STEPS):
            path, options = best_tree_path(space, slope)
            p = np.zeros(len(gain))
            p[path] = 1.0
            here = float(gain @ p) + kappa * float(np.mean(norms(p)))
            if here <= value:
                break
            value, reached, slope = here, (path, options), tangent(p)
        return value, reached

    deviations = np.mean([np.sqrt(np.maximum(np.diag(c), 0.0)) for c in covariances], axis=0)
    slopes = [gain + kappa * deviations, *(tangent(p) for p in starts.astype(float))]
    return max((climb(slope) for slope in slopes), key=lambda found: found[0])[1]


def _children(space: Space) -> dict[int, dict[int, int]]:
    """For a tree: column of a switch -> option -> the group it opens."""
    children: dict[int, dict[int, int]] = {}
    for group in space.tree.groups[1:]:
        assert isinstance(group.bound, Test)  # one option of one categorical: the definition of a tree
        above = group.bound.intervals[0][0]  # options r with above < r <= ..., of which there is one
        option = 0 if above == -np.inf else int(above) + 1
        children.setdefault(group.bound.column, {})[option] = group.index
    return children


def _anchored(
    space: Space, group: IntArray, own: BoolArray, low: FloatArray, high: FloatArray, near: Points
) -> Parts:
    """Parts with anchors: the best point inside, else the best with the same vertex, else none."""
    x, on = np.full(own.shape, 0.5), np.zeros((len(group), space.layout.groups), dtype=bool)
    parts = Parts(group, own, low, high, Points(x, on))
    for index in np.unique(group).tolist():
        rows, owners = parts.inside(index, near)
        visits = np.flatnonzero(near.on[:, index])
        for part in np.flatnonzero(group == index) if len(visits) else ():
            best = rows[owners == part][:1] if part in owners else visits[:1]
            x[part, own[part]] = near.x[best[0], own[part]]
            on[part, index] = True
    return parts
