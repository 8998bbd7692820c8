"""Log expected improvement in the compiled core: its ascent, and the scores of exchanges.

An ascent takes the same steps as ``gradient.projected_bfgs``, with one call for all of them. Only the most
common criterion is compiled: log EI under one Gaussian process with the covariance of ``auto``. To the scores
of exchanges anything may be added.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.acquisition.criterion import Criterion, Expected, Total
from bough.acquisition.functions import log_ei
from bough.acquisition.maximise.exchanges import Moves
from bough.gp.core import compiled_core
from bough.gp.kernels.nested import Nested
from bough.gp.kernels.nested_core import CompiledSide
from bough.gp.posterior import GPPosterior
from bough.gp.solvers import Dense
from bough.points import BoolArray, FloatArray, IntArray, Points

__all__ = ["AscentRules", "Box", "compiled_ascent", "score_moves"]


class AscentRules(NamedTuple):
    """The constants of an ascent, in the order of ``rules_t`` in ``core/src/model.h``."""

    steps: int
    race: bool
    gain_tolerance: float
    step_tolerance: float
    first_step: float
    armijo_share: float
    race_margin: float


class Box(NamedTuple):
    """The columns that each start moves, each array (starts, width).

    own: the columns.  free: which of them may really move.  start, low, high: their values and bounds.
    """

    own: IntArray
    free: BoolArray
    start: FloatArray
    low: FloatArray
    high: FloatArray


def compiled_ascent(
    criterion: Criterion, starts: Points, box: Box, rules: AscentRules
) -> tuple[FloatArray, FloatArray] | None:
    """Positions (starts, width) and values (starts,) reached; None for criteria that it does not know."""
    known = _compiled_model(criterion)
    if not isinstance(criterion, Expected) or known is None:
        return None
    core, posterior, kernel, solver = known
    theta = posterior.theta[:-1]
    here = CompiledSide(kernel, theta, starts)
    found, value = np.empty(box.start.shape), np.empty(len(starts))
    core.climb(
        posterior.compiled_data.model,
        (
            solver.root.T,
            posterior.alpha,
            float(criterion.best[0]),
            criterion.acquisition.sd_share,
        ),
        tuple(rules),
        (
            len(starts),
            box.own.shape[1],
            here.z,  # a fresh array, which the core overwrites
            here.on,
            kernel.diag(theta, starts)[0],
            np.where(box.free, kernel.core_order.place[box.own], -1).astype(np.intc),
            here.unit,
            *(np.ascontiguousarray(part) for part in (box.start, box.low, box.high)),
            found,
            value,
        ),
    )
    return found, value


def score_moves(criterion: Criterion, bases: Points, moves: Moves) -> FloatArray:
    """The criterion (n,) of points that each differ from a row of ``bases`` in at most one column."""
    improvement, *others = criterion.parts if isinstance(criterion, Total) else [criterion]
    known = _compiled_model(improvement)
    if not isinstance(improvement, Expected) or known is None or not len(moves.owner):
        return criterion(moves.points)
    core, posterior, kernel, solver = known
    side, theta, order = posterior.compiled_data, posterior.theta[:-1], kernel.core_order
    here = CompiledSide(kernel, theta, bases)
    changed = np.flatnonzero(moves.column >= 0)
    column = moves.column[changed]
    first, width = np.zeros(len(moves.owner), np.intc), np.zeros(len(moves.owner), np.intc)
    first[changed], width[changed] = order.first_place[column], order.width[column]
    values, start = _changed_features(side, moves.points.x[changed, column], column)
    starts, score = np.zeros(len(moves.owner), np.intc), np.empty(len(moves.owner))
    starts[changed] = start
    core.score_moves(
        side.model,
        (solver.root.T, posterior.alpha, float(improvement.best[0]), improvement.acquisition.sd_share),
        (
            len(bases),
            len(score),
            len(values),
            here.z,
            here.on,
            kernel.diag(theta, bases)[0],
            moves.owner.astype(np.intc),
            first,
            width,
            starts,
            values,
            score,
        ),
    )
    return np.asarray(np.sum([score, *(other(moves.points) for other in others)], axis=0))


def _changed_features(
    side: CompiledSide, x: FloatArray, column: IntArray
) -> tuple[FloatArray, NDArray[np.intc]]:
    """The features that the columns have at ``x`` (n,): an array of them, and where each entry begins."""
    layout, order = side.kernel.layout, side.kernel.core_order
    nominal, options = layout.nominal[column], side.option_features
    number = (x - 0.5) * side.unit[order.first_place[column]]
    rank = np.floor(x * layout.levels[column])
    at_option = options.first[column] + rank * layout.levels[column]
    return (
        np.concatenate([options.values, number]),
        np.where(nominal, at_option, len(options.values) + np.arange(len(x))).astype(np.intc),
    )


def _compiled_model(
    improvement: Criterion,
) -> tuple[ModuleType, GPPosterior, Nested, Dense] | None:
    """The core, the posterior, its kernel and its solver, if the core can compute the improvement."""
    core = compiled_core()
    if core is None or not isinstance(improvement, Expected) or len(improvement.posteriors) != 1:
        return None
    posterior = improvement.posteriors[0]
    if improvement.acquisition.score is not log_ei or not isinstance(posterior, GPPosterior):
        return None
    kernel, solver = posterior.model.kernel, posterior.solver
    if not isinstance(kernel, Nested) or not isinstance(solver, Dense):
        return None
    return core, posterior, kernel, solver
