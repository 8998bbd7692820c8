"""How good are the proposals, and what do they cost? Synthetic branching problems, medians over seeds.

    python -m benchmarks.ask_and_tell [--methods auto,add-tree] [--seeds 10] [--only jenatton,branches,cost]

jenatton: median log10 distance to the optimum at two budgets, on the originals and on shifted versions.
branches: the number of seeds in which the incumbent after 80 trials lies in the best branch.
multiply: products of shared and branch-specific variables, best value after 40 trials.
cost:     CPU milliseconds of a suggestion on the CASH space, mean over trials 70 to 80.
Results are kept in benchmarks/results/ask_and_tell.jsonl; a rerun continues it (--fresh starts again).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.problems import BRANCH_PROBLEMS, JENATTON, branch_problem, build, jenatton
from benchmarks.runner import Record, Task, run_all

RESULTS = Path(__file__).parent / "results" / "ask_and_tell.jsonl"
BUDGETS = {"small": (20, 40), "small-shared": (20, 40), "large": (30, 60), "large-shared": (30, 60)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default="auto,add-tree,tree,conditional-ls,matern-ls,gp,tpe,random")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="jenatton,branches,multiply,cost")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    if options.fresh:
        options.results.unlink(missing_ok=True)
    methods = options.methods.split(",")
    parts = options.only.split(",")

    def run(problems: Sequence[str], trials: int) -> dict[tuple[str, str], list[Record]]:
        tasks = [Task(p, m, s, trials) for p in problems for m in methods for s in range(options.seeds)]
        records = run_all(tasks, options.results, workers=options.workers, build=build)
        grouped: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            grouped.setdefault((record.problem, record.method), []).append(record)
        return grouped

    if "jenatton" in parts:
        for suffix in ("", "-shifted"):
            print(f"\nlog10 distance to the optimum{suffix.replace('-', ', ')}: median [quartiles]")
            for name in JENATTON:
                jenatton_rows(run([name + suffix], BUDGETS[name][1]), name, suffix, methods)
    if "branches" in parts:
        branch_rows(run(BRANCH_PROBLEMS, 80), methods, options.seeds)
    if "multiply" in parts:
        multiply_rows(run(["multiply"], 80), methods)
    if "cost" in parts:
        cost_rows(run(["cash-artificial"], 80), methods)


def jenatton_rows(
    grouped: dict[tuple[str, str], list[Record]], name: str, suffix: str, methods: Sequence[str]
) -> None:
    problem = jenatton(name)
    for method in methods:
        records = grouped[name + suffix, method]
        cells = []
        for at in BUDGETS[name]:
            low, mid, high = np.quantile([problem.log10_gap(r.best(at)) for r in records], [0.25, 0.5, 0.75])
            cells.append(f"@{at} {mid:6.2f} [{low:6.2f} {high:6.2f}]")
        print(f"  {name:13s} {method:28s} {'   '.join(cells)}")


def branch_rows(grouped: dict[tuple[str, str], list[Record]], methods: Sequence[str], seeds: int) -> None:
    print(f"\nseeds of {seeds} whose incumbent after 80 trials lies in the best branch (median best value)")
    print(f"  {'':28s} " + " ".join(f"{name:>15s}" for name in BRANCH_PROBLEMS) + "     mean")
    for method in methods:
        cells, hits = [], []
        for name in BRANCH_PROBLEMS:
            records = grouped[name, method]
            right = sum(r.best_branch(80) == str(branch_problem(name, r.seed).best_branch) for r in records)
            hits.append(right)
            cells.append(f"{right:4d} ({np.median([r.best(80) for r in records]):8.4f})")
        print(f"  {method:28s} " + " ".join(cells) + f"   {np.mean(hits):6.1f}")


def multiply_rows(grouped: dict[tuple[str, str], list[Record]], methods: Sequence[str]) -> None:
    print("\nshared and own variables multiply: best value after 40 trials, median [quartiles]")
    for method in methods:
        values = [r.best(40) for r in grouped["multiply", method]]
        low, mid, high = np.quantile(values, [0.25, 0.5, 0.75])
        print(f"  {method:28s} {mid:8.4f} [{low:8.4f} {high:8.4f}]")


def cost_rows(grouped: dict[tuple[str, str], list[Record]], methods: Sequence[str]) -> None:
    print("\nCPU ms of a suggestion on the CASH space, mean over trials 70-80 (refits included)")
    for method in methods:
        records = grouped["cash-artificial", method]
        late = np.mean([np.mean(r.ask_ms[70:80]) for r in records])
        total = np.mean([np.sum(r.ask_ms) for r in records])
        print(f"  {method:28s} {late:8.1f}   whole study of 80: {total / 1e3:6.2f} s")


if __name__ == "__main__":
    main()
