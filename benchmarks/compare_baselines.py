"""Our baselines against the originals: ``tpe`` against Optuna's TPE, ``forest`` against SMAC.

    make bench-peers
    python -m benchmarks.compare_baselines [--seeds 10] [--trials 60] [--problems small-shifted cash-car]
    python -m benchmarks.compare_baselines --report [--markdown]

The problems are Jenatton's four functions and two CASH data sets. The functions are shifted: unshifted, every
optimum is the middle of its range, which is the value that SMAC gives to a parameter that becomes active.
The tables show the best value after the last trial (median and quartiles over seeds) and the CPU time of a
proposal. Studies of the specs in ``BORROW`` are reused for values, but not for times.
``--report`` runs nothing; ``--markdown`` renews the tables on the pages of `tpe` and `forest`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.problems import JENATTON
from benchmarks.runner import Key, Record, Task, read, run_all
from benchmarks.spec import RESULTS as FOLDER

PROBLEMS = (*(f"{name}-shifted" for name in JENATTON), "cash-car", "cash-german_credit")
PAIRS = (("tpe", "optuna"), ("forest", "smac"))
METHODS = tuple(method for pair in PAIRS for method in pair)
BORROW = ("peers", "real")
RESULTS = FOLDER / "baselines.jsonl"
PAGES = Path(__file__).resolve().parents[1] / "docs" / "methods"

STARTED = 15
"""Trials after which the cost of a suggestion counts; all initial designs are shorter."""


def known(trials: int) -> dict[Key, Record]:
    """Studies of at least ``trials`` trials, cut off there; own results before borrowed ones."""
    files = [*(FOLDER / f"{name}.jsonl" for name in BORROW), RESULTS]
    found = [record for file in files for record in read(file) if record.trials >= trials]
    cut = [replace(r, trials=trials, values=r.values[:trials], ask_ms=r.ask_ms[:trials]) for r in found]
    return {record.key: record for record in cut}


def quartiles(values: Sequence[float]) -> str:
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.4g} [{low:.4g}, {high:.4g}]"


def table(done: dict[Key, Record], tasks: Sequence[Task], methods: Sequence[str] = METHODS) -> list[str]:
    """Best values of each problem and method, over the seeds that all these methods have."""
    lines = ["| problem | seeds | " + " | ".join(f"`{m}`" for m in methods) + " |"]
    lines.append("|---|---|" + "---|" * len(methods))
    for problem in dict.fromkeys(task.problem for task in tasks):
        of = [task for task in tasks if task.problem == problem and task.method in methods]
        seeds = sorted({task.seed for task in of} - {task.seed for task in of if task.key not in done})
        if seeds:
            runs = {m: [done[problem, m, seed, of[0].trials] for seed in seeds] for m in methods}
            cells = [quartiles([record.best(record.trials) for record in runs[m]]) for m in methods]
            lines.append(f"| {problem} | {len(seeds)} | " + " | ".join(cells) + " |")
    return lines


def costs(records: Sequence[Record]) -> list[str]:
    """CPU milliseconds of a suggestion, over the studies that both methods of a pair have.

    The mean, because SMAC fits its model only at every eighth trial.
    """
    lines = []
    for pair in PAIRS:
        runs = [{(r.problem, r.seed): r.ask_ms[STARTED:] for r in records if r.method == m} for m in pair]
        both = sorted(runs[0].keys() & runs[1].keys())
        if both:
            ours, theirs = (float(np.mean([ms for key in both for ms in run[key]])) for run in runs)
            lines.append(
                f"{pair[0]} {ours:.1f} ms, {pair[1]} {theirs:.1f} ms: a factor of {theirs / ours:.1f}"
            )
    return lines


def renew(page: Path, lines: Sequence[str]) -> None:
    """Renew the part of a page between ``<!-- baselines -->`` and ``<!-- /baselines -->``."""
    part = re.compile(r"(<!-- baselines -->\n).*?(<!-- /baselines -->)", re.DOTALL)
    new = "\n".join(["", *lines, ""])
    text, places = part.subn(lambda found: found[1] + new + "\n" + found[2], page.read_text("utf-8"))
    if not places:
        raise SystemExit(
            f"{page.name} has no place for the table: <!-- baselines --> ... <!-- /baselines -->"
        )
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="only show existing results")
    parser.add_argument("--markdown", action="store_true", help="renew the tables of the documentation")
    options = parser.parse_args()
    tasks = [
        Task(problem, method, seed, options.trials)
        for seed in reversed(range(options.seeds))  # the specs to borrow from begin with the first
        for problem in options.problems
        for method in METHODS
    ]
    if not options.report:
        done = known(options.trials)
        run_all([task for task in tasks if task.key not in done], RESULTS, workers=options.workers)
    done = known(options.trials)
    print(f"{options.trials} trials: best value, median [quartiles]")
    print("\n".join(table(done, tasks)))
    print(f"\nsuggestion, CPU time, mean over trials after the first {STARTED}")
    spent = costs([record for record in read(RESULTS) if record.trials == options.trials])
    print("\n".join(spent))
    if options.markdown:
        for pair in PAIRS:
            cost = [f"A suggestion, CPU time: {line}." for line in spent if line.startswith(pair[0])]
            renew(PAGES / f"{pair[0]}.md", [*table(done, tasks, pair), "", *cost])


if __name__ == "__main__":
    main()
