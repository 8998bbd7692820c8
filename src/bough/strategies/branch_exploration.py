"""Branch exploration: a second look at the branches that the model has given up on.

``auto`` uses it with several objectives or constraints. With one objective it showed no gain and was dropped,
except for branches that came late (``decisions.explore_late_branches``).

A model that has many observations on one branch and few on the others is overconfident: it refines the best
observation of a branch that was lucky early, while a better branch waits. So every few trials another
branch gets a turn, and the trial tries to improve on the best observation *of that branch*. This happens only
when the model expects almost no improvement, or when the last observations brought none. With b_k the best
observation and n_k the number of trials of branch k (in standard deviations of all observations), the
branch is the one with the smallest

    b_k − OPTIMISM_SDS n_k^(−2/d_k),

the value it may still reach. d_k counts its free parameters: the best of n trials comes within n^(−2/d) of a
smooth optimum in d dimensions, so two trials say much about a branch with one parameter and little about one
with four. If this bound is above the incumbent for every branch, there is nothing to explore, unless
the search has stalled: then a random configuration of the branch with the fewest trials per free parameter
gets the turn. Smoothness is an assumption, and a flat branch with a narrow valley is found only by chance.
(Choosing a branch as in an extreme-value bandit and tuning inside it is common in algorithm selection, e.g.
MaxUCB, arXiv 2505.05226.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.acquisition.maximise.candidates import CandidateFilter, spread
from bough.acquisition.maximise.paths import search_boxes
from bough.points import IntArray
from bough.space.tree import Path
from bough.strategies.context import Choice, Decision, ProposalContext

__all__ = ["Branch", "explore_branches", "improve", "other_branches", "promising"]

TRIALS_PER_TURN = 2
"""Every second trial may explore."""

OPTIMISM_SDS = 3.0
"""How much better than its first observation a branch may be, in standard deviations."""

NEGLIGIBLE_GAIN_SDS = 0.03
"""Expected improvement, in standard deviations, that counts as almost none."""

STALL_LENGTH = 8
"""After this many observations in a row without improvement, the search has stalled."""

SEARCH_STARTS = 6
"""Local searches inside the branch."""

RANDOM_CANDIDATES = 16
"""Random configurations of a branch that are drawn to find a new one."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch. rows: its observations, best first; free: how many parameters vary; box: their ranges."""

    rows: IntArray
    free: int
    box: Path


def explore_branches(decide: Decision) -> Decision:
    """``decide``, except that some trials explore another branch."""

    def with_exploration(context: ProposalContext, rng: np.random.Generator) -> Choice:
        found = decide(context, rng)
        stuck = _stalled(context)
        if context.number % TRIALS_PER_TURN or (
            len(found.points) and not stuck and _expects_gain(context, found)
        ):
            return found
        others = other_branches(context)
        if branch := promising(context, others):
            explored = improve(context, branch, rng)
        elif stuck and others:
            fewest = min(others, key=lambda b: len(b.rows) / b.free)
            explored = _random_configuration(context, fewest, rng)
        else:
            return found
        return explored if len(explored.points) else found

    return with_exploration


def improve(context: ProposalContext, branch: Branch, rng: np.random.Generator) -> Choice:
    """The best point of a branch by the criterion relative to the branch's own best observation."""
    found = search_boxes(
        context.space,
        context.make_criterion(branch.rows),
        [branch.box],
        near=context.done.take(branch.rows),
        avoid=context.avoid,
        rng=rng,
        starts=SEARCH_STARTS,
    )
    return Choice(
        found,
        "branch exploration: this branch may still improve on its own best observation",
        "branch exploration",
    )


def _expects_gain(context: ProposalContext, found: Choice) -> bool:
    return bool(context.improvement(found.points)[0] > np.log(NEGLIGIBLE_GAIN_SDS))


def _stalled(context: ProposalContext) -> bool:
    """Whether the last observations brought no improvement."""
    return len(context.level) - 1 - context.latest_gain >= STALL_LENGTH


def other_branches(context: ProposalContext) -> list[Branch]:
    """The branches with observations and free parameters, except the branch of the incumbent."""
    order = np.argsort(context.level, kind="stable")
    branch = context.space.tree.branch_ids(context.done)[order]
    found = []
    for number in np.unique(branch[branch != branch[0]]).tolist():
        rows = order[branch == number]
        box = context.space.tree.path_of(context.done.take(rows[:1]))[0]
        if context.space.tree.is_open(box) and (free := int(np.sum(box.low < box.high))):
            found.append(Branch(rows, free, box))
    return found


def promising(context: ProposalContext, others: Sequence[Branch]) -> Branch | None:
    """The branch that may reach the lowest value; None if even that does not beat the incumbent."""
    level = context.level

    def reachable(branch: Branch) -> float:
        return float(level[branch.rows[0]] - OPTIMISM_SDS * len(branch.rows) ** (-2.0 / branch.free))

    best = min(others, key=reachable, default=None)
    return best if best is not None and reachable(best) < level.min() else None


def _random_configuration(context: ProposalContext, branch: Branch, rng: np.random.Generator) -> Choice:
    """A new random configuration of a branch; no row if a few draws are all known."""
    points, _ = spread(context.space, [branch.box], RANDOM_CANDIDATES, rng)
    new = points.take(np.flatnonzero(CandidateFilter(context.space, context.avoid).mask(points))[:1])
    return Choice(
        new,
        "branch exploration: the search has stalled, and this branch has the fewest trials",
        "branch exploration",
    )
