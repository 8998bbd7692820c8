"""The value of beliefs: trials that a right belief saves, and trials that a wrong one costs.

    python -m benchmarks.beliefs --seeds 5

A belief gives every number a range of 30 % of its (unit) interval, and every categorical a weight of 3 to 1
for one option. A right belief is built around the best known configuration, with an error of up to a tenth of
the interval; a wrong one around a configuration that is as far from it as possible in every parameter.
Parameters of other branches get random beliefs, because nothing is known about them.

For each problem and seed the goal is the best value of a study without beliefs after half of its trials. This
study has another seed than the compared ones, because a study reaches its own goal at a lucky moment. The
ratio is the number of trials to the goal with beliefs, divided by the number without; a study that never
reaches it counts with all its trials. The table has geometric means with their 95 % interval (bootstrap over
studies). Curves are kept in results/beliefs.jsonl, and an interrupted benchmark continues.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.problems import Problem, build
from benchmarks.problems.base import Config
from bough.space.neighbourhood import perturb
from bough.space.parameters import Categorical
from bough.space.sampling import sample_points
from bough.space.space import Space

PROBLEMS = (
    "edges", "product", "switches", "valley", "fails-by-shared", "path", "clash", "deep", "many", "layers",
)  # fmt: skip
GOAL_SEED = 1000
"""Added to the seed of the study that sets the goal."""

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


def curve(problem: Problem, space: Space, trials: int, seed: int) -> list[float]:
    """The best score so far, after each trial."""
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
    return [float(score) for score in np.minimum.accumulate(scores)]


def trials_to(found: list[float], goal: float) -> int:
    """The number of trials until the goal was reached."""
    reached = np.flatnonzero(np.array(found) <= goal)
    return int(reached[0]) + 1 if len(reached) else len(found)


def compare(name: str, seed: int, trials: int, rows: KeptRows) -> dict[str, int]:
    """Trials to the goal without beliefs, with right and with wrong ones, on one instance."""
    space = build(name, seed).space
    rng = np.random.default_rng([seed, 77])
    best = rows.once(f"best {name} {seed}", lambda: best_known(build(name, seed), rng))
    rng = np.random.default_rng([seed, 78])
    told = {right: with_beliefs(space, believed(space, best, right, rng)) for right in (True, False)}
    kinds = {"goal": space, "none": space, "right": told[True], "wrong": told[False]}
    found = {}
    for kind, searched in kinds.items():
        number = seed + GOAL_SEED if kind == "goal" else seed
        # A new instance, so every study has the same noise.
        compute = partial(curve, build(name, seed), searched, trials, number)
        found[kind] = rows.once(f"{kind} {name} {seed} {trials}", compute)
    goal = found.pop("goal")[trials // 2 - 1]
    return {kind: trials_to(each, goal) for kind, each in found.items()}


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """The geometric mean, and the ends of its 95 % interval."""
    logs = np.log(ratios)
    drawn = np.random.default_rng(0).choice(logs, size=(2000, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(drawn, (0.025, 0.975)))
    return float(np.exp(logs.mean())), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=20, help="constants were chosen with 10")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--rows", type=Path, default=RESULTS / "beliefs.jsonl")
    given = parser.parse_args()
    rows = KeptRows(given.rows)
    ratios: dict[str, list[float]] = defaultdict(list)
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for name in given.problems:
            needed = compare(name, seed, given.trials, rows)
            for kind in ("right", "wrong"):
                ratios[kind].append(needed[kind] / needed["none"])
            print(name, seed, needed, flush=True)
    for kind, found in ratios.items():
        mean, low, high = interval(found)
        print(f"{kind}: {mean:.2f} times the trials [{low:.2f}, {high:.2f}], {len(found)} studies")


if __name__ == "__main__":
    main()
