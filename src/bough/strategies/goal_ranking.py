"""Several objectives and limits for methods that only compare results: a total order of the trials.

Feasible trials come first, by layers: the front, the front of the rest, and so on. Inside a layer, trials
that dominate more volume alone come first (Ozaki et al. 2022, JAIR 73, select by hypervolume too). Infeasible
trials follow by how much they violate the limits, each in units of its usual size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from bough.acquisition.hypervolume import hypervolume, inferred_reference, non_dominated
from bough.history import History, Outcomes
from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space import Space
from bough.strategies.base import Explains, Strategy

__all__ = ["LARGEST_SIZE", "GoalRanking", "in_usual_sizes", "positions", "usual_size"]

MAX_MEASURED_OBJECTIVES = 4
"""With more objectives a hypervolume takes too long; then the sum of the scaled objectives orders a layer."""

SCALE_ROWS = 16
"""The unit of a slack is its median size over this many first trials; later ones do not change it."""

LARGEST_SIZE = 1e300
"""Larger numbers are reduced to this: sums and differences of two of them must stay finite."""


class _Ranks(Strategy, Explains, Protocol):
    """A strategy that says why it proposed a point."""


@dataclass(frozen=True, eq=False)
class GoalRanking:
    """Wraps a method that only compares values: each trial's place in the order becomes its value."""

    method: _Ranks

    def propose(self, space: Space, history: History, rng: np.random.Generator) -> Points:
        return self.method.propose(space, _ranked(history), rng)

    def explain(
        self, space: Space, history: History, point: Points, rng: np.random.Generator
    ) -> dict[str, Any]:
        return self.method.explain(space, _ranked(history), point, rng)


def usual_size(slack: FloatArray) -> float:
    """The unit of the slack (n,) of a limit, so that the unit of the measure does not matter."""
    early = np.minimum(np.abs(slack[:SCALE_ROWS]), LARGEST_SIZE)
    return float(np.median(early[early > 0])) if np.any(early > 0) else 1.0


def in_usual_sizes(slack: FloatArray) -> FloatArray:
    """(n,) |slack| in units of its usual size."""
    unit = usual_size(slack)
    return np.asarray(np.minimum(np.abs(slack), min(unit, 1.0) * LARGEST_SIZE) / unit)


def _ranked(history: History) -> History:
    assert history.outcomes is not None, "a study with goals fills them in"
    return replace(history, y=positions(history.outcomes), outcomes=None)


def positions(outcomes: Outcomes) -> FloatArray:
    """(n,) the place of each trial in the order, from 0 for the best."""
    feasible = outcomes.feasible
    order = [
        *_by_layers(outcomes.values, np.flatnonzero(feasible)),
        *_by_violation(outcomes.slacks, ~feasible),
    ]
    places = np.empty(len(order))
    places[order] = np.arange(len(order))
    return places


def _by_layers(values: FloatArray, rows: IntArray) -> list[int]:
    order: list[int] = []
    if not values.shape[1]:  # no objectives: all feasible trials are equally good
        return [int(row) for row in rows]
    while len(rows):
        on_front = non_dominated(values[rows])
        layer = rows[on_front]
        order += layer[np.argsort(-_exclusive(values[layer], values[rows]), kind="stable")].tolist()
        rows = rows[~on_front]
    return order


def _exclusive(layer: FloatArray, rest: FloatArray) -> FloatArray:
    """How much each row of a layer adds to the others: the volume that it alone dominates."""
    if len(layer) == 1:
        return np.ones(1)
    # Powers of two change no digit, and products of large numbers stay finite.
    power = np.frexp(np.abs(layer).max(axis=0))[1]
    layer, rest = np.ldexp(layer, -power), np.ldexp(rest, -power)
    if layer.shape[1] > MAX_MEASURED_OBJECTIVES:
        extent = np.ptp(rest, axis=0)
        scaled = (layer - layer.min(axis=0)) / np.where(extent > 0, extent, 1.0)
        return np.asarray(-scaled.sum(axis=1))
    reference = inferred_reference(rest)
    total = hypervolume(layer, reference)
    return np.array([total - hypervolume(np.delete(layer, i, axis=0), reference) for i in range(len(layer))])


def _by_violation(slacks: FloatArray, infeasible: BoolArray) -> list[int]:
    total = np.zeros(len(slacks))
    for slack in slacks.T:
        total += np.where(slack > 0, in_usual_sizes(slack), 0.0)
    rows = np.flatnonzero(infeasible)
    return [int(row) for row in rows[np.argsort(total[rows], kind="stable")]]
