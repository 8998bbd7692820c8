"""Early stopping on learning curves of real networks: the quality of results for a budget of epochs.

    python -m benchmarks.stopping --tasks yahpo-lcbench-3945 --seeds 2
    python -m benchmarks.stopping --published          # tasks that nothing was chosen by

Minimises 1 - balanced accuracy after all 52 epochs. Every method may spend the epochs of ``--trials`` full
trainings; a stopped trial costs the epochs it was trained, and a promoted one continues from there, for SMAC
too. Only results after all epochs count. The regret of a value is its distance to the best value for the
task, in any of these runs or in a fixed random sample, divided by the distance of the sample's median. The
share needed is the share of the epochs until a method reaches the final value of ``auto`` without stopping
with the same seed; 1 if it never does. ``auto-fidelity-6`` starts at 6 epochs
instead of 2. Rivals are Optuna's TPE and SMAC's multi-fidelity facade (Hyperband with a random forest). Runs
are kept with ``--rows``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.objectives import Task, suggested
from benchmarks.problems.base import Config
from benchmarks.problems.yahpo import ACCURACY, DEVELOPMENT, PUBLISHED, surrogate
from bough.points import FloatArray

SHARES = (0.1, 0.25, 0.4, 0.6, 1.0)
SAMPLE = 500
LOWEST = 2
"""The number of epochs of the lowest rung."""
METHODS = (
    "auto",
    "auto-fidelity",
    "auto-median",
    "auto-asha",
    "random-asha",
    "optuna-median",
    "optuna-hyperband",
    "smac-hyperband",
)


class Curves:
    """The learning curves of a task: 1 - balanced accuracy after each epoch."""

    def __init__(self, name: str) -> None:
        self.kind, self.task = name.removeprefix("yahpo-").split("-")
        self.asked = Task(name)
        self.space = self.asked.space
        self._model = surrogate(self.kind)
        self.epochs = int(self._model.full["epoch"])
        self._known: dict[str, list[float]] = {}

    def __call__(self, config: Config, epoch: int) -> float:
        key = str(sorted(config.items()))
        if key not in self._known:
            levels = [{"epoch": each} for each in range(1, self.epochs + 1)]
            found = self._model.at_levels(self.task, config, levels)
            self._known[key] = [1.0 - each[ACCURACY[self.kind]] for each in found]
        return self._known[key][epoch - 1]


class Spent:
    """Counts epochs, and keeps the best final value after each number of epochs."""

    def __init__(self, budget: int) -> None:
        self.budget, self.epochs, self.best = budget, 0, np.inf
        self.course: list[tuple[int, float]] = []
        self.full = self.trials = 0

    @property
    def over(self) -> bool:
        return self.epochs >= self.budget

    def train(self, curves: Curves, config: Config, report: Callable[[float, int], bool]) -> float | None:
        """The final value; None if the report says to stop, or the budget ends."""
        self.trials += 1
        value = np.inf
        for epoch in range(1, curves.epochs + 1):
            if self.epochs >= self.budget:
                return None
            self.epochs += 1
            value = curves(config, epoch)
            if report(value, epoch):
                return None
        self._finish(value)
        return value

    def train_on(self, curves: Curves, config: Config, first: int, last: int) -> float | None:
        """The value after ``last`` epochs of a network that was already trained for ``first`` epochs."""
        self.trials += first == 0
        if self.epochs + last - first > self.budget:
            self.epochs = self.budget
            return None
        self.epochs += last - first
        value = curves(config, last)
        if last == curves.epochs:
            self._finish(value)
        return value

    def _finish(self, value: float) -> None:
        self.full += 1
        if value < self.best:
            self.best = value
            self.course.append((self.epochs, value))


def run_bough(curves: Curves, method: str, rule: str, spent: Spent, seed: int) -> None:
    study = bough.Study(curves.space, method=method, seed=seed, stopping=rule)
    while not spent.over:
        trial = study.ask()
        value = spent.train(curves, trial.config, lambda value, epoch, t=trial: study.report(t, value, epoch))
        if value is not None:
            study.tell(trial, value)


def run_fidelity(curves: Curves, method: str, lowest: int, spent: Spent, seed: int) -> None:
    """Epochs as a fidelity; a promoted trial continues the training of the one that it resumes."""
    epochs = bough.Int(lowest, curves.epochs, fidelity=True)
    space = bough.Space({**curves.space.declared, "epoch": epochs}, curves.space.forbid)
    study = bough.Study(space, method=method, seed=seed)
    while not spent.over:
        trial = study.ask()
        config = {name: value for name, value in trial.config.items() if name != "epoch"}
        trained = 0 if trial.resumes is None else study.trial(trial.resumes).config["epoch"]
        value = spent.train_on(curves, config, trained, trial.config["epoch"])
        if value is not None:
            study.tell(trial, value)


def run_optuna(curves: Curves, pruner: str, spent: Spent, seed: int) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    pruners = {
        "median": lambda: optuna.pruners.MedianPruner(),
        "hyperband": lambda: optuna.pruners.HyperbandPruner(1, curves.epochs, 3),
        "none": lambda: optuna.pruners.NopPruner(),
    }
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), pruner=pruners[pruner]())
    while not spent.over:
        trial = study.ask()
        value = spent.train(
            curves, suggested(curves.asked, trial), lambda *given, t=trial: _pruned(t, *given)
        )
        if value is None:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, value)


def _pruned(trial: Any, value: float, epoch: int) -> bool:
    trial.report(value, epoch)
    return bool(trial.should_prune())


def run_smac(curves: Curves, spent: Spent, seed: int) -> None:
    from smac import MultiFidelityFacade, Scenario
    from smac.runhistory.dataclasses import TrialValue

    from bough.integrations.configspace import to_configspace

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            to_configspace(curves.space),
            min_budget=LOWEST,
            max_budget=curves.epochs,
            n_trials=4 * spent.budget // curves.epochs,  # its random design has a quarter of this size
            deterministic=True,
            seed=seed,
            output_directory=Path(folder),
        )
        facade = MultiFidelityFacade(
            scenario, lambda config, seed=0, budget=0: 0.0, logging_level=False, overwrite=True
        )
        trained: dict[Any, int] = {}
        while not spent.over:
            info = facade.ask()
            first, last = trained.get(info.config, 0), round(info.budget)
            value = spent.train_on(curves, dict(info.config), first, last)
            if value is not None:
                trained[info.config] = last
                facade.tell(info, TrialValue(cost=value), save=False)


def run(name: str, method: str, trials: int, seed: int) -> dict[str, Any]:
    """A run: the epochs after which the best value improved, and the number of trials."""
    curves = Curves(name)
    spent = Spent(trials * curves.epochs)
    base, _, rule = method.partition("-")
    if rule.startswith("fidelity"):
        run_fidelity(curves, base, int(rule.removeprefix("fidelity").strip("-") or LOWEST), spent, seed)
    elif base == "optuna":
        run_optuna(curves, rule, spent, seed)
    elif base == "smac":
        run_smac(curves, spent, seed)
    else:
        run_bough(curves, base, rule or "none", spent, seed)
    return {"course": spent.course, "trials": spent.trials, "full": spent.full, "budget": spent.budget}


def best_at(found: dict[str, Any], share: float) -> float:
    """The best value after a share of the epochs; infinite before the first one."""
    reached = (value for when, value in reversed(found["course"]) if when <= share * found["budget"])
    return float(next(reached, np.inf))


def share_needed(found: dict[str, Any], value: float) -> float:
    """The share of the epochs after which the value was reached; 1 if it never was."""
    reached = (when for when, best in found["course"] if best <= value)
    return float(next(reached, found["budget"]) / found["budget"])


def regrets(name: str, runs: Sequence[dict[str, Any]]) -> FloatArray:
    """(runs, shares) the regret of each run after these shares of its budget; at most 1."""
    curves = Curves(name)
    configs = curves.space.sample(SAMPLE, np.random.default_rng(0))
    sample = np.array([curves(config, curves.epochs) for config in configs])
    best = min([sample.min(), *(best_at(found, 1.0) for found in runs)])
    values = np.array([[best_at(found, share) for share in SHARES] for found in runs])
    return np.minimum((values - best) / (np.median(sample) - best), 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument("--published", action="store_true", help="tasks that nothing was chosen by")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--rows", type=Path, default=RESULTS / "stopping.jsonl", help="where runs are kept")
    given = parser.parse_args()
    names = [n for n in (PUBLISHED if given.published else DEVELOPMENT) if "lcbench" in n]
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    kept, keys = KeptRows(given.rows), [(method, seed) for method in given.methods for seed in seeds]
    found: dict[str, list[FloatArray]] = {method: [] for method in given.methods}
    needed: dict[str, list[float]] = {method: [] for method in given.methods}
    counts: dict[str, list[tuple[int, int]]] = {method: [] for method in given.methods}
    for name in given.tasks or names:
        runs = {}
        for method, seed in keys:
            compute = partial(run, name, method, given.trials, seed)
            runs[method, seed] = kept.once(f"{name} {method} {seed} {given.trials}", compute)
        for (method, seed), regret in zip(runs, regrets(name, list(runs.values())), strict=True):
            each = runs[method, seed]
            found[method].append(regret)
            counts[method].append((each["trials"], each["full"]))
            if ("auto", seed) in runs:
                needed[method].append(share_needed(each, best_at(runs["auto", seed], 1.0)))
        shares = {method: np.round(needed[method][-given.seeds :], 2).tolist() for method in given.methods}
        print(name, shares, flush=True)
    print_table(given.methods, found, needed, counts)


def print_table(
    methods: Sequence[str],
    found: dict[str, list[FloatArray]],
    needed: dict[str, list[float]],
    counts: dict[str, list[tuple[int, int]]],
) -> None:
    """Mean regrets with the second method's wins against each, and quartiles of the shares needed."""
    first = np.array(found[methods[min(1, len(methods) - 1)]])
    print(f"\nmean regret after a share of the epochs (wins-losses of {methods[min(1, len(methods) - 1)]})")
    head = "".join(f"{share:>16.0%}" for share in SHARES)
    print(f"{'':18}{head}  trials  to the end  share needed (quartiles)")
    for method in methods:
        values = np.array(found[method])
        won, lost = (first < values).sum(axis=0), (first > values).sum(axis=0)
        cells = [f"{m:.3f} ({w}-{x})" for m, w, x in zip(values.mean(axis=0), won, lost)]
        row = "".join(f"{cell:>16}" for cell in cells)
        trials, full = np.mean(counts[method], axis=0)
        quartiles = np.quantile(needed[method], (0.25, 0.5, 0.75)).round(2) if needed[method] else "-"
        print(f"{method:18}{row}  {trials:6.1f}  {full:10.1f}  {quartiles}")


if __name__ == "__main__":
    main()
