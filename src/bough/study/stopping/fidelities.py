"""Chooses the fidelity at which a configuration is evaluated next: asynchronous successive halving.

A new configuration starts at the lowest rung. Of the configurations with a result at a rung, the best third
is promoted to the next one (ASHA, the variant that promotes; Li et al. 2020, arXiv 1810.05934). A promotion
is a new trial with the same configuration at a higher fidelity. No rung waits until it is full, so all
workers stay busy.

Configurations are compared by predicted results at the highest fidelity: the result at the rung, plus the
lower quartile of the changes from this rung to the highest one in the *same branch*. An epoch of one model
and a boosting round of another are not comparable. In each branch at least one configuration is promoted, and
a branch with fewer than three results at the highest fidelity is ranked separately. So a branch that starts
slowly is not lost.

Halving pays off if a rung costs about a third of the next one. If results report their cost, rungs that cost
clearly more are left out: training on a tenth of the rows may take half of the time.

If the study has a budget, costs may differ by more than rungs do. Then a method with a model decides by
improvement per cost (``strategies.fidelity_gain``), and halving promotes only the first configuration of each
branch.

Every decision depends only on the stored trials. In this module all objectives are minimised.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import add
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.space.fidelity import REDUCTION, rungs
from bough.strategies.base import Predicts, Strategy
from bough.strategies.fidelity_history import at_fidelity, history_with_fidelity
from bough.study.goals import Goals
from bough.trial import Config, Trial

if TYPE_CHECKING:
    from bough.study.encoded import ModelSpace

__all__ = [
    "Fidelity",
    "Halving",
    "can_weigh",
    "config_key",
    "promotion_reason",
    "results_by_config",
    "resumed_by",
]


MIN_CHANGES = 3
"""Results at the highest fidelity that a branch needs before it is compared with other branches."""

MAX_COST_SHARE = 0.4
"""The largest share of the next rung's cost that a rung may have. Halving assumes 1 / ``REDUCTION``."""


@dataclass(frozen=True)
class Fidelity:
    """The fidelity of a space: its name, and the values at which configurations are evaluated, ascending."""

    name: str
    rungs: tuple[Any, ...]

    @staticmethod
    def of(space: Space) -> Fidelity | None:
        parameter = space.fidelity
        if parameter is None:
            return None
        domain: Any = parameter.domain
        return Fidelity(parameter.name, rungs(domain))

    @property
    def full(self) -> Any:
        """The highest value; only results at this fidelity are full results."""
        return self.rungs[-1]

    def history(self, space: Space, history: History, strategy: Strategy) -> History:
        """The history as the method sees it; space: the space that the method works in."""
        column, positions = self.places(space)
        return history_with_fidelity(
            space, history, (column, positions[-1]), positions, isinstance(strategy, Predicts)
        )

    def places(self, space: Space) -> tuple[int, list[float]]:
        """The column of the fidelity in the space of a method, and the positions of all rungs there."""
        column = next(c for c, each in enumerate(space.parameters) if each.name == self.name)
        domain = space.parameters[column].domain
        return column, domain.position(domain.ranks(self.rungs)).tolist()

    def past(
        self, space: Space, history: History, strategy: Strategy, point: Points
    ) -> tuple[History, Points]:
        """The history that a method saw when it proposed a point, and this point as it proposed it."""
        seen = self.history(space, history, strategy)
        return seen, point if seen.fidelity is None else at_fidelity(point, seen.fidelity)

    def rung(self, config: Config) -> int:
        """The highest rung that a config reaches; added results may lie between two rungs."""
        return max(bisect_right(self.rungs, config.get(self.name, self.full)) - 1, 0)


def config_key(config: Config, fidelity: str | None = None) -> str:
    """Equal for equal configs, and for those that differ in their fidelity alone."""
    return json.dumps({name: config[name] for name in sorted(config) if name != fidelity})


def resumed_by(trial: Trial, fidelity: str, same: Iterable[Trial]) -> int | None:
    """The number of the trial with the highest fidelity below this trial's; None if there is none.

    same: the trials of the same configuration, at any fidelity.
    """
    level = trial.config.get(fidelity)
    before = [t for t in same if t.number < trial.number and t.value is not None and t.retracted is None]
    below = [(t.config[fidelity], t.number) for t in before if fidelity in t.config]
    return max((each for each in below if level is not None and each[0] < level), default=(0, None))[1]


def results_by_config(trials: Iterable[Trial], fidelity: Fidelity) -> list[Trial]:
    """For figures: the last trial of each configuration, with its results over the fidelity as a curve.

    Its state is "stopped" unless it has a result at the highest fidelity.
    """
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.value is not None and trial.retracted is None and fidelity.name in trial.config:
            found.setdefault(config_key(trial.config, fidelity.name), []).append(trial)
    curves = []
    for same in found.values():
        values = {trial.config[fidelity.name]: trial.value or 0.0 for trial in same}
        last = max(same, key=lambda trial: trial.config[fidelity.name])
        curve = tuple(sorted(values.items()))
        curves.append(replace(last, curve=curve, state="stopped" if last.partial else "done"))
    return curves


def can_weigh(strategy: Strategy, history: History) -> bool:
    """Whether improvement per cost, rather than halving, decides which configurations are promoted."""
    if history.spending is None:
        return False
    from bough.strategies.fidelity_gain import weighs_rungs  # loads the models

    return weighs_rungs(strategy, history)


def promotion_reason(trial: Trial) -> str:
    """Why a trial that resumes another one was handed out."""
    return (
        f"trial {trial.resumes} was among the most promising at its fidelity: the same config at a higher one"
    )


@dataclass(frozen=True)
class _Candidate:
    """A configuration: its config, its results by rung, and the highest rung at which it was tried."""

    config: Config
    branch: bytes
    results: dict[int, Trial]
    reached: int


class Halving:
    """Decides which configurations to promote, given the trials so far.

    configs: the trials of each configuration. branch: the branch of a trial.
    """

    def __init__(
        self,
        fidelity: Fidelity,
        configs: Iterable[Sequence[Trial]],
        branch: Callable[[Trial], bytes],
        goals: Goals,
    ) -> None:
        self._fidelity, self._goals = fidelity, goals
        self._candidates = [self._candidate(trials, branch(trials[0])) for trials in configs]
        self._worthwhile = _worthwhile(fidelity, self._candidates)

    def _candidate(self, trials: Sequence[Trial], branch: bytes) -> _Candidate:
        rung = self._fidelity.rung
        ordered = sorted(trials, key=lambda trial: trial.config.get(self._fidelity.name, self._fidelity.full))
        done = [trial for trial in ordered if trial.value is not None and trial.retracted is None]
        results = {rung(trial.config): trial for trial in done}
        counted = [trial for trial in trials if trial.retracted is None]
        tried = [rung(trial.config) for trial in counted if trial.learn]
        no_fault = Counter(rung(trial.config) for trial in counted if not trial.learn)
        tried += [each for each, failures in no_fault.items() if failures > 1]  # given up there
        return _Candidate(trials[0].config, branch, results, max(tried, default=-1))

    def begin(self, config: Config) -> Config:
        """A new config at the fidelity of its first trial."""
        return self._at(config, self._worthwhile[0])

    def due(self, of_new_branches: bool = False) -> Config | None:
        """The config to promote now; None if a new config should be tried instead.

        of_new_branches: promote only the first config of a branch.
        """
        for rung in reversed(range(len(self._fidelity.rungs) - 1)):
            there = [each for each in self._candidates if rung in each.results]
            ranked = self._ranked(there, rung)
            ahead = {each.branch for each in self._candidates if each.reached > rung}
            first = [each for each in ranked if each.branch not in ahead]
            for candidate in first if of_new_branches else (*first, *self._best_third(ranked, rung)):
                if candidate.reached == rung:
                    return self._promoted(candidate)
        return None

    def _best_third(self, ranked: Sequence[_Candidate], rung: int) -> list[_Candidate]:
        """The best third over all branches. A branch with too few known changes is ranked separately."""
        changes = self._changes(rung)
        young = {each.branch for each in ranked if len(changes.get(each.branch, ())) < MIN_CHANGES}
        best = [each for each in ranked[: len(ranked) // REDUCTION] if each.branch not in young]
        for branch in sorted(young):
            own = [each for each in ranked if each.branch == branch]
            best += own[: len(own) // REDUCTION]
        return best

    def left(self) -> Config | None:
        """The best config that can be promoted, used when no new config is left; None if there is none."""
        for rung in reversed(range(len(self._fidelity.rungs) - 1)):
            waiting = [each for each in self._candidates if each.reached == rung and rung in each.results]
            if waiting:
                return self._promoted(self._ranked(waiting, rung)[0])
        return None

    def most_gain(
        self, model: ModelSpace, strategy: Strategy, history: History, config: Config, point: Points
    ) -> Config:
        """A new config, or one that can be promoted, at the rung with the largest gain per cost.

        point: the new config as the method proposed it.
        """
        from bough.strategies.fidelity_gain import Contest, next_evaluation

        top = len(self._fidelity.rungs) - 1
        waiting = [each for each in self._candidates if each.reached < top and each.reached in each.results]
        column, rungs = self._fidelity.places(model.space)
        tried = model.encode_configs([each.config for each in waiting])
        contest = Contest(
            at_fidelity(Points.concat([tried, point]), (column, rungs[-1])),
            np.array([*(each.reached for each in waiting), -1], np.intp),
            column,
            rungs,
        )
        row, rung = next_evaluation(strategy, model.space, history, contest)
        return self._at(waiting[row].config if row < len(waiting) else config, rung)

    def _at(self, config: Config, rung: int) -> Config:
        return {**config, self._fidelity.name: self._fidelity.rungs[rung]}

    def _promoted(self, candidate: _Candidate) -> Config:
        return self._at(candidate.config, next(each for each in self._worthwhile if each > candidate.reached))

    def _ranked(self, candidates: Sequence[_Candidate], rung: int) -> list[_Candidate]:
        """From best to worst: first those that meet all limits, then by front, then by value."""
        hoped = self._hoped_changes(candidates, rung)
        values = [
            tuple(map(add, self._outcomes(each.results[rung]), hoped[each.branch])) for each in candidates
        ]
        fronts = _fronts(values) if len(self._goals.objectives) > 1 else [0] * len(values)
        violated = [bool(each.results[rung].violated) for each in candidates]
        order = sorted(range(len(values)), key=lambda i: (violated[i], fronts[i], values[i]))
        return [candidates[i] for i in order]

    def _hoped_changes(self, candidates: Sequence[_Candidate], rung: int) -> dict[bytes, tuple[float, ...]]:
        """The change of each outcome to the highest rung, by branch; over all branches if one has no data."""
        changes, outcomes = self._changes(rung), max(len(self._goals.objectives), 1)
        every = [each for those in changes.values() for each in those]
        return {
            branch: tuple(_hoped([row[k] for row in changes.get(branch) or every]) for k in range(outcomes))
            for branch in {each.branch for each in candidates}
        }

    def _changes(self, rung: int) -> dict[bytes, list[tuple[float, ...]]]:
        """The changes from a rung to the highest one, by branch."""
        top = len(self._fidelity.rungs) - 1
        changes: dict[bytes, list[tuple[float, ...]]] = {}
        for each in self._candidates:
            if rung in each.results and top in each.results:
                ends = zip(self._outcomes(each.results[top]), self._outcomes(each.results[rung]))
                changes.setdefault(each.branch, []).append(tuple(last - first for last, first in ends))
        return changes

    def _outcomes(self, trial: Trial) -> tuple[float, ...]:
        if not self._goals.objectives:
            return (float(trial.value or 0.0),)
        return self._goals.outcomes(trial)


def _worthwhile(fidelity: Fidelity, candidates: Sequence[_Candidate]) -> list[int]:
    """The rungs at which configurations are evaluated from now on, ascending; the highest is one of them.

    The cost of a rung is the median of its share of the highest rung's cost, over configurations with both.
    """
    top = len(fidelity.rungs) - 1
    shares: dict[int, list[float]] = {}
    for candidate in candidates:
        costs = {rung: trial.cost for rung, trial in candidate.results.items() if trial.cost}
        for rung, cost in costs.items():
            if top in costs:
                shares.setdefault(rung, []).append(cost / costs[top])
    kept, price = [top], 1.0
    for rung in reversed(range(top)):
        if rung not in shares:
            kept.append(rung)
            continue
        share = median(shares[rung])
        # A resumed trial reports only the cost of its own part. The lowest rung has no earlier part, so the
        # next rung would look too cheap in comparison.
        part = share if rung == 0 and kept[-1] == 1 else 0.0
        if share <= MAX_COST_SHARE * (price + part):
            kept.append(rung)
            price = share
    return kept[::-1]


def _hoped(changes: Sequence[float]) -> float:
    """The lower quartile of the changes: some configurations of a branch change more than others."""
    if len(changes) < 2:
        return sum(changes)
    return quantiles(changes, n=4, method="inclusive")[0]


def _fronts(values: Sequence[tuple[float, ...]]) -> list[int]:
    """The front of each row: 0 if no other row dominates it, 1 if only rows of front 0 do, and so on."""
    from bough.acquisition.hypervolume import non_dominated

    table, fronts = np.array(values), np.zeros(len(values), np.intp)
    left, front = np.arange(len(values)), 0
    while len(left):
        best = non_dominated(table[left])
        fronts[left[best]] = front
        left, front = left[~best], front + 1
    return [int(front) for front in fronts]
