"""Learn from earlier studies: first try what did well there, then use a model that starts from theirs.

Each earlier study has its own model on its own scale. The **portfolio** is a list of their best
configurations: each one lowers the mean over studies of the best predicted value so far as much as possible
(greedy, as in auto-sklearn 2.0, Feurer et al. 2022). Its trials alternate with the initial design.

After that, models are **weighted by ranking** (RGPE, Feurer et al. 2018, arXiv 1802.02219). In each bootstrap
sample of this study's results, the model that puts the fewest pairs into the wrong order wins. The weight of
a model is its share of wins. This study's own model competes with its leave-one-out predictions. A study
whose median number of wrong pairs is above the 95th percentile of this study's own is left out, so the
weights of misleading studies fall to zero. The weighted prediction of the others is the prior mean of this
study's model (``surrogates.shifted``): unlike a plain average of models, it is corrected wherever results
disagree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bough.gp.posterior import GPPosterior, Posterior
from bough.history import History
from bough.points import BoolArray, FloatArray, Points, distinct
from bough.space import Space
from bough.strategies.base import same_point, tried_points
from bough.surrogates.shifted import shifted

__all__ = ["learned", "leave_one_out", "next_of_portfolio", "portfolio", "ranking_weights"]

PORTFOLIO_TRIALS = 5
CANDIDATES_PER_STUDY = 5
BOOTSTRAP_SAMPLES = 256
MIN_RESULTS = 3
"""With fewer results there is nothing to rank: earlier studies share the weight evenly."""


def portfolio(space: Space, members: Sequence[Posterior], candidates: Sequence[Points]) -> Points:
    """Up to PORTFOLIO_TRIALS points, most useful first. candidates: the best points of each study."""
    pool = distinct(space.layout, Points.concat(list(candidates)))
    predicted = np.stack([member.predict(pool)[0] for member in members])  # (studies, points)
    reached = np.full(len(members), np.inf)
    chosen: list[int] = []
    for _ in range(min(PORTFOLIO_TRIALS, len(pool))):
        total = np.minimum(np.minimum(reached, 1e6)[:, None], predicted).mean(axis=0)
        total[chosen] = np.inf
        best = int(np.argmin(total))
        chosen.append(best)
        reached = np.minimum(reached, predicted[:, best])
    return pool.take(chosen)


def next_of_portfolio(space: Space, points: Points, history: History) -> Points | None:
    """The next point of a portfolio, at every second trial; None if it is used up or does badly.

    The design gets the trials in between. Once there are MIN_RESULTS results, the portfolio continues only
    while the best result is its own, so misleading studies cost two or three trials.
    """
    if (len(history.done) + len(history.failed) + len(history.pending)) % 2:
        return None
    if len(history.y) >= MIN_RESULTS:
        best = history.done.take([int(np.argmin(history.y))])
        if not same_point(space, best, points).any():
            return None
    tried = tried_points(history)
    left = (points.take([row]) for row in range(len(points)))
    return next((one for one in left if not same_point(space, one, tried).any()), None)


def learned(
    posterior: GPPosterior, members: Sequence[Posterior], rng: np.random.Generator
) -> tuple[Posterior, FloatArray]:
    """The model of this study with a prior mean from earlier studies, and the weight of each of those."""
    predicted = [member.predict(posterior.data.points)[0] for member in members]
    weights = ranking_weights(leave_one_out(posterior), predicted, posterior.data.y, rng)
    held = np.flatnonzero(weights)
    if not len(held):
        return posterior, weights
    return shifted(posterior, [members[i] for i in held.tolist()], weights[held]), weights


def leave_one_out(posterior: GPPosterior) -> FloatArray:
    """(n,) the prediction of each observation from the others (Rasmussen & Williams 2006, eq. 5.12)."""
    return np.asarray(posterior.data.y - posterior.alpha / np.diag(posterior.solver.inverse()))


def ranking_weights(
    own: FloatArray, predicted: Sequence[FloatArray], z: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """(studies,) the weights of earlier studies; the rest up to 1 is the weight of this study.

    z: (n,) results. own: (n,) leave-one-out predictions. predicted: (n,) predictions of each earlier study.
    """
    count = len(predicted)
    if len(z) < MIN_RESULTS:
        return np.full(count, 1.0 / count)
    drawn = rng.multinomial(len(z), np.full(len(z), 1.0 / len(z)), size=BOOTSTRAP_SAMPLES).astype(float)
    # Leave-one-out predictions come from different models, so each is compared with the others' results.
    own_wrong = _wrong_pairs(own[:, None] < z[None, :], z)
    wrong = [own_wrong, *(_wrong_pairs(mean[:, None] < mean[None, :], z) for mean in predicted)]
    losses = np.stack([np.einsum("bi,ij,bj->b", drawn, matrix, drawn) for matrix in wrong])
    limit = np.quantile(losses[0], 0.95)
    losses[1:][np.median(losses[1:], axis=1) > limit] = np.inf
    smallest = losses == losses.min(axis=0)
    smallest[1:, smallest[0]] = False  # in ties, this study's own model wins
    shares = smallest / smallest.sum(axis=0)
    return np.asarray(shares[1:].mean(axis=1))


def _wrong_pairs(below: BoolArray, z: FloatArray) -> FloatArray:
    """(n, n) which pairs are in the wrong order; pairs of equal results never are."""
    differ = z[:, None] != z[None, :]
    return np.asarray((below != (z[:, None] < z[None, :])) & differ, dtype=float)
