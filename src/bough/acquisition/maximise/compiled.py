"""The ascent of log expected improvement in the compiled core.

It takes the same steps as ``gradient.projected_bfgs``, with one call for the whole ascent. Only the most
common criterion is compiled: log EI under one Gaussian process with the covariance of ``auto``, with or
without the boundary penalty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Total
from bough.acquisition.edges import MARGIN, BoundaryPenalty
from bough.acquisition.functions import log_ei
from bough.gp.core import compiled_core
from bough.gp.kernels.nested import Nested
from bough.gp.kernels.nested_core import CompiledSide
from bough.gp.posterior import GPPosterior
from bough.gp.solvers import Dense
from bough.points import BoolArray, FloatArray, IntArray, Points

__all__ = ["AscentRules", "Box", "compiled_ascent"]


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
    core = compiled_core()
    improvement, penalty = _parts(criterion)
    if core is None or improvement is None or len(improvement.posteriors) != 1:
        return None
    posterior = improvement.posteriors[0]
    if improvement.acquisition.score is not log_ei or not isinstance(posterior, GPPosterior):
        return None
    kernel, solver, theta = posterior.model.kernel, posterior.solver, posterior.theta[:-1]
    if not isinstance(kernel, Nested) or not isinstance(solver, Dense):
        return None
    here = CompiledSide(kernel, theta, starts)
    found, value = np.empty(box.start.shape), np.empty(len(starts))
    core.climb(
        posterior.compiled_data.model,
        (
            solver.root.T,
            posterior.alpha,
            float(improvement.best[0]),
            improvement.acquisition.sd_share,
            0.0 if penalty is None else MARGIN,
        ),
        tuple(rules),
        (
            len(starts),
            box.own.shape[1],
            here.z,  # a fresh array, which the core overwrites
            here.on,
            kernel.diag(theta, starts)[0],
            np.zeros(len(starts)) if penalty is None else penalty(_at_rest(starts, box)),
            np.where(box.free, kernel.core_order.place[box.own], -1).astype(np.intc),
            here.unit,
            *(np.ascontiguousarray(part) for part in (box.start, box.low, box.high)),
            found,
            value,
        ),
    )
    return found, value


def _parts(criterion: Criterion) -> tuple[Expected | None, BoundaryPenalty | None]:
    """The expected improvement and the penalty of a criterion that consists of nothing else."""
    if isinstance(criterion, Expected):
        return criterion, None
    if isinstance(criterion, Total) and len(criterion.parts) == 2:
        first, second = criterion.parts
        if isinstance(first, Expected) and isinstance(second, BoundaryPenalty):
            return first, second
    return None, None


def _at_rest(starts: Points, box: Box) -> Points:
    """The starts with the columns that move in the middle, where they have no penalty."""
    x = starts.x.copy()
    kept = np.take_along_axis(x, box.own, axis=1)
    np.put_along_axis(x, box.own, np.where(box.free, 0.5, kept), axis=1)
    return Points(x, starts.on)
