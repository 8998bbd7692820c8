"""Decisions: how a model-based method chooses the next point once its model is conditioned on the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import CandidateFilter, near_incumbents
from bough.acquisition.thompson import thompson
from bough.points import BoolArray, Points
from bough.space import Space
from bough.space.sampling import sample_points
from bough.strategies.branch_exploration import improve, other_branches, promising
from bough.strategies.context import Choice, Decision, ProposalContext

__all__ = [
    "LIKELY_SUCCESS",
    "Maximiser",
    "exploit",
    "explore",
    "late_branch",
    "maximise_with",
    "random_candidates",
    "thompson_sampling",
    "untried_point",
]

THOMPSON_CANDIDATES = 1000
COPIES_PER_INCUMBENT = 16

EXPLORE_EVERY = 2
"""Late branches and random points get even trials. Exploitation usually has the odd ones."""

SETTLED_GAIN_SDS = 1e-3
"""Expected improvement, in standard deviations of all observations, that counts as none."""

RANDOM_POINTS = 16
"""Random points that are drawn to find one that was not tried and will probably not fail."""

LIKELY_SUCCESS = 0.5
"""Random points, and candidates of Thompson sampling and the knowledge gradient, need more than this
probability of success."""


class Maximiser(Protocol):
    """Finds the point where a criterion is largest."""

    def __call__(
        self, space: Space, criterion: Criterion, *, near: Points, avoid: Points, rng: np.random.Generator
    ) -> Points: ...


def maximise_with(maximise: Maximiser, briefly: Maximiser | None = None) -> Decision:
    """Propose the maximum of the criterion. briefly: a maximiser for when a brief search is enough."""

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        search = briefly if briefly is not None and context.is_brief else maximise
        criterion = context.make_criterion()
        return Choice(search(context.space, criterion, near=context.near, avoid=context.avoid, rng=rng))

    return decide


def exploit(decide: Decision, every: int, sd_share: Callable[[int], float]) -> Decision:
    """``decide``, except that every ``every``-th trial exploits: the predictive sd counts only in part.

    Criteria that reward uncertainty spend many trials exploring; a short study ends before that pays off.
    With few data, predictive standard deviations are also rough estimates. Proposing the lowest mean is
    as good or better in many comparisons (Rehbach et al. 2020, arXiv 2001.02957; De Ath et al. 2021, arXiv
    1911.12809), but alone it gets stuck, so the two take turns. Part of the standard deviation still
    counts, because the mean alone is lowest next to a known point.

    sd_share: the share of the sd that counts, for a number of observations.

    Once the incumbent is precise, the sharper criterion is so small beside it that trials would go where the
    model of values has no data: to branches that always fail. Those trials are random, too.
    """

    def with_exploitation(context: ProposalContext, rng: np.random.Generator) -> Choice:
        if context.number % every != every - 1:
            return decide(context, rng)
        share = sd_share(len(context.done))
        sharper = replace(context, make_criterion=partial(context.make_criterion, sd_share=share))
        found = decide(sharper, rng).points
        if _fails_for_nothing(context, found) and (other := untried_point(context, rng)) is not None:
            return other
        return Choice(
            found,
            "exploitation turn: the predicted mean matters more than its uncertainty",
            "exploitation",
        )

    return with_exploitation


def explore(decide: Decision) -> Decision:
    """``decide``, except that every second trial explores where there is a reason: a branch came late
    (``late_branch``), or the model expects no gain (``untried_point``)."""

    def with_exploration(context: ProposalContext, rng: np.random.Generator) -> Choice:
        if context.number % EXPLORE_EVERY:
            return decide(context, rng)
        if len(early := context.find_early()) and (late := late_branch(context, early, rng)) is not None:
            return late
        found = decide(context, rng)
        if found.rule != "acquisition" or not _expects_no_gain(context, found.points):
            return found
        return untried_point(context, rng) or found

    return with_exploration


def _expects_no_gain(context: ProposalContext, found: Points) -> bool:
    """Never with a budget: random trials would ignore cost."""
    if context.has_budget or not len(found):
        return False
    return bool(context.improvement(found)[0] < np.log(SETTLED_GAIN_SDS))


def _fails_for_nothing(context: ProposalContext, found: Points) -> bool:
    """Whether the point will probably fail, and the model expects no gain if it does not."""
    if context.success is None or not len(found) or _likely_to_succeed(context.success, found)[0]:
        return False
    return _expects_no_gain(context, found)


def late_branch(context: ProposalContext, early: Points, rng: np.random.Generator) -> Choice | None:
    """A trial on a branch that came late; None if there is no such branch, or none that may be best.

    Such a branch came with a change of the space, or results from before it existed were added. In a space
    with few paths, the initial design visits all of them, so the branches start equally and the model
    compares them fairly. A branch that comes when others have had dozens of trials starts behind: after one
    or two trials its best observation is far from theirs, and improvement over the incumbent seems unlikely
    there. It first gets its point of the design (``InitialDesign.next``). Then every second trial tries to
    improve on *its own* best observation, as long as it may still beat the incumbent by the bound of
    ``branch_exploration``.

    early: the first points that were tried.
    """
    branch = context.space.tree.branch_ids(Points.concat([early, context.done]))
    late = ~np.isin(branch[len(early) :], branch[: len(early)])
    if not late.any():
        return None
    branches = [each for each in other_branches(context) if late[each.rows[0]]]
    if (best := promising(context, branches)) is None:
        return None
    explored = improve(context, best, rng)
    return explored if len(explored.points) else None


def untried_point(context: ProposalContext, rng: np.random.Generator) -> Choice | None:
    """A random point that was not tried and will probably not fail; None if a few draws find none.

    A model that is sure and wrong about a branch learns nothing from more trials on other branches. Expected
    improvement with estimated hyperparameters may never find the optimum, and random trials make sure that
    it does (Bull 2011, JMLR 12). They replace trials from which the model expects nothing. Under noise a gain
    counts only as far as one trial can show it (``criterion.log_augmented_ei``). Otherwise the search would
    stay beside its incumbent. Studies with a budget have no random trials: those would ignore cost.
    """
    points = sample_points(context.space, RANDOM_POINTS, rng)
    new = CandidateFilter(context.space, context.avoid).mask(points)
    if context.success is not None:
        new &= _likely_to_succeed(context.success, points)
    if not new.any():
        return None
    point = points.take(np.flatnonzero(new)[:1])
    return Choice(point, "drawn at random: the model expects no trial to show a gain", "random")


def _likely_to_succeed(success: Criterion, points: Points) -> BoolArray:
    return np.asarray(success(points) > np.log(LIKELY_SUCCESS))


def thompson_sampling(context: ProposalContext, rng: np.random.Generator) -> Choice:
    """The minimum of one joint draw over random points and points near the incumbents."""
    candidates = random_candidates(context, THOMPSON_CANDIDATES, rng)
    candidates = candidates.take(CandidateFilter(context.space, context.avoid).mask(candidates))
    if context.success is not None and (likely := _likely_to_succeed(context.success, candidates)).any():
        candidates = candidates.take(likely)
    if len(candidates):
        candidates = candidates.take(thompson(context.model.posteriors, candidates, 1, rng))
    return Choice(
        candidates, "Thompson sampling: the minimum of one draw from the posterior", "Thompson sampling"
    )


def random_candidates(context: ProposalContext, count: int, rng: np.random.Generator) -> Points:
    """``count`` random points, and points near the best tried ones."""
    near = near_incumbents(context.space, context.near, COPIES_PER_INCUMBENT, rng)
    return Points.concat([sample_points(context.space, count, rng), near])
