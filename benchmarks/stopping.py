"""Early stopping on learning curves of real networks: how good a result is for the epochs it cost.

    python -m benchmarks.stopping --tasks yahpo-lcbench-3945 --seeds 2 --trials 40

Minimises 1 - balanced accuracy after all 52 epochs. Every method may spend the epochs of ``--trials`` full
trainings; a trial that is stopped costs the epochs it was trained. A result counts when it was trained to the
end. The regret of a value is its distance to the best one seen for the task, in any run of this call or in a
fixed random sample, over the distance of the sample's median. The last column says which share of its budget
a method needs for the value that ``auto`` without stopping has in the end (1 where it never gets there).
With ``--until-reached`` a method ends there, which saves most of the time where only this share matters.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bough
from benchmarks.objectives import Task, suggested
from benchmarks.problems.base import Config
from benchmarks.problems.yahpo import ACCURACY, DEVELOPMENT, surrogate
from bough.points import FloatArray

SHARES = (0.1, 0.25, 0.4, 0.6, 1.0)
SAMPLE = 500
METHODS = (
    "auto",
    "auto-fidelity",
    "auto-median",
    "auto-asha",
    "random-asha",
    "optuna-median",
    "optuna-hyperband",
)


class Curves:
    """The learning curves of a task: 1 - balanced accuracy after each epoch."""

    def __init__(self, name: str) -> None:
        self.kind, self.task = name.removeprefix("yahpo-").split("-")
        self.asked = Task(name)
        self.space = self.asked.space
        self._model = surrogate(self.kind)
        self.epochs = int(self._model.full["epoch"])

    def __call__(self, config: Config, epoch: int) -> float:
        found = self._model.measures(self.task, config, {"epoch": epoch})
        return 1.0 - found[ACCURACY[self.kind]]


class Spent:
    """Counts epochs, and the best value that was trained to the end after so many."""

    def __init__(self, budget: int, target: float = -np.inf) -> None:
        self.budget, self.epochs, self.best, self.target = budget, 0, np.inf, target
        self.course: list[tuple[int, float]] = []
        self.full = self.trials = 0

    @property
    def over(self) -> bool:
        """Whether the budget is spent, or the target reached."""
        return self.epochs >= self.budget or self.best <= self.target

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
        self.full += 1
        self.best = min(self.best, value)
        self.course.append((self.epochs, self.best))
        return value

    def train_on(self, curves: Curves, config: Config, first: int, last: int) -> float | None:
        """The value after ``last`` epochs of a network that was trained for ``first`` before."""
        self.trials += first == 0
        if self.epochs + last - first > self.budget:
            self.epochs = self.budget
            return None
        self.epochs += last - first
        value = curves(config, last)
        if last == curves.epochs:
            self.full += 1
            self.best = min(self.best, value)
            self.course.append((self.epochs, self.best))
        return value

    def at(self, epochs: float) -> float:
        """The best value after so many epochs; infinite before the first one."""
        return next((value for when, value in reversed(self.course) if when <= epochs), np.inf)

    def first(self, value: float) -> float:
        """The share of the budget after which the value was reached; 1 if it never was."""
        reached = (when for when, best in self.course if best <= value)
        return next(reached, self.budget) / self.budget


def run_bough(curves: Curves, method: str, rule: str, spent: Spent, seed: int) -> None:
    study = bough.Study(curves.space, method=method, seed=seed, stopping=rule)
    while not spent.over:
        trial = study.ask()
        value = spent.train(curves, trial.config, lambda value, epoch, t=trial: study.report(t, value, epoch))
        if value is not None:
            study.tell(trial, value)


def run_fidelity(curves: Curves, method: str, spent: Spent, seed: int) -> None:
    """Epochs as a fidelity; a promoted trial continues the training of the one that it resumes."""
    epochs = bough.Int(2, curves.epochs, fidelity=True)
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


def run(name: str, method: str, trials: int, seed: int, target: float = -np.inf) -> Spent:
    """target: a value at which the run ends."""
    curves = Curves(name)
    spent = Spent(trials * curves.epochs, target)
    base, _, rule = method.partition("-")
    if rule == "fidelity":
        run_fidelity(curves, base, spent, seed)
    elif base == "optuna":
        run_optuna(curves, rule, spent, seed)
    else:
        run_bough(curves, base, rule or "none", spent, seed)
    return spent


def regrets(name: str, runs: Sequence[Spent]) -> FloatArray:
    """(runs, shares) the regret of each run after these shares of its budget; at most 1."""
    curves = Curves(name)
    configs = curves.space.sample(SAMPLE, np.random.default_rng(0))
    sample = np.array([curves(config, curves.epochs) for config in configs])
    best = min([sample.min(), *(spent.best for spent in runs)])
    values = np.array([[spent.at(share * spent.budget) for share in SHARES] for spent in runs])
    return np.minimum((values - best) / (np.median(sample) - best), 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=[n for n in DEVELOPMENT if "lcbench" in n])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--until-reached", action="store_true")
    given = parser.parse_args()
    keys = [(method, seed) for method in given.methods for seed in range(given.seeds)]
    found: dict[str, list[FloatArray]] = {method: [] for method in given.methods}
    needed: dict[str, list[float]] = {method: [] for method in given.methods}
    counts: dict[str, list[tuple[int, int]]] = {method: [] for method in given.methods}
    for name in given.tasks:
        began = time.perf_counter()
        runs: dict[tuple[str, int], Spent] = {}
        for method, seed in keys:
            auto = runs.get(("auto", seed)) if given.until_reached else None
            target = -np.inf if auto is None else auto.best
            runs[method, seed] = run(name, method, given.trials, seed, target)
        for (method, seed), regret in zip(runs, regrets(name, list(runs.values())), strict=True):
            spent = runs[method, seed]
            found[method].append(regret)
            counts[method].append((spent.trials, spent.full))
            if ("auto", seed) in runs:
                needed[method].append(spent.first(runs["auto", seed].best))
        means = {method: np.mean(found[method][-given.seeds :], axis=0).round(3) for method in given.methods}
        print(f"{name}: {means} ({time.perf_counter() - began:.0f} s)", flush=True)
    head = "  ".join(f"{share:>6.0%}" for share in SHARES)
    print(
        f"\nmean regret after a share of the epochs\n{'':18}{head}  trials  to the end  share needed (median)"
    )
    for method in given.methods:
        row = "  ".join(f"{value:6.3f}" for value in np.mean(found[method], axis=0))
        trials, full = np.mean(counts[method], axis=0)
        share = f"{np.median(needed[method]):.2f}" if needed[method] else "-"
        print(f"{method:18}{row}  {trials:6.1f}  {full:10.1f}  {share}")


if __name__ == "__main__":
    main()
