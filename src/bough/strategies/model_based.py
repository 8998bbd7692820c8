"""Bayesian optimization: fit a surrogate to the history, then decide what to try next.

Everything here is a function of the history. Hyperparameters and the scaling of values belong to
a scheduled prefix of it (``schedule``); fits are cached by the content of that prefix, and
dropping the cache changes no proposal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Total, incumbent
from bough.acquisition.edges import Inside
from bough.acquisition.functions import EI, LOG_EI, LOG_PI, PI, Acquisition
from bough.acquisition.maximise.sample import best_of_samples
from bough.gp.posterior import Posterior
from bough.gp.targets import Targets
from bough.history import History
from bough.points import FloatArray, IntArray, Layout, Points, row_keys
from bough.space import Space
from bough.strategies.base import check_exhausted, noise_seen, tried_points
from bough.strategies.decisions import Decision, Model, Situation, Worth
from bough.strategies.designs import RandomSearch
from bough.strategies.flat import FlatPosterior, filling, flat_history
from bough.strategies.initial import InitialDesign
from bough.strategies.schedule import half_way, scheduled
from bough.strategies.viability import Viability
from bough.strategies.working_set import working_rows
from bough.surrogates.base import Surrogate

__all__ = ["ModelBased"]

SURPRISE = 3.0
"""A result this many predictive standard deviations off calls for new hyperparameters at once."""

IN_LOGARITHMS = {EI: LOG_EI, PI: LOG_PI}

_FIT_STREAM = 2**31 + 2
_CACHED_FITS = 64


@dataclass(frozen=True, eq=False)
class Fitted:
    """What is learned from a prefix of the history: the scaling of values, and hyperparameters."""

    targets: Targets
    theta: FloatArray


@dataclass(frozen=True, eq=False)
class ModelBased:
    """A surrogate, an acquisition function, a decision and an initial design make a method.

    growth: hyperparameters are learned anew when the data grew by this fraction, or surprised.
    flat: the layout of the space if the surrogate is to see it flattened (``flat``), else None.
    targets: how values are transformed, learned from them.
    inward: whether points on the edges of the space count less (``acquisition.edges``).
    """

    surrogate: Surrogate
    decide: Decision
    acquisition: Acquisition
    initial: InitialDesign
    growth: float = 0.05
    flat: Layout | None = None
    targets: Callable[[FloatArray], Targets] = Targets.fit
    inward: bool = False
    _fits: dict[bytes, Fitted] = field(default_factory=dict, repr=False)

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        check_exhausted(space, history)
        tried = tried_points(history)
        first = self.initial.next(space, history)
        if first is not None and set(row_keys(space.layout, first)).isdisjoint(row_keys(space.layout, tried)):
            return first
        if len(history.done) == 0:
            return most_viable(space, history, rng)
        now = self._situation(space, history)
        found = self.decide(now, rng)
        # What is left of a nearly exhausted space may be all but impossible to meet by searching.
        return found if len(found) else most_viable(space, history, rng)

    def explain(self, space: Space, history: History, point: Points) -> dict[str, Any]:
        if len(history.done) == 0:
            return {"reason": "part of the initial design: no result was known yet"}
        now = self._situation(space, history)
        mean, sd = mixture_moments(now.model.posteriors, point)
        centre, spread = now.model.targets.inverse(mean, sd)
        on_branch = space.tree.branch_ids(Points.concat([point, history.done]))
        visits = int(np.sum(on_branch[1:] == on_branch[0]))
        in_design = len(tried_points(history)) < self.initial.size(space)
        return {
            "mean": float(centre[0]),
            "sd": float(spread[0]),
            "criterion": float(now.criterion(point)[0]),
            "reason": _reason(in_design, visits, float(mean[0]), float(sd[0]), float(np.min(now.model.best))),
        }

    def _situation(self, space: Space, history: History) -> Situation:
        model = self.model(history)
        repeat = space.size == np.inf and noise_seen(space, history)
        return Situation(
            space=space,
            model=model,
            worth=_worth(space, history, model, self.acquisition, self.inward),
            gain=_worth(space, history, model, LOG_EI)(model.best),
            done=history.done,
            # to repeat a trial tells something only where results are noisy; a finite space is used up
            avoid=history.pending if repeat else tried_points(history),
            number=history.number,
        )

    def model(self, history: History) -> Model:
        """The posteriors given all results, with the hyperparameters of the scheduled prefix."""
        seen = history if self.flat is None else flat_history(history, self.flat)
        length = scheduled(len(seen.done), self.growth)
        rows = working_rows(seen.y)
        model = self._model(seen, rows, length)
        surprises = rows[(np.abs(model.posteriors[0].innovations()) > SURPRISE) & (rows >= length)]
        if len(surprises):
            model = self._model(seen, rows, int(surprises[-1]) + 1)
        posteriors = model.posteriors
        if len(seen.pending):
            # running trials are believed to give what is expected of them (Ginsbourger et al. 2010)
            believed = [p.predict(seen.pending)[0] for p in posteriors]
            posteriors = [p.condition(seen.pending, z) for p, z in zip(posteriors, believed)]
            # what is believed is to be beaten, too, or the next trial would join the one that runs
            model = replace(model, best=[min(b, float(z.min())) for b, z in zip(model.best, believed)])
        if self.flat is not None:
            fill = filling(self.flat, history.number, history.seed)
            posteriors = [FlatPosterior(p, self.flat, fill) for p in posteriors]
        return replace(model, posteriors=posteriors)

    def _model(self, history: History, rows: IntArray, length: int) -> Model:
        fitted = self._fit(history, length)
        z = fitted.targets.forward(history.y)
        noise = fitted.targets.noise(history.y, history.noise)
        points = history.done.take(rows)
        posteriors = self.surrogate.posterior(fitted.theta, points, z[rows], noise[rows])
        best = [incumbent(p, points, z[rows], noisy=p.noisy) for p in posteriors]
        return Model(fitted.targets, posteriors, best, z)

    def _fit(self, history: History, length: int) -> Fitted:
        """Hyperparameters of the first ``length`` results: a function of those and the seed alone."""
        points, y, noise = history.done.take(slice(0, length)), history.y[:length], history.noise[:length]
        key = _digest(points, y, noise, history.seed)
        fitted = self._fits.get(key)
        if fitted is None:
            earlier = half_way(length, self.growth)
            start = self._fit(history, earlier).theta if earlier else None
            targets = self.targets(y)
            z, z_noise, rows = targets.forward(y), targets.noise(y, noise), working_rows(y)
            rng = np.random.default_rng([history.seed, length, _FIT_STREAM])
            fit = self.surrogate.fit(points.take(rows), z[rows], z_noise[rows], rng, start)
            fitted = Fitted(targets, fit.theta)
            while len(self._fits) >= _CACHED_FITS:
                self._fits.pop(next(iter(self._fits)), None)  # another thread may have been first
            self._fits[key] = fitted
        return fitted


def _worth(
    space: Space, history: History, model: Model, acquisition: Acquisition, inward: bool = False
) -> Worth:
    """The acquisition over a value to beat, times the probability that the trial does not fail."""
    weights: list[Criterion] = [viability(space, history)] if len(history.failed) else []
    # weights multiply, and what is tiny must still be climbed: whatever can be is counted in logarithms
    counted = IN_LOGARITHMS.get(acquisition, acquisition)
    if inward and counted.log:
        weights.append(Inside(space.layout))

    def worth(best: Sequence[float], share: float = 1.0) -> Criterion:
        gain = Expected(model.posteriors, best, counted if share == 1.0 else counted.trusting(share))
        return Total([gain, *weights]) if weights else gain

    return worth


def mixture_moments(posteriors: Sequence[Posterior], points: Points) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the equal mixture of the posteriors at points."""
    means, sds = (np.stack(part) for part in zip(*(p.predict(points) for p in posteriors), strict=True))
    mean = means.mean(axis=0)
    return mean, np.sqrt(np.mean(sds**2 + (means - mean) ** 2, axis=0))


def viability(space: Space, history: History) -> Viability:
    """Where trials succeed, from those that finished and those that failed."""
    tried = Points.concat([history.done, history.failed])
    return Viability(space.layout, tried, np.arange(len(tried)) < len(history.done))


def most_viable(space: Space, history: History, rng: np.random.Generator) -> Points:
    """The new point that is least likely to fail; while every trial failed, that is all there is to model."""
    found = best_of_samples(
        space, viability(space, history), near=history.done, avoid=tried_points(history), rng=rng, samples=256
    )
    return found if len(found) else RandomSearch().propose(space, history, rng)


def _reason(in_design: bool, visits: int, mean: float, sd: float, best: float) -> str:
    if in_design:
        return "part of the initial design: every branch gets a look"
    if visits == 0:
        return "nothing is known of this branch yet"
    if mean < best:
        return "expected to beat the best result"
    if sd > abs(mean - best):
        return "uncertain enough that it may well beat the best result"
    return "a small chance to beat the best result"


def _digest(points: Points, y: FloatArray, noise: FloatArray, seed: int) -> bytes:
    content = hashlib.blake2b(digest_size=16)
    for array in (points.x, points.on, y, noise, np.array([seed, len(y)])):
        content.update(np.ascontiguousarray(array).tobytes())
    return content.digest()
