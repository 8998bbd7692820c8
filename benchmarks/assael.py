"""Assael et al. 2014: table 1 and figure 5, the paper's numbers beside ours.

    python -m benchmarks.assael [--runs 32] [--trials 100] [--problems rkhs exp] [--html figure.html]

Mean and standard deviation of the best value after the last trial, minimising. The paper prints no
budgets. Results are kept, so that a second call with more runs continues.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.problems import Problem
from benchmarks.problems.uneven import UNEVEN, uneven
from benchmarks.runner import Record, Task, run_all

METHODS = ("gp", "gp-warp", "treed", "treed-warp")

PAPER = {
    "rkhs": ("-5.36 ± 0.38", "-5.38 ± 0.38", "-5.54 ± 0.33", "-5.69 ± 0.19"),
    "exp": ("-0.24 ± 0.20", "-0.14 ± 0.18", "-0.39 ± 0.11", "-0.41 ± 0.07"),
    "lda": ("1266.26 ± 0.30", "1266.16 ± 0.00", "1266.16 ± 0.00", "1266.16 ± 0.00"),
    "svm": ("0.24 ± 0.00",) * 4,
}
"""Table 1, in the order of METHODS; its Agromet and Brenda Mines are not our Walker Lake and Babbitt."""

RESULTS = Path(__file__).parent / "results" / "assael.jsonl"


def build(name: str, seed: int) -> Problem:
    return uneven(name)


def curves(records: list[Record]) -> np.ndarray:
    """(runs, trials) best value so far."""
    return np.minimum.accumulate([record.values for record in records], axis=1)


def table(found: dict[tuple[str, str], np.ndarray], problems: list[str], marks: list[int]) -> str:
    """Markdown: the form of table 1, then best values on the way (figure 5 in numbers)."""
    lines = [
        "| problem | method | best, mean ± sd | paper | optimum hit |" + "".join(f" {m} |" for m in marks)
    ]
    lines.append("|---|---|---|---|---|" + "---|" * len(marks))
    for problem in problems:
        optimum = uneven(problem).optimum
        for column, method in enumerate(METHODS):
            if (problem, method) not in found:
                continue
            best = found[problem, method]
            last = best[:, -1]
            hit = np.mean(last <= optimum + 0.01 * abs(optimum))
            paper = PAPER.get(problem, ("",) * 4)[column]
            digits = 4 if abs(optimum) < 100 else 2
            on_the_way = "".join(f" {best[:, m - 1].mean():.{digits}f} |" for m in marks)
            lines.append(
                f"| {problem} | {method} | {last.mean():.{digits}f} ± {last.std():.{digits}f} "
                f"| {paper} | {hit:.0%} |{on_the_way}"
            )
    return "\n".join(lines)


def save_plot(path: str, found: dict[tuple[str, str], np.ndarray], problems: list[str]) -> None:
    """Figure 5: mean best value over trials, a panel per problem."""
    from plotly.subplots import make_subplots

    figure = make_subplots(cols=3, rows=(len(problems) + 2) // 3, subplot_titles=problems)
    for place, problem in enumerate(problems):
        for method in METHODS:
            if (problem, method) in found:
                figure.add_scatter(
                    y=found[problem, method].mean(axis=0),
                    name=method,
                    legendgroup=method,
                    showlegend=place == 0,
                    line={"color": ("#888", "#4c78a8", "#e45756", "#54a24b")[METHODS.index(method)]},
                    row=place // 3 + 1,
                    col=place % 3 + 1,
                )
    figure.write_html(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--problems", nargs="+", choices=UNEVEN, default=list(UNEVEN))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--html", help="where to save figure 5")
    options = parser.parse_args()
    tasks = [
        Task(problem, method, seed, options.trials)
        for seed in range(options.runs)
        for problem in options.problems
        for method in options.methods
    ]
    records = run_all(tasks, RESULTS, workers=options.workers, build=build)
    found = {
        (problem, method): curves([r for r in records if (r.problem, r.method) == (problem, method)])
        for problem in options.problems
        for method in options.methods
    }
    print(f"{options.runs} runs of {options.trials} trials")
    marks = [m for m in (20, 40, 60, 80) if m < options.trials]
    print(table(found, options.problems, marks))
    cost = {m: np.mean([np.mean(r.ask_ms) for r in records if r.method == m]) for m in options.methods}
    print("mean suggestion: " + ", ".join(f"{method} {ms:.0f} ms" for method, ms in cost.items()))
    if options.html:
        save_plot(options.html, found, options.problems)


if __name__ == "__main__":
    main()
