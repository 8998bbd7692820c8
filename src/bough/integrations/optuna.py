"""bough as a sampler for Optuna: its Gaussian processes for Optuna's define-by-run studies.

    study = optuna.create_study(sampler=BoughSampler(seed=0))

Optuna learns the parameters of a study from the objective's ``suggest`` calls. So does the sampler: it learns
from the trials which parameters exist after which earlier answers (``space.discovery``), proposes one
configuration of the learned space, and answers the trial's calls on that path. An unexpected parameter gets
the value with the largest expected improvement, given the answers so far.

Between trials, the sampler keeps only caches: every proposal depends only on the trials that Optuna stores.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bough.errors import ConfigError, ExhaustedError, MissingExtraError, StudyError
from bough.history import History
from bough.registry import build, describe
from bough.space import Space
from bough.space.discovery import discover
from bough.strategies.base import Strategy
from bough.strategies.best_answer import best_answer
from bough.strategies.first_look import fresh_answer, is_design
from bough.study.blas_threads import one_blas_thread
from bough.study.records import checked_seed

try:
    from optuna.distributions import BaseDistribution, check_distribution_compatibility
    from optuna.samplers import BaseSampler
    from optuna.samplers._base import _process_constraints_after_trial  # as all samplers do
    from optuna.trial import FrozenTrial, TrialState
except ModuleNotFoundError:
    raise MissingExtraError(
        "bough.integrations.optuna needs Optuna: pip install 'bough-opt[optuna]'"
    ) from None

from bough.integrations import optuna_trials as convert
from bough.integrations.optuna_results import OptunaGoals
from bough.integrations.optuna_storage import load_study
from bough.integrations.optuna_studies import export_study, import_study

if TYPE_CHECKING:
    from optuna.study import Study

__all__ = ["BoughSampler", "export_study", "import_study", "load_study"]

Distributions = dict[str, BaseDistribution]

_UNASKED_TRIALS = 10
"""Completed trials with a parameter after which the study ends with an error if none asked for it."""


@dataclass(frozen=True, eq=False)
class _View:
    """The current space, the trials in it, and the strategy that proposes."""

    space: Space
    history: History
    strategy: Strategy
    domains: dict[str, Any]


class BoughSampler(BaseSampler):
    """A sampler for Optuna studies.

    space: the search space, if you have it as a bough ``Space``; otherwise it is learned from the trials.
    method: any method of bough, by name or as ``bough.method(...)``.
    seed: makes a sequential study reproducible.
    learn_failures: learn from failed trials where trials fail.
    constraints_func: as in Optuna's samplers, numbers of a finished trial that must be at most 0. Other
        constraints that trials already have count as well.
    """

    def __init__(
        self,
        space: Space | None = None,
        *,
        method: Any = "auto",
        seed: int | None = None,
        learn_failures: bool = True,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        # Raise errors here, before a trial starts.
        describe(method)
        if space is not None and not isinstance(space, Space):
            raise StudyError(f"BoughSampler needs a bough.Space, not {type(space).__name__}")
        if space is not None and space.fidelity is not None:
            raise StudyError(
                f"BoughSampler does not choose the fidelity {space.fidelity.name!r}: leave it out of the "
                "space, and let a pruner of Optuna stop trials"
            )
        if constraints_func is not None and not callable(constraints_func):
            raise StudyError(
                f"constraints_func must be a function of a finished trial, not {constraints_func!r:.80}"
            )
        self._space = space
        self._method = method
        self._seed = secrets.randbits(31) if seed is None else checked_seed(seed)
        self._learn_failures = learn_failures
        self._constraints_func = constraints_func
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.RLock()
        self._strategy: tuple[Space, bool, Strategy] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_strategy")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def reseed_rng(self) -> None:
        self._seed = secrets.randbits(31)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Distributions:
        if self._space is not None:
            return {}  # sample_independent answers: it sees what the objective asks for
        found: Distributions = {}
        for other in _others(study, trial):
            found.update({n: d for n, d in other.distributions.items() if not d.single()})
        return found

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Distributions
    ) -> dict[str, Any]:
        if self._space is None and not search_space:
            return {}
        if trial.number == 0 and self._space is not None and self._space.default is not None:
            # As in a study of bough.
            return _keep(study, trial, self._space.validate(self._space.default))
        rng = np.random.default_rng([self._seed, trial.number])
        with self._lock, one_blas_thread:
            view = self._view(study, trial, search_space)
            try:
                point = view.strategy.propose(view.space, view.history, rng)
            except ExhaustedError:  # Optuna continues where bough would stop
                point = view.space.encode(view.space.sample(1, rng))
        config = view.space.decode(point)[0]
        if self._space is not None:  # a given space has the same values as Optuna
            return _keep(study, trial, config)
        return {
            name: convert.answer(distribution, config[name])
            for name, distribution in search_space.items()
            if name in config
        }

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if self._space is not None:
            _check_asked(self._space, param_name, param_distribution)
            proposed = convert.proposal_of(trial)
            if param_name in proposed:
                value = proposed[param_name]
                if param_distribution._contains(param_distribution.to_internal_repr(value)):
                    return value
        rng = np.random.default_rng([self._seed, trial.number, 1 + len(trial.params)])
        with self._lock, one_blas_thread:
            seen = self.infer_relative_search_space(study, trial)
            if self._space is None and param_name in seen:
                view = self._view(study, trial, {**seen, param_name: param_distribution})
                given = convert.run_of(trial.params, trial.distributions, view.domains)
                if convert.is_inside(given, view.domains):
                    value = best_answer(view.strategy, view.space, view.history, given, param_name, rng)
                    if value is not None:
                        return convert.answer(param_distribution, value)
        domain = convert.domains_of({param_name: param_distribution}, [])[param_name]
        uniform = is_design(build(self._method, Space({param_name: domain})))
        return convert.answer(param_distribution, fresh_answer(param_name, domain, rng, uniform=uniform))

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        if self._space is not None and state == TrialState.COMPLETE:
            _check_that_all_are_asked_for(self._space, study, trial)

    def _view(self, study: Study, trial: FrozenTrial, search_space: Distributions) -> _View:
        others = _others(study, trial)
        finished = [other for other in others if other.state.is_finished()]
        running = [other for other in others if other.state == TrialState.RUNNING]
        domains = convert.domains_of(search_space, others)
        if self._space is None:
            finished, runs = convert.whole_trials(finished, domains)
            space, configs = discover(domains, runs)
            pending = {t.number: convert.run_of(t.params, t.distributions, domains) for t in running}
        else:
            space = self._space
            finished, configs = convert.configs_in(space, finished)
            running, asked_for = convert.configs_in(space, running)
            pending = {other.number: config for other, config in zip(running, asked_for, strict=True)}
        goals = OptunaGoals.of(study, finished)
        if self._strategy is None or self._strategy[:2] != (space, goals.is_plain):
            self._strategy = space, goals.is_plain, build(self._method, space, several=not goals.is_plain)
        history = convert.history_of(
            space,
            finished,
            configs,
            {number: config for number, config in pending.items() if _fits(space, config)},
            goals,
            learn_failures=self._learn_failures,
            is_learned=self._space is None,
            seed=self._seed,
            number=trial.number,
        )
        return _View(space, history, self._strategy[2], domains)


def _others(study: Study, trial: FrozenTrial) -> list[FrozenTrial]:
    return [
        other
        for other in study.get_trials(deepcopy=False)
        if other.number != trial.number and other.state != TrialState.WAITING
    ]


def _keep(study: Study, trial: FrozenTrial, config: dict[str, Any]) -> dict[str, Any]:
    """Store the proposal with its trial, where every process finds it; nothing else is proposed."""
    study._storage.set_trial_system_attr(trial._trial_id, convert.PROPOSAL, config)
    return {}


def _check_that_all_are_asked_for(space: Space, study: Study, trial: FrozenTrial) -> None:
    """Refuse a space with a parameter that many trials have and none asks for: it is probably misspelt.

    One trial says little, because an objective may return early.
    """
    config = convert.config_in(space, trial) or {}
    for name in config:
        domains = [parameter.domain for parameter in space if parameter.name == name]
        if name in trial.params or all(convert.distribution_of(domain).single() for domain in domains):
            continue
        others = _others(study, trial)
        had = [
            other
            for other in others
            if other.state == TrialState.COMPLETE and name in convert.proposal_of(other)
        ]
        if len(had) + 1 >= _UNASKED_TRIALS and not any(name in other.params for other in others):
            raise StudyError(
                f"the objective does not ask for {name!r}: remove it from the space, or give it a "
                "condition that says when it is asked for"
            )


def _check_asked(space: Space, name: str, asked: BaseDistribution) -> None:
    """Refuse a question that no proposal of ``space`` can answer; Optuna would not say which."""
    known = [parameter.domain for parameter in space if parameter.name == name]
    for domain in known:
        try:
            check_distribution_compatibility(convert.distribution_of(domain), asked)
        except ValueError:
            continue
        return
    if known:
        raise StudyError(f"the objective asks for {name!r} as {asked}, but the space has {known[0]}")


def _fits(space: Space, config: dict[str, Any]) -> bool:
    """Whether a running trial has asked for exactly the parameters of its path."""
    try:
        space.encode([config])
    except ConfigError:
        return False
    return True
