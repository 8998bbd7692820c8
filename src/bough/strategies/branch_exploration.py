"""What a branch may still reach, and a trial that tries to improve on the branch's own best observation.

Branches that came late get such trials (``decisions.late_branch``), and a search has not settled
while a branch may still reach a better value (``remaining_gain``). With b_k the best observation and n_k the
number of trials of branch k (in standard deviations of all observations), it may still reach

    b_k − OPTIMISM_SDS n_k^(−2/d_k).

d_k counts its free parameters: the best of n trials comes within n^(−2/d) of a smooth optimum in d
dimensions, so two trials say much about a branch with one parameter and little about one with four. (Choosing
a branch as in an extreme-value bandit and tuning inside it is common in algorithm selection, e.g. MaxUCB,
arXiv 2505.05226.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bough.acquisition.maximise.paths import search_boxes
from bough.points import IntArray
from bough.space.tree import Path
from bough.strategies.context import Choice, ProposalContext

__all__ = ["Branch", "improve", "other_branches", "promising"]

OPTIMISM_SDS = 3.0
"""How much better than its first observation a branch may be, in standard deviations."""

SEARCH_STARTS = 6
"""Local searches inside the branch."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch. rows: its observations, best first; free: how many parameters vary; box: their ranges."""

    rows: IntArray
    free: int
    box: Path


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


def other_branches(context: ProposalContext) -> list[Branch]:
    """The branches with observations and free parameters, except the branch of the incumbent.

    Observations that were withdrawn do not count.
    """
    order = np.argsort(context.level, kind="stable")
    order = order[context.level[order] < np.inf]
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
