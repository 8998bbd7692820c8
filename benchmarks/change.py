"""A space that grows during a study: is continuing better than starting over?

    python -m benchmarks.change

Each problem is first searched without one option of its switch ("branch"), or with one parameter held at the
middle of its range ("parameter"). Then the space becomes complete. One study continues by ``study.change``,
the other one starts over; both get the same number of further trials. The added option alternates by seed
between the one with the best known value and a random other one.

The table compares the best scores (distances to the optimum) of both studies after some of the further
trials, and the mean of the best score over all of them. Two runs that converge to the same optimum differ
only slightly, so with ``--tolerance 0.01`` differences below this share of the spread of scores count as
ties; the spread is the interquartile range of random configurations.

A third study has the complete space from the start, and as many trials as the one that continues. Comparing
it with the study that starts over shows the largest possible gain from earlier trials.
Results are kept in results/change.jsonl, and an interrupted benchmark continues.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.beliefs import best_known
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.problems import Problem, build
from benchmarks.problems.base import Config
from bough.points import FloatArray
from bough.space.space import Space

PROBLEMS = (
    "modes", "rotated", "multiply", "nested", "uneven", "path", "clash", "scales", "discrete", "noisy",
)  # fmt: skip
EDITS = ("branch", "parameter")
CHECKPOINTS = (5, 10, 20, 30)
ARMS = {"going on": "going on", "whole": "the whole space from the start"}
WHOLE_SEED = 1000
"""Added to the seed of the study with the whole space from the start, so its first trials are different."""

SAMPLE = 500
"""The number of random configurations from which the spread of scores is computed."""

Whole = Callable[[Config], Config]
"""A config of the smaller space as one of the whole space."""


def without_option(problem: Problem, best: bool, seed: int) -> Space:
    """The space without one option of its first switch: the one with the best known value, or another."""
    rng = np.random.default_rng([seed, 78])
    data = copy.deepcopy(problem.space.to_dict())
    switch = next(name for name, spec in data.items() if spec["type"] == "choice")
    options = data[switch]["options"]
    good = str(best_known(problem, rng)[switch])
    chosen = good if best else str(rng.choice([label for label in options if label != good]))
    del options[chosen]
    return Space.from_json(data)


def without_parameter(problem: Problem, seed: int) -> tuple[Space, Whole, dict[str, Any]]:
    """The space without one number, a function that completes its configs, and the value to backfill."""
    rng = np.random.default_rng([seed, 79])
    data = copy.deepcopy(problem.space.to_dict())
    places = list(_numbers(data, "", {}))
    siblings, name, path, conditions = places[int(rng.integers(len(places)))]
    domain = next(p.domain for p in problem.space.parameters if p.path == path)
    value = domain.values(domain.rank_at(np.array([0.5]))).tolist()[0]
    del siblings[name]

    def whole(config: Config) -> Config:
        applies = all(config.get(switch) == label for switch, label in conditions.items())
        return {**config, name: value} if applies else config

    return Space.from_json(data), whole, {path: value}


def _numbers(parameters: dict[str, Any], prefix: str, conditions: dict[str, str]) -> Any:
    """Every number of a space: the dict that declares it, its name, its path, and the options above it."""
    for name, spec in parameters.items():
        if spec["type"] in ("float", "int"):
            yield parameters, name, prefix + name, conditions
        if spec["type"] == "choice":
            for label, children in spec["options"].items():
                yield from _numbers(children, f"{prefix}{name}={label}/", {**conditions, name: label})


def search(
    study: bough.Study, problem: Problem, trials: int, whole: Whole = lambda config: config
) -> list[float]:
    """Run a study for some trials; returns the score of each, infinite if it failed."""
    scores = []
    for _ in range(trials):
        trial = study.ask()
        config = whole(trial.config)
        try:
            value = float(problem.function(config))
        except Exception as error:
            study.fail(trial, str(error))
            scores.append(np.inf)
            continue
        study.tell(trial, value)
        scores.append(problem.score(config, value) if np.isfinite(value) else np.inf)
    return scores


def spread(problem: Problem, seed: int) -> float:
    """The interquartile range of the scores of random configurations."""
    scores = []
    for config in problem.space.sample(SAMPLE, np.random.default_rng([seed, 80])):
        with contextlib.suppress(Exception):  # a problem whose configurations fail
            value = float((problem.noiseless or problem.function)(config))
            scores.append(problem.score(config, value))
    return float(np.subtract(*np.nanquantile(scores, [0.75, 0.25])))


def compare(name: str, edit: str, seed: int, before: int, after: int) -> dict[str, Any]:
    """The best scores of the studies after each further trial, and the spread of scores."""
    problem = build(name, seed)
    whole: Whole = lambda config: config  # noqa: E731
    backfill: dict[str, Any] = {}
    if edit == "branch":
        smaller = without_option(problem, best=seed % 2 == 0, seed=seed)
    else:
        smaller, whole, backfill = without_parameter(problem, seed)
    going_on = bough.Study(smaller, seed=seed)
    first = search(going_on, build(name, seed), before, whole)
    going_on.change(problem.space, backfill=backfill)
    further = search(going_on, build(name, seed), after)
    over = search(bough.Study(problem.space, seed=seed), build(name, seed), after)
    whole_study = bough.Study(problem.space, seed=seed + WHOLE_SEED)
    from_the_start = search(whole_study, build(name, seed), before + after)
    return {
        "going on": np.minimum.accumulate([*first, *further])[before:].tolist(),
        "whole": np.minimum.accumulate(from_the_start)[before:].tolist(),
        "starting over": np.minimum.accumulate(over).tolist(),
        "spread": spread(problem, seed),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--edits", nargs="+", default=EDITS, choices=EDITS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1, help="seed 0 was used to choose a rule")
    parser.add_argument("--before", type=int, default=30, help="trials in the smaller space")
    parser.add_argument("--after", type=int, default=30, help="further trials of each study")
    parser.add_argument("--tolerance", type=float, default=0.0, help="differences below it are ties")
    parser.add_argument("--rows", type=Path, default=RESULTS / "change.jsonl")
    given = parser.parse_args()
    rows = KeptRows(given.rows)
    points = [n for n in CHECKPOINTS if n <= given.after]
    for edit in given.edits:
        found = [
            rows.once(
                f"{name} {edit} {seed} {given.before} {given.after}",
                partial(compare, name, edit, seed, given.before, given.after),
            )
            for name in given.problems
            for seed in range(given.first_seed, given.first_seed + given.seeds)
        ]
        matters = given.tolerance * np.array([each["spread"] for each in found])
        over = np.array([each["starting over"] for each in found])
        for arm, label in ARMS.items():
            on = np.array([each[arm] for each in found])
            for n in points:
                report(f"{edit}, {label}, {n} further trials", on[:, n - 1], over[:, n - 1], matters)
            report(f"{edit}, {label}, mean over {given.after}", on.mean(axis=1), over.mean(axis=1), matters)


def report(what: str, on: FloatArray, over: FloatArray, matters: FloatArray) -> None:
    won, lost = int(np.sum(on < over - matters)), int(np.sum(on > over + matters))
    print(f"{what}: better {won}, worse {lost} of {len(on)} runs than starting over")


if __name__ == "__main__":
    main()
