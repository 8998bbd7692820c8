"""A fidelity in a branching space: the share of the training set, against full training sets.

    python -m benchmarks.trainsize --tasks yahpo-xgboost-3 --seeds 2
    python -m benchmarks.trainsize --published         # tasks that nothing was chosen by

Minimises 1 - balanced accuracy of rbv2_xgboost (surrogates, three boosters) at the full training set.
``auto`` evaluates ``--trials`` configurations there. The others have its training seconds as their budget,
and at most ``MAX_TRIALS`` trials:

* budget:   ``auto`` at the full training set, maximising improvement per second,
* fidelity: the same with ``Float(0.03, 1, fidelity=True)``; a promotion trains from the start again,
* random:   random search with this fidelity.

The table has the share of the seconds that each needs for the final value of ``auto`` without a budget with
the same seed (1 if it never gets there), and how often its best configuration has the same booster as the
best one of all runs on the task. Runs are kept with ``--rows``.
"""

from __future__ import annotations

import argparse
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.problems.base import Config
from benchmarks.problems.yahpo import ACCURACY, DEVELOPMENT, PUBLISHED, measures, space

LOWEST = 0.03
"""The smallest share of the training set that the surrogate was fitted to."""

MAX_TRIALS = 300
"""The most trials of a run: the cheapest configurations take a thousandth of the most expensive ones, so a
budget alone may allow far too many."""

METHODS = ("budget", "fidelity", "random")


def evaluate(name: str, config: Config) -> tuple[float, float]:
    """1 - balanced accuracy and training seconds; ``trainsize`` in the config is the fidelity."""
    kind = name.removeprefix("yahpo-").split("-")[0]
    plain = {key: value for key, value in config.items() if key != "trainsize"}
    found = measures(name, fidelity={"trainsize": config.get("trainsize", 1.0)})(plain)
    return 1.0 - found[ACCURACY[kind]], max(found["timetrain"], 1e-3)


def run(name: str, method: str, seed: int, trials: int, seconds: float) -> dict[str, Any]:
    """Seconds, value and booster at each improvement at the full training set, and all seconds by rung."""
    searched = space(name.removeprefix("yahpo-").split("-")[0])
    if method in ("fidelity", "random"):
        share = bough.Float(LOWEST, 1.0, fidelity=True)
        searched = bough.Space({**searched.declared, "trainsize": share}, searched.forbid)
    study = bough.Study(searched, method="random" if method == "random" else "auto", seed=seed)
    if seconds < math.inf:
        study.set_budget(seconds)
    spent, best, course = 0.0, np.inf, []
    rungs: dict[str, list[float]] = {}
    while len(study.trials) < trials and spent < seconds:
        trial = study.ask()
        value, cost = evaluate(name, trial.config)
        study.tell(trial, value, cost=cost)
        spent += cost
        level = trial.config.get("trainsize", 1.0)
        rungs.setdefault(f"{level:.2f}", []).append(cost)
        if level == 1.0 and spent <= seconds and value < best:
            best = value
            course.append((spent, best, trial.config["booster"]))
    return {"course": course, "spent": spent, "rungs": {k: (len(v), sum(v)) for k, v in rungs.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", help="by default the first six")
    parser.add_argument("--published", action="store_true", help="tasks that nothing was chosen by")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--rows", type=Path, default=RESULTS / "trainsize.jsonl", help="where runs are kept")
    given = parser.parse_args()
    names = [name for name in (PUBLISHED if given.published else DEVELOPMENT) if "xgboost" in name][:6]
    methods = ("auto", *given.methods)
    kept, shares = KeptRows(given.rows), {method: list[float]() for method in methods}
    right = dict.fromkeys(methods, 0)
    for name in given.tasks or names:
        ends: dict[str, list[tuple[float, str]]] = {method: [] for method in methods}
        for seed in range(given.seeds):
            plain: dict[str, Any] = {}
            for method in methods:
                limits = (MAX_TRIALS, plain["spent"]) if plain else (given.trials, math.inf)
                compute = partial(run, name, method, seed, *limits)
                found = kept.once(f"{name} {method} {seed} {given.trials}", compute)
                plain = plain or found
                reached = (when for when, best, _ in found["course"] if best <= plain["course"][-1][1])
                shares[method].append(next(reached, plain["spent"]) / plain["spent"])
                ends[method].append(tuple(found["course"][-1][1:]) if found["course"] else (math.inf, ""))
        best = min(end for those in ends.values() for end in those)[1]
        for method, those in ends.items():
            right[method] += sum(booster == best for _, booster in those)
        print(name, {m: np.round(s[-given.seeds :], 2).tolist() for m, s in shares.items()}, flush=True)
    print(f"\n{'':10}share of the seconds: quartiles, mean   best booster")
    for method, each in shares.items():
        quartiles = " ".join(f"{q:.2f}" for q in np.quantile(each, (0.25, 0.5, 0.75)))
        print(f"{method:10}{quartiles:>31}{np.mean(each):6.2f}   {right[method]} of {len(each)}")


if __name__ == "__main__":
    main()
