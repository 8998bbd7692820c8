"""Flattening: how methods that know nothing about branches see a branching space.

Every column counts as active. Inactive columns get a random value, drawn once per trial from a generator
that is seeded by study seed and trial number. Users of a flat optimiser do the same when they ignore
parameters without effect. ``FlatModelBased`` wraps flattening around the surrogate of a model-based
strategy.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from bough.gp.posterior import Posterior
from bough.history import History
from bough.points import FloatArray, IntArray, Layout, Points
from bough.strategies import streams
from bough.strategies.context import ConditionedModel
from bough.strategies.model_based import ModelBased

__all__ = ["FlatModelBased", "FlatPosterior", "filling", "flat_history", "flat_layout", "flatten"]


def flat_layout(layout: Layout) -> Layout:
    """The same columns in one group that is always active."""
    columns = layout.columns
    return Layout(
        kinds=layout.kinds,
        levels=layout.levels,
        group=np.zeros(columns, dtype=np.intp),
        switch=np.zeros(columns, dtype=bool),
        groups=1,
    )


def flatten(points: Points, layout: Layout, numbers: IntArray, seed: int) -> Points:
    """All columns active; inactive ones of row i filled with the random numbers of trial ``numbers[i]``."""
    if len(points) == 0:
        return Points(points.x, np.ones((0, 1), dtype=bool))
    fill = np.stack([filling(layout, int(number), seed) for number in numbers])
    x = np.where(layout.active(points.on), points.x, fill)
    return Points(x, np.ones((len(x), 1), dtype=bool))


def flat_history(history: History, layout: Layout) -> History:
    """The history with finished and pending points flattened."""
    return replace(
        history,
        done=flatten(history.done, layout, history.done_numbers, history.seed),
        pending=flatten(history.pending, layout, history.pending_numbers, history.seed),
    )


def filling(layout: Layout, number: int, seed: int) -> FloatArray:
    """(columns,) the values of trial ``number`` for inactive columns, snapped to their levels."""
    rng = np.random.default_rng([seed, number, streams.FILL])
    uniform = rng.random(layout.columns)
    levels = np.maximum(layout.levels, 1)
    return np.where(layout.levels > 0, (np.floor(uniform * levels) + 0.5) / levels, uniform)


@dataclass(frozen=True, eq=False)
class FlatPosterior(Posterior):
    """Predicts branching points by a posterior over flattened ones. fill: (columns,) inactive values."""

    inner: Posterior
    layout: Layout
    fill: FloatArray

    def _flat(self, points: Points) -> Points:
        x = np.where(self.layout.active(points.on), points.x, self.fill)
        return Points(x, np.ones((len(x), 1), dtype=bool))

    def predict(self, points: Points) -> tuple[FloatArray, FloatArray]:
        return self.inner.predict(self._flat(points))

    def predict_grad(self, points: Points) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        mean, sd, mean_slope, sd_slope = self.inner.predict_grad(self._flat(points))
        active = self.layout.active(points.on)
        return mean, sd, np.where(active, mean_slope, 0.0), np.where(active, sd_slope, 0.0)

    def condition(self, points: Points, y: FloatArray) -> FlatPosterior:
        return FlatPosterior(self.inner.condition(self._flat(points), y), self.layout, self.fill)

    def sample(self, points: Points, n: int, rng: np.random.Generator) -> FloatArray:
        return self.inner.sample(self._flat(points), n, rng)

    @property
    def has_noise(self) -> bool:
        return self.inner.has_noise


@dataclass(frozen=True, eq=False)
class FlatModelBased(ModelBased):
    """A model-based strategy whose surrogate sees flattened points; the search still follows the branches.

    layout: the layout of the space.
    """

    layout: Layout = field(kw_only=True)

    @property
    def can_learn(self) -> bool:
        """Never: the random values of inactive columns depend on the study."""
        return False

    def model(self, history: History) -> ConditionedModel:
        known = super().model(flat_history(history, self.layout))
        fill = filling(self.layout, history.number, history.seed)
        return replace(known, posteriors=[FlatPosterior(p, self.layout, fill) for p in known.posteriors])
