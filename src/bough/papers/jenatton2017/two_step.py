"""Two-step expected improvement (Jenatton et al. 2017, sec. 3.2), both steps maximised exactly.

Step one ranks paths by the path EI of eq. (6), E[(best - b - z_p'c)+], which leaves out the leaf's own
Gaussian process: cheap, but blind to variation inside the leaf. Step two maximises the full EI of eq. (5)
inside the best paths, over leaf and shared variables together. The paper keeps one path; keeping a few is
the extension it suggests. ``anchor_search`` has the paper's own search, over a finite set of points.

Why corners. For fixed weights c the improvement (best - b - z'c)+ is convex in the linear features z, and
so is its expectation over c. So over a box of shared variables the maximum of (6) lies at a corner (for
a category: at one of its options), and only corners need to be tried. The same holds for eq. (5) at fixed
leaf variables: a linear model never proposes an interior value of a shared variable. Random Fourier features
are not linear in the variables, and there interior points are tried as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Protocol

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.functions import average, log_ei
from bough.acquisition.maximise.candidates import best_of_each, spread
from bough.acquisition.maximise.paths import search_boxes
from bough.points import BoolArray, FloatArray, Points
from bough.space import Space
from bough.space.sampling import sample_points
from bough.space.tree import Path

__all__ = ["PathCriterion", "PathPosterior", "candidate_paths", "path_ei", "rank_paths", "shared_columns"]
__all__ += ["two_step"]

PATHS = 256
"""With more paths than this, the paths of random points are used instead."""

CORNERS = 2**10
"""Up to this many corners are all tried; if there are more, coordinate ascent picks some."""

INTERIOR = 64
"""Interior points tried per path where the shared variables do not enter linearly."""

PathCriterion = Callable[[Points], FloatArray]
"""(n,) worth of the path of each point, at its shared variables."""


class PathPosterior(Protocol):
    """A posterior that can leave out the leaf: the distribution of b + z_p'c alone."""

    def path_predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean and sd (n,) of b + z_p'c at the shared variables of each point."""
        ...


def path_ei(posteriors: Sequence[PathPosterior], best: Sequence[float]) -> PathCriterion:
    """Logarithm of eq. (6), averaged over posteriors; ``best`` as for the full criterion."""

    def criterion(points: Points) -> FloatArray:
        scores = []
        for posterior, incumbent in zip(posteriors, best, strict=True):
            mean, sd = posterior.path_predict(points)
            scores.append(log_ei(mean, sd, incumbent)[0])
        return average(scores, log=True)[0]

    return criterion


def two_step(
    space: Space,
    criterion: Criterion,
    path_criterion: PathCriterion,
    *,
    near: Points,
    avoid: Points,
    rng: np.random.Generator,
    keep: int = 1,
    linear: bool = True,
) -> Points:
    """The best point by ``criterion`` on the ``keep`` best paths by ``path_criterion``: one row, or none.

    If everything on those paths must be avoided, the next best paths are searched.
    """
    boxes = candidate_paths(space, rng)
    value, at = rank_paths(space, path_criterion, boxes, rng, linear)
    order = np.argsort(-value, kind="stable")
    shared = shared_columns(space)
    tried = [path.key for path in space.tree.path_of(near)]
    for begin in range(0, len(order), keep):
        rows = order[begin : begin + keep]
        kept = [boxes[row] for row in rows]
        # Half of the candidates start from the shared values that gave the path its rank.
        pinned = [_pin(boxes[row], at[row], shared) for row in rows]
        keys = {box.key for box in kept}
        within = near.take([row for row, key in enumerate(tried) if key in keys])
        found = search_boxes(
            space, criterion, [*kept, *pinned], near=within, avoid=avoid, rng=rng, branches=keep
        )
        if len(found):
            return found
    return near.take([])


def rank_paths(
    space: Space, path_criterion: PathCriterion, boxes: Sequence[Path], rng: np.random.Generator, linear: bool
) -> tuple[FloatArray, FloatArray]:
    """(paths,) the largest worth of each path, and (paths, columns) where its shared variables attain it."""
    shared = shared_columns(space)
    choices = [_corner_choices(space, box, shared) for box in boxes]
    many = [row for row, choice in enumerate(choices) if prod(map(len, choice.values())) > CORNERS]
    reached = _ascend(space, path_criterion, [boxes[row] for row in many], [choices[row] for row in many])
    climbed = dict(zip(many, reached))
    grids = [
        climbed[row][None] if row in climbed else _corners(box, choice)
        for row, (box, choice) in enumerate(zip(boxes, choices))
    ]
    if not linear:
        inner, owner = spread(space, boxes, INTERIOR, rng)
        grids = [np.concatenate([grid, inner.x[owner == row]]) for row, grid in enumerate(grids)]
    points = space.snap(np.concatenate(grids))
    score = path_criterion(points)
    best = best_of_each(score, np.repeat(np.arange(len(boxes)), [len(grid) for grid in grids]), len(boxes))
    return score[best], points.x[best]


def candidate_paths(space: Space, rng: np.random.Generator) -> Sequence[Path]:
    """All paths, or where there are too many, the distinct ones of a random sample."""
    boxes = space.tree.all_paths(PATHS)
    if len(boxes) <= PATHS:
        return boxes
    sample = sample_points(space, PATHS, rng)
    _, first = np.unique(space.tree.branch_ids(sample), return_index=True)
    return space.tree.path_of(sample.take(np.sort(first)))


def shared_columns(space: Space) -> BoolArray:
    """(columns,) whether a column belongs to an inner node, a group that several paths share."""
    return np.isin(space.layout.group, space.tree.roles.shared)


def _corner_choices(space: Space, box: Path, shared: BoolArray) -> dict[int, FloatArray]:
    """The values worth trying of each open shared column: both ends, or every category."""
    open_ = shared & space.layout.active(box.on[None])[0] & (box.low < box.high)
    choices = {}
    for column in np.flatnonzero(open_):
        levels = int(space.layout.levels[column])
        categories = space.parameters[column].domain.position(np.arange(float(levels)))
        ends = np.array([box.low[column], box.high[column]])
        choices[int(column)] = categories if space.layout.nominal[column] else ends
    return choices


def _corners(box: Path, choices: Mapping[int, FloatArray]) -> FloatArray:
    """(corners, columns) every combination of the choices, all else in the middle of the box."""
    combinations = list(product(*choices.values()))
    grid = np.tile(0.5 * (box.low + box.high), (len(combinations), 1))
    grid[:, list(choices)] = combinations
    return grid


def _ascend(
    space: Space,
    path_criterion: PathCriterion,
    boxes: Sequence[Path],
    choices: Sequence[Mapping[int, FloatArray]],
) -> list[FloatArray]:
    """For each box a corner (columns,) that no change of one column improves; all boxes climb at once."""
    here = [0.5 * (box.low + box.high) for box in boxes]
    for x, choice in zip(here, choices):
        x[list(choice)] = [values[0] for values in choice.values()]
    value = np.full(len(boxes), -np.inf)
    alive = np.arange(len(boxes))
    while len(alive):
        moves = [_changes(here[row], choices[row]) for row in alive.tolist()]
        candidates = np.concatenate(moves)
        score = path_criterion(space.snap(candidates))
        best = best_of_each(
            score, np.repeat(np.arange(len(alive)), [len(move) for move in moves]), len(alive)
        )
        better = score[best] > value[alive]
        alive, best = alive[better], best[better]
        value[alive] = score[best]
        for row, candidate in zip(alive.tolist(), candidates[best]):
            here[row] = candidate
    return here


def _changes(x: FloatArray, choices: Mapping[int, FloatArray]) -> FloatArray:
    """(changes, columns) x with one column set to one of its choices."""
    column = np.repeat(list(choices), [len(values) for values in choices.values()])
    changed = np.tile(x, (len(column), 1))
    changed[np.arange(len(column)), column] = np.concatenate(list(choices.values()))
    return changed


def _pin(box: Path, x: FloatArray, columns: BoolArray) -> Path:
    """The box with the given columns fixed at ``x``."""
    return replace(box, low=np.where(columns, x, box.low), high=np.where(columns, x, box.high))
