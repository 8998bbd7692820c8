"""Converts Optuna's trials and distributions to spaces and histories of bough.

Categories are represented by their index, because Optuna allows options that are not JSON, such as classes. A
range that changed during the study becomes the hull of its ranges. An infinite value counts as the worst or
best finite one (``optuna_results``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from bough.errors import ConfigError, about_parameter
from bough.history import History, Outcomes
from bough.integrations.optuna_results import OptunaGoals, results_of
from bough.points import Points
from bough.space import Categorical, Float, Int, Space
from bough.space.discovery import whole_runs
from bough.space.parameters import LARGEST_INT, LARGEST_LOG_INT

__all__ = ["PROPOSAL", "answer", "config_in", "configs_in", "distribution_of", "domains_of", "history_of"]
__all__ += ["hull", "is_inside", "proposal_of", "run_of", "whole_trials"]

PROPOSAL = "bough:proposal"
"""The system attribute of a trial that holds the config proposed for it."""

Domain = Float | Int | Categorical


def domains_of(
    distributions: Mapping[str, BaseDistribution], trials: Sequence[FrozenTrial]
) -> dict[str, Domain]:
    """The domain of each parameter: the hull of its values in the trials and of ``distributions``."""
    seen: dict[str, list[BaseDistribution]] = {name: [] for name in distributions}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            if name in seen:
                seen[name].append(distribution)
    return {name: hull(name, [*seen[name], latest]) for name, latest in distributions.items()}


def hull(name: str, distributions: Sequence[BaseDistribution]) -> Domain:
    """The hull of a parameter's distributions, with the scale and step of the last one.

    Integers too large for an Int become a Float; ``answer`` rounds.
    """
    with about_parameter(name):
        return _hull(distributions)


def _hull(distributions: Sequence[BaseDistribution]) -> Domain:
    latest = distributions[-1]
    if isinstance(latest, CategoricalDistribution):
        return Categorical(list(range(len(latest.choices))))
    assert isinstance(latest, (FloatDistribution, IntDistribution))
    same = [d for d in distributions if isinstance(d, type(latest))]
    low, high = min(d.low for d in same), max(d.high for d in same)
    log = latest.log and low > 0
    step = latest.step if all(d.step == latest.step and _aligned(d.low, latest) for d in same) else None
    largest = LARGEST_LOG_INT if log else LARGEST_INT
    if isinstance(latest, IntDistribution) and max(-low, high) <= largest:
        return Int(int(low), int(high), log=log, step=None if log or not step or step == 1 else int(step))
    return Float(low, high, log=log, step=None if isinstance(latest, IntDistribution) else step)


def _aligned(low: float, latest: FloatDistribution | IntDistribution) -> bool:
    if not latest.step:
        return True
    offset = (low - latest.low) / latest.step
    return abs(offset - round(offset)) < 1e-9


def distribution_of(domain: Domain) -> BaseDistribution:
    """Optuna's distribution for a parameter of a bough space."""
    if isinstance(domain, Categorical):
        return CategoricalDistribution(list(domain.options))
    if isinstance(domain, Int):
        return IntDistribution(
            domain.low, domain.high, log=domain.log, step=1 if domain.step is None else domain.step
        )
    return FloatDistribution(domain.low, domain.high, log=domain.log, step=domain.step)


def answer(distribution: BaseDistribution, value: Any) -> Any:
    """A value of a learned space for Optuna: inside the distribution, of a plain Python type."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[int(value)]
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    number = min(max(value, distribution.low), distribution.high)
    if distribution.step is not None:
        number = distribution.low + round((number - distribution.low) / distribution.step) * distribution.step
        number = min(number, distribution.high)
    return round(number) if isinstance(distribution, IntDistribution) else float(number)


def run_of(
    params: Mapping[str, Any], distributions: Mapping[str, BaseDistribution], domains: Mapping[str, Domain]
) -> dict[str, Any]:
    """The answers of a trial as values of ``domains``, in the order in which they were asked."""
    return {
        name: distributions[name].to_internal_repr(value) if isinstance(domains[name], Categorical) else value
        for name, value in params.items()
        if name in domains
    }


def whole_trials(
    trials: Sequence[FrozenTrial], domains: Mapping[str, Domain]
) -> tuple[list[FrozenTrial], list[dict[str, Any]]]:
    """The trials that asked for their whole path, and their answers; see ``whole_runs``.

    A trial with a value outside of its range is ignored: Optuna lets users enqueue such values.
    """
    runs = [run_of(trial.params, trial.distributions, domains) for trial in trials]
    whole = whole_runs(runs, [trial.state != TrialState.COMPLETE for trial in trials], domains)
    kept = [i for i, run in enumerate(runs) if whole[i] and is_inside(run, domains)]
    return [trials[i] for i in kept], [runs[i] for i in kept]


def is_inside(run: Mapping[str, Any], domains: Mapping[str, Domain]) -> bool:
    """Whether every value is in its domain."""
    try:
        for name, value in run.items():
            domains[name].check(value)
    except ConfigError:
        return False
    return True


def proposal_of(trial: FrozenTrial) -> dict[str, Any]:
    """The config that was proposed for a trial in a given space; empty if there is none."""
    proposed: dict[str, Any] = trial.system_attrs.get(PROPOSAL, {})
    return proposed


def config_in(space: Space, trial: FrozenTrial) -> dict[str, Any] | None:
    """The trial as a configuration of a given space; None if it is none.

    A parameter that the objective did not ask for, because it ended early, has the proposed value.
    """
    names = {parameter.name for parameter in space}
    asked = {name: value for name, value in trial.params.items() if name in names}
    for config in (asked, {**proposal_of(trial), **asked}):
        try:
            return space.validate(config)
        except ConfigError:
            continue
    return None


def configs_in(space: Space, trials: Sequence[FrozenTrial]) -> tuple[list[FrozenTrial], list[dict[str, Any]]]:
    """The trials that are configurations of a given space, with these configurations; others are ignored."""
    found = [(trial, config) for trial in trials if (config := config_in(space, trial)) is not None]
    return [trial for trial, _ in found], [config for _, config in found]


def history_of(
    space: Space,
    trials: Sequence[FrozenTrial],
    configs: Sequence[Mapping[str, Any]],
    pending: Mapping[int, Mapping[str, Any]],
    goals: OptunaGoals,
    *,
    learn_failures: bool,
    is_learned: bool,
    seed: int,
    number: int,
) -> History:
    """The trials as a strategy sees them; ``configs``: their configs, ``pending``: running ones by number."""
    points = space.encode(list(configs))
    told = results_of(trials, goals, [path.key for path in space.tree.path_of(points)])
    numbers = np.array([trial.number for trial in trials], dtype=np.intp)
    lost = told.failed if learn_failures else np.zeros(len(trials), dtype=bool)
    waiting = ~(told.done | told.failed)
    given_up = told.failed & ~lost
    open_points = Points.concat([points.take(waiting), space.encode(list(pending.values()))])
    pruned = np.array([trial.state == TrialState.PRUNED for trial in trials], dtype=bool)[told.done]
    return History(
        seed=seed,
        number=number,
        done=points.take(told.done),
        y=told.values[told.done, 0],
        noise=told.noise[told.done],
        done_numbers=numbers[told.done],
        failed=points.take(lost),
        failed_numbers=numbers[lost],
        pending=open_points,
        pending_numbers=np.array([*numbers[waiting], *pending], dtype=np.intp),
        stopped=pruned if pruned.any() else None,
        is_learned=is_learned,
        given_up=points.take(given_up) if given_up.any() else None,
        given_up_numbers=numbers[given_up],
        outcomes=None
        if goals.is_plain
        else Outcomes(
            told.values[told.done],
            told.slacks[told.done],
            np.full(len(goals.signs), np.nan),
            goals.names,
            goals.constraints,
            noise=np.column_stack([told.noise, np.full((len(trials), len(goals.signs) - 1), np.nan)])[
                told.done
            ],
            slack_noise=np.full_like(told.slacks[told.done], np.nan),
        ),
    )
