"""Optuna: define by run. Parameters are suggested once their conditions hold, ordinals by their position.

A failed evaluation is told as FAIL, which Optuna's samplers ignore. Optuna has no forbidden clauses; a
forbidden suggestion is told as one that violates a constraint, with the worst value so far, since a value is
required, and Optuna is asked again.

AutoSampler is missing: OptunaHub loads it over the network, and no package contains it.
"""

from __future__ import annotations

from typing import Any

import optuna
from ConfigSpace import (
    CategoricalHyperparameter,
    ConfigurationSpace,
    Constant,
    OrdinalHyperparameter,
    UniformIntegerHyperparameter,
)
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.trial import Trial, TrialState

from .space import MAX_REDRAWS, Config, Optimiser, is_active, is_legal, only_active, plain, random_config

optuna.logging.set_verbosity(optuna.logging.ERROR)


def tpe(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """TPE with its default settings."""
    return _run(TPESampler(seed=seed), space, seed, trials)


def grouped_tpe(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """TPE that models parameters jointly if they are active together."""
    return _run(TPESampler(seed=seed, multivariate=True, group=True), space, seed, trials)


def flat_gp(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """Its Gaussian process on the flattened space: all parameters are suggested, inactive ones ignored."""
    return _run(_gp_sampler(seed), space, seed, trials, flat=True)


def conditional_gp(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """Its Gaussian process, define by run: it models what is always active, the rest is drawn at random."""
    return _run(_gp_sampler(seed), space, seed, trials)


def _gp_sampler(seed: int) -> BaseSampler:
    import torch  # Optuna loads it at the first use of its model; this must not count as a suggestion's time

    torch.set_num_threads(1)
    return GPSampler(seed=seed)


def _run(
    sampler: BaseSampler, space: ConfigurationSpace, seed: int, trials: int, *, flat: bool = False
) -> Optimiser:
    study = optuna.create_study(sampler=sampler)
    space.seed(seed)
    worst: float | None = None
    for _ in range(trials):
        for attempt in range(MAX_REDRAWS + 1):
            if attempt == MAX_REDRAWS:
                study.enqueue_trial(_coded(space, random_config(space)))
            trial = study.ask()
            config = _suggest_all(trial, space) if flat else _suggest_active(trial, space)
            if not space.forbidden_clauses:
                break
            legal = is_legal(space, config)
            trial.set_constraint("forbidden", -1.0 if legal else 1.0)
            if legal:
                break
            study.tell(trial, worst or 0.0)
        value = yield config
        if value is None:
            study.tell(trial, state=TrialState.FAIL)
        else:
            worst = value if worst is None else max(worst, value)
            study.tell(trial, value)


def _suggest_active(trial: Trial, space: ConfigurationSpace) -> Config:
    config: Config = {}
    for name, parameter in space.items():  # parents come first
        if is_active(space, name, config):
            config[name] = _suggest(trial, name, parameter)
    return config


def _suggest_all(trial: Trial, space: ConfigurationSpace) -> Config:
    return only_active(space, {name: _suggest(trial, name, parameter) for name, parameter in space.items()})


def _suggest(trial: Trial, name: str, parameter: Any) -> Any:
    match parameter:
        case Constant():
            return plain(parameter.value)
        case CategoricalHyperparameter():
            return trial.suggest_categorical(name, [plain(choice) for choice in parameter.choices])
        case OrdinalHyperparameter():
            return plain(parameter.sequence[trial.suggest_int(name, 0, len(parameter.sequence) - 1)])
        case UniformIntegerHyperparameter():
            return trial.suggest_int(name, int(parameter.lower), int(parameter.upper), log=parameter.log)
    return trial.suggest_float(name, float(parameter.lower), float(parameter.upper), log=parameter.log)


def _coded(space: ConfigurationSpace, config: Config) -> Config:
    """A config with ordinals by their position, as Optuna gets it."""
    return {
        name: list(space[name].sequence).index(value)
        if isinstance(space[name], OrdinalHyperparameter)
        else value
        for name, value in config.items()
    }
