"""Branches that came late: the space was changed, or results were added from before they existed.

The initial design looks at every path of a space that has few. So all branches start alike, and the model
compares them fairly. A branch that comes when others have had dozens of trials starts behind: after one or
two trials its best observation is far from theirs, and improvement over the incumbent seems unlikely there.
It first gets its point of the design (``InitialDesign.next``). Then every second trial tries to improve on
*its own* best observation, as long as it may still beat the incumbent by the bound of ``branch_exploration``.

A study whose design looked at every path has no such branch, and its proposals are as ever.
"""

from __future__ import annotations

import numpy as np

from bough.points import Points
from bough.strategies.branch_exploration import BranchExploration, other_branches, promising
from bough.strategies.decisions import Choice, Decision, ProposalContext

__all__ = ["explore_late_branches"]

EVERY = 2
"""Late branches get the even trials. Exploitation has the odd ones."""


def explore_late_branches(decide: Decision) -> Decision:
    """``decide``, except that every second trial may be for a branch that came late."""
    exploration = BranchExploration(every=EVERY)

    def with_late_branches(context: ProposalContext, rng: np.random.Generator) -> Choice:
        if context.number % EVERY == 0 and len(context.early):
            branch = context.space.tree.branch_ids(Points.concat([context.early, context.done]))
            known = set(branch[: len(context.early)].tolist())
            late = ~np.isin(branch[len(context.early) :], list(known))
            if late.any():
                others = [each for each in other_branches(context) if late[each.rows[0]]]
                if found := promising(context, others, exploration.optimism_sds):
                    explored = exploration.improve(context, found, rng)
                    if len(explored.points):
                        return explored
        return decide(context, rng)

    return with_late_branches
