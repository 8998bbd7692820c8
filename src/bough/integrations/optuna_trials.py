"""Optuna's trials and distributions, as bough's spaces and histories.

Categories travel by their index, because Optuna allows options that are not JSON, such as classes. A range
that changed during the study becomes the hull of its ranges. An infinite value counts as the worst or best
finite one. A pruned trial tells its predicted final value: the last report plus the median change from that
step to the end over the completed trials. The spread of those changes is its noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from bough.errors import ConfigError
from bough.history import History
from bough.space import Categorical, Float, Int, Space
from bough.space.discovery import whole_runs

__all__ = ["answer", "complete", "configs_in", "distribution_of", "domains_of", "history_of", "run_of"]
__all__ += ["whole_trials"]

Domain = Float | Int | Categorical
MAD_TO_SD = 1.4826
"""A normal distribution's standard deviation over its median absolute deviation."""


def domains_of(
    distributions: Mapping[str, BaseDistribution], trials: Sequence[FrozenTrial]
) -> dict[str, Domain]:
    """What each parameter may be: the hull of what it was in the trials and of ``distributions``."""
    seen: dict[str, list[BaseDistribution]] = {name: [] for name in distributions}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            if name in seen:
                seen[name].append(distribution)
    return {name: _domain([*seen[name], latest]) for name, latest in distributions.items()}


def _domain(distributions: Sequence[BaseDistribution]) -> Domain:
    """The hull of the distributions; scale and step are those of the last one."""
    latest = distributions[-1]
    if isinstance(latest, CategoricalDistribution):
        return Categorical(list(range(len(latest.choices))))
    assert isinstance(latest, (FloatDistribution, IntDistribution))
    same = [d for d in distributions if isinstance(d, type(latest))]
    low, high = min(d.low for d in same), max(d.high for d in same)
    log = latest.log and low > 0
    step = latest.step if all(d.step == latest.step and _aligned(d.low, latest) for d in same) else None
    if isinstance(latest, IntDistribution):
        return Int(int(low), int(high), log=log, step=None if log or not step or step == 1 else int(step))
    return Float(low, high, log=log, step=step)


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
    """A value of a learned space as Optuna wants it: inside the distribution, of a plain Python type."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[int(value)]
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    number = min(max(value, distribution.low), distribution.high)
    if distribution.step is not None:
        number = distribution.low + round((number - distribution.low) / distribution.step) * distribution.step
        number = min(number, distribution.high)
    return round(number) if isinstance(distribution, IntDistribution) else float(number)


def complete(trial: FrozenTrial) -> bool:
    """Whether a finished trial tells something: a value, reports before it was pruned, or a failure."""
    if trial.state == TrialState.PRUNED:
        return any(map(math.isfinite, trial.intermediate_values.values()))
    return trial.state in (TrialState.COMPLETE, TrialState.FAIL)


def run_of(
    params: Mapping[str, Any], distributions: Mapping[str, BaseDistribution], domains: Mapping[str, Domain]
) -> dict[str, Any]:
    """The answers of a trial in the terms of ``domains``, in the order in which they were asked."""
    return {
        name: distributions[name].to_internal_repr(value) if isinstance(domains[name], Categorical) else value
        for name, value in params.items()
        if name in domains
    }


def whole_trials(
    trials: Sequence[FrozenTrial], domains: Mapping[str, Domain]
) -> tuple[list[FrozenTrial], list[dict[str, Any]]]:
    """The trials that asked for all of their path, and their answers; see ``whole_runs``."""
    runs = [run_of(trial.params, trial.distributions, domains) for trial in trials]
    whole = whole_runs(runs, [trial.state == TrialState.FAIL for trial in trials], domains)
    return [t for t, keep in zip(trials, whole) if keep], [r for r, keep in zip(runs, whole) if keep]


def configs_in(space: Space, trials: Sequence[FrozenTrial]) -> tuple[list[FrozenTrial], list[dict[str, Any]]]:
    """The trials that are configurations of a given space, and those; others tell nothing."""
    names = {parameter.name for parameter in space}
    kept, configs = [], []
    for trial in trials:
        try:
            configs.append(space.validate({n: v for n, v in trial.params.items() if n in names}))
            kept.append(trial)
        except ConfigError:
            continue
    return kept, configs


@dataclass(frozen=True)
class _Result:
    """A value to minimise with its noise (NaN: none known), or neither for a failure."""

    value: float
    noise: float
    failed: bool = False


def history_of(
    space: Space,
    trials: Sequence[FrozenTrial],
    configs: Sequence[Mapping[str, Any]],
    pending: Sequence[Mapping[str, Any]],
    *,
    maximise: bool,
    learn_failures: bool,
    seed: int,
    number: int,
) -> History:
    """The trials as a strategy sees them; ``configs`` are theirs, ``pending`` those that run."""
    results = _results(trials, -1.0 if maximise else 1.0)
    points = space.encode(list(configs))
    numbers = np.array([trial.number for trial in trials], dtype=np.intp)
    failed = np.array([result.failed for result in results], dtype=bool)
    lost = failed if learn_failures else np.zeros(len(failed), dtype=bool)
    running = space.encode(list(pending))
    return History(
        seed=seed,
        number=number,
        done=points.take(~failed),
        y=np.array([result.value for result in results])[~failed],
        noise=np.array([result.noise for result in results])[~failed],
        done_numbers=numbers[~failed],
        failed=points.take(lost),
        failed_numbers=numbers[lost],
        pending=running,
        pending_numbers=np.full(len(running), -1, dtype=np.intp),
    )


def _results(trials: Sequence[FrozenTrial], sign: float) -> list[_Result]:
    values = [sign * t.value for t in trials if t.state == TrialState.COMPLETE and t.value is not None]
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    curves = [
        (sign * trial.value, {step: sign * v for step, v in trial.intermediate_values.items()})
        for trial in trials
        if trial.state == TrialState.COMPLETE and trial.value is not None and trial.intermediate_values
    ]
    found = []
    for trial in trials:
        if trial.state == TrialState.COMPLETE and trial.value is not None:
            found.append(_Result(float(np.clip(sign * trial.value, min(finite), max(finite))), math.nan))
        elif trial.state == TrialState.PRUNED:
            found.append(_pruned(trial, curves, sign, finite))
        else:
            found.append(_Result(math.nan, math.nan, failed=True))
    return found


def _pruned(
    trial: FrozenTrial,
    curves: Sequence[tuple[float, Mapping[int, float]]],
    sign: float,
    finite: Sequence[float],
) -> _Result:
    """What a pruned trial would have come to, with the uncertainty of that guess."""
    reports = {step: sign * v for step, v in trial.intermediate_values.items() if math.isfinite(v)}
    last = max(reports)
    changes = np.array(
        [final - curve[last] for final, curve in curves if math.isfinite(curve.get(last, math.nan))]
    )
    changes = changes[np.isfinite(changes)]
    if len(changes) == 0:
        return _Result(reports[last], float(np.ptp(finite)) or 1.0)
    middle = float(np.median(changes))
    spread = MAD_TO_SD * float(np.median(np.abs(changes - middle)))
    return _Result(
        reports[last] + middle, spread if len(changes) > 1 and spread > 0 else float(np.ptp(finite)) or 1.0
    )
