"""What beliefs are worth: trials that a right one saves, and trials that a wrong one costs.

    python -m benchmarks.beliefs --seeds 5

A belief names, for every number, a range of 30 % of its (unit) interval, and for every categorical weights of
3 to 1 for one option. A right belief is built around the best known configuration, up to a tenth of the
interval off; a wrong one around a configuration that is as far from it as possible in every parameter.
Parameters of other branches get a belief at random: nobody knows more about them.

For each problem and seed the goal is the best value of the study without beliefs after half of its trials,
and the number of trials that it took to get there. The ratio is that number with beliefs, divided by the one
without; a study that never gets there counts with all its trials. The table has geometric means.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import bough
from benchmarks.problems import Problem, build
from benchmarks.problems.base import Config
from bough.space.parameters import Categorical
from bough.space.sampling import perturb, sample_points
from bough.space.space import Space

PROBLEMS = (
    "edges", "product", "switches", "valley", "fails-by-shared", "path", "clash", "deep", "many", "layers",
)  # fmt: skip
WIDTH = 0.3
OFF = 0.1


def best_known(problem: Problem, rng: np.random.Generator) -> Config:
    """A configuration close to the optimum: the best of many random ones, refined by random steps."""
    space = problem.space
    value = problem.noiseless or problem.function

    def score(config: Config) -> float:
        try:
            found = float(value(config))
        except Exception:
            return np.inf
        return found if np.isfinite(found) else np.inf

    points = sample_points(space, 4000, rng)
    values = np.array([score(config) for config in space.decode(points)])
    for scale in (0.1, 0.03, 0.01, 0.003):
        for _ in range(8):
            best = points.take(np.argsort(values, kind="stable")[:20])
            points = perturb(space, best.take(np.repeat(np.arange(20), 10)), rng, scale)
            points = type(points).concat([best, points])
            values = np.array([score(config) for config in space.decode(points)])
    return space.decode(points.take([int(np.argmin(values))]))[0]


def believed(space: Space, best: Config, right: bool, rng: np.random.Generator) -> dict[str, Any]:
    """A belief about every parameter, by path."""
    point = space.encode([best])
    active = space.layout.active(point.on)[0]
    found: dict[str, Any] = {}
    for column, parameter in enumerate(space.parameters):
        domain = parameter.domain
        unit = float(point.x[0, column]) if active[column] else float(rng.random())
        if isinstance(domain, Categorical):
            chosen = int(domain.rank_at(np.array([unit]))[0])
            if active[column] and not right and domain.levels > 1:
                chosen = int((chosen + 1 + rng.integers(domain.levels - 1)) % domain.levels)
            found[parameter.path] = [
                [option, 3.0 if index == chosen else 1.0] for index, option in enumerate(domain.options)
            ]
            continue
        centre = unit + OFF * rng.uniform(-1, 1)
        if active[column] and not right:
            centre = 0.0 if unit > 0.5 else 1.0
        centre = float(np.clip(centre, WIDTH / 2, 1 - WIDTH / 2))
        ends = domain.rank_at(np.array([centre - WIDTH / 2, centre + WIDTH / 2]))
        low, high = domain.values(ends).tolist()
        found[parameter.path] = [low, high]
    return found


def with_beliefs(space: Space, beliefs: dict[str, Any]) -> Space:
    """The space with ``likely`` for the parameters given by path."""
    data = space.to_dict()

    def put(parameters: dict[str, Any], prefix: str) -> None:
        for name, spec in parameters.items():
            if prefix + name in beliefs:
                spec["likely"] = beliefs[prefix + name]
            if spec["type"] == "choice":
                for label, children in spec["options"].items():
                    put(children, f"{prefix}{name}={label}/")

    put(data["parameters"] if "forbid" in data else data, "")
    return Space.from_json(data)


def curve(problem: Problem, space: Space, trials: int, seed: int) -> np.ndarray:
    """(trials,) the best score so far."""
    study = bough.Study(space, seed=seed)
    scores = np.full(trials, np.inf)
    for index in range(trials):
        trial = study.ask()
        try:
            value = float(problem.function(trial.config))
        except Exception as error:
            study.fail(trial, str(error))
            continue
        study.tell(trial, value)
        if np.isfinite(value):
            scores[index] = problem.score(trial.config, value)
    return np.minimum.accumulate(scores)


def trials_to(found: np.ndarray, goal: float) -> int:
    """How many trials it took to get to the goal."""
    reached = np.flatnonzero(found <= goal)
    return int(reached[0]) + 1 if len(reached) else len(found)


def compare(name: str, seed: int, trials: int) -> dict[str, float]:
    """Trials that the study took without beliefs, with right and with wrong ones, on one instance."""
    make: Callable[[], Problem] = lambda: build(name, seed)  # noqa: E731 - noise is that of a new instance
    problem = make()
    rng = np.random.default_rng([seed, 77])
    best = best_known(problem, rng)
    plain = curve(make(), problem.space, trials, seed)
    goal = float(plain[trials // 2 - 1])
    found = {"none": float(trials_to(plain, goal))}
    for label, right in (("right", True), ("wrong", False)):
        space = with_beliefs(problem.space, believed(problem.space, best, right, rng))
        found[label] = float(trials_to(curve(make(), space, trials, seed), goal))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=60)
    given = parser.parse_args()
    ratios: dict[str, list[float]] = defaultdict(list)
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for name in given.problems:
            row = compare(name, seed, given.trials)
            for label in ("right", "wrong"):
                ratios[label].append(row[label] / row["none"])
            print(name, seed, json.dumps(row), flush=True)
    for label, found in ratios.items():
        mean = float(np.exp(np.mean(np.log(found))))
        print(f"{label}: {mean:.2f} times the trials (median {np.median(found):.2f}, {len(found)} studies)")


if __name__ == "__main__":
    main()
