"""A study as a strategy sees it: encoded trials, in the order of their results.

A proposal is a function of ``History`` alone (and of a random generator seeded by study seed and
trial number), so resuming, serving and benchmarking a study use the same code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space.beliefs import Belief

SAME_POSITION = 1e-9
"""Positions closer than this count as equal: a stored real value is read back to within 1e-14."""

__all__ = ["SAME_POSITION", "History", "Outcomes", "Source", "Spending"]


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """The results of an earlier study, as points of this study's space; y: (n,) values to minimise."""

    name: str
    points: Points
    y: FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class Outcomes:
    """The results of n finished trials, if the study has several objectives, or limits.

    values: (n, m) objectives, each to be minimised; the first one is ``History.y``.
    slacks: (n, k) by how much each limit is violated; at most 0 where it is met.
    reference: (m,) the user's reference point, NaN where bough infers it.
    objectives, limits: their names, for explanations.
    noise, slack_noise: (n, m) and (n, k) reported standard deviations, NaN where none was reported.
    """

    values: FloatArray
    slacks: FloatArray
    reference: FloatArray
    objectives: tuple[str, ...]
    limits: tuple[str, ...]
    noise: FloatArray
    slack_noise: FloatArray

    def led_by(self, column: int) -> Outcomes:
        """The same results with another objective as the first one."""
        order = [column, *(each for each in range(len(self.objectives)) if each != column)]
        return replace(
            self,
            values=self.values[:, order],
            noise=self.noise[:, order],
            reference=self.reference[order],
            objectives=tuple(self.objectives[each] for each in order),
        )

    @property
    def feasible(self) -> BoolArray:
        """(n,) which trials meet every limit."""
        return np.asarray(np.all(self.slacks <= 0, axis=1))


@dataclass(frozen=True, eq=False, slots=True)
class Spending:
    """Costs in a study that has a budget.

    costs: (n,) cost of each finished trial, NaN if unknown. spent: the cost of all trials together.
    """

    costs: FloatArray
    spent: float
    budget: float

    @property
    def left(self) -> float:
        return max(self.budget - self.spent, 0.0)

    @property
    def share_left(self) -> float:
        return self.left / self.budget


@dataclass(frozen=True, eq=False, slots=True)
class History:
    """The trials of a study, encoded. Inside, everything minimises.

    seed:    the study's seed.
    number:  the number of the next trial.
    done:    n finished points, in the order of their results; y: (n,) values to minimise.
    noise:   (n,) reported standard deviations of y, NaN where none was reported.
    failed:  points whose trials failed.
    pending: points that are running or queued, in the order of their numbers.
    beliefs: what the user believes about parameters.
    sources: earlier studies to learn from.
    outcomes: all objectives and limits; None if y is the only objective and there are no limits.
    stopped: (n,) which points of ``done`` were stopped early: y is the predicted final value there, noise the
             standard deviation of that prediction. None if no trial was stopped.
    spending: what trials cost; None unless the study has a budget.
    fidelity: the column of the fidelity and the position of its highest value; None without a fidelity.
             Points of ``done`` below that position are results at a lower fidelity. Their configurations are
             also in ``pending``, at the highest fidelity, unless they have a result there.
    is_learned: whether the space is learned from the trials, so there may be branches that it lacks.
    given_up: points that failed twice for reasons outside of their configs; None if there are none.
             A method proposes none of them again, and learns nothing from them.
    *_numbers: trial numbers of those rows (warm-start rows added by hand have numbers too).
    """

    seed: int
    number: int
    done: Points
    y: FloatArray
    noise: FloatArray
    done_numbers: IntArray
    failed: Points
    failed_numbers: IntArray
    pending: Points
    pending_numbers: IntArray
    outcomes: Outcomes | None = None
    beliefs: tuple[Belief, ...] = ()
    stopped: BoolArray | None = None
    sources: tuple[Source, ...] = ()
    spending: Spending | None = None
    fidelity: tuple[int, float] | None = None
    is_learned: bool = False
    given_up: Points | None = None
    given_up_numbers: IntArray | None = None

    @property
    def is_lower(self) -> BoolArray:
        """(n,) which points of ``done`` are results at a lower fidelity."""
        if self.fidelity is None:
            return np.zeros(len(self.done), np.bool_)
        column, full = self.fidelity
        return np.asarray(self.done.x[:, column] < full - SAME_POSITION)

    def of_results(self, done: Points, y: FloatArray, numbers: IntArray) -> History:
        """A history with only these results, to model something other than the objective.

        It has no failed, pending or given up trials, no reported noise, no earlier studies and no beliefs.
        """
        nothing, no_numbers = done.take([]), numbers[:0]
        return replace(
            self,
            done=done,
            y=y,
            noise=np.full(len(y), np.nan),
            done_numbers=numbers,
            failed=nothing,
            failed_numbers=no_numbers,
            pending=nothing,
            pending_numbers=no_numbers,
            outcomes=None,
            beliefs=(),
            stopped=None,
            sources=(),
            given_up=None,
            given_up_numbers=None,
        )
