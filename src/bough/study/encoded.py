"""The history that strategies see: each trial encoded once, results appended as they come in.

``ModelSpace`` says how a trial is encoded. After a change of the space its subclasses in
``study.revising.model_space`` do so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from bough.history import History, Outcomes, Source, Spending
from bough.points import BoolArray, FloatArray, Points, row_hashes
from bough.space import Space
from bough.storage import Amendment
from bough.study.goals import Goals
from bough.study.revising.beliefs import present_beliefs
from bough.study.revising.revisions import names_asked
from bough.study.running.spending import budget_of, ended_cost
from bough.study.sources import present_sources
from bough.study.stopping.curves import Branches
from bough.study.stopping.fidelities import config_key
from bough.study.stopping.final_values import TrialCurve, predicted_loser
from bough.study.stopping.goal_stopping import MeasuredTrial, predicted_measures
from bough.study.stopping.race_values import instances_of, predicted_in_race
from bough.study.stopping.reporting import measured_trial
from bough.study.trial_index import TrialIndex
from bough.trial import Config, Trial

__all__ = ["EncodedTrials", "ModelSpace"]


class ModelSpace:
    """A space for a method, and the way from a study's configs into it and back.

    current: the study's space. hidden_switch: the parameter that says which revision a trial belongs to,
    where there is one.
    """

    hidden_switch: str | None = None

    def __init__(self, space: Space, current: Space | None = None) -> None:
        self.space, self.current = space, current or space

    def encode(self, trials: Sequence[Trial]) -> Points:
        """Trials as points of ``space``."""
        return self.space.encode([trial.config for trial in trials])

    def encode_configs(self, configs: Sequence[Config]) -> Points:
        """Configs of the study's current space as points of ``space``."""
        return self.space.encode(configs)

    def decode(self, points: Points) -> list[Config]:
        """Legal points of ``space`` as configs of the study's current space."""
        return self.space.decode(points)


@dataclass(frozen=True, eq=False)
class _Results:
    """Finished trials in the order of their results, encoded; arrays of n rows.

    measured: values of the objectives, slacks of the limits, then the noise of both; it has no columns if
    the study has one objective and no limits.
    """

    points: Points
    numbers: NDArray[np.intp]
    y: FloatArray
    noise: FloatArray
    stopped: BoolArray
    measured: FloatArray

    @staticmethod
    def none(points: Points, goals: Goals) -> _Results:
        width = 0 if goals.is_single else 2 * (len(goals.names) + len(goals.limits))
        numbers, stopped = np.empty(0, np.intp), np.empty(0, np.bool_)
        return _Results(points, numbers, np.empty(0), np.empty(0), stopped, np.empty((0, width)))

    def outcomes(self, goals: Goals) -> Outcomes:
        """All objectives and limits."""
        given, count, limits = dict(goals.reference), len(goals.names), len(goals.limits)
        reference = [sign * given.get(name, np.nan) for sign, name in zip(goals.signs, goals.names)]
        values, slacks, value_noise, slack_noise = np.split(
            self.measured, np.cumsum([count, limits, count]), axis=1
        )
        texts = tuple(str(limit) for limit in goals.limits)
        return Outcomes(values, slacks, np.array(reference), goals.names, texts, value_noise, slack_noise)


def _measured(trial: Trial, goals: Goals) -> list[float | None]:
    """A row of ``_Results.measured``."""
    names = [*goals.names, *(limit.name for limit in goals.limits)]
    return [*goals.outcomes(trial), *goals.slacks(trial), *(goals.noise(trial, name) for name in names)]


class EncodedTrials:
    """Encodes the trials of a ``TrialIndex``, each trial once. branches: the branch of each trial.

    A trial that was stopped early gets a final value predicted from the curves of the trials done so far.
    This value is not updated later, so the history only grows. While no prediction is possible, the trial
    counts as pending. A config that failed twice for reasons outside of it is given up: a method that knew
    nothing of it would propose it again and again.
    """

    def __init__(self, model: ModelSpace, seed: int, goals: Goals) -> None:
        space = model.space
        self._model, self._space, self._seed, self._goals = model, space, seed, goals
        self._none = Points(
            np.empty((0, space.layout.columns)),
            np.empty((0, space.layout.groups), np.bool_),
            np.empty(0, np.uint64),
        )
        self.branches = Branches(model)
        self._said = 0  # how many amendments the next three attributes include
        self._beliefs = present_beliefs(space, [])
        self._sources: tuple[Source, ...] = ()
        self._is_learned = False
        self._start(0)

    def _start(self, corrections: int) -> None:
        self._done = self._failed = _Results.none(self._none, self._goals)
        self._taken = 0  # how many of view.over are in these two
        self._rows: dict[int, tuple[Points, int]] = {}  # points and row of trials that are not in those two
        self._corrections = corrections  # how many corrections these results include
        self._curves: list[TrialCurve] = []  # of trials that are done
        self._measured_curves: list[MeasuredTrial] = []  # likewise, in a study with several goals
        self._unpredicted: list[Trial] = []
        self._given_up: list[Trial] = []
        self._no_fault: Counter[str] = Counter()  # failures by config that are said not to be its fault
        self._costs: list[tuple[float | None, float | None]] = []  # of self._done, where there is a budget

    def history(self, view: TrialIndex) -> History:
        """The history as of ``view``, for the proposal of the next trial; encodes only what is new."""
        if view.corrections != self._corrections:
            self._start(view.corrections)
        if len(view.amendments) != self._said:
            self._said = len(view.amendments)
            self._beliefs = present_beliefs(self._space, view.amendments)
            self._sources = self._present_sources(view.amendments)
            self._is_learned = bool(names_asked(view.amendments))
        over = [view.trials[number] for number in view.over[self._taken :]]
        counted = [trial for trial in over if trial.retracted is None]
        fresh = [trial for trial in counted if trial.learn]
        open_trials = [view.open[number] for number in sorted(view.open)]
        self._encode([*counted, *open_trials])  # ConfigError for a damaged config: nothing is taken yet
        self._taken = len(view.over)
        for trial in over:
            if trial.retracted is not None:  # as if it had never been
                self._rows.pop(trial.number, None)
            elif not trial.learn and self._is_given_up(trial):
                self._given_up.append(trial)
            elif not trial.learn:  # it says nothing about its config
                del self._rows[trial.number]
        if view.stopped or view.curves.count:
            valued = self._valued(fresh, view)
        else:
            valued = [trial for trial in fresh if trial.state == "done"]
        if valued:
            self._done = self._appended(self._done, valued)
        if failed := [trial for trial in fresh if trial.state == "failed"]:
            self._failed = self._appended(self._failed, failed)
        for trial in (*valued, *failed):
            del self._rows[trial.number]
        open_trials = sorted([*open_trials, *self._unpredicted], key=lambda trial: trial.number)
        pending = self._points(open_trials)
        self._rows.update((trial.number, (pending, row)) for row, trial in enumerate(open_trials))
        done = self._done
        return History(
            seed=self._seed,
            number=len(view.trials),
            done=done.points,
            y=done.y,
            noise=done.noise,
            done_numbers=done.numbers,
            failed=self._failed.points,
            failed_numbers=self._failed.numbers,
            pending=pending,
            pending_numbers=np.array([trial.number for trial in open_trials], np.intp),
            outcomes=None if self._goals.is_single else done.outcomes(self._goals),
            beliefs=self._beliefs,
            stopped=done.stopped if done.stopped.any() else None,
            sources=self._sources,
            spending=self._spending(view) if view.amendments else None,
            is_learned=self._is_learned,
            given_up=self._points(self._given_up) if self._given_up else None,
            given_up_numbers=np.array([trial.number for trial in self._given_up], np.intp),
        )

    def _is_given_up(self, trial: Trial) -> bool:
        """Count a failure that is not the config's fault; True for the second one of the same config."""
        config = config_key(trial.config)
        self._no_fault[config] += 1
        return self._no_fault[config] == 2

    def _appended(self, results: _Results, trials: list[Trial]) -> _Results:
        """The results, and then those of trials that have a value, or of trials that failed."""
        goals, points = self._goals, Points.concat([results.points, self._points(trials)])
        measured = (
            [] if goals.is_single else [_measured(each, goals) for each in trials if each.state != "failed"]
        )
        later = (
            np.array([trial.number for trial in trials], np.intp),
            goals.sign * np.array([trial.value for trial in trials], np.float64),  # NaN where there is none
            np.array([trial.noise for trial in trials], np.float64),
            np.array([trial.state == "stopped" for trial in trials], np.bool_),
            np.array(measured, np.float64).reshape(len(measured), results.measured.shape[1]),
        )
        known = (results.numbers, results.y, results.noise, results.stopped, results.measured)
        joined = [np.concatenate(pair) for pair in zip(known, later)]
        for array in (points.x, points.on, *joined):
            array.flags.writeable = False  # a method must not change what the next proposal sees
        return _Results(points, *joined)

    def _spending(self, view: TrialIndex) -> Spending | None:
        """The costs of the finished trials, where the study has a budget."""
        budget = budget_of(view.amendments)
        if budget is None:
            return None
        fidelity = None if self._goals.fidelity is None else self._goals.fidelity[0]
        for number in self._done.numbers[len(self._costs) :]:
            self._costs.append(ended_cost(view.trials[number], fidelity))
        told, untold = np.array(self._costs, np.float64).reshape(-1, 2).T
        return Spending(told if np.isfinite(told).any() else untold, view.spent, budget)

    def _present_sources(self, amendments: Sequence[Amendment]) -> tuple[Source, ...]:
        """Earlier studies, mapped to the study's space and from there to the model's."""
        model = self._model
        found = present_sources(model.current, amendments)
        if model.current is model.space:
            return found
        return tuple(
            replace(each, points=model.encode_configs(model.current.decode(each.points))) for each in found
        )

    def _valued(self, fresh: list[Trial], view: TrialIndex) -> list[Trial]:
        """The trials that are done, and the stopped ones with predicted values, in the order of results."""
        valued: list[Trial] = []
        for trial in fresh:
            if trial.state == "stopped":
                self._unpredicted.append(trial)
            elif trial.state == "done":
                valued.append(trial)
                if view.curves.has(trial):
                    self._curves.append(self._curve(trial, view))
                    if not self._goals.is_single:
                        self._measured_curves.append(self._measured(trial, view))
            if self._unpredicted and trial.state in ("done", "stopped"):
                predicted = [(each, self._predicted(each, view)) for each in self._unpredicted]
                self._unpredicted = [each for each, found in predicted if found is None]
                valued += [found for _, found in predicted if found is not None]
        return valued

    def _predicted(self, trial: Trial, view: TrialIndex) -> Trial | None:
        """A stopped trial with its predicted value; None if no finished curve reached its last step."""
        if not self._goals.is_single:
            return self._predicted_measures(trial, view)
        curve, instances = self._curve(trial, view), len(instances_of(view.amendments))
        if instances:
            found = predicted_in_race(curve, self._curves, instances)
        else:
            found = predicted_loser(curve, self._curves)
        if found is None:
            return None
        value, noise = self._goals.sign * found[0], found[1]
        measures = {**trial.measures, self._goals.value_name: value}
        return replace(trial, value=value, noise=noise, measures=measures)

    def _predicted_measures(self, trial: Trial, view: TrialIndex) -> Trial | None:
        """A stopped trial with its reported measures, and predicted values of the missing ones."""
        signs = dict(zip(self._goals.names, self._goals.signs))
        reported = self._measured(trial, view)
        open_curves = {name: each for name, each in reported.curves.items() if name not in trial.measures}
        found = predicted_measures(replace(reported, curves=open_curves), self._measured_curves)
        if found is None:
            return None
        measures = {name: signs.get(name, 1.0) * value for name, (value, _) in found.items()}
        noises = {name: noise for name, (_, noise) in found.items()}
        first = self._goals.names[0] if self._goals.names else None
        value = 0.0 if first is None else measures.get(first, trial.measures.get(first))
        return replace(trial, value=value, measures={**trial.measures, **measures}, noises=noises)

    def _measured(self, trial: Trial, view: TrialIndex) -> MeasuredTrial:
        return measured_trial(trial, view.curves.of(trial), self.branches.of(trial), self._goals)

    def _curve(self, trial: Trial, view: TrialIndex) -> TrialCurve:
        return TrialCurve.of(trial, view.curves.of(trial), self._goals.sign, self.branches.of(trial))

    def _encode(self, trials: list[Trial]) -> None:
        new = [trial for trial in trials if trial.number not in self._rows]
        if new:
            encoded = self._model.encode(new)
            x, on = np.ascontiguousarray(encoded.x), np.ascontiguousarray(encoded.on)
            points = Points(x, on, row_hashes(self._space.layout, encoded))
            self._rows.update((trial.number, (points, row)) for row, trial in enumerate(new))

    def _points(self, trials: list[Trial]) -> Points:
        """The points of encoded trials; consecutive trials of the same array are taken at once."""
        rows = [self._rows[trial.number] for trial in trials]
        parts = [points.take([row for _, row in some]) for points, some in groupby(rows, key=itemgetter(0))]
        return Points.concat([self._none, *parts])
