"""Decisions by the value of information: max-value entropy search, and the knowledge gradient.

Both are options of ``auto``. A trial that fails tells nothing about values, so the probability of success
multiplies what a trial is worth. Beliefs and costs do not count.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion, Total
from bough.acquisition.knowledge_gradient import knowledge_gradient
from bough.acquisition.max_value_entropy import MaxValueEntropy, sampled_minima
from bough.acquisition.maximise.candidates import CandidateFilter, best_row
from bough.acquisition.maximise.paths import search_paths
from bough.gp.posterior import GPPosterior
from bough.points import FloatArray, Points, distinct
from bough.space.neighbourhood import perturb
from bough.strategies.context import Choice, Decision, ProposalContext
from bough.strategies.decisions import LIKELY_SUCCESS, random_candidates
from bough.surrogates.shifted import Shifted

__all__ = ["INFORMATION"]

MINIMUM_DRAWS = 16
MINIMUM_CANDIDATES = 500
"""Random points over which a draw's minimum is taken; points near the incumbents are added."""

KNOWN_POINTS = 32
"""The best tried points among which the knowledge gradient looks for the smallest mean."""

GRADIENT_CANDIDATES = 256
REFINING_STEPS = (0.1, 0.03, 0.01)
"""Widths of the random steps around the best candidate, one round each."""

COPIES_PER_STEP = 32


def max_value_entropy(context: ProposalContext, rng: np.random.Generator) -> Choice:
    """The point that reveals most about the smallest value."""
    model = context.model
    candidates = random_candidates(context, MINIMUM_CANDIDATES, rng)
    minima = sampled_minima(model.posteriors, model.best, candidates, MINIMUM_DRAWS, rng)
    criterion: Criterion = MaxValueEntropy(model.posteriors, minima)
    if context.success is not None:
        criterion = Total([criterion, context.success])
    found = search_paths(context.space, criterion, near=context.near, avoid=context.avoid, rng=rng)
    return Choice(found, "max-value entropy search: it tells most about the smallest value")


def best_knowledge_gradient(context: ProposalContext, rng: np.random.Generator) -> Choice:
    """The candidate after which the smallest posterior mean is expected to be lowest.

    One that will probably fail is only chosen if all will; then the least likely to fail is.
    """
    known = distinct(context.space.layout, context.near).take(slice(0, KNOWN_POINTS))

    def value(points: Points) -> FloatArray:
        gains = []
        for posterior in context.model.posteriors:
            assert isinstance(posterior, (GPPosterior, Shifted))
            gains.append(knowledge_gradient(posterior, points, known))
        gain = np.mean(gains, axis=0)
        if context.success is None:
            return np.asarray(gain)
        # Where nothing is left to gain, every gain is 0. Then any gain times a tiny probability would win.
        log_chance = context.success(points)
        return np.where(log_chance > np.log(LIKELY_SUCCESS), gain * np.exp(log_chance), log_chance)

    allowed = CandidateFilter(context.space, context.avoid)
    pool = random_candidates(context, GRADIENT_CANDIDATES, rng)
    score = allowed.score(pool, value(pool))
    for width in REFINING_STEPS:
        best = best_row(pool, score)
        if not len(best):
            break
        steps = perturb(context.space, best.take(np.zeros(COPIES_PER_STEP, dtype=np.intp)), rng, width)
        pool, score = Points.concat([pool, steps]), np.append(score, allowed.score(steps, value(steps)))
    return Choice(best_row(pool, score), "knowledge gradient: the smallest mean is expected to fall most")


INFORMATION: dict[str, Decision] = {"mes": max_value_entropy, "kg": best_knowledge_gradient}
"""By the name of the acquisition."""
