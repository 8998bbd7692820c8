"""Several objectives on surrogates of real tuning problems: share of the best known hypervolume.

    python -m benchmarks.objectives --tasks yahpo-xgboost-3 yahpo-xgboost-12 --seeds 2 --trials 60
    python -m benchmarks.objectives --memory --methods auto optuna-nsga2     # a third objective

Minimises 1 - balanced accuracy and the logarithm of the training time; with --memory also the logarithm of
the memory. For some configurations the surrogate predicts no memory at all; memory below the lower quartile
of random configurations counts as this quartile.
Rivals get the same trials and seeds: Optuna's TPE and NSGA-II; if torch is installed, its Gaussian process
(``optuna-gp``); if SMAC is installed, its ParEGO (``smac-parego``). The best known front of a task is the
front of a fixed sample of random configurations and all runs in this call together. The reference point is
worse than the front of the random configurations by a tenth of that front's range, so it does not depend on
the runs. A share of 1 means as good as all of them together. Runs are kept with ``--rows``, and an
interrupted benchmark continues; ``--published`` selects tasks that were not used for any choice.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.peers.adapters.space import plain
from benchmarks.problems.base import Config
from benchmarks.problems.yahpo import ACCURACY, DATA, DEVELOPMENT, PUBLISHED, SETS, measures, space
from bough.acquisition.hypervolume import hypervolume, inferred_reference, non_dominated
from bough.integrations.configspace_export import to_configspace_dict
from bough.points import FloatArray

CHECKPOINTS = (20, 40, 60)
SAMPLE = 2000
MEMORY_FLOOR = 0.25
"""The quantile below which memory is raised to it: on some tasks the surrogate predicts no memory at all for
more than a tenth of the configurations."""
METHODS = ("auto", "optuna-tpe", "optuna-nsga2", "random")


class Task:
    """The objectives of a task, all to be minimised: error, training time, and with ``memory`` the memory."""

    def __init__(self, name: str, memory: bool = False) -> None:
        self.name = name
        self.names = ("error", "time", "memory") if memory else ("error", "time")
        self.kind = name.removeprefix("yahpo-").split("-")[0]
        self.space = space(self.kind)
        self._measures = measures(name)
        self._least = {"timetrain": 1e-3, "memory": 1e-3}
        if memory:
            random = [self._measures(config)["memory"] for config in self.space.sample(SAMPLE, 0)]
            self._least["memory"] = float(np.quantile(random, MEMORY_FLOOR))

    def __call__(self, config: Config) -> tuple[float, ...]:
        found = self._measures(config)
        logs = (float(np.log(max(found[name], least))) for name, least in self._least.items())
        return (1.0 - found[ACCURACY[self.kind]], *logs)[: len(self.names)]

    def run(self, method: str, trials: int, seed: int) -> list[list[float]]:
        """The objectives of each trial, in their order."""
        if method.startswith("optuna-"):
            return self._optuna(method, trials, seed)
        if method == "smac-parego":
            return self._parego(trials, seed)

        def objective(config: Config) -> dict[str, float]:
            return dict(zip(self.names, self(config), strict=True))

        study = bough.optimize(
            objective,
            self.space,
            trials,
            objectives=self.names,
            method=method,
            seed=seed,
            progress=False,
        )
        return [[t.measures[name] for name in self.names] for t in study.trials]

    def _optuna(self, method: str, trials: int, seed: int) -> list[list[float]]:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        samplers = {
            "optuna-tpe": optuna.samplers.TPESampler,
            "optuna-nsga2": optuna.samplers.NSGAIISampler,
            "optuna-gp": partial(optuna.samplers.GPSampler, warn_independent_sampling=False),
        }
        study = optuna.create_study(
            directions=["minimize"] * len(self.names), sampler=samplers[method](seed=seed)
        )
        study.optimize(lambda trial: self(suggested(self, trial)), n_trials=trials)
        return [list(t.values) for t in study.trials]

    def _parego(self, trials: int, seed: int) -> list[list[float]]:
        from ConfigSpace import ConfigurationSpace
        from smac import HyperparameterOptimizationFacade, Scenario
        from smac.multi_objective.parego import ParEGO

        seen: list[list[float]] = []

        def target(config: Any, seed: int = 0) -> dict[str, float]:
            seen.append(list(self({name: plain(value) for name, value in config.items()})))
            return dict(zip(self.names, seen[-1], strict=True))

        searched = ConfigurationSpace.from_serialized_dict(to_configspace_dict(self.space))
        with tempfile.TemporaryDirectory() as folder:
            scenario = Scenario(
                searched,
                objectives=list(self.names),
                deterministic=True,
                n_trials=trials,
                seed=seed,
                output_directory=folder,
            )
            HyperparameterOptimizationFacade(
                scenario,
                target,
                multi_objective_algorithm=ParEGO(scenario),
                logging_level=False,
                overwrite=True,
            ).optimize()
        return seen


def suggested(task: Task, trial: Any) -> Config:
    """A config, define by run: each parameter is suggested once its condition holds."""
    table = json.loads((DATA / SETS[task.kind] / "config_space.json").read_text())
    asked = {parameter.name for parameter in task.space.parameters}
    conditions = {each["child"]: each for each in table["conditions"]}
    config: Config = {}
    # No parent of these spaces has a condition.
    for entry in sorted(table["hyperparameters"], key=lambda each: each["name"] in conditions):
        name, condition = entry["name"], conditions.get(entry["name"])
        if condition is not None:
            values = condition["values"] if condition["type"] == "IN" else [condition["value"]]
            if config.get(condition["parent"]) not in values:
                continue
        if name not in asked:
            continue
        if entry["type"] == "categorical":
            config[name] = trial.suggest_categorical(name, entry["choices"])
        else:
            suggest = trial.suggest_int if entry["type"] == "uniform_int" else trial.suggest_float
            config[name] = suggest(name, entry["lower"], entry["upper"], log=entry["log"])
    return config


def shares(task: Task, runs: Sequence[FloatArray]) -> FloatArray:
    """(runs, checkpoints) the share of the best known hypervolume after these numbers of trials."""
    sample = np.array([task(config) for config in task.space.sample(SAMPLE, np.random.default_rng(0))])
    reference = inferred_reference(sample)
    everything = np.concatenate([sample, *runs])
    best = hypervolume(everything[non_dominated(everything)], reference)
    return np.array([[hypervolume(run[:n], reference) / best for n in CHECKPOINTS] for run in runs])


def add_task_options(parser: argparse.ArgumentParser, rows: str) -> None:
    """Options that several benchmarks on these tasks have."""
    parser.add_argument("--tasks", nargs="+", help="by default the first ten")
    parser.add_argument("--published", action="store_true", help="tasks that nothing was chosen by")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=Path, default=RESULTS / rows, help="where runs are kept")


def chosen_tasks(given: argparse.Namespace) -> list[str]:
    """The tasks that the options of ``add_task_options`` name."""
    names = PUBLISHED if given.published else DEVELOPMENT
    return given.tasks or [name for name in names if "xgboost" in name][:10]


def interval(values: Sequence[float]) -> str:
    """The mean and its 95 % interval (bootstrap), as text."""
    drawn = np.random.default_rng(0).choice(np.asarray(values), size=(2000, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{np.mean(values):.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_task_options(parser, "objectives.jsonl")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--memory", action="store_true", help="a third objective")
    given = parser.parse_args()
    kept, tasks = KeptRows(given.rows), chosen_tasks(given)
    keys = [(method, seed) for method in given.methods for seed in range(given.seeds)]
    found: dict[str, list[FloatArray]] = {method: [] for method in given.methods}
    for name in tasks:
        task, runs = Task(name, given.memory), []
        for method, seed in keys:
            key = f"{name} {len(task.names)} {method} {seed} {given.trials}"
            runs.append(np.array(kept.once(key, partial(task.run, method, given.trials, seed))))
        for (method, _), share in zip(keys, shares(task, runs), strict=True):
            found[method].append(share)
        print(
            name,
            {m: np.round(np.mean(found[m][-given.seeds :], axis=0), 3).tolist() for m in found},
            flush=True,
        )
    for method in given.methods:
        text = ", ".join(interval(column) for column in np.array(found[method]).T)
        print(f"{method}: {text} at {CHECKPOINTS}; {len(found[method])} runs")


if __name__ == "__main__":
    main()
