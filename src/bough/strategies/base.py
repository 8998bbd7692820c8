"""What a strategy is, and what all of them share."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bough.errors import ExhaustedError
from bough.history import History
from bough.points import Points, row_keys
from bough.space import Space

__all__ = ["Strategy", "check_exhausted", "tried_points", "unseen"]


class Strategy(Protocol):
    """A pure function of the history; whatever it caches may be dropped without changing a proposal."""

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        """The next point, as Points of one row. Raises ExhaustedError when a finite space is used up."""
        ...

    def explain(self, space: Space, history: History, point: Points) -> dict[str, Any]:
        """What the strategy thinks of ``point``: JSON-able, with at least a "reason"."""
        ...


def tried_points(history: History) -> Points:
    """Everything handed out so far: finished, failed and pending."""
    return Points.concat([history.done, history.failed, history.pending])


def noise_seen(space: Space, history: History) -> bool:
    """Whether results are known to be noisy: it was told, or one configuration gave different values.

    A model that finds noise is no proof. To a model, ties, steps and plateaus are noise, too, though a
    trial that is repeated there gives just the same.
    """
    if np.any(history.noise > 0):
        return True
    first: dict[bytes, float] = {}
    keys = row_keys(space.layout, history.done)
    return any(first.setdefault(key, y) != y for key, y in zip(keys, history.y))


def check_exhausted(space: Space, history: History) -> None:
    """Raise ExhaustedError if every configuration of a finite space has been handed out."""
    if space.size > len(history.done) + len(history.failed) + len(history.pending):
        return
    if len(set(row_keys(space.layout, tried_points(history)))) >= space.size:
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
