"""Bayesian optimization: model the history (``history_model``), then decide what to try next.

Everything here is a function of the history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Total, log_augmented_ei
from bough.acquisition.functions import LOG_EI, Acquisition
from bough.acquisition.maximise.sample import best_of_samples
from bough.gp.posterior import Posterior
from bough.history import History
from bough.points import BoolArray, FloatArray, IntArray, Points, row_keys
from bough.space import Space
from bough.space.tree import Path
from bough.strategies.base import (
    RemainingGain,
    check_exhausted,
    lowest_rows,
    noise_seen,
    points_to_avoid,
    tried_points,
    unseen,
)
from bough.strategies.beliefs import CountedBelief, belief_weights, count_beliefs, explain_beliefs
from bough.strategies.context import (
    Choice,
    ConditionedModel,
    Decision,
    ProposalContext,
    repeated_choice,
)
from bough.strategies.cost_aware import cost_weights, predicted_cost
from bough.strategies.designs import RandomSearch
from bough.strategies.earlier_studies import CANDIDATES_PER_STUDY, next_of_portfolio, portfolio
from bough.strategies.fidelity_history import at_fidelity
from bough.strategies.history_model import HistoryModel
from bough.strategies.initial import InitialDesign
from bough.strategies.outlook import Outlook, outlook
from bough.strategies.remaining_gain import remaining_gain
from bough.strategies.viability import viability
from bough.surrogates.base import KernelGP

__all__ = ["ModelBased", "early_choice", "mixture_moments", "most_viable", "not_withdrawn"]

MAX_NEAR = 2000
"""Best observations that a search sees; it adds candidates around the best one of each branch."""


@dataclass(frozen=True, eq=False)
class ModelBased(HistoryModel):
    """A surrogate, an acquisition function, a decision and an initial design make a method.

    success: the log probability that a trial succeeds, used once a trial has failed.
    cost_model: the model of log costs, if the study has a budget (``strategies.cost_aware``).
    uses_criterion: whether ``decide`` looks for large values of the acquisition. Thompson sampling, for
        example, does not. Then beliefs and costs do not count, because they are terms of the criterion.
    """

    decide: Decision
    acquisition: Acquisition
    initial: InitialDesign
    success: Callable[[Space, History], Criterion] = viability
    cost_model: HistoryModel | None = None
    uses_criterion: bool = True
    uses_beliefs: ClassVar[bool] = True

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        return self._choose(space, history, rng).points

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Repeats the proposal with the same random numbers, so the reason is the true one."""
        chosen = repeated_choice(space, point, lambda: self._choose(space, history, rng))
        if len(history.done) == 0:
            return {"rule": chosen.rule, "reason": chosen.reason}
        context = self._context(space, history)
        mean, sd = mixture_moments(context.model.posteriors, point)
        centre, spread = context.model.transform.inverse(mean, sd)
        branch = space.tree.branch_ids(Points.concat([point, history.done, history.failed]))
        done, failed = np.split(branch[1:] == branch[0], [len(history.done)])
        best = float(np.min(context.model.best))
        if done.any():
            prospect = _prospect(float(mean[0]), float(sd[0]), best)
        elif failed.any():
            prospect = f"no trial on this branch has succeeded yet, {failed.sum()} failed"
        else:
            prospect = "nothing is known about this branch yet"
        beliefs = self._beliefs(space, history, context.model)
        return {
            "mean": float(centre[0]),
            "sd": float(spread[0]),
            **({"criterion": float(context.criterion(point)[0])} if self.uses_criterion else {}),
            "rule": chosen.rule,
            "reason": chosen.reason or prospect if len(chosen.points) else f"{prospect} ({chosen.reason})",
            **({"beliefs": explain_beliefs(beliefs)} if beliefs else {}),
            **({"earlier_studies": self._source_weights(history, context.model)} if history.sources else {}),
            **(predicted_cost(self.cost_model, history, point) if self._weighs_gains else {}),
        }

    @staticmethod
    def _source_weights(history: History, model: ConditionedModel) -> dict[str, float]:
        """How much each earlier study counts for the model, from 0 to 1."""
        names = [source.name for source in history.sources]
        return {name: round(weight, 3) for name, weight in zip(names, model.source_weights, strict=True)}

    def outlook(
        self, space: Space, history: History, branches: Sequence[Sequence[Path]], rng: np.random.Generator
    ) -> Outlook:
        context = self._context(space, history)
        gain = context.criterion if self.acquisition == LOG_EI else context.expected_gain
        return outlook(context, gain, branches, rng)

    def predict(self, history: History, points: Points) -> tuple[FloatArray, FloatArray]:
        model = self.model(history)
        return model.transform.inverse(*mixture_moments(model.posteriors, points))

    def remaining_gain(self, space: Space, history: History, rng: np.random.Generator) -> RemainingGain:
        return remaining_gain(self._context(space, history), rng)

    def _choose(self, space: Space, history: History, rng: np.random.Generator) -> Choice:
        if history.sources and (known := self._of_portfolio(space, history)) is not None:
            return Choice(known, "did well in earlier studies", "earlier studies")
        if (early := early_choice(self.initial, space, history, rng)) is not None:
            return early
        found = self.decide(self._context(space, history), rng)
        return found if len(found.points) else most_viable(space, history, rng)

    @property
    def _weighs_gains(self) -> bool:
        """Whether beliefs and costs count: they multiply a gain, so the criterion must be a logarithm."""
        return self.uses_criterion and self.acquisition.log

    def _beliefs(self, space: Space, history: History, model: ConditionedModel) -> list[CountedBelief]:
        if not history.beliefs or not self._weighs_gains:
            return []
        return count_beliefs(space, history, self.initial.size(space), model)

    def weights(self, space: Space, history: History, model: ConditionedModel) -> list[Criterion]:
        """The terms that are added to the log gain: the log chance of success, beliefs and cost."""
        weights = [self.success(space, history)] if len(history.failed) else []
        if history.beliefs:
            weights += belief_weights(space, self._beliefs(space, history, model))
        if self._weighs_gains and history.spending is not None:
            weights += cost_weights(self.cost_model, history)
        return weights

    def _context(self, space: Space, history: History) -> ProposalContext:
        model = self.model(history)
        if space.forbid or space.require:
            model = _beatable(space, history, model)
        weights = self.weights(space, history, model)
        success = weights[:1] if len(history.failed) else []  # without beliefs and cost
        level = np.where(not_withdrawn(space, history, history.done), model.z, np.inf)
        tried, value = history.done, level
        if history.fidelity is not None:  # configurations that wait for promotion have only a prediction
            tried = tried_points(history)
            value, _ = mixture_moments(model.posteriors, tried)
            value = np.where(not_withdrawn(space, history, tried), value, np.inf)
        near = min(MAX_NEAR, int(np.sum(value < np.inf)))
        return ProposalContext(
            space=space,
            model=model,
            make_criterion=partial(_criterion, history, model, self.acquisition, weights),
            improvement=partial(log_augmented_ei, model.posteriors, model.best, weights=success),
            done=history.done,
            near=tried.take(lowest_rows(value, near)),
            # Repeating a trial is informative only under noise. A finite space is never repeated.
            avoid=points_to_avoid(history, repeat=space.size == np.inf and noise_seen(space, history)),
            number=history.number,
            level=level,
            find_early=partial(self.initial.early_points, space, history),
            success=next(iter(success), None),
            has_budget=history.spending is not None,
            # With a fidelity, most pending configurations wait for promotion and do not run.
            is_brief=history.fidelity is None
            and len(history.pending) > 0
            and len(history.done) > self.working_set,
            seed=history.seed,
        )

    @property
    def can_learn(self) -> bool:
        """Whether earlier studies can inform the model: it is a Gaussian process with a log acquisition."""
        return isinstance(self.surrogate, KernelGP) and self.acquisition.log

    def _of_portfolio(self, space: Space, history: History) -> Points | None:
        members = [self.source_model(source, history.seed) for source in history.sources]
        candidates = [
            source.points.take(np.argsort(source.y, kind="stable")[:CANDIDATES_PER_STUDY])
            for source in history.sources
        ]
        return next_of_portfolio(space, portfolio(space, members, candidates), history)


def _beatable(space: Space, history: History, model: ConditionedModel) -> ConditionedModel:
    """The model with an incumbent of the current space; trials that wait for promotion do not count."""
    rows = np.flatnonzero(space.legal(history.done))
    if len(rows) in (0, len(history.done)):
        return model
    best = [p.incumbent(history.done.take(rows), model.z[rows]) for p in model.posteriors]
    if len(history.pending) and history.fidelity is None:
        best = [min(b, float(p.predict_mean(history.pending).min())) for b, p in zip(best, model.posteriors)]
    return replace(model, best=best)


def not_withdrawn(space: Space, history: History, tried: Points) -> BoolArray:
    """(n,) which tried points the space still allows, at some fidelity; all of them if it allows none.

    The others were tried before a change of the space.
    """
    if history.fidelity is not None:
        tried = at_fidelity(tried, history.fidelity)
    legal = space.legal(tried)
    return legal if legal.any() else ~legal


def early_choice(
    initial: InitialDesign, space: Space, history: History, rng: np.random.Generator
) -> Choice | None:
    """A point of the initial design, or, while no trial is done, the one least likely to fail; then None."""
    check_exhausted(space, history)
    first = initial.next(space, history)
    if first is not None and len(unseen(space, first, set(row_keys(space.layout, tried_points(history))))):
        return Choice(first, initial.reason, "initial design")
    return None if len(history.done) else most_viable(space, history, rng)


def _criterion(
    history: History,
    model: ConditionedModel,
    acquisition: Acquisition,
    weights: Sequence[Criterion],
    rows: IntArray | None = None,
    sd_share: float = 1.0,
) -> Criterion:
    """The acquisition relative to an incumbent, plus ``weights``. See ``CriterionFactory``."""
    counted, best = replace(acquisition, sd_share=sd_share), model.best
    if rows is not None:
        best = [p.incumbent(history.done.take(rows), model.z[rows]) for p in model.posteriors]
    gain = Expected(model.posteriors, best, counted)
    return Total([gain, *weights]) if weights else gain


def mixture_moments(posteriors: Sequence[Posterior], points: Points) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the equal mixture of the posteriors at points."""
    means, sds = (np.stack(part) for part in zip(*(p.predict(points) for p in posteriors), strict=True))
    mean = means.mean(axis=0)
    return mean, np.sqrt(np.mean(sds**2 + (means - mean) ** 2, axis=0))


def most_viable(space: Space, history: History, rng: np.random.Generator) -> Choice:
    """The new point that is least likely to fail, if there is no observation to model.

    Also used if a search missed the few configurations that are left in a nearly exhausted space.
    """
    found = best_of_samples(
        space, viability(space, history), near=history.done, avoid=tried_points(history), rng=rng, samples=256
    )
    if len(found):
        return Choice(
            found, "no better criterion was available: the point least likely to fail", "least likely to fail"
        )
    return Choice(
        RandomSearch().propose(space, history, rng), "drawn at random: hardly any point is left", "random"
    )


def _prospect(mean: float, sd: float, best: float) -> str:
    """How a point compares with the incumbent, in words."""
    if mean < best:
        return "expected to beat the best result"
    if sd > abs(mean - best):
        return "uncertain enough that it may well beat the best result"
    return "a small chance to beat the best result"
