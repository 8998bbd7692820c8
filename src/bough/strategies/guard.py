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
one parameter and little about one with four. Once that is above the best result for all of them the
guard rests. (Choosing a branch as in a bandit for the
extreme value, and tuning within it, is how much of the work on algorithm selection goes about it;
e.g. MaxUCB, arXiv 2505.05226.)
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import incumbent
from bough.acquisition.maximise.paths import search_boxes
from bough.acquisition.maximise.starts import branch_of
from bough.points import IntArray, Points
from bough.strategies.decisions import Decision, Situation

__all__ = ["guarded", "promising"]

PERIOD = 2
REACH = 3.0
"""A branch seen once may turn out three deviations better than that: nearly anything."""

LITTLE = 0.03
"""Expected improvement, in deviations of all results, below which the model sees hardly anything to gain."""

STALE = 8
"""So many results in a row without a new best one, and what the model promises is in doubt."""


def guarded(decide: Decision, period: int = PERIOD) -> Decision:
    """``decide``, but where that gains little or is stuck, every ``period``-th trial doubts the model."""

    def with_guard(now: Situation, rng: np.random.Generator) -> Points:
        found = decide(now, rng)
        stale = len(now.model.z) - 1 - int(np.argmin(now.model.z)) >= STALE
        if now.number % period or (len(found) and not stale and now.gain(found)[0] > np.log(LITTLE)):
            return found
        rows = promising(now)
        doubted = _improve(now, rows, rng) if rows is not None else found
        return doubted if len(doubted) else found

    return with_guard


def promising(now: Situation) -> IntArray | None:
    """The finished rows of the branch whose turn it is, best first; None when there is none to look at."""
    z = now.model.z
    branch = branch_of(now.space, now.done)
    order = np.argsort(z, kind="stable")
    leader = branch[order[0]]
    hope: dict[int, float] = {}
    for number in np.unique(branch).tolist():
        mine = np.flatnonzero(branch == number)
        box = now.space.tree.path_of(now.done.take(mine[:1]))[0]
        free = int(np.sum(box.low < box.high))
        if number != leader and free:  # with nothing free it has one configuration, which is known
            hope[number] = float(z[mine].min() - REACH * len(mine) ** (-2.0 / free))
    if not hope or min(hope.values()) >= z[order[0]]:
        return None
    return np.asarray(order[branch[order] == min(hope, key=hope.__getitem__)])


def _improve(now: Situation, rows: IntArray, rng: np.random.Generator) -> Points:
    """Where the branch of ``rows`` may best improve on its own best result: one row, or none."""
    mine, z = now.done.take(rows), now.model.z[rows]
    best = [incumbent(posterior, mine, z, noisy=posterior.noisy) for posterior in now.model.posteriors]
    boxes = now.space.tree.path_of(mine.take([0]))
    return search_boxes(now.space, now.worth(best), boxes, near=mine, avoid=now.avoid, rng=rng, starts=6)
