"""Add-Tree-GP-UCB (Ma & Blaschko 2020, Alg. 2): maximise a bound vertex by vertex, then choose the path.

For an additive model f(x) = sum of f_v(x_v) over the vertices v on a path, the confidence bounds of the
terms add up to a bound for f, and their maximisation falls apart: each vertex is searched alone in its own
few columns (lines 3-5), and the best path is that with the largest sum (lines 6-9).

How the algorithm is read here:
- The paper minimises but writes mu + sqrt(beta) sigma and arg max; what is meant, and what its released
  code does, is the lower bound mu - sqrt(beta) sigma and its minimum. Scores here are negated bounds.
- beta_t = 0.2 d log 2t with d "the dimension of the space where we optimise": the vertex's own, and at
  least one, so that a branch without parameters is explored for its offset.
- The sum of sigma_v overstates the deviation of the sum, by far where terms are identified only up to
  constants. The posterior should come from centred kernels with explicit offsets, whose terms are.
- On a tree the sums over paths (line 7) share prefixes, and dynamic programming from the leaves up finds
  the best of any number of paths. On other graphs paths are listed, or sampled if they are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bough.acquisition.maximise.mixed import refine
from bough.acquisition.maximise.pool import Allowed, best_of_each, top
from bough.acquisition.maximise.starts import branch_of, listed, sequence
from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.space.binding import Test
from bough.space.sampling import sample_points
from bough.space.tree import Path

__all__ = ["AdditivePosterior", "SeparableBound", "additive_ucb", "best_tree_path", "beta"]

PATHS = 256
"""Paths listed where the groups do not form a tree."""

CANDIDATES = 64
"""Quasi-random candidates per vertex, of which STARTS are refined."""

STARTS = 4


class AdditivePosterior(Protocol):
    """A posterior that tells the terms of its groups apart."""

    def vertex_predict(self, group: int, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean and sd (n,) of one group's term; reads the columns of that group only."""
        ...

    def vertex_predict_grad(
        self, group: int, points: Points
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The same with gradients (n, columns)."""
        ...


def beta(dimension: int, t: int) -> float:
    """beta_t = 0.2 d log 2t (Ma & Blaschko 2020, sec. 4.2, after Kandasamy et al. 2015)."""
    return 0.2 * max(dimension, 1) * float(np.log(2.0 * t))


@dataclass(frozen=True, eq=False)
class SeparableBound:
    """A criterion: the sum over active groups of sqrt(beta_v) sd_v - mean_v, averaged over posteriors.

    Points whose ``on`` marks a single group are worth that vertex's term alone.
    kappa: (groups,) sqrt(beta_t) of each group.
    """

    posteriors: Sequence[AdditivePosterior]
    kappa: FloatArray

    def __call__(self, points: Points) -> FloatArray:
        value = np.zeros(len(points))
        for group in np.flatnonzero(points.on.any(axis=0)):
            rows = np.flatnonzero(points.on[:, group])
            for posterior in self.posteriors:
                mean, sd = posterior.vertex_predict(int(group), points.take(rows))
                value[rows] += (self.kappa[group] * sd - mean) / len(self.posteriors)
        return value

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        value, slope = np.zeros(len(points)), np.zeros(points.x.shape)
        for group in np.flatnonzero(points.on.any(axis=0)):
            rows = np.flatnonzero(points.on[:, group])
            for posterior in self.posteriors:
                mean, sd, by_mean, by_sd = posterior.vertex_predict_grad(int(group), points.take(rows))
                value[rows] += (self.kappa[group] * sd - mean) / len(self.posteriors)
                slope[rows] += (self.kappa[group] * by_sd - by_mean) / len(self.posteriors)
        return value, slope


def additive_ucb(
    space: Space,
    posteriors: Sequence[AdditivePosterior],
    t: int,
    *,
    avoid: Points,
    rng: np.random.Generator,
) -> Points:
    """The point whose vertices each maximise their bound, on the path where those add up to most.

    t: the number of the trial, from 1. Where that point is forbidden or to be avoided, the best random
    point by the same bound takes its place; no row where none is allowed.
    """
    layout = space.layout
    own = np.bincount(layout.group[~layout.switch], minlength=layout.groups)
    bound = SeparableBound(posteriors, np.sqrt([beta(int(dimension), t) for dimension in own]))
    # Other switches than categories may have a term of their own in the vertex that holds them.
    by_activity = space.tree.is_tree and layout.nominal[layout.switch].all()
    point = (_on_tree if by_activity else _on_paths)(space, bound, rng)
    allowed = Allowed(space, avoid)
    if allowed.mask(point).all():
        return point
    pool = sample_points(space, 1000, rng)
    return top(pool, allowed.score(pool, bound(pool)))


def best_tree_path(space: Space, gain: FloatArray) -> tuple[list[int], dict[int, int]]:
    """The groups on the path with the largest sum of ``gain`` (groups,), and the best option of each switch.

    best(v) = gain_v + sum over the switches of v of the best of best(child) over their options: each
    switch is decided by itself, so that independent choices are never multiplied out.
    """
    children: dict[int, dict[int, int]] = {}  # column of a switch -> option -> the group it opens
    for group in space.tree.groups[1:]:
        assert isinstance(group.bound, Test)  # one option of one categorical: the definition of a tree
        above = group.bound.intervals[0][0]  # options r with above < r <= ..., of which there is one
        option = 0 if above == -np.inf else int(above) + 1
        children.setdefault(group.bound.column, {})[option] = group.index
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


def _on_tree(space: Space, bound: SeparableBound, rng: np.random.Generator) -> Points:
    """Alg. 2 on a tree: a switch enters only through the group of its option, and is left out below."""
    switch = space.layout.switch
    shape = (space.layout.groups, space.layout.columns)
    low, high = np.where(switch, 0.5, np.zeros(shape)), np.where(switch, 0.5, np.ones(shape))
    gain, at = _maximise_vertices(space, bound, np.arange(space.layout.groups), low, high, rng)
    path, options = best_tree_path(space, gain)
    x = np.full(space.layout.columns, 0.5)
    for group in path:
        columns = space.layout.columns_of(group)
        x[columns] = at[group, columns]
    for column, option in options.items():
        x[column] = space.parameters[column].domain.position(np.array([float(option)]))[0]
    return space.snap(x[None])


def _on_paths(space: Space, bound: SeparableBound, rng: np.random.Generator) -> Points:
    """Alg. 2 over listed paths; a vertex is searched once for each box that a path leaves it."""
    boxes = listed(space.tree, PATHS)
    if len(boxes) > PATHS:
        sample = sample_points(space, PATHS, rng)
        _, first = np.unique(branch_of(space, sample), return_index=True)
        boxes = tuple(space.tree.path_of(sample.take(first)))
    parts: dict[bytes, int] = {}
    owners: list[tuple[int, Path]] = []
    needs = []
    for box in boxes:
        need = []
        for group in np.flatnonzero(box.on):
            columns = space.layout.columns_of(int(group))
            key = bytes(f"{group}:", "ascii") + box.low[columns].tobytes() + box.high[columns].tobytes()
            if key not in parts:
                parts[key] = len(owners)
                owners.append((int(group), box))
            need.append(parts[key])
        needs.append(need)
    groups = np.array([group for group, _ in owners], dtype=np.intp)
    low, high = np.stack([box.low for _, box in owners]), np.stack([box.high for _, box in owners])
    gain, at = _maximise_vertices(space, bound, groups, low, high, rng)
    best = int(np.argmax([gain[need].sum() for need in needs]))
    x = boxes[best].low.copy()
    for part in needs[best]:
        columns = space.layout.columns_of(int(groups[part]))
        x[columns] = at[part, columns]
    return space.snap(x[None])


def _maximise_vertices(
    space: Space,
    bound: SeparableBound,
    groups: IntArray,
    low: FloatArray,
    high: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Lines 3-5 for all vertices at once: largest bound (parts,) and where (parts, columns) it is attained.

    Part i is group ``groups[i]`` in the box [low[i], high[i]] (parts, columns), of which only the group's own
    columns count.
    """
    layout = space.layout
    own = layout.group == groups[:, None]
    low, high = np.where(own, low, 0.5), np.where(own, high, 0.5)
    each = np.where((low < high).any(axis=1), CANDIDATES, 1)
    owner = np.repeat(np.arange(len(groups)), each)
    x = low[owner] + sequence(len(owner), layout.columns, rng) * (high - low)[owner]
    for column in np.flatnonzero((layout.levels > 0) & (low < high).any(axis=0)):
        rows, domain = (low < high)[owner, column], space.parameters[column].domain
        x[rows, column] = domain.position(domain.rank_at(x[rows, column]))
    alone = np.zeros((len(owner), layout.groups), dtype=bool)
    alone[np.arange(len(owner)), groups[owner]] = True
    points = Points(x, alone)
    value = bound(points)

    order = np.lexsort((-value, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner, owner)[order]
    rows = order[rank < STARTS]
    reached, reached_value = refine(space, bound, points.take(rows), low[owner[rows]], high[owner[rows]])
    best = best_of_each(reached_value, owner[rows], len(groups))
    return reached_value[best], reached.x[best]
