"""A study without a space: its objective asks a trial for parameters, and the study learns their structure.

After each trial the study knows what the objective asked for. If that is not a configuration of the space
learned so far, the space is learned again from all trials (``study.lessons``), and the study goes on in it.
So ``study.space`` is an ordinary space at any time, and every finished trial is one of its configurations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bough.errors import ConflictError, SpaceError, StudyError
from bough.space import Float, Space
from bough.space.asking import AskingTrial, changed
from bough.space.discovery import ASKED
from bough.space.parameters import Domain
from bough.storage import Amendment, open_storage
from bough.strategies.best_answer import best_answer
from bough.strategies.first_look import fresh_answer, is_design
from bough.study.amendable_study import AMEND_TRIES
from bough.study.blas_threads import one_blas_thread
from bough.study.lessons import AskedResult, domains_of, is_news, taught
from bough.study.results import failure
from bough.study.revising.revisions import names_asked
from bough.study.running.objective import (
    ObjectiveRaised,
    OnError,
    ReportTo,
    check_objective,
    evaluate_objective,
)
from bough.study.running.run_options import RunOptions, listing_options
from bough.study.study import Study
from bough.trial import Trial

if TYPE_CHECKING:
    from bough.storage import Storage
    from bough.study.goals import Goals

__all__ = ["LearnedStudy"]

NOTHING_YET = Space({ASKED + "nothing yet": Float(0, 1)})
"""The space until the first trial that asked for a parameter has ended: one parameter that nobody uses."""

Objective = Callable[..., Any]
"""``objective(trial)``, or ``objective(trial, run)``, with an ``AskingTrial``."""


class LearnedStudy(Study):
    """A study of an objective ``f(trial)`` that asks for its parameters."""

    def __init__(
        self, *, name: str | None, storage: str | Storage | None, method: Any, **options: Any
    ) -> None:
        opened = open_storage(storage)
        if storage is None and name is None:
            name = "study"
        space = _learned_so_far(opened, name)
        try:
            super().__init__(space, name=name, storage=opened, method=method, **options)
        except StudyError:
            if (newer := _learned_so_far(opened, name)) == space:
                raise
            # Another process created the study and learned meanwhile.
            super().__init__(newer, name=name, storage=opened, method=method, **options)

    @listing_options(Study.run, RunOptions)
    def run(  # the objective takes a trial
        self,
        objective: Objective,
        trials: int | None = None,
        *,
        instances: Iterable[Any] | None = None,
        **options: Unpack[RunOptions],
    ) -> LearnedStudy:
        """Evaluate ``objective(trial)``, which asks for its parameters; otherwise like ``Study.run``.

        An objective with a second argument gets a run, to which it reports: ``objective(trial, run)``.
        """
        from bough.study.running.loop import run_trials
        from bough.study.running.report_channel import reporting

        if instances is not None:
            raise StudyError(
                "instances= needs a space: pass one, such as Space.trace(f) of a function that asks"
            )
        check_objective(objective, "a trial")
        on_error = options.get("on_error", "record")
        with reporting(objective, self.report, options) as report:
            evaluate = _Evaluation(
                objective, on_error, self.goals, self.seed, report, is_design(self._strategy), self
            )
            return run_trials(self, evaluate, trials, **options)

    @property
    def domains(self) -> dict[str, Domain]:
        """The domain of each parameter that a finished trial asked for."""
        return domains_of(self.space)

    def record_result(self, result: Trial) -> Trial:
        return super().record_result(self._learn(result) if isinstance(result, AskedResult) else result)

    @one_blas_thread
    def answer(self, name: str, given: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """The best value of a parameter missing from the proposal, given earlier answers; None if unknown."""
        if name not in self.domains:
            return None
        with self._asking:
            with self._current() as view:
                model, strategy = self._in_use(view)
                history = self._history(view)
            return best_answer(strategy, model.space, history, given, name, rng)

    def _learn(self, result: AskedResult) -> Trial:
        """Learn from what a trial asked for; the trial fails if it gave a known parameter another domain."""
        for _ in range(AMEND_TRIES):
            with self._current() as view:
                trials, amendments, space = self._told(view), list(view.amendments), self.space
            trial, names, known = trials[result.number], names_asked(amendments), domains_of(space)
            if trial.is_finished and not trial.state == result.state == "stopped":
                return result.plain()  # another attempt finished first, and was learned from
            for name, domain in result.domains.items():
                if name in known and known[name] != domain:
                    return failure(result.number, str(changed(name, known[name], domain)), result.attempt)
            if not is_news(result, trial, names):
                return result.plain()
            body: dict[str, Any] = {"asked": list(result.config)}
            new, moved = taught(trials, names, result, space, self.seed)
            if moved:
                body["space"] = new.to_dict()
            made = Amendment("learned", body, result.number, len(trials))
            text = new.to_json() if moved else None
            with contextlib.suppress(ConflictError):
                self._storage.amend(self.record.id, made, after=len(amendments), space=text, moved=moved)
                return result.plain()
        raise ConflictError("other processes keep changing the study: try again later")


def _learned_so_far(storage: Storage, name: str | None) -> Space:
    """The space learned by the study of that name, if it exists; StudyError if its space was given."""
    found = [] if name is None else storage.find(name)
    space = Space.from_json(found[0].space) if found else NOTHING_YET
    if space != NOTHING_YET and not names_asked(storage.changes(found[0].id, 0).amendments):
        raise StudyError(
            f"study {name!r} exists and has a space that was given: pass the space, and an objective of a "
            "config; or use another name"
        )
    return space


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Evaluates ``objective(trial)``, in the study's process or in a worker process without the study.

    Parameters that the proposal lacks get the model's best value in the study's process, and a random value
    in a worker.
    """

    objective: Objective
    on_error: OnError
    goals: Goals
    seed: int
    report: ReportTo | None
    is_design: bool
    study: LearnedStudy | None
    domains: Mapping[str, Domain] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker process gets a copy of what is known now, without the study."""
        given = self.objective, self.on_error, self.goals, self.seed, self.report, self.is_design
        return _Evaluation, (*given, None, self._known_domains())

    def _known_domains(self) -> Mapping[str, Domain]:
        return self.domains if self.study is None else self.study.domains

    def __call__(self, trial: Trial) -> Trial:
        asking = AskingTrial(trial.number, self._answer_from(trial), self._known_domains())
        try:
            result = evaluate_objective(
                lambda _, *run: _checked(self.objective(asking, *run), asking),
                self.on_error,
                trial,
                self.goals,
                self.report,
            )
        except ObjectiveRaised as raised:
            raise ObjectiveRaised(_asked(raised.result, asking), raised.error) from None
        return _asked(result, asking)

    def _answer_from(self, trial: Trial) -> Callable[[str, Domain, Mapping[str, Any]], Any]:
        def answer(name: str, domain: Domain, so_far: Mapping[str, Any]) -> Any:
            if name in trial.config:
                return trial.config[name]
            rng = np.random.default_rng([self.seed, trial.number, 1 + len(so_far)])
            value = None if self.study is None else self.study.answer(name, so_far, rng)
            return fresh_answer(name, domain, rng, uniform=self.is_design) if value is None else value

        return answer


def _checked(returned: Any, asking: AskingTrial) -> Any:
    if not asking.config:
        raise SpaceError(
            "the objective asked its trial for nothing: without a space it is called with a trial, and asks "
            "trial.float(name, low, high), trial.int, trial.categorical or trial.choice"
        )
    return returned


def _asked(result: Trial, asking: AskingTrial) -> AskedResult:
    parts = {name: getattr(result, name) for name in Trial.__slots__}
    return AskedResult(**parts | {"config": asking.config}, domains=asking.domains, choices=asking.choices)
