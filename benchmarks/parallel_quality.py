"""What asynchronous workers cost in evaluations: how many are needed to come within 1e-4 of the optimum.

    python -m benchmarks.parallel_quality [--workers 4] [--seeds 10] [--trials 80]

Jenatton's small function with shared variables. Workers take a random time each, drawn by the seed; who is
free asks at once, while the others still run. Evaluations are counted in the order in which they end.
"""

from __future__ import annotations

import argparse
import heapq

import numpy as np
from threadpoolctl import threadpool_limits

import bough
from benchmarks.problems import jenatton

TARGET = -4.0


def evaluations_needed(workers: int, seed: int, trials: int) -> int:
    """Evaluations until the best value is close enough, or ``trials`` if it never is."""
    problem = jenatton("small-shared")
    study = bough.Study(problem.space, seed=seed)
    clock = np.random.default_rng([seed, workers])
    running = [(clock.uniform(0.5, 1.5), trial.number, trial) for trial in study.ask(workers)]
    heapq.heapify(running)
    for count in range(1, trials + 1):
        now, _, trial = heapq.heappop(running)
        value = problem.function(trial.config)
        study.tell(trial, value)
        if problem.log10_gap(study.best.value) <= TARGET:
            return count
        successor = study.ask()
        heapq.heappush(running, (now + clock.uniform(0.5, 1.5), successor.number, successor))
    return trials


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=80)
    options = parser.parse_args()
    medians = {}
    with threadpool_limits(1):
        for workers in (1, options.workers):
            counts = [evaluations_needed(workers, seed, options.trials) for seed in range(options.seeds)]
            medians[workers] = float(np.median(counts))
            print(
                f"{workers} worker(s): median {medians[workers]:5.1f} evaluations   {sorted(counts)}",
                flush=True,
            )
    print(f"ratio {medians[options.workers] / medians[1]:.2f}")


if __name__ == "__main__":
    main()
