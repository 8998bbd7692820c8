"""What the model expects of each branch: how low it may reach, and how likely it holds the optimum.

Joint draws from the posterior at candidates of every branch answer both questions. The share of the draws
whose minimum lies on a branch is the probability that the branch holds the optimum, as far as the candidates
show it. The lower quantile of the minima of a branch is the value that it may still reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import near_incumbents, spread
from bough.history import History
from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.space.tree import Path
from bough.strategies.context import ProposalContext

__all__ = ["ExpectsOfBranches", "Outlook", "outlook"]

DRAWS = 400
CANDIDATES, MAX_PER_BRANCH = 1200, 200
"""Candidates in total, and the most on one path; the cost of joint draws grows with the cube of the total."""

COPIES_PER_INCUMBENT = 8
REACH_QUANTILE = 0.05


@dataclass(frozen=True, eq=False)
class Outlook:
    """Per branch (branches,), to minimise and on the scale of the objective.

    reach: the branch gets below this value with probability 5 %. holds_optimum: a probability.
    log_gain: the logarithm of the largest gain expected of a candidate.
    """

    reach: FloatArray
    holds_optimum: FloatArray
    log_gain: FloatArray


@runtime_checkable
class ExpectsOfBranches(Protocol):
    """A strategy whose model compares branches."""

    def outlook(
        self, space: Space, history: History, branches: Sequence[Sequence[Path]], rng: np.random.Generator
    ) -> Outlook:
        """The outlook of each branch, which is given by its paths; at least one trial is done."""
        ...


def outlook(
    context: ProposalContext,
    log_gain: Criterion,
    branches: Sequence[Sequence[Path]],
    rng: np.random.Generator,
) -> Outlook:
    """See the docstring of the module. Every branch needs at least one path."""
    candidates, branch = _candidates(context, branches, rng)
    posteriors = context.model.posteriors
    each = max(1, DRAWS // len(posteriors))
    draws = np.concatenate([posterior.sample(candidates, each, rng) for posterior in posteriors])
    order = np.argsort(branch, kind="stable")
    first = np.searchsorted(branch[order], np.arange(len(branches)))
    minima = np.minimum.reduceat(draws[:, order], first, axis=1)
    reach = np.quantile(minima, REACH_QUANTILE, axis=0)
    gain = log_gain(candidates)[order]
    return Outlook(
        reach=context.model.transform.inverse(reach, np.zeros_like(reach))[0],
        holds_optimum=np.bincount(minima.argmin(axis=1), minlength=len(branches)) / len(minima),
        log_gain=np.maximum.reduceat(gain, first),
    )


def _candidates(
    context: ProposalContext, branches: Sequence[Sequence[Path]], rng: np.random.Generator
) -> tuple[Points, IntArray]:
    """Points spread over each branch, around the best observations and at them, with their branches.

    Forbidden points are left out, unless a branch has no others here.
    """
    space = context.space
    boxes = [box for branch in branches for box in branch]
    owner = np.repeat(np.arange(len(branches)), [len(branch) for branch in branches])
    each = max(1, min(MAX_PER_BRANCH, CANDIDATES // len(boxes)))
    fresh, box = spread(space, boxes, each, rng)
    known = Points.concat(
        [near_incumbents(space, context.near, COPIES_PER_INCUMBENT, rng), context.near.take(slice(0, 200))]
    )
    by_key = {box.key: int(branch) for box, branch in zip(boxes, owner)}
    keys = [by_key.get(path.key, -1) for path in space.tree.path_of(known)]
    kept = np.flatnonzero(np.array(keys) >= 0)
    points = Points.concat([fresh, known.take(kept)])
    branch = np.concatenate([owner[box], np.array(keys, dtype=np.intp)[kept]])
    legal = space.legal(points)
    lacking = np.bincount(branch[legal], minlength=len(branches)) == 0
    counted = legal | lacking[branch]
    return points.take(counted), branch[counted]
