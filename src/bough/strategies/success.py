"""The probability that a trial succeeds, learned by a Gaussian process with the covariance of the method.

Bussemaker et al. 2024 (arXiv 2502.00838): predicting where trials fail and weighting the acquisition with it
beats both ignoring failures and replacing them by a bad value.

The process is fitted to the labels 1 (done) and 0 (failed) as if they were values, and its prediction is
squashed into a probability (least-squares classification, Rasmussen & Williams 2006, section 6.5):

    P(success at x) = Φ((mean(x) − 1/2) / √(var(x) + DOUBT²))

in units of the standard deviation of the labels. The covariance of ``auto`` says which trials are alike, and
the fit says what matters: a shared parameter whose value fails on two branches is suspicious on the third,
a branch that never works has a low offset, and a failing region inside a branch a low function of its group.

Failed trials give the model of values no data, so expected improvement stays large exactly where trials keep
failing. Hence improbable points get the penalty of ``viability.penalised``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bough.acquisition.criterion import Criterion, Expected
from bough.acquisition.functions import Acquisition, Score, log_pi
from bough.history import History
from bough.points import FloatArray, Points
from bough.strategies.context import ConditionedModel
from bough.strategies.viability import penalised

__all__ = ["DOUBT", "log_success", "success_probability", "with_labels"]

DOUBT = 0.5
"""Extra sd: labels are not Gaussian, so a model that fits them exactly is too certain between them."""


def success_probability(model: Callable[[History], ConditionedModel], history: History) -> Criterion:
    """The criterion log P(success), penalised. model: fits and conditions a process on a history."""
    fitted = model(with_labels(history))
    boundary = float(fitted.transform.forward(np.array([0.5]))[0])
    return Expected(fitted.posteriors, [boundary] * len(fitted.posteriors), _LOG_SUCCESS)


def with_labels(history: History) -> History:
    """Finished and failed trials in the order of their numbers, with 1 and 0 in place of values.

    A failure has the lower label, so the working set of a long study keeps failures first.
    """
    numbers = np.concatenate([history.done_numbers, history.failed_numbers])
    order = np.argsort(numbers, kind="stable")
    labels = (order < len(history.done)).astype(float)
    points = Points.concat([history.done, history.failed]).take(order)
    return history.of_results(points, labels, numbers[order])


def log_success(mean: FloatArray, sd: FloatArray, boundary: float) -> Score:
    """log P(success), with its derivatives by mean and sd."""
    wide = np.hypot(sd, DOUBT)
    value, by_mean, by_wide = log_pi(-mean, wide, -boundary)
    return value, -by_mean, by_wide * sd / wide


def _penalised(mean: FloatArray, sd: FloatArray, boundary: float) -> Score:
    log_probability, by_mean, by_sd = log_success(mean, sd, boundary)
    value, slope = penalised(log_probability)
    return value, slope * by_mean, slope * by_sd


_LOG_SUCCESS = Acquisition(_penalised, log=True)
