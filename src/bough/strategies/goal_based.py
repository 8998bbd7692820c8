"""Several objectives and limits: one criterion over the models of all of them.

The criterion is

    log EHVI(x) + sum_i log P(c_i(x) <= 0)

over the front of the feasible trials (Gardner et al. 2014 in logarithms). With one objective EHVI is expected
improvement over the best feasible value. While nothing is feasible, only the probabilities count. Without
objectives the first term is the mean log standard deviation of the limits, once something is feasible: then
the search looks for feasible configurations unlike those that are known.

With more than ``MAX_OBJECTIVES`` a front has too many boxes. Then each trial draws weights w ~ Dirichlet(1),
and minimises the augmented Chebyshev norm of the scaled objectives (Knowles 2006, ParEGO): different trials
look for different parts of the front.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Scaled, Total
from bough.acquisition.functions import LOG_SD
from bough.acquisition.hypervolume import BLOCK_ROWS, Boxes, ExpectedHypervolumeImprovement
from bough.history import History
from bough.points import FloatArray, IntArray, Points
from bough.space import Space
from bough.strategies.base import noise_seen, points_to_avoid
from bough.strategies.beliefs import CountedBelief, belief_weights, count_beliefs, explain_beliefs
from bough.strategies.context import (
    Choice,
    ConditionedModel,
    CriterionFactory,
    Decision,
    ProposalContext,
    repeated_choice,
)
from bough.strategies.cost_aware import cost_weights, predicted_cost
from bough.strategies.goal_models import (
    GoalModels,
    bilog,
    chebyshev,
    fit_limits,
    fit_objectives,
    fit_transform_of_objective,
    outcomes_of,
)
from bough.strategies.history_model import HistoryModel
from bough.strategies.model_based import (
    ModelBased,
    early_choice,
    mixture_moments,
    most_viable,
    not_withdrawn,
)

__all__ = ["GoalBased"]

MAX_OBJECTIVES = 4


@dataclass(frozen=True, eq=False)
class GoalBased:
    """The strategy of a model-based method for several objectives, or under limits.

    objective, limit: models of one objective and of one limit; they differ in their output transforms.
    decide: chooses a point once a trial is feasible; find_feasible: before that, and without objectives.
    """

    objective: ModelBased
    limit: HistoryModel
    decide: Decision
    find_feasible: Decision
    uses_beliefs: ClassVar[bool] = True
    _objectives: dict[str, ModelBased] = field(default_factory=dict, init=False, repr=False)

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        return self._choose(space, history, rng).points

    def predict(self, history: History, points: Points) -> tuple[FloatArray, FloatArray]:
        """Predict the first objective; without objectives, the number of violated limits."""
        outcomes = outcomes_of(history)
        if outcomes.objectives:
            return self._model_of(0, outcomes.reference).predict(history, points)
        models = GoalModels(history, [], fit_limits(self.limit, history), np.empty(0))
        chances = np.exp([chance(points) for chance in models.chances])
        return np.sum(1.0 - chances, axis=0), np.sqrt(np.sum(chances * (1.0 - chances), axis=0))

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Repeats the proposal with the same random numbers, so the reason is the true one."""
        chosen = repeated_choice(space, point, lambda: self._choose(space, history, rng))
        outcomes = outcomes_of(history)
        usual = "likely to meet the constraints, and unlike the trials that are known to"
        if outcomes.objectives:
            usual = "the best expected gain" + (" under the constraints" if outcomes.limits else "")
        why = {"rule": chosen.rule, "reason": chosen.reason or usual}
        if len(history.done) == 0:
            return why
        predicted = {}
        models = self._fit_objectives(history, outcomes.values, outcomes.noise, outcomes.reference)
        for name, model in zip(outcomes.objectives, models, strict=True):
            mean, sd = model.transform.inverse(*mixture_moments(model.posteriors, point))
            predicted[name] = {"mean": float(mean[0]), "sd": float(sd[0])}
        limits = GoalModels(history, models, fit_limits(self.limit, history), outcomes.reference)
        chances = {
            name: float(np.exp(chance(point)[0]))
            for name, chance in zip(outcomes.limits, limits.chances, strict=True)
        }
        beliefs = self._beliefs(space, history)
        return {
            "objectives": predicted,
            "constraints": chances,
            **({"beliefs": explain_beliefs(beliefs)} if beliefs else {}),
            **predicted_cost(self.objective.cost_model, history, point),
            **why,
        }

    def _choose(self, space: Space, history: History, rng: np.random.Generator) -> Choice:
        if (early := early_choice(self.objective.initial, space, history, rng)) is not None:
            return early
        found = self._decide(space, history, rng)
        return found if len(found.points) else most_viable(space, history, rng)

    def _decide(self, space: Space, history: History, rng: np.random.Generator) -> Choice:
        weights = rng.dirichlet(np.ones(max(outcomes_of(history).values.shape[1], 1)))
        models = self._models(space, history, weights)
        context = self._context(space, history, models, rng)
        if models.objectives:
            return self.decide(context, rng)
        found = self.find_feasible(context, rng)
        if np.any(models.feasible):
            return found
        why = "no trial meets the constraints yet: the best chance of meeting them"
        return Choice(found.points, found.reason or why, "feasibility" if not found.reason else found.rule)

    def _models(self, space: Space, history: History, weights: FloatArray) -> GoalModels:
        outcomes = outcomes_of(history)
        limits = fit_limits(self.limit, history)
        values, noise, reference = outcomes.values, outcomes.noise, outcomes.reference
        if not np.any(outcomes.feasible):  # objectives do not matter yet
            return GoalModels(history, [], limits, np.empty(0))
        if values.shape[1] > MAX_OBJECTIVES:
            value, sd = chebyshev(values, noise, outcomes.feasible, weights)
            values, noise, reference = value[:, None], sd[:, None], np.full(1, np.nan)
        objectives = self._fit_objectives(history, values, noise, reference)
        legal = space.legal(history.done) if space.forbid or space.require else None
        return GoalModels(history, objectives, limits, reference, legal)

    def _fit_objectives(
        self, history: History, values: FloatArray, noise: FloatArray, reference: FloatArray
    ) -> list[ConditionedModel]:
        models = [self._model_of(column, reference) for column in range(len(reference))]
        return fit_objectives(models, history, values, noise)

    def _model_of(self, column: int, reference: FloatArray) -> ModelBased:
        """The model of an objective. Of several, each has its own output transform.

        reference: (m,) the reference point. Models are kept, because they cache their fits.
        """
        if len(reference) == 1:
            return self.objective
        key = str(reference[column])
        if key not in self._objectives:
            fit_transform = partial(fit_transform_of_objective, float(reference[column]))
            self._objectives[key] = replace(self.objective, fit_transform=fit_transform)
        return self._objectives[key]

    def _weights(self, space: Space, history: History) -> list[Criterion]:
        """The other terms of the criterion: success, cost and beliefs."""
        weights = [self.objective.success(space, history)] if len(history.failed) else []
        weights += cost_weights(self.objective.cost_model, history)
        return [*weights, *belief_weights(space, self._beliefs(space, history))]

    def _beliefs(self, space: Space, history: History) -> list[CountedBelief]:
        """They fade, but no single value says whether one is wrong."""
        if not history.beliefs:
            return []
        return count_beliefs(space, history, self.objective.initial.size(space), None)

    def _context(
        self,
        space: Space,
        history: History,
        models: GoalModels,
        rng: np.random.Generator,
    ) -> ProposalContext:
        weights = self._weights(space, history)
        factors = Total([*models.chances, *weights])
        likely = [*models.chances, *(weights[:1] if len(history.failed) else [])]
        repeat = space.size == np.inf and _noise_seen(space, history)
        objectives = len(models.objectives)
        first, *_ = models.objectives or models.limits
        # Searches start near good trials; those of one rank take turns, so the whole front is refined.
        near = history.done.take(np.argsort(_rank(history) + 0.5 * rng.random(len(history.done))))
        # Choosing a point and computing its gain use the same boxes.
        find_boxes = cache(models.boxes)
        # The m-th root of a volume is a length, in standard deviations as for one objective.
        make_length = _criterion_factory(models, find_boxes, factors, 1.0 / max(objectives, 1))
        return ProposalContext(
            space=space,
            model=first,
            make_criterion=_criterion_factory(models, find_boxes, factors),
            improvement=lambda points: make_length()(points),  # rarely needed, and it needs boxes
            done=history.done,
            near=near.take(not_withdrawn(space, history, near)),
            avoid=points_to_avoid(history, repeat),
            number=history.number,
            level=np.empty(0),  # branches are not compared here, and late ones get no turns
            find_early=lambda: history.done.take([]),
            success=Total(likely) if likely else None,
            has_budget=history.spending is not None,
        )


def _criterion_factory(
    models: GoalModels,
    find_boxes: Callable[[bool], Boxes],
    factors: Total,
    power: float = 1.0,
) -> CriterionFactory:
    """Makes the criterion: ``power`` times the log gain, plus ``factors``."""

    def make_criterion(rows: IntArray | None = None, sd_share: float = 1.0) -> Criterion:
        assert rows is None  # only comparisons of branches give rows
        if not np.any(models.feasible):
            return factors
        if not models.objectives:
            unlike = [Expected(model.posteriors, [0.0], LOG_SD) for model in models.limits]
            return Total([Scaled(Total(unlike), 1.0 / len(unlike)), *factors.parts])
        # Exploiting turns refine the front, others extend it.
        gain = ExpectedHypervolumeImprovement(models.posteriors, find_boxes(sd_share == 1.0), sd_share)
        return Total([gain if power == 1.0 else Scaled(gain, power), *factors.parts])

    return make_criterion


def _noise_seen(space: Space, history: History) -> bool:
    """Whether any objective or limit is known to be noisy."""
    outcomes = outcomes_of(history)
    columns = zip(
        [*outcomes.values.T, *outcomes.slacks.T], [*outcomes.noise.T, *outcomes.slack_noise.T], strict=True
    )
    return any(noise_seen(space, replace(history, y=y, noise=noise)) for y, noise in columns)


def _rank(history: History) -> FloatArray:
    """(n,) how many feasible trials dominate each one; infeasible trials follow, by their violation."""
    outcomes = outcomes_of(history)
    values, feasible = outcomes.values, outcomes.feasible
    rank, known = np.empty(len(values)), values[feasible]
    for first in range(0, len(values), BLOCK_ROWS):
        block = values[first : first + BLOCK_ROWS, None]
        dominates = np.all(known <= block, axis=2) & np.any(known < block, axis=2)
        rank[first : first + BLOCK_ROWS] = dominates.sum(axis=1)
    violation = np.array([bilog(slack) for slack in outcomes.slacks.T]).reshape(-1, len(values))
    total = np.maximum(violation, 0.0).sum(axis=0)
    order = np.empty(len(values))
    order[np.argsort(total, kind="stable")] = np.arange(len(values))
    return np.where(feasible, rank, len(values) + order)
