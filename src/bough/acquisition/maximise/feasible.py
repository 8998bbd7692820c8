"""Ascent inside the set of points that meet the relations between parameters.

The spectral projected gradient method (Birgin, Martínez & Raydan 2000): with P the projection onto the legal
set and s the step length of Barzilai & Borwein,

    d = P(x + s grad) - x,    x+ = x + t d    with t halved until the value rises enough.

Its fixed points are the stationary points of the criterion on the legal set, also on faces and corners, where
an ascent inside the box would stop short or leave the set. All starts move together.
"""

from __future__ import annotations

import numpy as np

from bough.acquisition.criterion import Criterion
from bough.points import BoolArray, FloatArray, Points
from bough.space import Space
from bough.space.projection import project

__all__ = ["feasible_ascent"]

STEPS = 30
HALVINGS = 8
FIRST_STEP = 0.2
"""Length of the first step along its longest coordinate."""

LONGEST_STEP = 100.0
GROWTH = 4.0
ARMIJO_SHARE = 1e-4
GAIN_TOLERANCE = 1e-5
"""An ascent ends with a step that gains less than this times 1 + |value|."""


def feasible_ascent(
    space: Space, criterion: Criterion, starts: Points, low: FloatArray, high: FloatArray, moving: BoolArray
) -> tuple[Points, FloatArray]:
    """Maximise from every start inside its box and the legal set: points reached, and their values.

    moving: (n, columns) which columns may move; the others keep their values.
    """
    rules, on = space.rules, starts.on
    x = project(rules, np.clip(starts.x, low, high), on, moving, low, high)
    x = np.where(moving, x, starts.x)
    value, slope = _evaluate(criterion, x, on, moving)
    length = FIRST_STEP / np.maximum(np.abs(slope).max(axis=1), 1e-12)
    alive = np.flatnonzero(np.isfinite(value) & slope.any(axis=1))
    for _ in range(STEPS):
        if not len(alive):
            break
        here = x[alive]
        aim = here + length[alive, None] * slope[alive]  # the projection needs it unclipped
        aim = np.where(moving[alive], aim, here)
        direction = project(rules, aim, on[alive], moving[alive], low[alive], high[alive]) - here
        promised = np.vecdot(slope[alive], direction)
        trial, trial_value, trial_slope, accepted = _line_search(
            criterion, here, value[alive], direction, promised, on[alive], moving[alive]
        )
        step, bend = trial - here, slope[alive] - trial_slope
        curvature, square = np.vecdot(step, bend), np.vecdot(step, step)
        # Without positive curvature the step may grow.
        spectral = np.divide(square, curvature, out=GROWTH * length[alive], where=curvature > 0)
        steepest = np.maximum(np.abs(trial_slope).max(axis=1), 1e-12)
        length[alive] = np.clip(spectral, 1e-6 / steepest, LONGEST_STEP / steepest)
        gained = trial_value - value[alive] > GAIN_TOLERANCE * (1.0 + np.abs(value[alive]))
        rows = alive[accepted]
        x[rows], value[rows], slope[rows] = trial[accepted], trial_value[accepted], trial_slope[accepted]
        alive = alive[accepted & gained]
    return Points(x, on), value


def _evaluate(
    criterion: Criterion, x: FloatArray, on: BoolArray, moving: BoolArray
) -> tuple[FloatArray, FloatArray]:
    value, slope = criterion.with_gradient(Points(x, on))
    return value, np.where(moving & np.isfinite(slope), slope, 0.0)


def _line_search(
    criterion: Criterion,
    here: FloatArray,
    value: FloatArray,
    direction: FloatArray,
    promised: FloatArray,
    on: BoolArray,
    moving: BoolArray,
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Positions, values and slopes after a step along ``direction``, and which rows found one that gains."""
    x, best, slope = here.copy(), value.copy(), np.zeros(here.shape)
    accepted = np.zeros(len(here), dtype=bool)
    left = np.flatnonzero(promised > 0)
    share = 1.0
    for _ in range(HALVINGS):
        if not len(left):
            break
        trial = here[left] + share * direction[left]
        trial_value, trial_slope = _evaluate(criterion, trial, on[left], moving[left])
        good = trial_value >= value[left] + ARMIJO_SHARE * share * promised[left]
        rows = left[good]
        x[rows], best[rows], slope[rows] = trial[good], trial_value[good], trial_slope[good]
        accepted[rows] = True
        left, share = left[~good], 0.5 * share if share > 0.1 else 0.2 * share
    return x, best, slope, accepted
