"""Decisions: how the next point is chosen once the model is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.acquisition.maximise.pool import Allowed
from bough.acquisition.maximise.starts import around
from bough.acquisition.thompson import thompson
from bough.gp.posterior import Posterior
from bough.gp.targets import Targets
from bough.points import FloatArray, Points
from bough.space import Space
from bough.space.sampling import sample_points

__all__ = [
    "Decision",
    "Maximiser",
    "Model",
    "Situation",
    "Worth",
    "by",
    "joint_draw",
    "trusting",
]

THOMPSON_CANDIDATES = 1000

TRUST = 0.3
"""Share of the predictive deviations that counts in a trial that trusts the model's means."""

STALE = 8
"""So many results in a row without a new best one, and what the model promises is in doubt."""


@dataclass(frozen=True, eq=False)
class Model:
    """All that is believed when a proposal is made.

    posteriors: one per hyperparameter sample, conditioned on finished and pending trials.
    best: the value to beat under each. z: (n,) the finished values on the model's scale.
    """

    targets: Targets
    posteriors: Sequence[Posterior]
    best: Sequence[float]
    z: FloatArray


class Worth(Protocol):
    """A criterion, given the value to beat under each posterior and how much of their deviations counts."""

    def __call__(self, best: Sequence[float], share: float = 1.0) -> Criterion: ...


@dataclass(frozen=True, eq=False)
class Situation:
    """What a decision looks at.

    worth: what makes the criterion.
    gain: log expected improvement, whatever the criterion; less where a trial may fail.
    done: finished points, as ``model.z`` has their values; number: the trial to be proposed.
    avoid: points not to be proposed again.
    """

    space: Space
    model: Model
    worth: Worth
    gain: Criterion
    done: Points
    avoid: Points
    number: int

    @property
    def criterion(self) -> Criterion:
        """What another trial is worth."""
        return self.worth(self.model.best)

    @property
    def stuck(self) -> bool:
        """Whether it is long since there was a new best result."""
        return len(self.model.z) - 1 - int(np.argmin(self.model.z)) >= STALE

    @property
    def near(self) -> Points:
        """Finished points, best first."""
        return self.done.take(np.argsort(self.model.z, kind="stable"))


Decision = Callable[[Situation, np.random.Generator], Points]
"""One legal, snapped point, or no row where everything is to be avoided."""


class Maximiser(Protocol):
    """Finds the point where a criterion is largest."""

    def __call__(
        self, space: Space, criterion: Criterion, *, near: Points, avoid: Points, rng: np.random.Generator
    ) -> Points: ...


def by(maximise: Maximiser) -> Decision:
    """Where the criterion is largest."""

    def decide(now: Situation, rng: np.random.Generator) -> Points:
        return maximise(now.space, now.criterion, near=now.near, avoid=now.avoid, rng=rng)

    return decide


def trusting(decide: Decision, period: int) -> Decision:
    """``decide``, but every ``period``-th trial trusts the means of the model more than its deviations.

    A criterion that weighs what is unsure spends many trials on finding out, and a study that ends soon never
    reaps it; predictive deviations of small data are rough guesses besides. Going where the mean is low is
    as good or better in many comparisons (Rehbach et al. 2020, arXiv 2001.02957; De Ath et al. 2021, arXiv
    1911.12809), but on its own it gets stuck. So trials take turns. Some of the deviation still
    counts, because the mean alone is lowest beside a known point.
    """

    def with_trust(now: Situation, rng: np.random.Generator) -> Points:
        turn = now.number % period == period - 1
        return decide(replace(now, worth=partial(now.worth, share=TRUST)) if turn else now, rng)

    return with_trust


def joint_draw(now: Situation, rng: np.random.Generator) -> Points:
    """Thompson sampling: the minimum of one joint draw over random points and some around the best."""
    pool = Points.concat(
        [sample_points(now.space, THOMPSON_CANDIDATES, rng), around(now.space, now.near, 16, rng)]
    )
    pool = pool.take(Allowed(now.space, now.avoid).mask(pool))
    if not len(pool):
        return pool
    return pool.take(thompson(now.model.posteriors, pool, 1, rng))
