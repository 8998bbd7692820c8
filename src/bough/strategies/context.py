"""The input of a decision, the choice that it makes, and the model that it is based on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Total
from bough.errors import ExhaustedError
from bough.gp.output_transform import OutputTransform
from bough.gp.posterior import Posterior
from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.strategies.base import same_point

__all__ = ["Choice", "ConditionedModel", "CriterionFactory", "Decision", "ProposalContext", "repeated_choice"]


@dataclass(frozen=True, eq=False)
class ConditionedModel:
    """The model that a proposal is based on.

    posteriors: one for each sample of the hyperparameters, conditioned on finished and pending trials.
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

    rows: the observations whose best value is to be improved; None for all, including running trials.
    sd_share: factor of the predictive standard deviation.
    """

    def __call__(self, rows: IntArray | None = None, sd_share: float = 1.0) -> Criterion: ...


@dataclass(frozen=True, eq=False)
class ProposalContext:
    """The input of a decision.

    make_criterion: makes the criterion of the method.
    improvement: log expected improvement, whatever the method's criterion; lower where a trial may fail, and
        with one objective where noise hides what it would tell.
    done: finished points, in the order of ``model.z``.
    near: the best of them that were not withdrawn, best first; with a fidelity, of all tried points.
    avoid: points that must not be proposed again. number: the number of the trial to propose.
    level: (n,) one value per observation, on the model's scale, by which branches are compared; infinite if
        it was withdrawn: a change of the space forbids its configuration.
    find_early: finds the first points that were tried; branches that have none of them count as late.
    success: the log probability that a trial succeeds and meets all limits; None if there is no such risk.
    has_budget: whether cost counts.
    is_brief: whether a brief search is enough: in a long study, while other trials run.
    seed: the study's seed, for random numbers that are the same in all trials.
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
    find_early: Callable[[], Points]
    success: Criterion | None = None
    has_budget: bool = False
    is_brief: bool = False
    seed: int = 0

    @property
    def criterion(self) -> Criterion:
        """The criterion over the incumbent of all observations."""
        return self.make_criterion()

    @property
    def expected_gain(self) -> Criterion:
        """Log expected improvement plus ``success``, whatever the method's criterion."""
        gain = Expected(self.model.posteriors, self.model.best)
        return gain if self.success is None else Total([gain, self.success])


class Choice(NamedTuple):
    """A decision: one legal, snapped point, or no row if every candidate must be avoided.

    reason: why this point, if the acquisition function alone does not say it. rule: what chose it.
    """

    points: Points
    reason: str = ""
    rule: str = "acquisition"


Decision = Callable[[ProposalContext, np.random.Generator], Choice]


def repeated_choice(space: Space, point: Points, choose: Callable[[], Choice]) -> Choice:
    """Repeat the choice that led to a point; the result has no row if it is a different point now."""
    with contextlib.suppress(ExhaustedError):
        chosen = choose()
        if same_point(space, point, chosen.points).any():
            return chosen
    why = "not repeated by the method: queued or added by hand, or chosen while other trials ran"
    return Choice(point.take([]), why, "not the method")
