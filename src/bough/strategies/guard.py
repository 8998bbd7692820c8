"""A guard against settling in the wrong branch.

A model that has seen one branch in detail and the others in passing is sure of too much: it polishes
the best result of a branch that was lucky early, while a better branch waits for its second look. So
every few trials another branch gets a turn, with the aim to improve on *its own* best result, as if it
were a problem by itself. The model is doubted when it sees hardly anything to gain, and when what it
promised has not come true for a while. Which branch: with b_k the best result and n_k the number of
trials of branch k (in deviations of all results), the one with the smallest

    b_k − REACH n_k^(−2/d_k)

which is what it may still come to, with d_k the number of its parameters that are free: the best of n
trials comes within n^(−2/d) of a smooth optimum in d dimensions, so two trials say much about a branch with
one parameter and little about one with four. Once that is above the best result for all of them the guard
rests, unless the search is stuck: then a random configuration of the branch with the fewest trials per
free parameter gets a turn. Smoothness is an assumption, too; a branch that is flat but for a narrow valley
shows it only by chance. (Choosing a branch as in a bandit for the extreme value, and tuning within it, is how
much of the work on algorithm selection goes about it; e.g. MaxUCB, arXiv 2505.05226.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.acquisition.criterion import incumbent
from bough.acquisition.maximise.paths import search_boxes
from bough.acquisition.maximise.pool import Allowed
from bough.acquisition.maximise.starts import spread
from bough.points import IntArray, Points
from bough.space.tree import Path
from bough.strategies.decisions import Decision, Situation

__all__ = ["Branch", "guarded", "promising", "rivals"]

PERIOD = 2
REACH = 3.0
"""A branch seen once may turn out three deviations better than that: nearly anything."""

LITTLE = 0.03
"""Expected improvement, in deviations of all results, below which the model sees hardly anything to gain."""

DRAWS = 16
"""Random configurations of a branch among which a new one is looked for."""


def guarded(decide: Decision, period: int = PERIOD) -> Decision:
    """``decide``, but where that gains little or is stuck, every ``period``-th trial doubts the model."""

    def with_guard(now: Situation, rng: np.random.Generator) -> Points:
        found = decide(now, rng)
        if now.number % period or (len(found) and not now.stuck and now.gain(found)[0] > np.log(LITTLE)):
            return found
        others = rivals(now)
        if branch := promising(now, others):
            doubted = _improve(now, branch, rng)
        elif now.stuck and others:
            doubted = _anywhere(now, min(others, key=lambda b: len(b.rows) / b.free), rng)
        else:
            return found
        return doubted if len(doubted) else found

    return with_guard


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch with results. rows: its results, best first; free: how many parameters vary; box: where."""

    rows: IntArray
    free: int
    box: Path


def rivals(now: Situation) -> list[Branch]:
    """The branches other than that of the best result in which there is something to choose."""
    order = np.argsort(now.model.z, kind="stable")
    branch = now.space.tree.branch_ids(now.done)[order]
    found = []
    for number in np.unique(branch[branch != branch[0]]).tolist():
        rows = order[branch == number]
        box = now.space.tree.path_of(now.done.take(rows[:1]))[0]
        if free := int(np.sum(box.low < box.high)):
            found.append(Branch(rows, free, box))
    return found


def promising(now: Situation, others: Sequence[Branch]) -> Branch | None:
    """The one of ``others`` that may come to most; None if not even that beats the best result."""
    z = now.model.z

    def hope(branch: Branch) -> float:
        return float(z[branch.rows[0]] - REACH * len(branch.rows) ** (-2.0 / branch.free))

    best = min(others, key=hope, default=None)
    return best if best is not None and hope(best) < z.min() else None


def _improve(now: Situation, branch: Branch, rng: np.random.Generator) -> Points:
    """Where a branch may best improve on its own best result: one row, or none."""
    mine, z = now.done.take(branch.rows), now.model.z[branch.rows]
    best = [incumbent(posterior, mine, z, noisy=posterior.noisy) for posterior in now.model.posteriors]
    return search_boxes(
        now.space, now.worth(best), [branch.box], near=mine, avoid=now.avoid, rng=rng, starts=6
    )


def _anywhere(now: Situation, branch: Branch, rng: np.random.Generator) -> Points:
    """A new random configuration of a branch: one row, or none where a few draws meet only known ones."""
    points, _ = spread(now.space, [branch.box], DRAWS, rng)
    return points.take(np.flatnonzero(Allowed(now.space, now.avoid).mask(points))[:1])
