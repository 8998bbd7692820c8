"""Which configuration to use in the end, when observations are noisy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bough.errors import StudyError
from bough.points import FloatArray
from bough.trial import Config, Trial

if TYPE_CHECKING:
    from bough.study.running.runnable import RunnableStudy

__all__ = ["Recommendation", "is_noisy", "recommend", "recommended"]

INTERVAL_SDS = 1.96
"""Half-width of a 95 % interval of a normal distribution, in standard deviations."""


@dataclass(frozen=True)
class Recommendation:
    """The tried configuration with the best predicted value.

    mean, sd: the model's prediction, without the noise of a single evaluation.
    interval: the 95 % interval of this prediction. It and sd are NaN if nothing tells how uncertain it is.
    """

    trial: Trial
    mean: float
    sd: float
    interval: tuple[float, float]


def recommend(study: RunnableStudy) -> Recommendation:
    """The tried configuration with the best predicted mean; a lucky observation does not decide."""
    if len(study.goals.objectives) > 1:
        raise StudyError(f"study {study.name!r} has several objectives: choose from study.front")
    done = [trial for trial in study.current_trials if trial.feasible]
    if not done:
        raise StudyError(f"study {study.name!r} has no trial to recommend yet")
    return recommended(done, study.goals.sign, study.predict if study.has_model else None)


def recommended(
    done: Sequence[Trial],
    sign: float,
    predict: Callable[[Sequence[Config]], tuple[FloatArray, FloatArray]] | None,
) -> Recommendation:
    """The trial of ``done`` with the best predicted mean. sign: −1 if the study maximises.

    Without a model, it is the trial with the best value, and its reported noise is the standard deviation;
    NaN if none was reported.
    """
    values = np.array([trial.value for trial in done], dtype=float)
    noise = np.array([math.nan if trial.noise is None else trial.noise for trial in done])
    mean, sd = (values, noise) if predict is None else predict([trial.config for trial in done])
    best = int(np.argmin(sign * mean))
    centre, spread = float(mean[best]), float(sd[best])
    half = INTERVAL_SDS * spread
    return Recommendation(done[best], centre, spread, (centre - half, centre + half))


def is_noisy(trials: Iterable[Trial]) -> bool:
    """Whether a trial reported noise, or one configuration has two different values."""
    values: dict[str, float] = {}
    for trial in trials:
        if trial.value is None:
            continue
        if (trial.noise or 0.0) > 0 or values.setdefault(repr(trial.config), trial.value) != trial.value:
            return True
    return False
