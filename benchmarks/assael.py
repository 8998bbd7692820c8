"""Assael et al. 2014: table 1 and figure 5, the paper's numbers beside ours.

    python -m benchmarks.assael [--runs 8] [--trials 60] [--problems rkhs exp] [--printed] [--markdown]

The tables show mean and standard deviation of the best value after the last trial, minimising. The paper does
not print its budgets. Results are kept, so a second call with more runs continues. Runs are numbered from
``FIRST_SEED`` on, because earlier seeds were used to choose priors of ``treed``. ``--printed`` runs BO and BO
Warp as in the paper, with slice samples and a Sobol grid. ``--markdown`` and ``--svg`` run nothing: they
renew the tables of the documentation and the figure from existing results.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.assael_figure import draw
from benchmarks.problems.uneven import UNEVEN, uneven
from benchmarks.runner import Record, Task, read, run_all

METHODS = ("gp", "gp-warp", "treed", "treed-warp")
FIRST_SEED = 10
LONG_TRIALS = 100

AS_PRINTED = {
    "gp": "gp(samples=10, candidates=20000)",
    "gp-warp": "gp-warp(samples=10, candidates=20000)",
}
"""BO and BO Warp of the paper: EI over slice samples, on a Sobol grid."""

PAPER = {
    "rkhs": ("-5.36 ± 0.38", "-5.38 ± 0.38", "-5.54 ± 0.33", "-5.69 ± 0.19"),
    "exp": ("-0.24 ± 0.20", "-0.14 ± 0.18", "-0.39 ± 0.11", "-0.41 ± 0.07"),
    "lda": ("1266.26 ± 0.30", "1266.16 ± 0.00", "1266.16 ± 0.00", "1266.16 ± 0.00"),
    "svm": ("0.24 ± 0.00",) * 4,
}
"""Table 1, in the order of METHODS; its Agromet and Brenda Mines are not our Walker Lake and Babbitt."""

TITLES = {
    "rkhs": "RKHS",
    "exp": "2-D Exp",
    "lda": "online LDA",
    "svm": "structured SVM",
    "walker": "Walker Lake",
    "babbitt": "Babbitt",
}

RESULTS = Path(__file__).parent / "results" / "assael.jsonl"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "assael.md"

Found = dict[tuple[str, str], list[Record]]
"""The runs of each problem and method, by seed."""


def collect(records: Sequence[Record], trials: int, *, printed: bool = False) -> Found:
    """Runs with at least ``trials`` trials, cut off there, for seeds that all methods of a problem have."""
    run_as = {name: AS_PRINTED.get(name, name) if printed else name for name in METHODS}
    records = [
        replace(r, trials=trials, values=r.values[:trials], ask_ms=r.ask_ms[:trials])
        for r in records
        if r.trials >= trials
    ]
    found: Found = {}
    for problem in UNEVEN:
        runs = {
            method: {
                r.seed: r
                for r in records
                if (r.problem, r.method, r.trials) == (problem, run_as[method], trials)
            }
            for method in METHODS
        }
        common = sorted(set.intersection(*(set(seeds) for seeds in runs.values())))
        if common:
            found |= {(problem, method): [runs[method][seed] for seed in common] for method in METHODS}
    return found


def curves(records: Sequence[Record]) -> np.ndarray:
    """(runs, trials) best value so far."""
    return np.stack([record.curve() for record in records])


def hits(best: np.ndarray, problem: str) -> np.ndarray:
    """Whether each best value is the optimum: within one per cent for a formula, exactly on recorded data."""
    optimum = uneven(problem).optimum
    within = 0.01 if problem in ("rkhs", "exp") else 1e-7
    return np.asarray(best <= optimum + within * abs(optimum))


def mean_sd(values: np.ndarray, places: int) -> str:
    """Mean ± standard deviation; only the mean of a single run."""
    return f"{values.mean():.{places}f}" + (f" ± {values.std():.{places}f}" if len(values) > 1 else "")


def final_table(found: Found) -> list[str]:
    """In the form of table 1: mean ± sd of the best value at the end, and how often it is the optimum."""
    lines = [
        "| problem | | " + " | ".join(f"`{method}`" for method in METHODS) + " |",
        "|---|---|" + "---|" * 4,
    ]
    for problem in dict.fromkeys(problem for problem, _ in found):
        optimum = uneven(problem).optimum
        finals = [curves(found[problem, method])[:, -1] for method in METHODS]
        runs = len(finals[0])
        cells = [mean_sd(last, digits(optimum)) for last in finals]
        reached = [f"{int(hits(last, problem).sum())} of {runs}" for last in finals]
        lines.append(
            f"| {TITLES[problem]} ({optimum:.{digits(optimum)}f}) | ours | " + " | ".join(cells) + " |"
        )
        if problem in PAPER:
            lines.append("| | paper | " + " | ".join(PAPER[problem]).replace("-", "−") + " |")
        lines.append("| | optimum found | " + " | ".join(reached) + " |")
    return [line.replace("(-", "(−").replace("| -", "| −") for line in lines]


def way_table(found: Found, marks: Sequence[int]) -> list[str]:
    """Figure 5 in numbers: the mean best value after some numbers of trials."""
    lines = ["| problem | method | " + " | ".join(map(str, marks)) + " |", "|---|---|" + "---|" * len(marks)]
    for problem, method in found:
        optimum = uneven(problem).optimum
        best = curves(found[problem, method])[:, [mark - 1 for mark in marks]].mean(axis=0)
        cells = " | ".join(f"{value:.{digits(optimum)}f}" for value in best)
        lines.append(f"| {TITLES[problem]} | `{method}` | {cells} |")
    return [line.replace("| -", "| −") for line in lines]


def cost_table(found: Found) -> list[str]:
    """CPU milliseconds of a suggestion, mean over trials and runs."""
    problems = list(dict.fromkeys(problem for problem, _ in found))
    lines = ["| method | " + " | ".join(TITLES[p] for p in problems) + " |", "|---|" + "---|" * len(problems)]
    for method in METHODS:
        costs = [np.mean([np.mean(record.ask_ms) for record in found[p, method]]) for p in problems]
        lines.append(f"| `{method}` | " + " | ".join(f"{cost:.0f}" for cost in costs) + " |")
    return lines


def digits(optimum: float) -> int:
    return 3 if abs(optimum) < 1 else 2


def renew(page: Path, records: Sequence[Record], trials: int) -> None:
    """Renew the tables of a page, each between ``<!-- assael: NAME -->`` and ``<!-- /assael -->``."""
    marks = [mark for mark in (10, 20, 30, 40, 60, 100) if mark <= trials]
    found = collect(records, trials)
    tables = {
        "printed": final_table(collect(records, trials, printed=True)),
        "long": final_table(collect(records, LONG_TRIALS, printed=True)),
        "finals": final_table(found),
        "way": way_table(found, marks),
        "cost": cost_table(found),
    }
    text = page.read_text(encoding="utf-8")
    for name, lines in tables.items():
        part = re.compile(rf"(<!-- assael: {name} -->\n).*?(<!-- /assael -->)", re.DOTALL)
        text = part.sub(
            lambda match, lines=lines: match[1] + "\n".join(["", *lines, "", ""]) + match[2], text
        )
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--problems", nargs="+", choices=UNEVEN, default=list(UNEVEN))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--printed", action="store_true", help="BO and BO Warp as in the paper")
    parser.add_argument("--markdown", action="store_true", help="renew the tables of the documentation")
    parser.add_argument("--svg", help="where to draw figure 5")
    options = parser.parse_args()
    if not (options.markdown or options.svg):
        tasks = [
            Task(problem, AS_PRINTED.get(method, method) if options.printed else method, seed, options.trials)
            for seed in range(options.first_seed, options.first_seed + options.runs)
            for problem in options.problems
            for method in options.methods
        ]
        run_all(tasks, RESULTS, workers=options.workers)
    records = read(RESULTS)
    found = collect(records, options.trials, printed=options.printed)
    print("\n".join([*final_table(found), "", *cost_table(found)]))
    if options.markdown:
        renew(PAGE, records, options.trials)
    if options.svg:
        problems = dict.fromkeys(problem for problem, _ in found)
        best = {p: {method: curves(found[p, method]) for method in METHODS} for p in problems}
        Path(options.svg).write_text(draw(best, TITLES), encoding="utf-8")


if __name__ == "__main__":
    main()
