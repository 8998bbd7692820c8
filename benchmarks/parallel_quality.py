"""Evaluations that parallel workers need, compared with a single worker.

    python -m benchmarks.parallel_quality [--workers 8 32] [--seeds 3]

Each evaluation takes a random time, drawn by the seed; a free worker asks at once, while the others still
run. Evaluations are counted in the order in which they end. The target of a run is the best score of a single
worker after ``TARGET_AFTER`` evaluations with the same seed. Runs that do not reach it in ``--trials`` count
as infinite. Results are kept with ``--rows``, and an interrupted benchmark continues.
"""

from __future__ import annotations

import argparse
import heapq
from functools import partial
from pathlib import Path

import numpy as np

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.problems import build

PROBLEMS = ("small-shared-shifted", "large-shared-shifted", "nested", "path", "deep", "cash-artificial")
PROBLEMS += ("yahpo-xgboost-12", "yahpo-xgboost-1485", "yahpo-rpart-16", "yahpo-lcbench-126025")
TARGET_AFTER = 40


def best_scores(name: str, workers: int, seed: int, trials: int) -> list[float]:
    """The best score after each evaluation; lower is better."""
    problem = build(name, seed)
    study = bough.Study(problem.space, seed=seed)
    clock = np.random.default_rng([seed, workers])
    running = [(clock.uniform(0.5, 1.5), trial.number, trial) for trial in study.ask(workers)]
    heapq.heapify(running)
    scores: list[float] = []
    while running and len(scores) < trials:
        now, _, trial = heapq.heappop(running)
        value = float(problem.function(trial.config))
        study.tell(trial, value)
        scores.append(problem.score(trial.config, value))
        successor = study.ask()
        heapq.heappush(running, (now + clock.uniform(0.5, 1.5), successor.number, successor))
    return np.minimum.accumulate(scores).tolist()


def evaluations(scores: list[float], target: float) -> float:
    """The number of evaluations until the target is reached; infinite if it never is."""
    reached = np.flatnonzero(np.array(scores) <= target)
    return float(reached[0] + 1) if len(reached) else np.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", nargs="+", type=int, default=(8, 32))
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--rows", type=Path, default=RESULTS / "parallel-quality.jsonl")
    given = parser.parse_args()
    kept = KeptRows(given.rows)
    ratios: dict[int, list[float]] = {workers: [] for workers in given.workers}
    for name in given.problems:
        for seed in range(given.seeds):

            def curve(workers: int, name: str = name, seed: int = seed) -> list[float]:
                run = partial(best_scores, name, workers, seed, given.trials)
                return kept.once(f"{name} {workers} {seed} {given.trials}", run)

            alone = curve(1)
            target = alone[TARGET_AFTER - 1]
            for workers in given.workers:
                ratios[workers].append(evaluations(curve(workers), target) / evaluations(alone, target))
        row = ", ".join(f"{w} workers {np.median(ratios[w][-given.seeds :]):.2f}" for w in given.workers)
        print(f"{name}: {row}", flush=True)
    for workers, found in ratios.items():
        low, middle, high = np.quantile(found, (0.25, 0.5, 0.75), method="nearest")
        print(
            f"{workers} workers need {middle:.2f} times the evaluations of one (median; quartiles {low:.2f}, "
            f"{high:.2f}), more than {given.trials} in {np.mean(np.isinf(found)):.0%} of {len(found)} runs"
        )


if __name__ == "__main__":
    main()
