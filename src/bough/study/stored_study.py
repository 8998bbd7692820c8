"""A study as its storage keeps it: opening it, its trials, and what they and its method say."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bough.errors import MethodError, MissingExtraError, SpaceError, StorageError, StudyError, TrialError
from bough.history import History
from bough.points import FloatArray
from bough.registry import build, is_registered
from bough.space import Space
from bough.storage import Amendment, MemoryStorage, Storage, StudyRecord, forks
from bough.strategies.base import Explains, ForeseesGain, Predicts, RemainingGain, Strategy
from bough.study.encoded import EncodedTrials
from bough.study.formats.table_export import table
from bough.study.goals import goals_of
from bough.study.handles import number_and_attempt, own_copy
from bough.study.records import STOPPING_RULES, method_of
from bough.study.revising.current_trials import CurrentSpace, nothing_current
from bough.study.revising.model_space import ModelSpace, model_space
from bough.study.revising.revisions import Revision, names_asked, revision_of, revisions_of
from bough.study.running.settling import check_foresees, gain_after
from bough.study.running.spending import budget_of
from bough.study.stopping.curves import Branches
from bough.study.stopping.fidelities import Fidelity, Halving, promotion_reason
from bough.study.stopping.reporting import StoppingDecision
from bough.study.trial_index import Status, TrialIndex
from bough.trial import Config, Trial

__all__ = ["StoredStudy"]


class StoredStudy:
    """The half of a ``Study`` that reads: nothing here changes what is stored."""

    _model: ModelSpace | None  # both are made when first needed, and again when the space changes
    _made_strategy: Strategy | None

    @classmethod
    def of_record(cls, record: StudyRecord, storage: Storage) -> Self:
        """The study of a record that was found in the storage."""
        study = cls.__new__(cls)
        try:
            space = Space.from_json(record.space)
        except SpaceError as error:
            raise StorageError(f"the row of study {record.name!r} is damaged: its space is {error}") from None
        study._open(record, storage, space)
        return study

    def __reduce__(self) -> tuple[Any, ...]:
        """A study in memory is pickled with its trials; one in a database is opened by name instead."""
        if not isinstance(self._storage, MemoryStorage):
            raise TypeError(f"study {self.name!r} is in a database: open it there with bough.open_study")
        return type(self).of_record, (self._record, self._storage)

    def _open(self, record: StudyRecord, storage: Storage, space: Space) -> None:
        self._record, self._storage = record, storage
        self.space, self._revisions, self._adopted = space, [Revision(space)], 0
        self._now = CurrentSpace(self._revisions)
        self._method_object: Any = None
        self.method = method_of(record)
        self.goals, self._fidelity = goals_of(record.goals, record.direction), Fidelity.of(space)
        if self._fidelity is not None:
            self.goals = replace(self.goals, fidelity=(self._fidelity.name, self._fidelity.full))
        self._forget()
        forks.register(self)

    def _built(self, space: Space) -> Strategy:
        """The study's method on a space. Results can be read without it, so it is made when first needed."""
        several = not self.goals.is_plain
        if self._method_object is not None:
            return build(self._method_object, space, several=several)
        if not is_registered(self.method.name):
            raise MethodError(
                f"study {self.name!r} uses the method {self.method.name!r}, which is not registered here: "
                f"open it with Study(..., method={self.method.name}(...)), or install the package that has it"
            )
        return build(self.method, space, several=several)

    def _adopt(self, view: TrialIndex) -> None:
        """Go over to the newest revision of the space; what depends on it is made again when needed."""
        self._revisions = revisions_of(self._revisions[0].space, view.amendments)
        self._adopted = view.space_changes
        self.space = self._revisions[-1].space
        self._record = replace(self._record, space=self.space.to_json())
        self._model = self._made_strategy = None
        self._now = CurrentSpace(self._revisions)
        view.change_space(self._now)

    def _model_space(self, view: TrialIndex) -> ModelSpace:
        """The space that the method works in. Call it within ``_current``."""
        if self._model is None:
            self._model = model_space(self._revisions, view.trials)
            self._encoded = EncodedTrials(self._model, self.seed, self.goals)
            self._branches = Branches(self._model)
            self._stopping = StoppingDecision(self.stopping, self.goals, self._branches)
        return self._model

    def _history(self, view: TrialIndex) -> History:
        """The history that the method sees. Call it within ``_current``."""
        model = self._model_space(view)
        history = self._encoded.history(view)
        if self._fidelity is None:
            return history
        return self._fidelity.history(model.space, history, self._in_use(view)[1])

    def _halving(self, view: TrialIndex) -> Halving | None:
        """The configurations to promote to a higher fidelity. Call it within ``_current``."""
        if self._fidelity is None:
            return None
        self._model_space(view)
        configs = [found for same in view.by_config() if (found := self._now.trials(same))]
        return Halving(
            self._fidelity, configs, lambda t: self._branches.of(view.trials[t.number]), self.goals
        )

    def _in_use(self, view: TrialIndex) -> tuple[ModelSpace, Strategy]:
        """The space that the method works in, and the method. Call it within ``_current``."""
        model = self._model_space(view)
        if self._made_strategy is None:
            self._made_strategy = self._built(model.space)
        return model, self._made_strategy

    @property
    def _strategy(self) -> Strategy:
        with self._current() as view:
            return self._in_use(view)[1]

    def _forget(self) -> None:
        """Start from nothing read: everything here can be read from the storage again."""
        self._asking = threading.Lock()  # askers of one process take turns, so each sees the others' trials
        self._reading = threading.Lock()  # guards the view and its encoding
        self._view = TrialIndex(self.goals)
        self._view.change_space(self._now)
        self._model = self._made_strategy = None

    def before_fork(self) -> None:
        """Nothing to wait for: a proposal may take long, and the child does without what is half done."""

    def after_fork(self, child: bool) -> None:
        """In the child, locks may be held and the view half updated by threads that do not exist there."""
        if child:
            self._forget()

    def __repr__(self) -> str:
        goal = self.direction if self.goals.is_plain else self.goals.describe()
        return f"Study({self.name!r}, {goal}, method={self.method.name!r}, seed={self.seed})"

    def _repr_html_(self) -> str:
        from bough.study.formats.html import study_html  # for notebooks only

        return study_html(self)

    @property
    def record(self) -> StudyRecord:
        """The stored description of the study, without its trials."""
        return self._record

    @property
    def name(self) -> str:
        return self._record.name

    @property
    def seed(self) -> int:
        return self._record.seed

    @property
    def stopping(self) -> str:
        """The rule that stops trials early by what they report; none in a study with a fidelity."""
        if self._fidelity is not None:
            return "none"
        return self._record.stopping or STOPPING_RULES[0]

    @property
    def direction(self) -> str:
        """The direction of the objective, of several the first one."""
        return self._record.direction

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of their numbers. Treat their configs as read-only."""
        with self._current() as view:
            return [view.shown(number) for number in range(len(view.trials))]

    @property
    def current_trials(self) -> list[Trial]:
        """The trials that the current space has, with configs that ``backfill`` completed."""
        return self._now.trials(self.trials)

    def told_trials(self) -> list[Trial]:
        """All trials as they were told, without later corrections."""
        with self._current() as view:
            return self._told(view)

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
        """The feasible trial with the best value, the first one of equals; StudyError if there is none.

        After a change of the space, it is one that the current space has; see ``current_trials``.
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

        reference: a value per objective, by default that of the study. Objectives without one get a value a
        little behind the worst of the front: to compare studies, give one for each.
        """
        from bough.study.analysis.fronts import hypervolume_of

        return hypervolume_of(self.goals, self.current_trials, reference)

    def reference(self) -> dict[str, float]:
        """The reference point of ``hypervolume``, by objective: given, or inferred from the trials so far."""
        from bough.study.analysis.fronts import reference_of

        return reference_of(self.goals, self.current_trials)

    def frame(self) -> Any:
        """A pandas DataFrame with one row per trial and a column per parameter and measure; needs pandas."""
        return table(self.trials, feasible=bool(self.goals.limits))

    def explain(
        self, trial: Trial | int | None = None, *, branch: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Why the method chose a trial: its rule, and its prediction and criterion at that time.

        branch: values of switches, such as {"model": "svm"}: what is known of that branch instead, and why it
        was not chosen lately. Without either, {"branches": [...]} tells it of every branch.
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
        if wanted is None:
            branches = [[path] for path in known_paths(model, trials)]
        else:
            branches = [matching_paths(model, wanted, trials)]
            others = {path.key: path for path in known_paths(model, trials)}
            branches += [[path] for key, path in others.items() if key not in {p.key for p in branches[0]}]
        sign = self.goals.sign
        told = explain_branches(model, strategy, history, trials, branches, sign)
        if wanted is not None:
            return told[0]
        return {"branches": sorted(told, key=lambda each: -each.get("holds_optimum", 0.0))}

    @property
    def has_model(self) -> bool:
        """Whether ``predict`` can be asked: the method has a model of the objective and is installed here."""
        try:
            with self._current() as view:
                return isinstance(self._in_use(view)[1], Predicts)
        except (MethodError, MissingExtraError):
            return False

    def predict(self, configs: Sequence[Config]) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation, each (n,), of what the method's model expects at ``configs`` now."""
        with self._current() as view:
            model, strategy = self._in_use(view)
            history = self._history(view)
        if not isinstance(strategy, Predicts) or not len(history.done):
            why = "there is no result yet" if self.has_model else f"method {self.method.name!r} has no model"
            raise StudyError(f"study {self.name!r} cannot predict: {why}")
        mean, sd = strategy.predict(history, model.encode_configs(configs))
        return self.goals.sign * mean, sd

    @property
    def spent(self) -> float:
        """The cost of the finished trials: told costs, or seconds where none was told."""
        return self.status().spent

    @property
    def budget(self) -> float | None:
        """The total cost that the trials may have, as ``run(budget=)`` said last."""
        with self._current() as view:
            return budget_of(view.amendments)

    def can_foresee(self) -> ForeseesGain:
        """The method, if it can say what is left to gain; StudyError if not."""
        return check_foresees(self._strategy, self.method.name)

    def count_results(self) -> int:
        """How many results the method has: of trials that are done, and predicted ones of stopped trials."""
        with self._current() as view:
            return len(self._history(view).done)

    def remaining_gain(self, results: int | None = None) -> RemainingGain:
        """The gain that was left after the first ``results`` results, by default all of them."""
        with self._current() as view:
            model, strategy = self._in_use(view)
            history = self._history(view)
        if not len(history.done):
            raise StudyError(f"study {self.name!r} has no result yet")
        return gain_after(check_foresees(strategy, self.method.name), model.space, history, results)

    def status(self) -> Status:
        """How far the study is, in a few numbers."""
        with self._current() as view:
            return view.status()

    @contextlib.contextmanager
    def _current(self) -> Iterator[TrialIndex]:
        """The view, up to date, and this thread's until the block ends."""
        with self._reading:
            self._view.update(self._storage.changes(self._record.id, self._view.revision))
            if self._view.space_changes != self._adopted:
                if names_asked(self._view.amendments):  # configs that were read before have changed too
                    self._view = TrialIndex(self.goals)
                    self._view.update(self._storage.changes(self._record.id, 0))
                self._adopt(self._view)
            yield self._view
