"""Ask another optimiser over pipes: one JSON line in, one out. Needs only the peers' environment.

    python serve.py optuna|optuna-gp|smac

First line in: {"space": ConfigSpace JSON, "seed": ..., "trials": ...}. Then, per trial, out:
{"config": {...}, "ms": CPU milliseconds of the ask}, and in: the value.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator
from typing import Any

from ConfigSpace import ConfigurationSpace

INACTIVE = object()
"""Equal to no value, so that a condition on an inactive parameter is false."""

Optimiser = Generator[dict[str, Any], float, None]
"""Yields configs; the value of each comes back by ``send``."""


def optuna(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """TPE with its default settings; parameters are suggested as their conditions come true."""
    import optuna as library
    from ConfigSpace import CategoricalHyperparameter, UniformIntegerHyperparameter

    library.logging.set_verbosity(library.logging.ERROR)
    study = library.create_study(sampler=library.samplers.TPESampler(seed=seed))
    for _ in range(trials):
        trial = study.ask()
        config: dict[str, Any] = {}
        for name, parameter in space.items():
            known = {other: config.get(other, INACTIVE) for other in space}
            if not all(condition.satisfied_by_value(known) for condition in space.parent_conditions_of[name]):
                continue
            if isinstance(parameter, CategoricalHyperparameter):
                config[name] = trial.suggest_categorical(name, list(parameter.choices))
            elif isinstance(parameter, UniformIntegerHyperparameter):
                config[name] = trial.suggest_int(name, parameter.lower, parameter.upper, log=parameter.log)
            else:
                config[name] = trial.suggest_float(name, parameter.lower, parameter.upper, log=parameter.log)
        study.tell(trial, (yield config))


def optuna_gp(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """Its Gaussian process on the flattened space: all parameters are suggested, inactive ones ignored."""
    import optuna as library
    from ConfigSpace import CategoricalHyperparameter, UniformIntegerHyperparameter

    library.logging.set_verbosity(library.logging.ERROR)
    study = library.create_study(sampler=library.samplers.GPSampler(seed=seed))
    kinds = library.distributions
    flat: dict[str, Any] = {}
    for name, parameter in space.items():
        if isinstance(parameter, CategoricalHyperparameter):
            flat[name] = kinds.CategoricalDistribution(list(parameter.choices))
        elif isinstance(parameter, UniformIntegerHyperparameter):
            flat[name] = kinds.IntDistribution(parameter.lower, parameter.upper, log=parameter.log)
        else:
            flat[name] = kinds.FloatDistribution(parameter.lower, parameter.upper, log=parameter.log)
    for _ in range(trials):
        trial = study.ask(flat)
        config: dict[str, Any] = {}
        for name in space:
            known = {other: config.get(other, INACTIVE) for other in space}
            if all(condition.satisfied_by_value(known) for condition in space.parent_conditions_of[name]):
                config[name] = trial.params[name]
        study.tell(trial, (yield config))


def smac(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """The facade for hyperparameters (random forest, log EI, local search) with its default settings."""
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialValue

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=trials, seed=seed, output_directory=folder)
        facade = HyperparameterOptimizationFacade(
            scenario,
            lambda config, seed=0: 0.0,
            intensifier=HyperparameterOptimizationFacade.get_intensifier(scenario, max_config_calls=1),
            logging_level=False,
            overwrite=True,
        )
        for _ in range(trials):
            info = facade.ask()
            facade.tell(info, TrialValue(cost=(yield dict(info.config))))


def main() -> None:
    warnings.filterwarnings("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints must not end up in the pipe
    task = json.loads(sys.stdin.readline())
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(task["space"], file)
        file.flush()
        space = ConfigurationSpace.from_json(file.name)
    peers: dict[str, Callable[..., Optimiser]] = {"optuna": optuna, "optuna-gp": optuna_gp, "smac": smac}
    run = peers[sys.argv[1]](space, task["seed"], task["trials"])
    value: Any = None
    for _ in range(task["trials"]):
        begin = time.process_time()
        config = run.send(value)
        ms = 1e3 * (time.process_time() - begin)
        plain = {name: getattr(entry, "item", lambda e=entry: e)() for name, entry in config.items()}
        print(json.dumps({"config": plain, "ms": ms}), file=answers, flush=True)
        value = float(sys.stdin.readline())


if __name__ == "__main__":
    main()
