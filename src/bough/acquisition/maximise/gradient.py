"""Gradient ascent from many starts at once: projected BFGS in lock-step, one batched evaluation per step.

Every start has its own box, inverse Hessian and step length. A few array operations move all of them, so the
cost of a step hardly depends on their number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bough.acquisition.criterion import CompiledCriterion, Criterion
from bough.gp.core import compiled_core
from bough.gp.kernels.nested import core_points
from bough.points import BoolArray, FloatArray, IntArray, Points

__all__ = ["RULES", "AscentRules", "compiled_ascent", "gradient_ascent", "projected_bfgs"]

Objective = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]
"""(rows (k,) of the starts still moving, their positions (k, d)) -> (values (k,), gradients (k, d))."""


class AscentRules(NamedTuple):
    """The constants of an ascent, in the order of ``rules_t`` in ``core/src/model.h``."""

    steps: int = 25

    race: bool = True
    """Whether to drop starts that will not come near the best one."""

    gain_tolerance: float = 1e-4
    """An ascent ends with a step that gains less than this times 1 + |value|. Log EI falls by half a unit
    over the width of its peak, so a ten-thousandth corresponds to a hundredth of the width."""

    step_tolerance: float = 1e-9
    """A rejected step shorter than this, along every coordinate, ends an ascent."""

    first_step: float = 0.1
    """Longest first step along any coordinate of the unit cube, before the curvature is known."""

    armijo_share: float = 1e-4
    """Share of the gain predicted by the gradient that a step must deliver to be accepted."""

    race_margin: float = 5.0
    """In a race, a start is dropped if this many times its predicted gain would not make it the best."""


RULES = AscentRules()

SMALLEST_SQUARE = float(np.finfo(float).tiny)
"""Smaller squares have lost digits to underflow."""


def gradient_ascent(
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
    moving: BoolArray,
) -> tuple[Points, FloatArray]:
    """Maximise ``criterion`` from every start: the points reached and their values.

    low, high: (n, columns) box of each start.  moving: which of its columns may move (real, active ones).
    """
    width = int(moving.sum(axis=1).max(initial=0))
    if not width:
        return starts, criterion(starts)
    if (reached := compiled_ascent(criterion, starts, low, high, moving)) is not None:
        return reached
    # A branch has few of all the columns, so each start moves only in its own. A start with fewer columns
    # than others is padded with columns that do not move: their box has no width.
    own = np.argsort(~moving, axis=1, kind="stable")[:, :width]
    free = np.take_along_axis(moving, own, axis=1)
    place = np.where(free, np.take_along_axis(starts.x, own, axis=1), 0.5)  # inactive values are arbitrary
    bottom = np.where(free, np.take_along_axis(low, own, axis=1), place)
    top = np.where(free, np.take_along_axis(high, own, axis=1), place)

    def put(rows: IntArray, x: FloatArray) -> Points:
        full = starts.x[rows]
        kept = np.take_along_axis(full, own[rows], axis=1)
        np.put_along_axis(full, own[rows], np.where(free[rows], x, kept), axis=1)
        return Points(full, starts.on[rows])

    def objective(rows: IntArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, slope = criterion.with_gradient(put(rows, x))
        return value, np.take_along_axis(slope, own[rows], axis=1)

    x, value = projected_bfgs(objective, place, bottom, top)
    return put(np.arange(len(starts)), x), value


def compiled_ascent(
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
    moving: BoolArray,
) -> tuple[Points, FloatArray] | None:
    """All steps of ``projected_bfgs`` in one call; None for criteria that the core does not know.

    low, high: (starts, columns) box of each start.  moving: which of its columns may move.
    """
    core, members = compiled_core(), CompiledCriterion.of(criterion)
    if core is None or members is None:
        return None
    begin, value = core_points(starts), np.empty(len(starts))
    found = begin[1].copy()
    boxes = (np.ascontiguousarray(part) for part in (moving, low, high))
    core.climb(members, tuple(RULES), begin, *boxes, found, value)
    return Points(found, starts.on), value


def projected_bfgs(
    objective: Objective,
    start: FloatArray,
    low: FloatArray,
    high: FloatArray,
    rules: AscentRules = RULES,
) -> tuple[FloatArray, FloatArray]:
    """Maximise from each row of ``start`` (n, d) inside its box: positions (n, d) and values (n,).

    Two-metric projection (Bertsekas 1982): the quasi-Newton direction leaves out coordinates that the
    gradient holds at a bound, and the step is projected back onto the box. The inverse Hessian is dense: a
    branch has few real columns, and for those it is smaller and faster than the two-loop recursion of
    L-BFGS. A rejected step is shortened at the next evaluation; a start that no longer gains drops out of
    the batch.

    A race also drops a start whose quadratic model predicts that it will not come near the best one: the
    batch takes as long as its slowest member, which should not be one that cannot win.
    """
    x: FloatArray = np.clip(start, low, high)
    rows: IntArray = np.arange(len(x))
    value, slope = objective(rows, x)
    found, found_value = x.copy(), value.copy()
    inverse = np.zeros((*x.shape, x.shape[1]))
    known = np.zeros(len(x), dtype=bool)
    length = np.ones(len(x))
    held, direction = _aim(x, slope, low, high, inverse, known, rules.first_step)
    alive = np.isfinite(value) & direction.any(axis=1)
    for _ in range(rules.steps):
        if not alive.all():
            rows, known, held = rows[alive], known[alive], held[alive]
            x, value, slope, low, high, inverse, length, direction = (
                state[alive] for state in (x, value, slope, low, high, inverse, length, direction)
            )
            if not len(rows):
                break
        trial = np.minimum(np.maximum(x + length[:, None] * direction, low), high)
        step = trial - x
        promised = np.vecdot(slope, step)
        trial_value, trial_slope = objective(rows, trial)
        gain = trial_value - value
        # NaN is a rejected step, and so is a loss along a projected direction.
        accepted = gain >= rules.armijo_share * np.abs(promised)
        took = accepted[:, None]

        bend = np.where(took & ~held, slope - trial_slope, 0.0)
        inverse, known = _learn(inverse, known, np.where(took, step, 0.0), bend)
        x, value = np.where(took, trial, x), np.where(accepted, trial_value, value)
        slope = np.where(took, trial_slope, slope)
        # After a rejected step nothing has changed, so the direction stays the same.
        held, direction = _aim(x, slope, low, high, inverse, known, rules.first_step)
        length = np.where(accepted, 1.0, length * _shorten(promised, gain))
        found[rows], found_value[rows] = x, value

        gained = gain > rules.gain_tolerance * (1.0 + np.abs(value))
        moved = np.abs(step).max(axis=1) > rules.step_tolerance
        alive = np.where(accepted, gained, moved) & direction.any(axis=1)
        if rules.race:
            # The quadratic model predicts a gain of half the slope along its own step.
            reach = rules.race_margin * 0.5 * np.vecdot(slope, direction)
            alive &= ~known | (value + reach >= found_value[np.isfinite(found_value)].max())
    return found, found_value


def _aim(
    x: FloatArray,
    slope: FloatArray,
    low: FloatArray,
    high: FloatArray,
    inverse: FloatArray,
    known: BoolArray,
    first_step: float,
) -> tuple[BoolArray, FloatArray]:
    """Which coordinates (n, d) a bound holds, and the direction (n, d) of the others; 0 if converged."""
    held = ((x <= low) & (slope <= 0.0)) | ((x >= high) & (slope >= 0.0)) | ~np.isfinite(slope)
    uphill = np.where(held, 0.0, slope)
    direction = np.where(held, 0.0, (inverse @ uphill[:, :, None])[:, :, 0])
    blind = ~known | (np.vecdot(direction, uphill) <= 0.0)
    if blind.any():
        steepest = np.abs(uphill).max(axis=1, keepdims=True)
        direction = np.where(blind[:, None], uphill * (first_step / np.maximum(steepest, 1e-300)), direction)
    return held, direction


def _learn(
    inverse: FloatArray, known: BoolArray, step: FloatArray, bend: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """BFGS update of the inverse Hessians (n, d, d) of the negated objective (Nocedal & Wright, eq. 6.17).

    H+ = (I - rho s y') H (I - rho y s') + rho s s' = H + s a' + a s' with rho = 1 / s'y and
    a = rho (1 + rho y'Hy) s / 2 - rho H y; s is the step, y (``bend``) the change of the negated gradient.
    Coordinates held at a bound have neither step nor bend, so the update sees the curvature of the face on
    which the start moves. The first pair also sets the scale (eq. 6.20). A pair without positive curvature,
    or with a bend too small to be squared, is skipped (rho = 0).
    """
    curvature = np.vecdot(step, bend)
    bend2 = np.vecdot(bend, bend)
    usable = (curvature > 1e-10 * np.sqrt(np.vecdot(step, step) * bend2)) & (bend2 >= SMALLEST_SQUARE)
    if (first := usable & ~known).any():
        inverse = inverse.copy()
        inverse[first] = (curvature[first] / bend2[first])[:, None, None] * np.eye(step.shape[1])
    rho = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=usable)[:, None]
    moved = (inverse @ bend[:, :, None])[:, :, 0]
    a = 0.5 * rho * (1.0 + rho * np.vecdot(bend, moved)[:, None]) * step - rho * moved
    half = step[:, :, None] * a[:, None, :]
    return inverse + half + half.swapaxes(1, 2), known | usable


def _shorten(promised: FloatArray, gain: FloatArray) -> FloatArray:
    """(n,) factor to the top of the parabola through value, slope and trial value, within [0.1, 0.5]."""
    drop = promised - gain
    usable = np.isfinite(drop) & (drop != 0.0)
    top = np.divide(0.5 * promised, drop, out=np.full_like(gain, 0.1), where=usable)
    return np.minimum(np.maximum(top, 0.1), 0.5)
