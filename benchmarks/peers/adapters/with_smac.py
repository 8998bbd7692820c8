"""SMAC3: it uses ConfigSpace itself, with all conditions and forbidden clauses.

Both facades keep their defaults, but each config is evaluated once: the functions are deterministic, or the
optimiser should handle the noise. A failed evaluation is told as CRASHED. SMAC then trains on its cost, and
the default (infinity) breaks its models, so the worst cost so far is passed. SMAC never repeats a config, so
in a small finite space it ends early.
"""

from __future__ import annotations

import tempfile

from ConfigSpace import ConfigurationSpace
from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
from smac.facade.abstract_facade import AbstractFacade
from smac.main.exceptions import ConfigurationSpaceExhaustedException
from smac.runhistory.dataclasses import TrialValue
from smac.runhistory.enumerations import StatusType

from .space import Optimiser, plain


def forest(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """The facade for hyperparameters: random forest, log EI, local search."""
    return _run(HyperparameterOptimizationFacade, space, seed, trials)


def gp(space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    """The facade for black boxes: a Gaussian process, EI, local search."""
    return _run(BlackBoxFacade, space, seed, trials)


def _run(kind: type[AbstractFacade], space: ConfigurationSpace, seed: int, trials: int) -> Optimiser:
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=trials, seed=seed, output_directory=folder)
        facade = kind(
            scenario,
            lambda config, seed=0: 0.0,
            intensifier=kind.get_intensifier(scenario, max_config_calls=1),
            logging_level=False,
            overwrite=True,
        )
        worst: float | None = None
        for _ in range(trials):
            try:
                info = facade.ask()
            except (StopIteration, ConfigurationSpaceExhaustedException):
                return
            value = yield {name: plain(entry) for name, entry in info.config.items()}
            if value is None:
                told = TrialValue(cost=worst or 0.0, status=StatusType.CRASHED)
            else:
                worst = value if worst is None else max(worst, value)
                told = TrialValue(cost=value)
            facade.tell(info, told, save=False)
