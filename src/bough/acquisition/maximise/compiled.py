"""The ascent of log expected improvement in the compiled core.

It takes the same steps as ``gradient.projected_bfgs``, with one call for the whole ascent. Only the most
common criterion is compiled: log EI under one Gaussian process with the covariance of ``auto``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bough.acquisition.criterion import Criterion, Expected
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
    if core is None or not isinstance(criterion, Expected) or len(criterion.posteriors) != 1:
        return None
    posterior = criterion.posteriors[0]
    if criterion.acquisition.score is not log_ei or not isinstance(posterior, GPPosterior):
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
            float(criterion.best[0]),
            criterion.acquisition.sd_share,
            0.0,  # no margin: the core can weight the boundary, which nothing asks for any more
        ),
        tuple(rules),
        (
            len(starts),
            box.own.shape[1],
            here.z,  # a fresh array, which the core overwrites
            here.on,
            kernel.diag(theta, starts)[0],
            np.zeros(len(starts)),
            np.where(box.free, kernel.core_order.place[box.own], -1).astype(np.intc),
            here.unit,
            *(np.ascontiguousarray(part) for part in (box.start, box.low, box.high)),
            found,
            value,
        ),
    )
    return found, value
