"""Results of methods by problem: progress, final values, branches, and the cost of suggestions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks import statistics
from benchmarks.report import figures
from benchmarks.report.blocks import Block, Cell, Figure, Table, Text, anchor
from benchmarks.report.data import Results, best_branches, facts
from benchmarks.report.view import View

SIZES = (20, 80, 200)
"""Numbers of trials at which the cost of a suggestion is shown."""


def branches(view: View) -> list[Block]:
    """The share of runs whose final incumbent is in the best branch."""
    results = view.results
    known = [p for p in results.problems if _branching(results, p)]
    if not known:
        return []
    rows = []
    for method in results.methods:
        hits = []
        for problem in known:
            records = [r for r in results.records[problem, method] if r.seed in results.seeds[problem]]
            right = [r.best_branch(r.trials) in best_branches(results, problem, r.seed) for r in records]
            hits.append(float(np.mean(right)))
        rows.append((float(np.mean(hits)), method, hits))
    rows.sort(key=lambda row: -row[0])
    best = max(row[0] for row in rows)
    by_problem = zip(known, zip(*(hits for _, _, hits in rows), strict=True), strict=True)
    table = Table(
        ["runs that end in the best branch", *(view.label(method) for _, method, _ in rows)],
        [
            [Cell("mean", bold=True), *(Cell(f"{mean:.0%}", mean >= best - 1e-9) for mean, _, _ in rows)],
            *(
                [problem, *(Cell(f"{hit:.0%}", hit == max(found), 0.8 * hit) for hit in found)]
                for problem, found in by_problem
            ),
        ],
    )
    unknown = [p for p in known if facts(p, results.seeds[p][0])[1] is None]
    note = (
        "Where no best branch is known, it is the one in which any method found its best value for the seed."
    )
    return [table, Text(note)] if unknown else [table]


def _branching(results: Results, problem: str) -> bool:
    """Whether a problem has several branches at all."""
    seen = {b for m in results.all_methods(problem) for r in results.records[problem, m] for b in r.branches}
    return len(seen) > 1


def cost(view: View) -> list[Block]:
    """CPU time of a suggestion after ``SIZES`` trials."""
    results = view.results
    rows = []
    for method in (*results.methods, *results.partial):
        records = [r for p in results.problems for r in results.records.get((p, method), [])]
        cells = []
        for size in SIZES:
            spent = [np.mean(r.ask_ms[size - 10 : size + 10]) for r in records if len(r.ask_ms) >= size]
            cells.append(_ms(float(np.mean(spent))) if spent else "")
        total = float(np.mean([sum(r.ask_ms) for r in records])) / 1e3
        rows.append((total, [view.row_name(method), *cells, f"{total:.2f} s"]))
    used = [k for k in range(len(SIZES)) if any(row[1][k + 1] for row in rows)]
    header = ["a suggestion costs", *(f"n = {SIZES[k]}" for k in used), "a whole study"]
    table = [[row[0], *(row[k + 1] for k in used), row[-1]] for _, row in sorted(rows, key=lambda r: r[0])]
    note = "CPU time on one core, mean over all problems and the trials n - 10 to n + 10 (refits included)."
    return [Table(header, table), Text(note)]


def _ms(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value / 1e3:.2f} s"


def finals(view: View) -> list[Block]:
    """The median of the best values at the end, problem by problem."""
    results = view.results
    rows = []
    for problem in results.problems:
        curves, optima = results.curves[problem], [facts(problem, s)[0] for s in results.seeds[problem]]
        ends = curves[:, :, -1]
        known = all(optimum is not None for optimum in optima)
        if known:
            ends = ends - np.array(optima, dtype=float)
        middle = np.median(ends, axis=1)
        places = statistics.ranks(middle[:, None])[:, 0]
        name = f"{problem} Δ" if known else problem
        rows.append(
            [name, *(Cell(_short(v), r == places.min(), _shade(r, places)) for v, r in zip(middle, places))]
        )
    caption = "Median over seeds at the end; Δ: the distance to the known optimum."
    return [Table(["problem", *(view.label(m) for m in results.methods)], rows, caption)]


def _shade(place: float, places: np.ndarray) -> float:
    return 1 - (place - 1) / max(1, len(places) - 1)


def _short(value: float) -> str:
    if math.isinf(value):
        return "none"
    if 0 < abs(value) < 0.001:
        return f"{value:.1e}".replace("e-0", "e-")
    return f"{value:.3g}" if abs(value) < 1e4 else f"{value:.0f}"


def curves(view: View, problems: Sequence[str] | None = None) -> list[Block]:
    """Progress on every problem."""
    shown = problems or view.results.problems
    return [
        Figure(
            f"{view.name}-{anchor(problem)}",
            figures.progress(view.results, problem, view.looks, view.reference),
        )
        for problem in shown
    ]
