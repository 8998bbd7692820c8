"""The parts of a search that the compiled core does: ascents of common criteria, exchanges, both in turn.

One call takes all steps of ``gradient.projected_bfgs`` or of ``alternate.alternate_search``. Compiled are log
EI of one objective or of a hypervolume, log probabilities that limits are met, and the price of cost, under
Gaussian processes with the covariance of ``auto``. Others climb in NumPy, on predictions and gradients from
the core.
"""

from __future__ import annotations

import functools
from dataclasses import astuple
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from bough.acquisition.criterion import Criterion, Expected, Total, score
from bough.acquisition.functions import log_ei, log_pi
from bough.acquisition.hypervolume import ExpectedHypervolumeImprovement
from bough.acquisition.maximise.exchanges import Moves, options
from bough.acquisition.price import Price
from bough.gp.core import compiled_core
from bough.gp.kernels.nested import core_points
from bough.gp.posterior import GPPosterior, Posterior
from bough.points import BoolArray, FloatArray, Layout, Points
from bough.space import Space
from bough.space.grids import Grids

__all__ = ["AscentRules", "compiled_ascent", "compiled_search", "score_moves"]


MAX_MEMBERS = 8
"""Posteriors of a criterion that the core takes at most."""

KNOWN_SCORES = (log_ei, log_pi)


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
    if (compiled := _compiled(criterion)) is None:
        return None
    core, members = compiled
    begin, value = core_points(starts), np.empty(len(starts))
    found = begin[1].copy()
    boxes = (np.ascontiguousarray(part) for part in (moving, low, high))
    core.climb(members, tuple(rules), begin, *boxes, found, value)
    return Points(found, starts.on), value


def compiled_search(
    space: Space,
    criterion: Criterion,
    starts: Points,
    low: FloatArray,
    high: FloatArray,
    columns: tuple[BoolArray, BoolArray, BoolArray],
    rules: AscentRules,
    rounds: int,
    margin: float,
) -> tuple[Points, FloatArray] | None:
    """``alternate_search`` in a space without relations and clauses; None if the core cannot do it.

    columns: (starts, columns) which are real, loose and discrete, as of ``search_t`` in ``core/src/model.h``.
    """
    if space.require or space.forbid or (compiled := _compiled(criterion)) is None:
        return None
    core, members = compiled
    begin, value = core_points(starts), np.empty(len(starts))
    found = begin[1].copy()
    boxes = (np.ascontiguousarray(part) for part in (*columns, low, high))
    grids = _core_grids(space.layout, space.rules.grids)
    core.search(members, tuple(rules), grids, rounds, margin, begin, *boxes, found, value)
    return Points(found, starts.on), value


@functools.lru_cache(maxsize=16)
def _core_grids(layout: Layout, grids: Grids) -> tuple[Any, ...]:
    """The arguments of ``read_grids`` in ``core/src/read.h``; its options do without the one that stays."""
    table = options(layout)
    tried = table.column[1:].astype(np.intc), table.rank[1:].copy(), table.relative[1:].copy()
    return (len(tried[0]), grids.levels, *grids.log_scales, *tried)


def score_moves(criterion: Criterion, moves: Moves) -> FloatArray:
    """The criterion (n,) of points that each differ from a base in at most one column."""
    points = functools.cache(moves.points)
    bases, owner, column = core_points(moves.bases), moves.owner.astype(np.intc), moves.column.astype(np.intc)

    def moments(posterior: Posterior) -> tuple[FloatArray, FloatArray]:
        if not isinstance(posterior, GPPosterior) or (compiled := posterior.compiled) is None:
            return posterior.predict(points())
        mean, sd = np.empty(len(owner)), np.empty(len(owner))
        core, model, *arrays = compiled
        core.predict_moves(
            model, (*arrays, 0.0, 1.0), bases, len(owner), owner, column, moves.place, mean, sd
        )
        return mean, sd

    return score(criterion, points, moments)


def _compiled(criterion: Criterion) -> tuple[ModuleType, tuple[Any, ...]] | None:
    """The core, and the criterion as ``read_criterion`` in ``core/src/read.h`` takes it, if it knows it."""
    core = compiled_core()
    parts = criterion.parts if isinstance(criterion, Total) else [criterion]
    gains, limits, prices = (
        [part for part in parts if _role(part) == role] for role in ("gain", "limit", "price")
    )
    if core is None or len(gains) > 1 or (prices and not hasattr(core, "PRICES")):
        return None
    members, boxes = [], None
    for part in [*gains, *limits, *prices]:
        if isinstance(part, ExpectedHypervolumeImprovement) and len(part.members) == 1:
            own = [_member(posterior, 0.0, part.sd_share) for posterior in part.members[0]]
            boxes = part.boxes[0].compiled
        elif (
            isinstance(part, Expected)
            and len(part.posteriors) == 1
            and (part.acquisition.score in KNOWN_SCORES or isinstance(part.acquisition.score, Price))
        ):
            own = [_member(part.posteriors[0], part.best[0], part.acquisition.sd_share)]
        else:
            return None
        members += own
    known = tuple(member for member in members if member is not None)
    if len(known) < len(members) or len(known) > MAX_MEMBERS:
        return None
    objectives = len(known) - len(limits) - len(prices)
    scores = [part.acquisition.score for part in prices if isinstance(part, Expected)]
    price = [astuple(score) for score in scores if isinstance(score, Price)]
    return core, (objectives, known, boxes, *price)


def _role(part: Criterion) -> str:
    if not isinstance(part, Expected):
        return "gain"
    score = part.acquisition.score
    return "limit" if score is log_pi else "price" if isinstance(score, Price) else "gain"


def _member(posterior: Posterior, best: float, sd_share: float) -> tuple[Any, ...] | None:
    """A posterior as the core takes it, with its ``posterior_t``."""
    if not isinstance(posterior, GPPosterior) or (compiled := posterior.compiled) is None:
        return None
    return compiled.model, (compiled.root_transposed, compiled.alpha, float(best), sd_share)
