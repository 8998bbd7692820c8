"""The best value within a budget of training time, on surrogates of real tuning problems.

    python -m benchmarks.cost_aware --tasks yahpo-xgboost-3 yahpo-xgboost-12 --seeds 2

Minimises 1 - balanced accuracy. The budget is the training time of 30 average random trials, as the surrogate
predicts it. ``auto`` takes cost into account, ``auto-plain`` does not. All run until the budget is spent or
they have ``--max-trials`` trials; the last lines say how often this limit was reached. A trial that ends
after the budget does not count. Distances are to the best value of any run in this call or of a fixed random
sample, as a share of the distance of that sample's median. A pair is ``auto`` and a rival on the same task
and seed.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

import bough
from benchmarks.kept_rows import KeptRows
from benchmarks.objectives import Task, add_task_options, chosen_tasks, suggested
from benchmarks.problems.base import Config

TRIALS = 30
SAMPLE = 1000
METHODS = ("auto", "auto-plain", "optuna-tpe", "random")
TIE = 1e-9


def run(task: Task, method: str, budget: float, most: int, seed: int) -> tuple[float, int]:
    """The best value of the trials that ended within the budget, and how many there were."""
    if method == "optuna-tpe":
        results = _optuna(task, budget, most, seed)
    else:

        def objective(config: Config) -> dict[str, float]:
            error, log_time = task(config)
            return {"value": error, "cost": float(np.exp(log_time))}

        name = "auto" if method.startswith("auto") else method
        options = {"cost_aware": False} if method == "auto-plain" else {}
        study = bough.minimize(
            objective,
            task.space,
            most,
            method=bough.method(name, **options),
            seed=seed,
            budget=budget,
            progress=False,
        )
        results = [(float(t.value or 0.0), float(t.cost or 0.0)) for t in study.trials if t.state == "done"]
    values, costs = np.array(results).T
    inside = np.cumsum(costs) <= budget
    return float(values[inside].min()) if inside.any() else float(values[0]), len(values)


def _optuna(task: Task, budget: float, most: int, seed: int) -> list[tuple[float, float]]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    results: list[tuple[float, float]] = []
    while sum(cost for _, cost in results) < budget and len(results) < most:
        trial = study.ask()
        error, log_time = task(suggested(task, trial))
        study.tell(trial, error)
        results.append((error, float(np.exp(log_time))))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_task_options(parser, "cost-aware.jsonl")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--max-trials", type=int, default=1000, help="long runs take minutes")
    given = parser.parse_args()
    kept = KeptRows(given.rows)
    left: dict[str, list[float]] = {method: [] for method in given.methods}
    trials = dict.fromkeys(given.methods, 0)
    cut_short = dict.fromkeys(given.methods, 0)
    for name in chosen_tasks(given):
        task = Task(name)
        sample = np.array([task(config) for config in task.space.sample(SAMPLE, np.random.default_rng(0))])
        budget = TRIALS * float(np.exp(sample[:, 1]).mean())
        best: dict[str, list[float]] = {method: [] for method in given.methods}
        for seed in range(given.seeds):
            for method in given.methods:
                key = f"{name} {method} {seed} {given.max_trials}"
                search = partial(run, task, method, budget, given.max_trials, seed)
                found, count = kept.once(key, search)
                best[method].append(found)
                trials[method] += count
                cut_short[method] += count >= given.max_trials
        floor = min(sample[:, 0].min(), *(min(values) for values in best.values()))
        width = max(float(np.median(sample[:, 0]) - floor), 1e-12)
        for method in given.methods:
            left[method] += [(value - floor) / width for value in best[method]]
        means = {method: round(float(np.mean(left[method][-given.seeds :])), 4) for method in left}
        print(name, f"budget {budget:.0f} s", means, flush=True)
    ours = np.array(left[given.methods[0]])
    for method in given.methods:
        theirs = np.array(left[method])
        won, lost = int(np.sum(ours < theirs - TIE)), int(np.sum(ours > theirs + TIE))
        pairs = "" if method == given.methods[0] else f"; {given.methods[0]} won {won}, lost {lost}"
        print(
            f"{method}: median distance {np.median(theirs):.4f}, mean {theirs.mean():.4f}, "
            f"{trials[method] / len(theirs):.0f} trials, {cut_short[method]} runs cut short{pairs} "
            f"of {len(theirs)}"
        )


if __name__ == "__main__":
    main()
