"""The protocol that every method follows, and helpers that several of them share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bough.errors import ExhaustedError, MethodError
from bough.history import SAME_POSITION, History
from bough.points import BoolArray, FloatArray, IntArray, Points, row_hashes, row_keys
from bough.space import Space

__all__ = [
    "PAPER_WORKING_SET_SIZE",
    "WORKING_SET_SIZE",
    "Explains",
    "ForeseesGain",
    "Predicts",
    "RemainingGain",
    "SameReason",
    "Strategy",
    "check_exhausted",
    "check_proposal",
    "finished_in_order",
    "first_untried",
    "lowest_rows",
    "noise_seen",
    "points_to_avoid",
    "same_point",
    "tried_points",
    "tried_with_numbers",
    "unseen",
]

WORKING_SET_SIZE = 256
"""Largest number of observations that a Gaussian process sees; the option ``working_set`` changes it."""

PAPER_WORKING_SET_SIZE = 2000
"""The same for the papers' methods, which condition on all observations; at this size a fit takes seconds."""


@runtime_checkable
class Strategy(Protocol):
    """Proposes trials. A proposal is a function of its arguments; caches must not change it."""

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        """The next point, as Points of one row. Raises ExhaustedError when a finite space is used up."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A strategy that can say why it proposed a point."""

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        """JSON-able, with at least a "reason". ``rng`` is in the state that ``propose`` was given."""
        ...


class SameReason:
    """A base of strategies that propose every point for the same ``reason``."""

    reason: ClassVar[str]

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        return {"reason": self.reason}


@runtime_checkable
class Predicts(Protocol):
    """A strategy with a model of the objective."""

    def predict(self, history: History, points: Points) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (n,) of the objective at points; at least one trial is done."""
        ...


@dataclass(frozen=True)
class RemainingGain:
    """The gain that is left, in units of the objective.

    expected: the expected improvement of the best candidate, as far as one trial can show it. possible: an
    upper bound (about 95 % confidence) on how much better the optimum is than the best tried point. settled:
    whether nothing is left to gain.
    """

    expected: float
    possible: float
    settled: bool


@runtime_checkable
class ForeseesGain(Protocol):
    """A strategy that can say what is left to gain."""

    def remaining_gain(self, space: Space, history: History, rng: np.random.Generator) -> RemainingGain:
        """At least one trial is done, and none is running."""
        ...


def tried_points(history: History) -> Points:
    """All points so far: finished, failed, pending and given up. With a fidelity, each at the highest one."""
    done = history.done if history.fidelity is None else history.done.take(~history.is_lower)
    return Points.concat([done, history.failed, history.pending, history.given_up])


def tried_with_numbers(history: History) -> tuple[Points, IntArray]:
    """All points proposed so far, each at its own fidelity, and the numbers of their trials."""
    numbers = [history.done_numbers, history.failed_numbers, history.pending_numbers]
    if history.given_up_numbers is not None:
        numbers.append(history.given_up_numbers)
    return (
        Points.concat([history.done, history.failed, history.pending, history.given_up]),
        np.concatenate(numbers),
    )


def points_to_avoid(history: History, repeat: bool) -> Points:
    """The points that a method must not propose. repeat: whether it may repeat trials that are finished."""
    return Points.concat([history.pending, history.given_up]) if repeat else tried_points(history)


def noise_seen(space: Space, history: History) -> bool:
    """Whether observations are known to be noisy: noise was reported, or one point has two values.

    An estimated noise level is not evidence: ties and plateaus also look like noise, although repeating
    the trial returns the same value.
    """
    done, y, noise = history.done, history.y, history.noise
    if history.stopped is not None:  # a prediction is uncertain, which says nothing about the objective
        told = ~history.stopped
        done, y, noise = done.take(told), y[told], noise[told]
    if np.any(noise > 0):
        return True
    # If a point has two values, there are more different (point, value) pairs than points. Counting them is
    # faster than comparing rows, and np.sort takes a quarter of the time of np.unique.
    hashes = row_hashes(space.layout, done)
    bits: NDArray[np.uint64] = np.ascontiguousarray(y).view(np.uint64)
    pairs = hashes.copy()
    pairs += (bits ^ bits >> np.uint64(32)) * np.uint64(0x9E3779B97F4A7C15)
    by_pair, by_hash = np.sort(pairs), np.sort(hashes)
    if np.count_nonzero(by_pair[1:] != by_pair[:-1]) == np.count_nonzero(by_hash[1:] != by_hash[:-1]):
        return False
    order = np.argsort(hashes, kind="stable")
    ordered, values = hashes[order], y[order]
    differ = np.flatnonzero((ordered[1:] == ordered[:-1]) & (values[1:] != values[:-1]))
    if not len(differ):
        return False
    suspects = np.flatnonzero(np.isin(hashes, ordered[differ]))
    first: dict[bytes, float] = {}
    keys = row_keys(space.layout, done.take(suspects))
    return any(first.setdefault(key, value) != value for key, value in zip(keys, y[suspects]))


def lowest_rows(y: FloatArray | IntArray, count: int) -> IntArray:
    """The rows of the ``count`` smallest values, smallest first; in ties, earlier rows first."""
    rows = np.arange(len(y))
    if 0 < count < len(y):
        rows = np.flatnonzero(y <= np.partition(y, count - 1)[count - 1])
    return rows[np.argsort(y[rows], kind="stable")][:count]


def check_exhausted(space: Space, history: History) -> None:
    """Raise ExhaustedError if every configuration of a finite space has been proposed."""
    tried = tried_points(history)
    if space.size > len(tried):
        return
    if space.forbid or space.require:  # results of an earlier space may be forbidden now
        tried = tried.take(space.legal(tried))
    if len(set(row_keys(space.layout, tried))) >= space.size:
        raise ExhaustedError(f"all {space.size:,} configurations of the space have been tried")


def unseen(space: Space, points: Points, seen: set[bytes]) -> Points:
    """The rows of ``points`` that are not in ``seen`` (keys of ``row_keys``), without repeats."""
    fresh: list[int] = []
    keys = set(seen)
    for index, key in enumerate(row_keys(space.layout, points)):
        if key not in keys:
            keys.add(key)
            fresh.append(index)
    return points.take(fresh)


def check_proposal(space: Space, points: Any, name: str) -> None:
    """Raise MethodError unless ``points`` is one legal point of the space; ``name``: the method to blame."""
    if not isinstance(points, Points):
        raise MethodError(
            f"method {name!r} proposed a {type(points).__name__}: return Points of one row, "
            "for example space.encode([config])"
        )
    layout = space.layout
    if points.x.shape != (1, layout.columns) or points.on.shape != (1, layout.groups):
        raise MethodError(f"method {name!r} proposed {len(points)} points: return Points of one row")
    active = layout.active(points.on)
    if not np.all((points.x >= 0) & (points.x <= 1), where=active):
        raise MethodError(f"method {name!r} proposed a value outside the unit cube: clip it to [0, 1]")
    snapped = space.rules.snap(np.where(active, points.x, 0.5))
    if not np.array_equal(snapped.on, points.on):
        raise MethodError(f"method {name!r} proposed a point with wrong activity: make it by space.snap(x)")
    if not space.legal(snapped)[0]:
        raise MethodError(f"method {name!r} proposed a forbidden point: check it by space.legal(points)")


def same_point(space: Space, one: Points, others: Points) -> BoolArray:
    """(n,) which rows of ``others`` have the configuration of ``one``."""
    close = np.abs(one.x - others.x) < SAME_POSITION
    return np.asarray((one.on == others.on).all(axis=1) & (close | ~space.layout.active(one.on)).all(axis=1))


def first_untried(space: Space, history: History, positions: Iterable[FloatArray]) -> Points | None:
    """The first of some positions (columns,) in the cube that is legal and was not proposed before."""
    seen = set(row_keys(space.layout, tried_points(history)))
    for position in positions:
        point = space.snap(position[None, :])
        if space.legal(point)[0] and row_keys(space.layout, point)[0] not in seen:
            return point
    return None


def finished_in_order(history: History) -> tuple[Points, FloatArray]:
    """Finished and failed trials by number, with values; those of failed trials rank last."""
    largest = float(history.y.max(initial=0.0))
    worst = max(largest + 1.0, math.nextafter(largest, math.inf))  # beyond 2**53, adding 1 changes nothing
    points = Points.concat([history.done, history.failed])
    values = np.concatenate([history.y, np.full(len(history.failed), worst)])
    order = np.argsort(np.concatenate([history.done_numbers, history.failed_numbers]), kind="stable")
    return points.take(order), values[order]
