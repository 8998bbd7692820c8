"""Criteria: the function that a maximiser maximises, with its gradient.

A criterion is anything with the two methods of ``Criterion``. The usual one is ``Expected``: an acquisition
function under one posterior, or its average over several (hyperparameter samples). It averages the
improvement itself, never the moments, because a mixture of Gaussians is not a Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from bough.acquisition.functions import LOG_EI, SD_FLOOR, Acquisition, Price, average, log_ei, log_pi
from bough.points import FloatArray, Points

if TYPE_CHECKING:
    from bough.gp.posterior import Posterior

__all__ = [
    "CompiledCriterion",
    "Criterion",
    "Expected",
    "Moments",
    "Scaled",
    "Total",
    "log_augmented_ei",
    "score",
]


Moments = Callable[["Posterior"], tuple[FloatArray, FloatArray]]
"""Mean and sd (n,) of a posterior at some points."""


class Criterion(Protocol):
    """The value of trying a point: larger is better."""

    def __call__(self, points: Points) -> FloatArray:
        """(n,) the value of each point."""
        ...

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """(n,) the values and their (n, columns) gradient, zero under inactive and nominal columns."""
        ...


@runtime_checkable
class OfMoments(Protocol):
    """A criterion that needs only the means and standard deviations at its points."""

    def from_moments(self, moments: Moments) -> FloatArray:
        """(n,) the value of each point, from its moments under any posterior."""
        ...


MAX_COMPILED_MEMBERS = 8
"""Largest number of posteriors in a criterion for the core."""


class CompiledCriterion(NamedTuple):
    """A criterion that the compiled core can climb: log EI of one objective or of a hypervolume, log
    probabilities that limits are met, and the price of cost.

    gains, limits, prices: ``CompiledPosterior.member`` of each. boxes: of a hypervolume. price: its fields.
    """

    gains: tuple[Any, ...] = ()
    limits: tuple[Any, ...] = ()
    prices: tuple[Any, ...] = ()
    boxes: tuple[Any, ...] = ()
    price: tuple[Any, ...] = ()

    @staticmethod
    def of(criterion: Criterion) -> tuple[Any, ...] | None:
        """The arguments of ``read_criterion`` in ``core/src/read.h``; None if it cannot read them."""
        found: CompiledCriterion | None = getattr(criterion, "compiled", None)
        if found is None:
            return None
        members = found.gains + found.limits + found.prices
        if len(members) > MAX_COMPILED_MEMBERS:
            return None
        return (len(found.gains), members, found.boxes[0] if found.boxes else None, *found.price)


@dataclass(frozen=True, eq=False)
class Expected:
    """An acquisition function averaged over posteriors, with equal weights.

    best: the incumbent under each posterior.
    """

    posteriors: Sequence[Posterior]
    best: Sequence[float]
    acquisition: Acquisition = LOG_EI

    def __call__(self, points: Points) -> FloatArray:
        return self.from_moments(lambda posterior: posterior.predict(points))

    def from_moments(self, moments: Moments) -> FloatArray:
        scores = []
        for posterior, best in zip(self.posteriors, self.best, strict=True):
            mean, sd = moments(posterior)
            scores.append(self.acquisition(mean, sd, best)[0])
        return average(scores, self.acquisition.log)[0]

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        scores, slopes = [], []
        for posterior, best in zip(self.posteriors, self.best, strict=True):
            mean, sd, pull = posterior.predict_pull(points)
            score, by_mean, by_sd = self.acquisition(mean, sd, best)
            scores.append(score)
            slopes.append(pull(by_mean, by_sd))
        value, shares = average(scores, self.acquisition.log)
        return value, np.einsum("mn,mnc->nc", shares, np.stack(slopes))

    @property
    def compiled(self) -> CompiledCriterion | None:
        score, known = self.acquisition.score, self.posteriors[0].compiled
        if known is None or len(self.posteriors) > 1:
            return None
        member = (known.member(self.best[0], self.acquisition.sd_share),)
        if isinstance(score, Price):
            return CompiledCriterion(prices=member, price=(astuple(score),))
        if score is log_pi:
            return CompiledCriterion(limits=member)
        return CompiledCriterion(gains=member) if score is log_ei else None


@dataclass(frozen=True, eq=False)
class Total:
    """The sum of criteria, such as log EI plus the log probability that the trial does not fail."""

    parts: Sequence[Criterion]

    def __call__(self, points: Points) -> FloatArray:
        return np.asarray(np.sum([part(points) for part in self.parts], axis=0))

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        values, slopes = zip(*(part.with_gradient(points) for part in self.parts), strict=True)
        return np.sum(values, axis=0), np.sum(slopes, axis=0)

    @property
    def compiled(self) -> CompiledCriterion | None:
        parts: list[CompiledCriterion | None] = [getattr(part, "compiled", None) for part in self.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or sum(bool(part.gains) for part in known) > 1:
            return None
        return CompiledCriterion(*(sum(same, ()) for same in zip(*known)))


@dataclass(frozen=True, eq=False)
class Scaled:
    """A criterion times a constant: if the criterion is log f, the logarithm of a power of f."""

    criterion: Criterion
    factor: float

    def __call__(self, points: Points) -> FloatArray:
        return self.factor * self.criterion(points)

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        value, slope = self.criterion.with_gradient(points)
        return self.factor * value, self.factor * slope


def score(criterion: Criterion, points: Callable[[], Points], moments: Moments) -> FloatArray:
    """The criterion (n,) at points for which ``moments`` is faster than ``predict``.

    points: returns the points, for parts of the criterion that need more than moments.
    """
    if isinstance(criterion, Total):
        return np.asarray(np.sum([score(part, points, moments) for part in criterion.parts], axis=0))
    if isinstance(criterion, Scaled):
        return criterion.factor * score(criterion.criterion, points, moments)
    if isinstance(criterion, OfMoments):
        return criterion.from_moments(moments)
    return criterion(points())


def log_augmented_ei(
    posteriors: Sequence[Posterior], best: Sequence[float], points: Points, weights: Sequence[Criterion] = ()
) -> FloatArray:
    """(n,) log expected improvement as far as one noisy trial can show it, plus ``weights``.

    Beside an incumbent with many trials the latent function is still a little uncertain, so expected
    improvement never quite vanishes there. But if that uncertainty is small compared to the noise, one more
    trial reveals hardly anything of it. Augmented expected improvement (Huang et al. 2006, J. Global Optim.
    34) is EI (1 − σ / sqrt(s² + σ²)) with s the standard deviation of the latent function and σ the noise.
    Without noise it is EI.

    best: the incumbent under each posterior; the improvement is averaged over posteriors.
    """
    scores = []
    for posterior, incumbent in zip(posteriors, best, strict=True):
        (mean, sd), noise = posterior.predict(points), posterior.observation_noise
        sd = np.maximum(sd, SD_FLOOR)
        total = np.hypot(sd, noise)
        # 1 − σ / t = s² / (t (t + σ)) with t = sqrt(s² + σ²), without cancellation
        log_share = np.log(sd / total) + np.log(sd / (total + noise))
        scores.append(log_ei(mean, sd, incumbent)[0] + log_share)
    gain, _ = average(scores, log=True)
    return np.asarray(np.sum([gain, *(weight(points) for weight in weights)], axis=0))
