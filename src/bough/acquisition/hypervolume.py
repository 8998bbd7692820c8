"""Several objectives: fronts, their hypervolume, and its expected improvement in closed form.

Everything minimises. A point dominates another if it is no worse in every objective and better in one. The
*front* of a set holds the points that no other dominates. Its hypervolume is the volume that it dominates
below a reference point r. A new outcome f improves it by the volume that f alone dominates.

The region below r that no point of the front dominates is cut into disjoint boxes (l_k, u_k]. An outcome f
improves the hypervolume by sum_k prod_j (u_kj - max(f_j, l_kj))+, and for independent Gaussian objectives
(Yang et al. 2019, J. Global Optim. 75; Daulton et al. 2020, arXiv 2006.05078, eq. 1)

    EHVI = sum_k prod_j [EI_j(u_kj) - EI_j(l_kj)],        EI_j(b) = E (b - f_j)+,   EI_j(-inf) = 0.

It is computed in logarithms, from ``log_ei``, as Ament et al. 2023 (arXiv 2310.20708) do for one objective:
far from the front the improvement underflows, but its logarithm still has a slope to climb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.acquisition.criterion import CompiledCriterion, Moments
from bough.acquisition.functions import log_ei, log_sum_exp
from bough.gp.core import compiled_core
from bough.points import BoolArray, FloatArray, IntArray, Points

if TYPE_CHECKING:
    from bough.gp.posterior import Posterior

__all__ = [
    "Boxes",
    "ExpectedHypervolumeImprovement",
    "free_boxes",
    "hypervolume",
    "inferred_reference",
    "non_dominated",
    "spread_out",
]

REFERENCE_MARGIN = 0.1
"""Share of the front's range by which the reference lies behind its worst values (Ishibuchi et al. 2011)."""

BLOCK_ROWS = 256
"""Rows that are compared with each other at once."""

LEAST_LOG_GAP = -1e-15
"""log EI(l) - log EI(u) of a box so thin that rounding makes the two equal."""


def non_dominated(values: FloatArray) -> BoolArray:
    """(n,) which rows of ``values`` (n, m) no other row dominates; of equal rows the first one."""
    # Lexicographically, a row comes after all rows that dominate it, and equal rows keep their order.
    order = np.lexsort(values.T[::-1]) if len(values) else np.empty(0, dtype=np.intp)
    keep = np.zeros(len(values), dtype=bool)
    if values.shape[1] == 2:  # no row before it is worse in the first objective, so the second decides
        second = values[order, 1]
        keep[order[:1]] = True
        keep[order[1:]] = second[1:] < np.minimum.accumulate(second)[:-1]
        return keep
    front = np.empty((0, values.shape[1]))
    for start in range(0, len(values), BLOCK_ROWS):
        rows = order[start : start + BLOCK_ROWS]
        block = values[rows]
        earlier = np.tri(len(rows), k=-1, dtype=bool)
        beaten = np.any(_no_worse(block, block) & earlier, axis=1) | np.any(_no_worse(front, block), axis=1)
        front = np.concatenate([front, block[~beaten]])
        keep[rows[~beaten]] = True
    return keep


def _no_worse(rows: FloatArray, than: FloatArray) -> BoolArray:
    """(than, rows) whether each row is at most as large everywhere."""
    return np.asarray(np.all(rows[None] <= than[:, None], axis=2))


@dataclass(frozen=True, eq=False)
class Boxes:
    """Disjoint boxes, low < high, each (boxes, objectives); a low bound may be -inf."""

    low: FloatArray
    high: FloatArray

    @cached_property
    def bounds(self) -> list[tuple[FloatArray, IntArray, IntArray]]:
        """For each objective: the distinct finite bounds, and the indices of each box's bounds (-1 for -inf).

        Neighbouring boxes share bounds, so a function of them is computed once for each.
        """
        found = []
        for low, high in zip(self.low.T, self.high.T, strict=True):
            finite = np.isfinite(low)
            values, number = np.unique(np.concatenate([high, low[finite]]), return_inverse=True)
            lower = np.full(len(low), -1)
            lower[finite] = number[len(high) :]
            found.append((values, lower, number[: len(high)]))
        return found

    @cached_property
    def compiled(self) -> tuple[Any, ...]:
        """The boxes in the form of ``boxes_t`` in ``core/src/model.h``."""
        values, lower, upper = zip(*self.bounds, strict=True)
        first = np.cumsum([0, *map(len, values)], dtype=np.intc)
        low = np.stack([np.where(own >= 0, own + begin, -1) for own, begin in zip(lower, first)])
        high = np.stack([own + begin for own, begin in zip(upper, first)])
        bounds = (first, np.concatenate(values), low.astype(np.intc), high.astype(np.intc))
        return len(values), len(self.low), *bounds


def free_boxes(front: FloatArray, reference: FloatArray) -> Boxes:
    """The region below ``reference`` that no row of ``front`` (n, m) dominates, cut into disjoint boxes.

    Sweep the last objective upwards. Between two consecutive values of it, only the points below can
    dominate, so the cut of the region is the same problem with one objective less. Boxes of a cut that
    survive from one slab to the next are joined: two objectives give n + 1 strips, three O(n) boxes.
    """
    inside = front[np.all(front < reference, axis=1)]
    found = _boxes(inside[non_dominated(inside)], reference)
    shape = (len(found), len(reference))
    low, high = (np.array([box[side] for box in found], dtype=float).reshape(shape) for side in (0, 1))
    return Boxes(low, high)


def spread_out(front: FloatArray, most: int) -> FloatArray:
    """At most ``most`` rows of a front: the best in each objective, then always the row farthest from these.

    Distances are in units of the front's range. Near rows that are left out, an outcome seems to improve the
    front a little more than it does.
    """
    if len(front) <= most:
        return front
    extent = np.ptp(front, axis=0)
    scaled = (front - front.min(axis=0)) / np.where(extent > 0, extent, 1.0)
    chosen = list(dict.fromkeys(front.argmin(axis=0).tolist()))[:most]
    distance = np.min(np.linalg.norm(scaled[:, None] - scaled[None, chosen], axis=2), axis=1)
    while len(chosen) < most:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(scaled - scaled[chosen[-1]], axis=1))
    return np.asarray(front[np.sort(chosen)])


_Box = tuple[tuple[float, ...], tuple[float, ...]]


def _boxes(front: FloatArray, reference: FloatArray) -> list[_Box]:
    last = len(reference) - 1
    if last == 0:
        high = min([*front[:, 0], reference[0]])
        return [((-np.inf,), (float(high),))]
    front = front[np.argsort(front[:, last], kind="stable")]
    levels = [-np.inf, *front[:, last].tolist(), float(reference[last])]
    if last == 1:  # as the second objective rises, the first one falls: strips
        ends = [float(reference[0]), *front[:, 0].tolist()]
        return sorted(((-np.inf, low), (end, high)) for end, low, high in zip(ends, levels, levels[1:]))
    open_since: dict[_Box, float] = {}
    done: list[_Box] = []
    for i in range(len(front) + 1):
        bottom, top = float(levels[i]), float(levels[i + 1])
        if bottom == top:
            continue
        below = front[:i, :last]
        cut = set(_boxes(below[non_dominated(below)], reference[:last]))
        ended = [box for box in open_since if box not in cut]
        done += [_extend(box, open_since.pop(box), bottom) for box in ended]
        for box in cut:
            open_since.setdefault(box, bottom)
    done += [_extend(box, since, float(reference[last])) for box, since in open_since.items()]
    return sorted(done)


def _extend(box: _Box, bottom: float, top: float) -> _Box:
    return (*box[0], bottom), (*box[1], top)


def hypervolume(front: FloatArray, reference: FloatArray) -> float:
    """The volume that the rows of ``front`` (n, m) dominate below ``reference`` (m,)."""
    inside = front[np.all(front < reference, axis=1)]
    if not len(inside):
        return 0.0
    ideal = inside.min(axis=0)
    free = free_boxes(inside, reference)
    low, high = np.maximum(free.low, ideal), np.maximum(free.high, ideal)
    return float(np.prod(reference - ideal) - np.sum(np.prod(high - low, axis=1)))


def inferred_reference(values: FloatArray) -> FloatArray:
    """A reference point from observations (n, m): a tenth of the front's range behind its worst values.

    A front of one point, or one that is constant in an objective, takes the range of all observations there;
    a constant objective takes 1. Shifting or scaling an objective moves the reference with it.
    """
    front = values[non_dominated(values)]
    extent = np.ptp(front, axis=0)
    extent = np.where(extent > 0, extent, np.ptp(values, axis=0))
    extent = np.where(extent > 0, extent, 1.0)
    return np.asarray(front.max(axis=0) + REFERENCE_MARGIN * extent)


@dataclass(frozen=True, eq=False)
class ExpectedHypervolumeImprovement:
    """Log expected hypervolume improvement.

    posteriors: one per objective. boxes: where an outcome would improve the front.
    sd_share: factor of the predictive standard deviations; less than 1 exploits more.
    """

    posteriors: Sequence[Posterior]
    boxes: Boxes
    sd_share: float = 1.0

    def __call__(self, points: Points) -> FloatArray:
        return self.from_moments(lambda posterior: posterior.predict(points))

    def from_moments(self, moments: Moments) -> FloatArray:
        mean, sd = (np.stack(part, axis=1) for part in zip(*map(moments, self.posteriors), strict=True))
        return log_ehvi(mean, self.sd_share * sd, self.boxes)[0]

    def with_gradient(self, points: Points) -> tuple[FloatArray, FloatArray]:
        predicted = [posterior.predict_pull(points) for posterior in self.posteriors]
        means, sds, pulls = zip(*predicted, strict=True)
        mean, sd = np.stack(means, axis=1), np.stack(sds, axis=1)
        value, by_mean, by_sd = log_ehvi(mean, self.sd_share * sd, self.boxes)
        parts = zip(pulls, by_mean.T, self.sd_share * by_sd.T, strict=True)
        return value, np.sum([pull(of_mean, of_sd) for pull, of_mean, of_sd in parts], axis=0)

    @property
    def compiled(self) -> CompiledCriterion | None:
        known = [posterior.compiled for posterior in self.posteriors]
        gains = tuple(each.member(sd_share=self.sd_share) for each in known if each is not None)
        if len(gains) < len(known):
            return None
        return CompiledCriterion(gains, boxes=(self.boxes.compiled,))


def log_ehvi(mean: FloatArray, sd: FloatArray, boxes: Boxes) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log EHVI (n,) for independent Gaussians of ``mean`` and ``sd`` (n, m), and its slopes by both.

    With a = d log EI / d mean and rho = EI(l) / EI(u):
    d log(EI(u) - EI(l)) / d mean = (a_u - rho a_l) / (1 - rho), and the same for sd.
    """
    count, objectives = mean.shape
    if (core := compiled_core()) is not None:
        found = np.empty(count * (1 + 2 * objectives))
        core.log_ehvi(boxes.compiled, count, np.ascontiguousarray(mean), np.ascontiguousarray(sd), found)
        by_mean, by_sd = found[count:].reshape(2, count, objectives)
        return found[:count], by_mean, by_sd
    log_parts = np.empty((objectives, len(boxes.low), count))
    mean_parts, sd_parts = np.empty_like(log_parts), np.empty_like(log_parts)
    for j in range(objectives):
        bounds, low, high = boxes.bounds[j]
        at_bounds = log_ei(mean[:, j], sd[:, j], bounds[:, None])
        log_parts[j], mean_parts[j], sd_parts[j] = _log_ei_between(at_bounds, low, high)
    total = log_parts.sum(axis=0)
    value = log_sum_exp(total)
    share = np.exp(total - value)
    return (
        value,
        np.einsum("kn,jkn->nj", share, mean_parts),
        np.einsum("kn,jkn->nj", share, sd_parts),
    )


def _log_ei_between(
    at_bounds: tuple[FloatArray, FloatArray, FloatArray], low: IntArray, high: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log(EI(high) - EI(low)), (boxes, n), and its slopes by mean and sd.

    at_bounds: log EI over each bound, (bounds, n), and its slopes. low, high: the bounds of each box,
    -1 for a box without a lower one.
    """
    upper, upper_mean, upper_sd = (part[high] for part in at_bounds)
    lower, lower_mean, lower_sd = (part[low] for part in at_bounds)
    gap = np.where(low[:, None] >= 0, np.minimum(lower - upper, LEAST_LOG_GAP), -np.inf)
    rho = np.exp(gap)
    rest = -np.expm1(gap)
    return (
        upper + np.log(rest),
        (upper_mean - rho * lower_mean) / rest,
        (upper_sd - rho * lower_sd) / rest,
    )
