"""A study without a space: its objective asks a trial for parameters, and the study learns their structure.

After each trial the study knows what the objective asked for. If that is not a configuration of the space
learned so far, the space is learned again from all trials (``space.discovery``), and the study goes on in it.
So ``study.space`` is an ordinary space at any time, and every finished trial is one of its configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bough.errors import ConfigError, SpaceError, StudyError
from bough.registry import Method
from bough.space import Choice, Float, Space
from bough.space.asking import AskingTrial, changed
from bough.space.choice import Declared
from bough.space.discovery import ASKED, discover, whole_runs
from bough.space.parameters import Domain
from bough.storage import MemoryStorage
from bough.strategies.best_answer import best_answer, completions
from bough.study.objective import ObjectiveRaised, OnError, evaluate_objective
from bough.study.results import failure
from bough.study.run_options import RunOptions, listing_options
from bough.study.study import Study
from bough.trial import Report, Trial

if TYPE_CHECKING:
    from bough.storage import Storage, StudyRecord
    from bough.study.goals import Goals
    from bough.study.run_handle import ReportTo

__all__ = ["LearnedStudy"]

NOTHING_YET = Space({ASKED + "nothing yet": Float(0, 1)})
"""The space until a trial has asked for something and ended."""

Objective = Callable[..., Any]
"""``objective(trial)``, or ``objective(trial, run)``, with an ``AskingTrial``."""


@dataclass(frozen=True, slots=True)
class AskedResult(Trial):
    """A result whose config is what the objective asked for, with the domains of its parameters."""

    domains: Mapping[str, Domain] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()


class LearnedStudy(Study):
    """A study of an objective ``f(trial)`` that asks for its parameters; in memory."""

    _object: Any = None  # the method, where it is not one of a name
    _cut_short: Mapping[int, dict[str, Any]] = MappingProxyType({})
    """What trials asked for that failed or were stopped, by number: less than the configs that they have."""

    def __init__(
        self, *, name: str | None, storage: str | Storage | None, method: Any, **options: Any
    ) -> None:
        if storage is not None:
            raise StudyError(
                "storage= needs a space from the start: pass Space.trace(f) of a function that only asks as "
                "the space, or store the finished study with bough.study.copy_study"
            )
        super().__init__(NOTHING_YET, name=name, method=method, **options)
        if not isinstance(method, (str, Method)):
            self._object = method

    def __reduce__(self) -> tuple[Any, ...]:
        _, (record, storage) = super().__reduce__()
        return _restored, (record, storage, dict(self._cut_short))

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
        from bough.study.loop import run_trials
        from bough.study.report_channel import reporting
        from bough.study.run_handle import check_objective

        if instances is not None:
            raise StudyError(
                "instances= needs a space: pass one, such as Space.trace(f) of a function that asks"
            )
        check_objective(objective, "a trial")
        on_error = options.get("on_error", "record")
        with reporting(objective, self.report, options) as report:
            evaluate = _Evaluation(objective, on_error, self.goals, self.seed, report, self)
            return run_trials(self, evaluate, trials, **options)

    @property
    def domains(self) -> dict[str, Domain]:
        """What each parameter may be that a finished trial asked for."""
        return {
            parameter.name: replace(parameter.domain, when=None)
            for parameter in self.space
            if not parameter.name.startswith(ASKED)
        }

    def record_result(self, result: Trial) -> Trial:
        if isinstance(result, AskedResult):
            result = self._learn(result)
        return super().record_result(result)

    def answer(self, name: str, given: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """The best value of a parameter that a proposal lacks, given the answers so far; None if unknown."""
        if name not in self.domains:
            return None
        with self._asking:
            with self._current() as view:
                model, strategy = self._in_use(view)
                history = self._history(view)
            return best_answer(strategy, model.space, history, given, name, rng)

    def _learn(self, result: AskedResult) -> Trial:
        """Take in what a trial asked for; one that asked for another range than others becomes a failure."""
        known, trials = self.domains, self.trials
        if trials[result.number].is_finished:  # another attempt was faster, and has taught
            return _plain(result)
        for name, domain in result.domains.items():
            if name in known and known[name] != domain:
                return failure(result.number, str(changed(name, known[name], domain)), result.attempt)
        if result.state != "done":
            self._cut_short = {**self._cut_short, result.number: dict(result.config)}
        asked, proposed = result.config.items(), _run_of(trials[result.number]).items()
        # A trial that failed or was stopped may have ended before it asked for the rest of its proposal.
        if not (asked == proposed if result.state == "done" else asked <= proposed):
            self._reopen(trials, result, known | dict(result.domains))
        return _plain(result)

    def _reopen(self, trials: list[Trial], result: AskedResult, domains: dict[str, Domain]) -> None:
        """Go on in a space that has the run of ``result``."""
        space, learned = self._space_with(trials, result, domains)
        runs = {t.number: _run_of(t) for t in trials} | {**self._cut_short, result.number: result.config}
        moved = [
            replace(t, config=learned.get(t.number) or _fitted(space, runs[t.number], self.seed))
            for t in self.told_trials()
        ]
        reports = [Report(t.number, step, value, t.attempt) for t in moved for step, value in t.curve]
        storage = MemoryStorage()
        record = replace(self.record, space=space.to_json())
        record = storage.create(record, moved, self.amendments, reports=reports)
        self._open(record, storage, space)
        self._method_object = self._object

    def _space_with(
        self, trials: list[Trial], result: AskedResult, domains: dict[str, Domain]
    ) -> tuple[Space, dict[int, dict[str, Any]]]:
        """The space, and the configs of finished trials that asked for all of their path."""
        over = [replace(t, config=self._cut_short.get(t.number, _run_of(t))) for t in trials if t.is_finished]
        over.append(result)
        over.sort(key=lambda trial: trial.number)
        whole = whole_runs([t.config for t in over], [t.state != "done" for t in over], domains)
        teaching = [trial for trial, is_whole in zip(over, whole) if is_whole]
        try:
            self.space.validate(result.config)
        except ConfigError:
            known = _choices(self.space) | result.choices
            space, configs = discover(domains, [trial.config for trial in teaching], known)
            return space, {trial.number: config for trial, config in zip(teaching, configs)}
        kept = {trial.number: trial.config for trial in trials if trial.is_finished}
        return self.space, kept | {result.number: dict(result.config)}


def _restored(record: StudyRecord, storage: Storage, cut_short: Mapping[int, dict[str, Any]]) -> LearnedStudy:
    """A study from its pickle."""
    study = LearnedStudy.of_record(record, storage)
    study._cut_short = cut_short
    return study


def _plain(result: AskedResult) -> Trial:
    """The result as a storage takes it: a storage has the config already."""
    return Trial(**{name: getattr(result, name) for name in Trial.__slots__} | {"config": {}})


def _run_of(trial: Trial) -> dict[str, Any]:
    """What a trial asked for, without the switches that the study made up."""
    return {name: value for name, value in trial.config.items() if not name.startswith(ASKED)}


def _choices(space: Space) -> frozenset[str]:
    """The parameters of a learned space that are choices."""

    def inside(declared: Mapping[str, Declared]) -> set[str]:
        found = set()
        for name, parameter in declared.items():
            if isinstance(parameter, Choice):
                found |= {name}.union(*(inside(children) for children in parameter.options.values()))
        return found

    return frozenset(inside(space.declared))


def _fitted(space: Space, given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """A configuration for a trial that runs, or that failed before it had asked for everything."""
    points = completions(space, given, 100, np.random.default_rng(seed))
    return space.decode(points.take([0]))[0]


class _Evaluation:
    """Evaluates ``objective(trial)`` where the study is, or alone in a worker process.

    Parameters that the proposal lacks get the best value by the model where the study is, and a random one
    elsewhere.
    """

    def __init__(
        self,
        objective: Objective,
        on_error: OnError,
        goals: Goals,
        seed: int,
        report: ReportTo | None,
        study: LearnedStudy | None,
        domains: Mapping[str, Domain] | None = None,
    ) -> None:
        self._objective, self._on_error, self._goals, self._seed = objective, on_error, goals, seed
        self._report, self._study, self._domains = report, study, domains or {}

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker process gets what is known now, and no study."""
        known = self._domains if self._study is None else self._study.domains
        given = self._objective, self._on_error, self._goals, self._seed, self._report
        return _Evaluation, (*given, None, known)

    def __call__(self, trial: Trial) -> Trial:
        known = self._domains if self._study is None else self._study.domains
        asking = AskingTrial(trial.number, self._answer_from(trial), known)
        try:
            result = evaluate_objective(
                lambda _, *run: _checked(self._objective(asking, *run), asking),
                self._on_error,
                trial,
                self._goals,
                self._report,
            )
        except ObjectiveRaised as raised:
            raise ObjectiveRaised(_asked(raised.result, asking), raised.error) from None
        return _asked(result, asking)

    def _answer_from(self, trial: Trial) -> Callable[[str, Domain, Mapping[str, Any]], Any]:
        def answer(name: str, domain: Domain, so_far: Mapping[str, Any]) -> Any:
            if name in trial.config:
                return trial.config[name]
            rng = np.random.default_rng([self._seed, trial.number, 1 + len(so_far)])
            value = None if self._study is None else self._study.answer(name, so_far, rng)
            return Space({name: domain}).sample(1, rng)[0][name] if value is None else value

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
