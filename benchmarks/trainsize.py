"""A fidelity in a branching space: the share of the training set, against full training sets.

    python -m benchmarks.trainsize --tasks yahpo-xgboost-3 --seeds 2 --trials 40

Minimises 1 - balanced accuracy of rbv2_xgboost (surrogates, three boosters) at the full training set.
``auto`` without a fidelity evaluates ``--trials`` configurations there. ``auto`` with
``Float(0.03, 1, fidelity=True)`` may spend the same training seconds; a promotion trains from the start
again. The table has the share of the seconds that each method needs for the value that ``auto`` without a
fidelity has in the end (1 where it never gets there), and how often its best configuration has the booster of
the best one of all runs on the task.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import bough
from benchmarks.problems.base import Config
from benchmarks.problems.yahpo import ACCURACY, DEVELOPMENT, measures, space

LOWEST = 0.03
"""The smallest share of the training set that the surrogate was fitted to."""

Course = list[tuple[float, float, str]]
"""Seconds, best value so far and its booster, after each result at the full training set."""


def evaluate(name: str, config: Config) -> tuple[float, float]:
    """1 - balanced accuracy and training seconds; ``trainsize`` in the config is the fidelity."""
    kind = name.removeprefix("yahpo-").split("-")[0]
    plain = {key: value for key, value in config.items() if key != "trainsize"}
    found = measures(name, fidelity={"trainsize": config.get("trainsize", 1.0)})(plain)
    return 1.0 - found[ACCURACY[kind]], max(found["timetrain"], 1e-3)


def run(name: str, method: str, seed: int, *, fidelity: bool, trials: float, seconds: float) -> Course:
    """Evaluate until so many trials or seconds are used."""
    searched = space(name.removeprefix("yahpo-").split("-")[0])
    if fidelity:
        share = bough.Float(LOWEST, 1.0, fidelity=True)
        searched = bough.Space({**searched.declared, "trainsize": share}, searched.forbid)
    study = bough.Study(searched, method=method, seed=seed)
    spent, best, booster, course = 0.0, np.inf, "", Course()
    while len(study.trials) < trials and spent < seconds:
        trial = study.ask()
        value, cost = evaluate(name, trial.config)
        study.tell(trial, value, cost=cost)
        spent += cost
        if trial.config.get("trainsize", 1.0) == 1.0 and spent <= seconds:
            if value < best:
                best, booster = value, trial.config["booster"]
            course.append((spent, best, booster))
    return course


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=[n for n in DEVELOPMENT if "xgboost" in n][:4])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=40)
    given = parser.parse_args()
    shares: dict[str, list[float]] = {"auto": [], "auto, fidelity": [], "random, fidelity": []}
    right = dict.fromkeys(shares, 0)
    for name in given.tasks:
        runs: dict[str, list[Course]] = {method: [] for method in shares}
        for seed in range(given.seeds):
            plain = run(name, "auto", seed, fidelity=False, trials=given.trials, seconds=math.inf)
            runs["auto"].append(plain)
            for method in ("auto", "random"):
                limited = run(name, method, seed, fidelity=True, trials=math.inf, seconds=plain[-1][0])
                runs[f"{method}, fidelity"].append(limited)
            for method, courses in runs.items():
                reached = [when for when, best, _ in courses[-1] if best <= plain[-1][1]]
                shares[method].append(min(reached, default=plain[-1][0]) / plain[-1][0])
        ends = {(c[-1][1], c[-1][2]) for courses in runs.values() for c in courses if c}
        for method, courses in runs.items():
            right[method] += sum(bool(c) and c[-1][2] == min(ends)[1] for c in courses)
        print(name, {method: np.round(each[-given.seeds :], 2).tolist() for method, each in shares.items()})
    print(f"\n{'':18}share of the seconds: median, mean   best booster")
    for method, each in shares.items():
        print(f"{method:18}{np.median(each):28.2f}{np.mean(each):6.2f}   {right[method]} of {len(each)}")


if __name__ == "__main__":
    main()
