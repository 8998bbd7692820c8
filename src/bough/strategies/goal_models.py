"""Models of a study's goals: one Gaussian process per objective and per limit, independent of each other.

A limit's process models its slack c, at most 0 where the limit is met, on the scale sgn(c) log(1 + |c|), so
large violations do not hide the boundary (Eriksson & Poloczek 2021, arXiv 2002.08526).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bough.acquisition.criterion import Criterion, Expected
from bough.acquisition.functions import LOG_PI
from bough.acquisition.hypervolume import (
    REFERENCE_MARGIN,
    Boxes,
    free_boxes,
    inferred_reference,
    non_dominated,
    spread_out,
)
from bough.gp.output_transform import OutputTransform, tukeys_fence
from bough.gp.posterior import Posterior
from bough.history import History, Outcomes
from bough.points import BoolArray, FloatArray, Points
from bough.strategies.context import ConditionedModel
from bough.strategies.goal_ranking import LARGEST_SIZE, in_usual_sizes, usual_size
from bough.strategies.history_model import HistoryModel

__all__ = [
    "GoalModels",
    "bilog",
    "chebyshev",
    "fit_limits",
    "fit_objectives",
    "fit_transform_of_objective",
    "front_boxes",
    "outcomes_of",
]

CHEBYSHEV_SUM_WEIGHT = 0.05

MAX_FRONT = {3: 80, 4: 30}
"""By number of objectives, the most points of a front from which boxes are made: about 160 boxes each."""


def outcomes_of(history: History) -> Outcomes:
    assert history.outcomes is not None, "a study with goals fills them in"
    return history.outcomes


def fit_objectives(
    models: Sequence[HistoryModel], history: History, values: FloatArray, noise: FloatArray
) -> list[ConditionedModel]:
    """The models, conditioned on each column of ``values`` (n, m) with reported noise of the same shape."""
    return [
        model.model(replace(history, y=np.ascontiguousarray(y), noise=np.ascontiguousarray(sd)))
        for model, y, sd in zip(models, values.T, noise.T, strict=True)
    ]


def fit_transform_of_objective(reference: float, y: FloatArray) -> OutputTransform:
    """The output transform of one of several objectives. reference: the user's, NaN where it is inferred.

    A value that is bad in one objective may be the price of the best in another. So all values up to the
    reference count; without one, all up to Tukey's fence.
    """
    return OutputTransform.fit(y, at_least=tukeys_fence(y) if np.isnan(reference) else reference)


def fit_limits(model: HistoryModel, history: History) -> list[ConditionedModel]:
    """A model of the slack of each limit."""
    outcomes = outcomes_of(history)
    return [
        model.model(replace(history, y=bilog(slack), noise=_bilog_noise(slack, noise)))
        for slack, noise in zip(outcomes.slacks.T, outcomes.slack_noise.T, strict=True)
    ]


def bilog(slack: FloatArray) -> FloatArray:
    """sgn(c) log(1 + |c|) with c in units of its usual size, so the unit of the measure does not matter."""
    return np.asarray(np.sign(slack) * np.log1p(in_usual_sizes(slack)))


def _bilog_noise(slack: FloatArray, noise: FloatArray) -> FloatArray:
    """Reported noise of a slack on the scale of ``bilog``. Its slope is 1 / (u + |c|), u: the usual size."""
    with np.errstate(over="ignore"):
        return np.asarray(noise / (usual_size(slack) + np.abs(slack)))


@dataclass(frozen=True, eq=False)
class GoalModels:
    """All models, conditioned on the history. ``objectives`` may be empty.

    reference: (m,) the user's reference point, NaN where it is inferred.
    legal: (n,) which finished trials are legal; results of an earlier space may be forbidden.
    """

    history: History
    objectives: Sequence[ConditionedModel]
    limits: Sequence[ConditionedModel]
    reference: FloatArray
    legal: BoolArray | None = None

    @property
    def posteriors(self) -> list[Posterior]:
        """The posterior of each objective."""
        return [_only(model) for model in self.objectives]

    @cached_property
    def chances(self) -> list[Criterion]:
        """The log probability that each limit is met."""
        return [Expected(model.posteriors, [threshold(model)], LOG_PI) for model in self.limits]

    @cached_property
    def feasible(self) -> BoolArray:
        """(n,) which finished trials meet every limit; if noise was reported, which are expected to.

        Only legal trials count, if there are any: a forbidden one need not be beaten.
        """
        outcomes = outcomes_of(self.history)
        met = np.array(outcomes.slacks <= 0)
        for column, model in enumerate(self.limits):
            if np.any(outcomes.slack_noise[:, column] > 0):
                met[:, column] = self._expected_to_meet(model, self.history.done)
        feasible = np.all(met, axis=1)
        feasible = feasible if np.any(feasible) else outcomes.feasible
        beatable = feasible if self.legal is None else feasible & self.legal
        return np.asarray(beatable if np.any(beatable) else feasible)

    @cached_property
    def _known(self) -> FloatArray:
        """The objectives (n, m) of finished trials; under noise, their expected values."""
        values = [
            posterior.predict_mean(self.history.done) if posterior.has_noise else model.z
            for posterior, model in zip(self.posteriors, self.objectives, strict=True)
        ]
        return np.stack(values, axis=1)

    @cached_property
    def _believed(self) -> FloatArray:
        """The predicted objectives (k, m) of running trials with a feasible prediction."""
        pending = self.history.pending
        met = np.ones(len(pending), dtype=bool)
        for model in self.limits:
            met &= self._expected_to_meet(model, pending)
        return np.stack([posterior.predict_mean(pending) for posterior in self.posteriors], axis=1)[met]

    def boxes(self, wide: bool) -> Boxes:
        """Where an outcome improves the front of feasible trials. wide: see ``front_boxes``.

        At least one trial is feasible. Running trials count if their predicted outcome is.
        """
        given = [
            model.transform.forward(each[None])[0]
            for model, each in zip(self.objectives, self.reference, strict=True)
        ]
        points = np.concatenate([self._known[self.feasible], self._believed])
        return front_boxes(points, np.array(given), wide)

    @staticmethod
    def _expected_to_meet(model: ConditionedModel, points: Points) -> BoolArray:
        return np.asarray(_only(model).predict_mean(points) <= threshold(model))


def _only(model: ConditionedModel) -> Posterior:
    """The posterior of a model of goals: ``auto`` has no others, and it does not sample hyperparameters."""
    (posterior,) = model.posteriors
    return posterior


def threshold(model: ConditionedModel) -> float:
    """A slack of 0 on the scale of the model."""
    return float(model.transform.forward(np.zeros(1))[0])


def chebyshev(
    values: FloatArray, noise: FloatArray, feasible: BoolArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The augmented Chebyshev norm (n,) of ``values`` (n, m), and the noise that it gets from the values.

    Objectives are scaled by the ideal and the worst values of the feasible front. The norm is
    max_j w_j v_j + 0.05 sum_j w_j v_j, so the noise of v_j counts in full where j is the largest term.
    """
    values = np.clip(values, -LARGEST_SIZE, LARGEST_SIZE)
    known = values[feasible]
    front = known[non_dominated(known)]
    ideal, extent = front.min(axis=0), np.ptp(front, axis=0)
    extent = np.where(extent > 0, extent, np.ptp(values, axis=0))
    unit = weights / np.where(extent > 0, extent, 1.0)
    scaled = (values - ideal) * unit
    slope = CHEBYSHEV_SUM_WEIGHT + (scaled == scaled.max(axis=1, keepdims=True))
    sd = np.sqrt(np.nansum((slope * unit * noise) ** 2, axis=1))
    norm = scaled.max(axis=1) + CHEBYSHEV_SUM_WEIGHT * scaled.sum(axis=1)
    return np.asarray(norm), np.where(np.all(np.isnan(noise), axis=1), np.nan, sd)


def front_boxes(known: FloatArray, given: FloatArray, wide: bool = False) -> Boxes:
    """Where an outcome would improve the front of ``known`` (n, m), all on the scale of the models.

    given: (m,) the user's reference point, NaN where it is inferred. Until a trial beats it, the worse of the
    given and the inferred point counts: a reference that nothing reaches yet would leave nothing to climb.

    wide: infer it from all results, not from the front. A reference close to the front only rewards refining
    it, and the search stays on the branch of an early front; one far behind favours the ends of the front. So
    trials alternate. On five surrogate tasks with one seed, this did as well as the close reference alone.
    """
    inferred = inferred_reference(known)
    if wide:
        extent = np.ptp(known, axis=0)
        inferred = np.maximum(inferred, known.max(axis=0) + REFERENCE_MARGIN * extent)
    reference = np.where(np.isnan(given), inferred, given)
    if not np.any(np.all(known < reference, axis=1)):
        reference = np.maximum(reference, inferred)
    front = known[non_dominated(known)]
    return free_boxes(spread_out(front, MAX_FRONT.get(known.shape[1], len(front))), reference)
