"""Decisions: how a model-based method chooses the next point once its model is conditioned on the data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.candidates import CandidateFilter, near_incumbents
from bough.acquisition.thompson import thompson
from bough.errors import ExhaustedError
from bough.gp.output_transform import OutputTransform
from bough.gp.posterior import Posterior
from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.space.sampling import sample_points
from bough.strategies.base import same_point

__all__ = [
    "Choice",
    "ConditionedModel",
    "CriterionFactory",
    "Decision",
    "Maximiser",
    "ProposalContext",
    "exploit",
    "maximise_with",
    "repeated_choice",
    "thompson_sampling",
]

THOMPSON_CANDIDATES = 1000
THOMPSON_COPIES_PER_INCUMBENT = 16


@dataclass(frozen=True, eq=False)
class ConditionedModel:
    """The model that a proposal is based on.

    posteriors: one per hyperparameter sample, conditioned on finished and pending trials.
    best: the incumbent under each posterior. z: (n,) the observations on the model's scale.
    source_weights: of the earlier studies that it learns from.
    """

    transform: OutputTransform
    posteriors: Sequence[Posterior]
    best: Sequence[float]
    z: FloatArray
    source_weights: tuple[float, ...] = ()


class CriterionFactory(Protocol):
    """Makes the criterion of the method.

    rows: the observations whose best value is to be improved; None for all, with those that are running.
    sd_share: the share of the predictive standard deviation that counts.
    """

    def __call__(self, rows: IntArray | None = None, sd_share: float = 1.0) -> Criterion: ...


@dataclass(frozen=True, eq=False)
class ProposalContext:
    """The input of a decision.

    make_criterion: makes the criterion of the method.
    improvement: log expected improvement, whatever the method's criterion; lower where a trial may fail.
    done: finished points, in the order of ``model.z``. near: the same, best first.
    avoid: points that must not be proposed again. number: the number of the trial to propose.
    level: (n,) one value per observation, on the model's scale, by which branches are compared.
    latest_gain: the row of the last observation that was an improvement.
    early: the first points that were tried, where branches that came later count as late.
    is_brief: whether a brief search is enough: in a long study, beside trials that are running already.
    seed: of the study, for what stays the same at all of its trials.
    """

    space: Space
    model: ConditionedModel
    make_criterion: CriterionFactory
    improvement: Callable[[Points], FloatArray]
    done: Points
    near: Points
    avoid: Points
    number: int
    level: FloatArray
    latest_gain: int
    early: Points
    is_brief: bool = False
    seed: int = 0

    @property
    def criterion(self) -> Criterion:
        """The criterion over the incumbent of all observations."""
        return self.make_criterion()


class Choice(NamedTuple):
    """A decision: one legal, snapped point, or no row if every candidate must be avoided.

    reason: why this point, if the acquisition function alone does not say it. rule: what chose it.
    """

    points: Points
    reason: str = ""
    rule: str = "acquisition"


Decision = Callable[[ProposalContext, np.random.Generator], Choice]


def repeated_choice(space: Space, point: Points, choose: Callable[[], Choice]) -> Choice:
    """The choice that led to a point, made again; one without a row if it leads to another point now."""
    with contextlib.suppress(ExhaustedError):
        chosen = choose()
        if same_point(space, point, chosen.points).any():
            return chosen
    why = "not repeated by the method: queued or added by hand, or chosen while other trials ran"
    return Choice(point.take([]), why, "not the method")


class Maximiser(Protocol):
    """Finds the point where a criterion is largest."""

    def __call__(
        self, space: Space, criterion: Criterion, *, near: Points, avoid: Points, rng: np.random.Generator
    ) -> Points: ...


def maximise_with(maximise: Maximiser, briefly: Maximiser | None = None) -> Decision:
    """Propose the maximum of the criterion. briefly: a maximiser for where a brief search is enough."""

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        search = briefly if briefly is not None and context.is_brief else maximise
        criterion = context.make_criterion()
        return Choice(search(context.space, criterion, near=context.near, avoid=context.avoid, rng=rng))

    return decide


def exploit(decide: Decision, every: int, sd_share: float) -> Decision:
    """``decide``, except that every ``every``-th trial exploits: the predictive sd counts only in part.

    Criteria that reward uncertainty spend many trials exploring; a short study ends before that pays off.
    With few data, predictive standard deviations are rough estimates besides. Proposing the lowest mean is
    as good or better in many comparisons (Rehbach et al. 2020, arXiv 2001.02957; De Ath et al. 2021, arXiv
    1911.12809), but alone it gets stuck, so the two take turns. Part of the standard deviation still
    counts, because the mean alone is lowest beside a known point.
    """

    def with_exploitation(context: ProposalContext, rng: np.random.Generator) -> Choice:
        if context.number % every != every - 1:
            return decide(context, rng)
        sharper = replace(context, make_criterion=partial(context.make_criterion, sd_share=sd_share))
        return Choice(
            decide(sharper, rng).points,
            "exploitation turn: the predicted mean counts for more than its uncertainty",
            "exploitation",
        )

    return with_exploitation


def thompson_sampling(context: ProposalContext, rng: np.random.Generator) -> Choice:
    """The minimum of one joint draw over random points and points near the incumbents."""
    near = near_incumbents(context.space, context.near, THOMPSON_COPIES_PER_INCUMBENT, rng)
    candidates = Points.concat([sample_points(context.space, THOMPSON_CANDIDATES, rng), near])
    candidates = candidates.take(CandidateFilter(context.space, context.avoid).mask(candidates))
    if len(candidates):
        candidates = candidates.take(thompson(context.model.posteriors, candidates, 1, rng))
    return Choice(
        candidates, "Thompson sampling: the minimum of one draw from the posterior", "Thompson sampling"
    )
