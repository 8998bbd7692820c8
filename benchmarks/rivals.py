"""Our rivals against the originals: ``tpe`` against Optuna's TPE, ``forest`` against SMAC.

    make bench-peers
    python -m benchmarks.rivals [--seeds 10] [--trials 60] [--problems small large-shared cash-pima]

Jenatton's four functions and two CASH data sets. Best values after the last trial (median and
quartiles over seeds) and CPU time of a suggestion, all measured in one run, one study at a time.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.peers import PEERS, run_peer
from benchmarks.problems import JENATTON, build
from benchmarks.runner import Record, read, run_study

PROBLEMS = (*JENATTON, "cash-pima", "cash-german_credit")
PAIRS = (("tpe", "optuna"), ("forest", "smac"))
RESULTS = Path(__file__).parent / "results" / "rivals.jsonl"


def run(problem: str, method: str, seed: int, trials: int) -> Record:
    study = run_peer if method in PEERS else run_study
    return Record(**{**asdict(study(build(problem, seed), method, seed, trials)), "problem": problem})


def quartiles(values: list[float]) -> str:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.4g} [{low:.4g}, {high:.4g}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    options = parser.parse_args()
    done = {record.key: record for record in read(RESULTS)}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    methods = [method for pair in PAIRS for method in pair]
    with RESULTS.open("a") as file:
        for seed in range(options.seeds):
            for problem in options.problems:
                for method in methods:
                    key = (problem, method, seed, options.trials)
                    if key not in done:
                        done[key] = run(*key)
                        file.write(json.dumps(asdict(done[key])) + "\n")
                        file.flush()
    print(f"{options.seeds} seeds, {options.trials} trials: best value, median [quartiles]")
    print("| problem | " + " | ".join(methods) + " |")
    print("|---|" + "---|" * len(methods))
    for problem in options.problems:
        cells = []
        for method in methods:
            runs = [done[problem, method, seed, options.trials] for seed in range(options.seeds)]
            cells.append(quartiles([record.best(options.trials) for record in runs]))
        print(f"| {problem} | " + " | ".join(cells) + " |")
    # the mean, because SMAC fits its model only at every eighth trial
    print("\nsuggestion, CPU ms, mean over trials after the first 15 (all problems)")
    for pair in PAIRS:
        cost = [
            np.mean([r.ask_ms[15:] for r in done.values() if r.method == m and r.trials == options.trials])
            for m in pair
        ]
        print(f"{pair[0]} {cost[0]:.1f}, {pair[1]} {cost[1]:.1f}: a factor of {cost[1] / cost[0]:.1f}")


if __name__ == "__main__":
    main()
