"""Several objectives and limits: one process for each, and one criterion over all of them.

Each objective and each limit has its own Gaussian process (the same surrogate, independent of the others). A
limit's process models its slack c, at most 0 where the limit is met, on the scale sgn(c) log(1 + |c|), which
keeps a far-off violation from hiding the boundary (Eriksson & Poloczek 2021, arXiv 2002.08526). The criterion
is

    log EHVI(x) + sum_i log P(c_i(x) <= 0)

over the front of the feasible trials (Gardner et al. 2014 in logarithms). With one objective EHVI is expected
improvement over the best feasible value. While nothing is feasible, only the probabilities count.

With more than ``MAX_OBJECTIVES`` a front has too many boxes. Then each trial draws weights w ~ Dirichlet(1),
and minimises the augmented Chebyshev norm max_j w_j v_j + 0.05 sum_j w_j v_j of the scaled objectives v
(Knowles 2006, ParEGO): different trials look for different parts of the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Total
from bough.acquisition.functions import LOG_PI
from bough.acquisition.hypervolume import (
    REFERENCE_MARGIN,
    Boxes,
    ExpectedHypervolumeImprovement,
    free_boxes,
    inferred_reference,
    non_dominated,
)
from bough.errors import ExhaustedError
from bough.gp.posterior import Posterior
from bough.history import History, Outcomes
from bough.points import BoolArray, FloatArray, Points
from bough.space import Space
from bough.strategies.base import noise_seen, same_point, tried_points
from bough.strategies.beliefs import belief_weights, count_beliefs
from bough.strategies.decisions import Choice, ConditionedModel, Decision, ProposalContext
from bough.strategies.goal_ranking import usual_size
from bough.strategies.model_based import (
    NOT_REPEATED,
    ModelBased,
    choose,
    criterion_weights,
    mixture_moments,
)

__all__ = ["GoalBased", "bilog", "chebyshev", "front_boxes"]

MAX_OBJECTIVES = 4
CHEBYSHEV_SUM_WEIGHT = 0.05


@dataclass(frozen=True, eq=False)
class GoalBased:
    """The strategy of a model-based method for several objectives, or under limits.

    objective, limit: models of one objective and of one limit; they differ in their output transforms.
    decide: chooses a point once a trial is feasible; find_feasible: before that.
    """

    objective: ModelBased
    limit: ModelBased
    decide: Decision
    find_feasible: Decision

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        return self._choose(space, history, rng).points

    def predict(self, history: History, points: Points) -> tuple[FloatArray, FloatArray]:
        """Of the first objective."""
        return self.objective.predict(history, points)

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Repeats the proposal with the same random numbers, so the reason is the true one."""
        try:
            chosen = self._choose(space, history, rng)
        except ExhaustedError:
            chosen = Choice(point.take([]))
        repeated = len(chosen.points) == 1 and same_point(space, chosen.points, point)
        reason = (
            (chosen.reason or "the best expected gain under the constraints") if repeated else NOT_REPEATED
        )
        if len(history.done) == 0:
            return {"reason": reason}
        outcomes = _outcomes(history)
        predicted = {}
        for name, model in zip(outcomes.objectives, self._models(history, outcomes.values), strict=True):
            mean, sd = model.transform.inverse(*mixture_moments(model.posteriors, point))
            predicted[name] = {"mean": float(mean[0]), "sd": float(sd[0])}
        chances = {
            name: float(np.exp(chance(point)[0]))
            for name, chance in zip(outcomes.limits, self._chances(history, outcomes)[1], strict=True)
        }
        return {"objectives": predicted, "constraints": chances, "reason": reason}

    def _choose(self, space: Space, history: History, rng: np.random.Generator) -> Choice:
        return choose(self.objective.initial, space, history, rng, lambda: self._decide(space, history, rng))

    def _decide(self, space: Space, history: History, rng: np.random.Generator) -> Choice:
        outcomes = _outcomes(history)
        limits, chances = self._chances(history, outcomes)
        weights = [*chances, *criterion_weights(space, history, self.objective.boundary_penalty)]
        if history.beliefs:  # they fade, but no single value says whether one is wrong
            design_size = self.objective.initial.size(space)
            weights += belief_weights(space, count_beliefs(space, history, design_size, None))
        feasible = outcomes.feasible
        if not np.any(feasible):
            context = self._context(space, history, limits, Total(weights), None, outcomes, rng)
            found = self.find_feasible(context, rng)
            return Choice(found.points, "no trial meets the constraints yet: the best chance of meeting them")
        values = outcomes.values
        reference = outcomes.reference
        if values.shape[1] > MAX_OBJECTIVES:
            values = chebyshev(values, feasible, rng)[:, None]
            reference = np.full(1, np.nan)
        models = self._models(history, values)
        met = np.ones(len(history.pending), dtype=bool)
        for model in limits:  # a running trial counts for the front if it is believed to be feasible
            met &= mixture_moments(model.posteriors, history.pending)[0] <= _threshold(model)
        members, narrow, wide = [], [], []
        for sample in range(len(models[0].posteriors)):
            posteriors = [model.posteriors[sample] for model in models]
            columns = [
                posterior.predict(history.done)[0] if posterior.has_noise else model.z
                for posterior, model in zip(posteriors, models, strict=True)
            ]
            believed = np.stack([posterior.predict(history.pending)[0] for posterior in posteriors], axis=1)
            known = np.concatenate([np.stack(columns, axis=1)[feasible], believed[met]])
            given = np.array(
                [m.transform.forward(r[None])[0] for m, r in zip(models, reference, strict=True)]
            )
            members.append(posteriors)
            narrow.append(front_boxes(known, given))
            wide.append(front_boxes(known, given, wide=True))
        context = self._context(
            space, history, models, Total(weights), (members, narrow, wide), outcomes, rng
        )
        return self.decide(context, rng)

    def _context(
        self,
        space: Space,
        history: History,
        models: Sequence[ConditionedModel],
        weights: Total,
        gain: tuple[Sequence[Sequence[Posterior]], Sequence[Boxes], Sequence[Boxes]] | None,
        outcomes: Outcomes,
        rng: np.random.Generator,
    ) -> ProposalContext:
        def make_criterion(best: Sequence[float], sd_share: float = 1.0) -> Criterion:
            if gain is None:
                return weights
            members, narrow, wide = gain  # a turn that exploits refines the front, the others extend it
            boxes = narrow if sd_share < 1 else wide
            return Total([ExpectedHypervolumeImprovement(members, boxes, sd_share), *weights.parts])

        repeat = space.size == np.inf and noise_seen(space, history)
        return ProposalContext(
            space=space,
            # Searches start near good trials; those of one rank take turns, so the whole front is refined.
            model=replace(models[0], z=_rank(outcomes) + 0.5 * rng.random(len(history.done))),
            make_criterion=make_criterion,
            improvement=make_criterion(()),
            done=history.done,
            avoid=history.pending if repeat else tried_points(history),
            number=history.number,
        )

    def _models(self, history: History, values: FloatArray) -> list[ConditionedModel]:
        """A model of each column of ``values`` (n, m). Told noise is that of the only objective."""
        noise = history.noise if values.shape[1] == 1 else np.full(len(values), np.nan)
        return [
            self.objective.model(replace(history, y=np.ascontiguousarray(column), noise=noise))
            for column in values.T
        ]

    def _chances(
        self, history: History, outcomes: Outcomes
    ) -> tuple[list[ConditionedModel], list[Criterion]]:
        """The model of each limit, and the log probability that the limit is met."""
        noise = np.full(len(outcomes.slacks), np.nan)
        models = [
            self.limit.model(replace(history, y=bilog(slack), noise=noise)) for slack in outcomes.slacks.T
        ]
        chances: list[Criterion] = [
            Expected(model.posteriors, [_threshold(model)] * len(model.posteriors), LOG_PI)
            for model in models
        ]
        return models, chances


def bilog(slack: FloatArray) -> FloatArray:
    """sgn(c) log(1 + |c|) with c in units of its usual size, so the unit of the measure does not matter."""
    return np.asarray(np.sign(slack) * np.log1p(np.abs(slack) / usual_size(slack)))


def chebyshev(values: FloatArray, feasible: BoolArray, rng: np.random.Generator) -> FloatArray:
    """(n,) the augmented Chebyshev norm of ``values`` (n, m) with random weights.

    Objectives are scaled by the ideal and the worst values of the feasible front.
    """
    weights = rng.dirichlet(np.ones(values.shape[1]))
    known = values[feasible]
    front = known[non_dominated(known)]
    ideal, extent = front.min(axis=0), np.ptp(front, axis=0)
    extent = np.where(extent > 0, extent, np.ptp(values, axis=0))
    scaled = weights * (values - ideal) / np.where(extent > 0, extent, 1.0)
    return np.asarray(scaled.max(axis=1) + CHEBYSHEV_SUM_WEIGHT * scaled.sum(axis=1))


def front_boxes(known: FloatArray, given: FloatArray, wide: bool = False) -> Boxes:
    """Where an outcome would improve the front of ``known`` (n, m), all on the scale of the models.

    given: (m,) the user's reference point, NaN where it is inferred. Until a trial beats it, the worse of it
    and the inferred one counts: a point that nothing reaches yet would leave nothing to climb.

    wide: infer it from all results, not from the front. Close behind the front, only what refines it counts,
    and the search stays on the branch of an early front; far behind, the ends of the front count most. So
    trials take turns. On five surrogate tasks with one seed the turns ended level with the close rule alone.
    """
    inferred = inferred_reference(known)
    if wide:
        extent = np.ptp(known, axis=0)
        inferred = np.maximum(inferred, known.max(axis=0) + REFERENCE_MARGIN * extent)
    reference = np.where(np.isnan(given), inferred, given)
    if not np.any(np.all(known < reference, axis=1)):
        reference = np.maximum(reference, inferred)
    return free_boxes(known, reference)


def _outcomes(history: History) -> Outcomes:
    assert history.outcomes is not None, "a study with goals fills them in"
    return history.outcomes


def _threshold(model: ConditionedModel) -> float:
    """A slack of 0 on the scale of the model."""
    return float(model.transform.forward(np.zeros(1))[0])


def _rank(outcomes: Outcomes) -> FloatArray:
    """(n,) by how many feasible trials one is dominated; infeasible ones follow, by their violation."""
    values, feasible = outcomes.values, outcomes.feasible
    no_worse = np.all(values[None, feasible] <= values[:, None], axis=2)
    better = np.any(values[None, feasible] < values[:, None], axis=2)
    rank = np.sum(no_worse & better, axis=1).astype(float)
    violation = np.array([bilog(slack) for slack in outcomes.slacks.T]).reshape(-1, len(values))
    total = np.maximum(violation, 0.0).sum(axis=0)
    order = np.empty(len(values))
    order[np.argsort(total, kind="stable")] = np.arange(len(values))
    return np.where(feasible, rank, len(values) + order)
