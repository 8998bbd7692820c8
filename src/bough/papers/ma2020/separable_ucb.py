"""Add-Tree-GP-UCB (Ma & Blaschko 2020, Alg. 2): maximise a bound vertex by vertex, then choose the path.

For an additive model f(x) = sum of f_v(x_v) over the vertices v on a path, confidence bounds of the terms
add up to a bound for f, and the maximisation separates: each vertex is searched in its own few
columns (lines 3-5), and the best path is the one with the largest sum (lines 6-9).

This implementation reads the algorithm as follows:
- The paper minimises but writes mu + sqrt(beta) sigma and arg max. Its released code minimises the lower
  bound mu - sqrt(beta) sigma, and so does this one. Scores are negated bounds.
- beta_t = 0.2 d log 2t with d "the dimension of the space where we optimise": here of the vertex, and at
  least one, so a branch without parameters is explored for its offset.
- Only sums of terms are observed, so constants move freely between the terms of a path and sigma_v never
  falls below some c > 0. A bound with sqrt(c^2 + e^2) instead of e hides the real uncertainty e, and
  the search settles on the first good branch. With an anchor a_v in every vertex (``parts``)

      f(x) = A_p + sum over v of D_v(x_v),   A_p = sum over v of f_v(a_v),   D_v(x_v) = f_v(x_v) - f_v(a_v),

  the constants cancel in D_v, and A_p is as well known as any value of f. By the triangle
  inequality sd f(x) <= sd A_p + sum over v of sd D_v(x_v), with equality at the anchors. Lines 3-5
  maximise the bounds of D_v, line 7 adds the bound of A_p, which is a constant of the path.
- Without an anchor (nothing was tried in the vertex) D_v is the term itself, and A_p leaves it out. Without
  any anchor this is Algorithm 2 as printed (``anchored=False``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.acquisition.criterion import Expected
from bough.acquisition.functions import lcb
from bough.acquisition.maximise.alternate import alternate_search
from bough.acquisition.maximise.candidates import CandidateFilter, best_of_each
from bough.acquisition.maximise.paths import search_paths
from bough.papers.ma2020.changes import AdditiveGP, Changes
from bough.papers.ma2020.parts import Parts, by_activity, convex_tree_path, path_parts, tree_parts
from bough.points import BoolArray, FloatArray, Points
from bough.space import Space
from bough.space.halton import halton

__all__ = ["AdditiveGP", "SeparableBound", "additive_ucb", "beta"]

MAX_LISTED_PATHS = 256
"""Up to this many paths are compared one by one."""

KNOWN_PATHS = 8
"""On a tree with more paths, the ascent starts from the paths of this many good points."""

CANDIDATES_PER_VERTEX = 64
"""Quasi-random candidates per vertex, of which STARTS_PER_VERTEX are refined."""

STARTS_PER_VERTEX = 4


def beta(dimension: int, t: int) -> float:
    """beta_t = 0.2 d log 2t (Ma & Blaschko 2020, sec. 4.2, after Kandasamy et al. 2015)."""
    return 0.2 * max(dimension, 1) * float(np.log(2.0 * t))


@dataclass(frozen=True, eq=False)
class SeparableBound:
    """A criterion: the sum over the parts of a point of kappa_v sd D_v - mean D_v, averaged over posteriors.

    Points whose ``on`` marks a single group are worth that vertex's bound alone.
    kappa: (groups,) sqrt(beta_t) of each group.
    """

    posteriors: Sequence[AdditiveGP]
    kappa: FloatArray
    parts: Parts

    @cached_property
    def _changes(self) -> list[Changes]:
        return [posterior.changes(self.parts.anchors) for posterior in self.posteriors]

    def __call__(self, points: Points) -> FloatArray:
        row, part, alone = self.parts.split(points)
        kappa = self.kappa[self.parts.group[part]]
        value = np.zeros(len(points))
        for changes in self._changes:
            mean, sd = changes.predict(alone, part)
            np.add.at(value, row, (kappa * sd - mean) / len(self.posteriors))
        return value

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        row, part, alone = self.parts.split(points)
        kappa = self.kappa[self.parts.group[part]]
        value, slope = np.zeros(len(points)), np.zeros(points.x.shape)
        for changes in self._changes:
            mean, sd, by_mean, by_sd = changes.predict_grad(alone, part)
            np.add.at(value, row, (kappa * sd - mean) / len(self.posteriors))
            np.add.at(slope, row, (kappa[:, None] * by_sd - by_mean) / len(self.posteriors))
        return value, slope


def additive_ucb(
    space: Space,
    posteriors: Sequence[AdditiveGP],
    t: int,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    anchored: bool = True,
) -> Points:
    """The point whose vertices each maximise their bound, on the path with the largest sum of bounds.

    t: the number of the trial, from 1. near: finished points, best first. If the point is forbidden or
    in ``avoid``, the bound of the whole sum is searched on every path. No row if no point is allowed.
    anchored: False for Algorithm 2 as printed, mu_v - sqrt(beta) sigma_v of each term by itself.
    """
    layout = space.layout
    own = np.bincount(layout.group[~layout.switch], minlength=layout.groups)
    kappa = np.sqrt([beta(int(dimension), t) for dimension in own])
    of_level = float(np.sqrt(beta(1, t)))
    anchors = near if anchored else near.take([])
    point = (_on_tree if by_activity(space) else _on_paths)(space, posteriors, kappa, of_level, anchors, rng)
    if CandidateFilter(space, avoid).mask(point).all():
        return point
    whole = lcb(float(np.sqrt(beta(int(own[point.on[0]].sum()), t))))
    bound = Expected(posteriors, [0.0] * len(posteriors), whole)
    return search_paths(space, bound, near=near, avoid=avoid, rng=rng)


def _on_tree(
    space: Space,
    posteriors: Sequence[AdditiveGP],
    kappa: FloatArray,
    of_level: float,
    near: Points,
    rng: np.random.Generator,
) -> Points:
    """Alg. 2 on a tree: a switch acts only through the group of its option, so it has no column here."""
    parts = tree_parts(space, near)
    gain, at, covariances = _bounds(space, posteriors, kappa, parts, rng)
    boxes = space.tree.all_paths(MAX_LISTED_PATHS)
    x = np.full(space.layout.columns, 0.5)
    if len(boxes) <= MAX_LISTED_PATHS:
        members = np.stack([box.on for box in boxes])
        best = boxes[int(np.argmax(_path_values(members, gain, of_level, covariances)))]
        path, x = np.flatnonzero(best.on).tolist(), best.low.copy()
    else:
        path, options = convex_tree_path(space, gain, of_level, covariances, near.on[:KNOWN_PATHS])
        for column, option in options.items():
            x[column] = space.parameters[column].domain.position(np.array([float(option)]))[0]
    for group in path:
        x[parts.own[group]] = at[group, parts.own[group]]
    return space.snap(x[None])


def _on_paths(
    space: Space,
    posteriors: Sequence[AdditiveGP],
    kappa: FloatArray,
    of_level: float,
    near: Points,
    rng: np.random.Generator,
) -> Points:
    """Alg. 2 over listed paths; a vertex is searched once for each box that its paths allow."""
    parts, boxes, members = path_parts(space, near, MAX_LISTED_PATHS, rng)
    gain, at, covariances = _bounds(space, posteriors, kappa, parts, rng)
    best = int(np.argmax(_path_values(members, gain, of_level, covariances)))
    x = boxes[best].low.copy()
    for part in np.flatnonzero(members[best]):
        x[parts.own[part]] = at[part, parts.own[part]]
    return space.snap(x[None])


def _bounds(
    space: Space,
    posteriors: Sequence[AdditiveGP],
    kappa: FloatArray,
    parts: Parts,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """The largest bound of each part less its mean level at the anchor (parts,), where it is attained
    (parts, columns), and the covariances of those levels (parts, parts)."""
    gain, at = _maximise_vertices(space, SeparableBound(posteriors, kappa, parts), rng)
    levels = [posterior.joint(parts.anchors) for posterior in posteriors]
    return gain - np.mean([mean for mean, _ in levels], axis=0), at, [covariance for _, covariance in levels]


def _path_values(
    members: BoolArray, gain: FloatArray, kappa: float, covariances: Sequence[FloatArray]
) -> FloatArray:
    """Line 7 for paths as 0/1 rows p: gain' p + kappa sqrt(p' C p), averaged over posteriors."""
    p = members.astype(float)
    variances = [np.maximum(np.einsum("pi,pi->p", p @ covariance, p), 0.0) for covariance in covariances]
    return np.asarray(p @ gain + kappa * np.mean(np.sqrt(variances), axis=0))


def _maximise_vertices(
    space: Space, bound: SeparableBound, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Lines 3-5 for all parts at once: largest bound (parts,) and where (parts, columns) it is attained."""
    layout, parts = space.layout, bound.parts
    low, high = np.where(parts.own, parts.low, 0.5), np.where(parts.own, parts.high, 0.5)
    each = np.where((low < high).any(axis=1), CANDIDATES_PER_VERTEX, 1)
    owner = np.repeat(np.arange(len(parts)), each)
    x = low[owner] + halton(len(owner), rng.random(layout.columns)) * (high - low)[owner]
    for column in np.flatnonzero((layout.levels > 0) & (low < high).any(axis=0)):
        rows, domain = (low < high)[owner, column], space.parameters[column].domain
        x[rows, column] = domain.position(domain.rank_at(x[rows, column]))
    alone = np.zeros((len(owner), layout.groups), dtype=bool)
    alone[np.arange(len(owner)), parts.group[owner]] = True
    points = Points(x, alone)
    value = bound(points)

    order = np.lexsort((-value, owner))
    rank = np.arange(len(order)) - np.searchsorted(owner, owner)[order]
    rows = order[rank < STARTS_PER_VERTEX]
    reached, reached_value = alternate_search(
        space, bound, points.take(rows), low[owner[rows]], high[owner[rows]]
    )
    best = best_of_each(reached_value, owner[rows], len(parts))
    return reached_value[best], reached.x[best]
