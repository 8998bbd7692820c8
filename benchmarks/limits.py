"""The best error under a limit on time or memory, on surrogates of real tuning problems.

    python -m benchmarks.limits --tasks yahpo-xgboost-3 yahpo-xgboost-12 --seeds 2 --trials 60
    python -m benchmarks.limits --limit memory

20 % of random configurations meet the limit. Prints for each method the mean of the best feasible error,
scaled so that 0 is the best of all runs in this call and 1 the best of 20 random feasible configurations; the
share of trials that violate the limit; and after how many trials `auto` reaches the final value of each
rival. Optuna's Gaussian process (``optuna-gp``) needs torch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np

import bough
from benchmarks.kept_rows import KeptRows
from benchmarks.objectives import Task, add_task_options, chosen_tasks, suggested
from benchmarks.problems.base import Config
from benchmarks.problems.yahpo import ACCURACY, measures
from bough.points import FloatArray

CHECKPOINTS = (20, 40, 60)
SAMPLE, FEASIBLE_SHARE = 2000, 0.2
METHODS = ("auto", "optuna-tpe", "random")

Measure = Callable[[Config], tuple[float, float]]
"""Config -> (error, slack), where a slack of at most 0 meets the limit."""


def limited(task: Task, limit: str) -> tuple[Measure, float]:
    """The error and the slack of a task, and the best feasible error of 20 random configurations."""
    everything = measures(task.name)

    def measured(config: Config) -> tuple[float, float]:
        found = everything(config)
        return 1.0 - found[ACCURACY[task.kind]], float(np.log(max(found[limit], 1e-3)))

    sample = np.array([measured(each) for each in task.space.sample(SAMPLE, np.random.default_rng(0))])
    bound = float(np.quantile(sample[:, 1], FEASIBLE_SHARE))
    feasible = sample[sample[:, 1] <= bound, 0]
    # The first feasible ones of a random sample are themselves a random sample.
    return lambda config: (measured(config)[0], measured(config)[1] - bound), float(feasible[:20].min())


def run(task: Task, measure: Measure, method: str, trials: int, seed: int) -> list[list[float]]:
    """Error and slack of each trial, in their order."""
    if method.startswith("optuna-"):
        return _optuna(task, measure, method, trials, seed)

    def objective(config: Config) -> dict[str, float]:
        error, slack = measure(config)
        return {"error": error, "slack": slack}

    study = bough.optimize(
        objective,
        task.space,
        trials,
        objectives=["error"],
        constraints=["slack <= 0"],
        method=method,
        seed=seed,
        progress=False,
    )
    return [[t.measures["error"], t.measures["slack"]] for t in study.trials]


def _optuna(task: Task, measure: Measure, method: str, trials: int, seed: int) -> list[list[float]]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    samplers = {
        "optuna-tpe": optuna.samplers.TPESampler,
        "optuna-gp": partial(optuna.samplers.GPSampler, warn_independent_sampling=False),
    }
    sampler = samplers[method](seed=seed, constraints_func=lambda trial: [trial.user_attrs["slack"]])
    study = optuna.create_study(sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        error, slack = measure(suggested(task, trial))
        trial.set_user_attr("slack", slack)
        return error

    study.optimize(objective, n_trials=trials)
    return [[float(t.value or 0.0), t.user_attrs["slack"]] for t in study.trials]


def best_so_far(results: FloatArray) -> FloatArray:
    """(trials,) the best feasible error after each trial; infinite before there is one."""
    return np.minimum.accumulate(np.where(results[:, 1] <= 0, results[:, 0], np.inf))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_task_options(parser, "limits.jsonl")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--limit", choices=("timetrain", "memory"), default="timetrain")
    parser.add_argument("--trials", type=int, default=60)
    given = parser.parse_args()
    kept = KeptRows(given.rows)
    gaps: dict[str, list[FloatArray]] = {method: [] for method in given.methods}
    violations: dict[str, list[float]] = {method: [] for method in given.methods}
    rivals = [method for method in given.methods if method != "auto" and "auto" in given.methods]
    needed: dict[str, list[float]] = {rival: [] for rival in rivals}
    for name in chosen_tasks(given):
        task = Task(name)
        measure, ordinary = limited(task, given.limit)
        runs = {
            (method, seed): np.array(
                kept.once(
                    f"{name} {given.limit} {method} {seed} {given.trials}",
                    partial(run, task, measure, method, given.trials, seed),
                )
            )
            for method in given.methods
            for seed in range(given.seeds)
        }
        best = min(float(best_so_far(results)[-1]) for results in runs.values())
        for (method, _), results in runs.items():
            course = (best_so_far(results) - best) / max(ordinary - best, 1e-9)
            gaps[method].append(np.minimum(course, 10.0)[[n - 1 for n in CHECKPOINTS if n <= given.trials]])
            violations[method].append(float(np.mean(results[:, 1] > 0)))
        for rival in needed:
            for seed in range(given.seeds):
                target = best_so_far(runs[rival, seed])[-1]
                reached = np.flatnonzero(best_so_far(runs["auto", seed]) <= target)
                needed[rival].append((reached[0] + 1) / given.trials if len(reached) else np.inf)
        print(
            name,
            {m: np.round(np.mean(gaps[m][-given.seeds :], axis=0), 3).tolist() for m in gaps},
            flush=True,
        )
    for method in given.methods:
        mean = ", ".join(f"{each:.3f}" for each in np.mean(gaps[method], axis=0))
        print(f"{method}: gap {mean} at {CHECKPOINTS}; {np.mean(violations[method]):.0%} of trials violate")
    for rival, shares in needed.items():
        print(
            f"auto has what {rival} has at the end after a median share {np.median(shares):.2f} of the "
            f"trials; never in {np.sum(np.isinf(shares))} of {len(shares)} runs"
        )


if __name__ == "__main__":
    main()
