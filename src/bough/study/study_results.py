"""The results of a study: its trials, the best of them, and the predictions and reasons of its method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bough.errors import MalformedError, MethodError, MissingExtraError, StudyError, TrialError
from bough.points import FloatArray
from bough.storage import Amendment, StudyRecord
from bough.strategies.base import Explains, ForeseesGain, Predicts, RemainingGain
from bough.study.blas_threads import one_blas_thread
from bough.study.encoded import EncodedTrials
from bough.study.handles import checked_configs, number_and_attempt
from bough.study.revising.current_trials import nothing_current
from bough.study.revising.model_space import model_space
from bough.study.revising.revisions import revision_of
from bough.study.running.settling import check_foresees, gain_after
from bough.study.stopping.fidelities import promotion_reason
from bough.study.stored_study import StoredStudy
from bough.study.trial_index import Status, TrialIndex, own_copy
from bough.trial import Config, Trial

__all__ = ["StudyResults"]


class StudyResults(StoredStudy):
    """The part of a ``Study`` that reads: nothing here changes what is stored."""

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.goals.heading}, method={self.method.name!r}, seed={self.seed})"

    def _repr_html_(self) -> str:
        from bough.study.formats.html import study_html  # for notebooks only

        return study_html(self)

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of their numbers. Treat their configs as read-only."""
        with self._current() as view:
            return [view.shown(number) for number in range(len(view.trials))]

    @property
    def current_trials(self) -> list[Trial]:
        """The trials that belong to the current space, with configs completed by ``backfill``."""
        with self._current() as view:
            return self._now.trials([view.shown(number) for number in range(len(view.trials))])

    def told_trials(self) -> list[Trial]:
        """All trials as they were first told, without later corrections."""
        with self._current() as view:
            return self._told(view)

    def snapshot(self) -> tuple[StudyRecord, list[Trial], list[Amendment]]:
        """The record, the trials as first told, and the amendments, all of one moment."""
        with self._current() as view:
            return self.record, self._told(view), list(view.amendments)

    def _told(self, view: TrialIndex) -> list[Trial]:
        return [view.curves.shown(view.stored.get(each.number, each)) for each in view.trials]

    @property
    def amendments(self) -> list[Amendment]:
        """Everything that was added to the study since its creation: corrections, changes, beliefs, notes."""
        with self._current() as view:
            return list(view.amendments)

    def trial(self, number: int) -> Trial:
        """The trial of that number; TrialError if there is none."""
        number, _ = number_and_attempt(number)
        with self._current() as view:
            if number >= len(view.trials):
                raise TrialError(f"study {self.name!r} has no trial {number}")
            return own_copy(view.shown(number))

    @property
    def best(self) -> Trial:
        """The feasible trial with the best value, the first one if several tie; StudyError if there is none.

        After a change of the space, only trials in the current space count; see ``current_trials``.
        """
        if len(self.goals.objectives) > 1:
            raise StudyError(
                f"study {self.name!r} has {len(self.goals.objectives)} objectives, so no single best trial: "
                "see study.front"
            )
        with self._current() as view:
            if view.best is None and view.done:
                earlier = nothing_current(self.name, self._now.since, view.trials, self.goals.sign)
                if earlier is not None:
                    raise earlier
                from bough.study.analysis.fronts import closest

                raise closest(self.goals, view.trials, self.name)
            if view.best is None:
                why = f": the last one failed, {view.last_failure.error}" if view.last_failure else ""
                raise StudyError(f"study {self.name!r} has no trial with a value yet{why}")
            return own_copy(view.resuming(view.curves.shown(view.best)))

    @property
    def front(self) -> list[Trial]:
        """The feasible trials that no other one dominates, the best of the first objective first."""
        from bough.study.analysis.fronts import front_of  # SciPy, which ask and tell may not need

        return [own_copy(trial) for trial in front_of(self.goals, self.current_trials)]

    def hypervolume(self, reference: Mapping[str, float] | None = None) -> float:
        """The volume between the front and a reference point; 0 while no trial is feasible.

        reference: a value per objective, by default the study's reference. Other objectives get a value
        slightly worse than the worst of the front; to compare studies, give a value for each objective.
        """
        from bough.study.analysis.fronts import hypervolume_of

        return hypervolume_of(self.goals, self.current_trials, reference)

    def reference(self) -> dict[str, float]:
        """The reference point of ``hypervolume``, by objective: given, or inferred from the trials so far."""
        from bough.study.analysis.fronts import reference_of

        return reference_of(self.goals, self.current_trials)

    @one_blas_thread
    def explain(
        self, trial: Trial | int | None = None, *, branch: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Why the method chose a trial: its rule, and its prediction and criterion at that time.

        branch: values of switches, such as {"model": "svm"}: explain this branch instead, and why it was or
        was not chosen lately. Without arguments, {"branches": [...]} has this for every branch.
        """
        if trial is None or branch is not None:
            return self._explain_branches(trial, branch)
        number, _ = number_and_attempt(trial)
        chosen = self.trial(number)
        with self._current() as view:
            past = view.before(number)
            model, strategy = self._in_use(view)
            then = self._revisions[: revision_of(number, self._revisions) + 1]
            if len(then) < len(self._revisions):
                model = model_space(then, past.trials)
                strategy = self._built(model.space)
        if not isinstance(strategy, Explains):
            return {
                "rule": self.method.name,
                "reason": f"chosen by {self.method.name}, which gives no reasons",
            }
        history = EncodedTrials(model, self.seed, self.goals).history(past)
        point, rng = model.encode([chosen]), np.random.default_rng([self.seed, number])
        if self._fidelity is not None:
            history, point = self._fidelity.past(model.space, history, strategy, point)
        found = {"rule": self.method.name, **strategy.explain(model.space, history, point, rng)}
        if chosen.resumes is not None:
            found |= {"rule": "promotion", "reason": promotion_reason(chosen)}
        if self.goals.is_single and isinstance(found.get("mean"), float):
            found["mean"] *= self.goals.sign  # methods minimise
        for (name, _), sign in zip(self.goals.objectives, self.goals.signs):
            if name in found.get("objectives", {}):
                found["objectives"][name]["mean"] *= sign
        return found

    def _explain_branches(
        self, trial: Trial | int | None, wanted: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        from bough.study.analysis.branches import explain_branches, known_paths, matching_paths

        if trial is not None:
            raise TrialError("explain a trial or a branch, not both")
        if len(self.goals.objectives) > 1:
            raise StudyError(f"study {self.name!r} has several objectives: only its trials can be explained")
        with self._current() as view:
            model, strategy = self._in_use(view)
            trials, history = list(view.trials), self._history(view)
        paths = known_paths(model, trials)
        chosen = [] if wanted is None else [matching_paths(model, wanted, paths)]
        others = [[path] for path in paths if not any(path in same for same in chosen)]
        # Without an objective, values are numbers of violated constraints, and all count.
        counts = [t for t in self._now.trials(trials) if t.feasible or not self.goals.names]
        comparable = {trial.number for trial in counts}
        told = explain_branches(
            model, strategy, history, trials, comparable, [*chosen, *others], self.goals.sign
        )
        if wanted is not None:
            return told[0]
        return {"branches": sorted(told, key=lambda each: -each.get("holds_optimum", 0.0))}

    @property
    def has_model(self) -> bool:
        """Whether ``predict`` works: the method has a model of the objective and is installed here."""
        try:
            with self._current() as view:
                return isinstance(self._in_use(view)[1], Predicts)
        except (MethodError, MissingExtraError):
            return False

    @one_blas_thread
    def predict(
        self, configs: Sequence[Config], *, measure: str | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """The posterior mean and standard deviation of the method's model at n ``configs``, each (n,).

        Running trials are ignored. measure: the objective to predict, by default the first.
        """
        configs, names = checked_configs(configs), self.goals.names
        if measure is not None and measure not in names:
            there = ", ".join(map(repr, names)) or "none"
            raise MalformedError(f"study {self.name!r} predicts its objectives ({there}), not {measure!r}")
        with self._current() as view:
            model, strategy = self._in_use(view)
            history = self._history(view)
        if not isinstance(strategy, Predicts) or not len(history.done):
            why = "there is no result yet" if self.has_model else f"method {self.method.name!r} has no model"
            raise StudyError(f"study {self.name!r} cannot predict: {why}")
        # Proposals use predicted values of running trials; users get predictions from results only.
        history = replace(history, pending=history.pending.take([]), pending_numbers=np.empty(0, np.intp))
        sign, column = self.goals.sign, names.index(measure) if measure is not None else 0
        if column and history.outcomes is not None:
            outcomes, sign = history.outcomes.led_by(column), self.goals.signs[column]
            values, noise = (np.ascontiguousarray(each[:, 0]) for each in (outcomes.values, outcomes.noise))
            history = replace(history, y=values, noise=noise, outcomes=outcomes)
        mean, sd = strategy.predict(history, model.encode_configs(configs))
        return sign * mean, sd

    def can_foresee(self) -> ForeseesGain:
        """The method, if it can predict the remaining gain; StudyError if not."""
        return check_foresees(self._strategy, self.method.name, self.goals)

    def count_results(self) -> int:
        """The number of results that the method sees: of done trials, and predictions for stopped ones."""
        with self._current() as view:
            return len(self._history(view).done)

    @one_blas_thread
    def remaining_gain(self, results: int | None = None) -> RemainingGain:
        """The gain that further trials may bring, and whether nothing is left to gain (``settled``).

        expected: the improvement that the best candidate promises. possible: how much better the optimum may
        be, with about 95 % confidence. results: count only this many results, by default all.
        """
        with self._current() as view:
            model, strategy = self._in_use(view)
            history = self._history(view)
        if not len(history.done):
            raise StudyError(f"study {self.name!r} has no result yet")
        return gain_after(
            check_foresees(strategy, self.method.name, self.goals), model.space, history, results
        )

    def status(self) -> Status:
        """The progress of the study in numbers."""
        with self._current() as view:
            return view.status()
