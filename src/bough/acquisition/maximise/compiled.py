"""Log expected improvement in the compiled core: its ascent, and the scores of exchanges.

An ascent takes the same steps as ``gradient.projected_bfgs``, with one call for all of them. Only the most
common criterion is compiled: log EI under one Gaussian process with the covariance of ``auto``. To the scores
of exchanges anything may be added.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Total
from bough.acquisition.functions import log_ei
from bough.acquisition.maximise.exchanges import Moves
from bough.gp.kernels.nested_core import core_points
from bough.gp.posterior import CompiledPosterior, GPPosterior
from bough.points import BoolArray, FloatArray, Points

__all__ = ["AscentRules", "compiled_ascent", "score_moves"]


class AscentRules(NamedTuple):
    """The constants of an ascent, in the order of ``rules_t`` in ``core/src/model.h``."""

    steps: int
    race: bool
    gain_tolerance: float
    step_tolerance: float
    first_step: float
    armijo_share: float
    race_margin: float


def compiled_ascent(
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
    moving: BoolArray,
    rules: AscentRules,
) -> tuple[Points, FloatArray] | None:
    """The points reached and their values (starts,); None for criteria that the core does not know.

    low, high: (starts, columns) box of each start.  moving: which of its columns may move.
    """
    if not isinstance(criterion, Expected) or (known := _improvement(criterion)) is None:
        return None
    compiled, posterior = known
    begin, value = core_points(starts), np.empty(len(starts))
    found = begin[1].copy()
    boxes = (np.ascontiguousarray(part) for part in (moving, low, high))
    compiled.core.climb(compiled.model, posterior, tuple(rules), begin, *boxes, found, value)
    return Points(found, starts.on), value


def score_moves(criterion: Criterion, moves: Moves) -> FloatArray:
    """The criterion (n,) of points that each differ from a base in at most one column."""
    improvement, *others = criterion.parts if isinstance(criterion, Total) else [criterion]
    if not isinstance(improvement, Expected) or (known := _improvement(improvement)) is None:
        return criterion(moves.points())
    compiled, posterior = known
    owner, column = moves.owner.astype(np.intc), moves.column.astype(np.intc)
    score = np.empty(len(owner))
    bases = core_points(moves.bases)
    compiled.core.score_moves(compiled.model, posterior, bases, len(owner), owner, column, moves.place, score)
    if others:
        points = moves.points()
        score = np.sum([score, *(other(points) for other in others)], axis=0)
    return score


def _improvement(criterion: Expected) -> tuple[CompiledPosterior, tuple[Any, ...]] | None:
    """The posterior as the core takes it, and its ``posterior_t``, if the core can compute the criterion."""
    posterior, acquisition = criterion.posteriors[0], criterion.acquisition
    if len(criterion.posteriors) != 1 or acquisition.score is not log_ei:
        return None
    if not isinstance(posterior, GPPosterior) or (compiled := posterior.compiled) is None:
        return None
    arrays = (compiled.root_transposed, compiled.alpha)
    return compiled, (*arrays, float(criterion.best[0]), acquisition.sd_share)
