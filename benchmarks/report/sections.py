"""Methods compared over all problems: ranks, tests, evaluations needed, and where the reference loses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks import statistics
from benchmarks.report import figures
from benchmarks.report.blocks import Block, Cell, Figure, Row, Table, Text
from benchmarks.report.view import View

SHARES = {"a quarter": 0.25, "half": 0.5, "all": 1.0}
"""Shares of the budget at which methods are compared."""


def work(view: View) -> list[Block]:
    """The numbers of studies, and their cost."""
    results = view.results
    records = [record for found in results.records.values() for record in found]
    hours = sum(record.seconds for record in records) / 3600
    seeds = sorted({len(results.seeds[p]) for p in results.problems})
    trials = sorted({results.trials(p) for p in results.problems}) if results.methods else []
    spent = f"; {hours:.1f} core-hours" if hours >= 0.05 else ""
    text = (
        f"{len(records):,} studies: {_count(results.problems, 'problem')}, "
        f"{_count((*results.methods, *results.partial), 'method')}, {_or(seeds)} seeds, "
        f"{_or(trials)} trials{spent}."
    )
    if results.partial:
        names = ", ".join(f"`{view.label(m)}`" for m in results.partial)
        text += f" Not run on all problems or seeds, so compared but not ranked: {names}."
    return [Text(text)]


def _count(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _or(numbers: Sequence[int]) -> str:
    return " or ".join(str(n) for n in numbers)


def ranks(view: View) -> list[Block]:
    """Average ranks over the budget, with Friedman's test and Nemenyi's critical difference."""
    results = view.results
    if len(results.methods) < 2:
        return []
    by_share = {name: statistics.average_ranks(results.scores(s)) for name, s in SHARES.items()}
    last = by_share["all"]
    per_problem = statistics.problem_ranks(results.scores())
    rows = []
    for i in np.argsort(last, kind="stable"):
        low, high = statistics.bootstrap(
            per_problem[i], lambda sample: float(np.mean(sample)), np.random.default_rng(0)
        )
        cells = [_rank_cell(values[i], values) for values in by_share.values()]
        rows.append([view.row_name(results.methods[i]), *cells, f"{low:.2f} to {high:.2f}"])
    header = ["average rank after", *(f"{name} of the budget" for name in SHARES), "at the end, 90 %"]
    p, n = statistics.friedman(results.scores()), len(results.problems)
    blocks: list[Block] = [
        Table(header, rows),
        Text(
            "Methods are ranked within each seed (1 is best, ties share their ranks); ranks are averaged "
            "over seeds, then over problems. The interval is a bootstrap over problems."
        ),
    ]
    if not math.isnan(p):
        difference = statistics.critical_difference(len(results.methods), n)
        svg = figures.critical_difference(
            last, difference, results.methods, view.looks, f"Average rank at the end, {n} problems"
        )
        caption = (
            f"Friedman's test that all methods are alike: p = {p_text(p)}. Bars join methods that Nemenyi's "
            "test (5 %, a problem is one observation) cannot tell apart."
        )
        blocks.append(Figure(f"{view.name}-ranks", svg, caption, wide=True))
        svg = figures.rank_progress(results, view.looks, view.reference, "Average rank over the budget", 760)
        blocks.append(
            Figure(f"{view.name}-rank-progress", svg, "Bands: two standard errors over problems.", wide=True)
        )
    return blocks


def _rank_cell(value: float, among: np.ndarray) -> Cell:
    span = float(np.ptp(among)) or 1.0
    return Cell(f"{value:.2f}", bold=value <= among.min() + 1e-9, shade=1 - (value - among.min()) / span)


def p_text(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}".replace("e-0", "e-")


def pairs(view: View) -> list[Block]:
    """The reference against each other method: Wilcoxon's test over all pairs of runs."""
    rows: list[Row] = []
    for method, pair in view.others():
        cells: list[Cell | str] = []
        for share in SHARES.values():
            gaps = statistics.pooled_differences(pair.scores(share), 0, 1)
            p, mark = statistics.wilcoxon(gaps), "better" if statistics.leaning(gaps) < 0 else "worse"
            cells.append(Cell(f"{mark}, p = {p_text(p)}" if p < 0.05 else f"p = {p_text(p)}", bold=p < 0.05))
        gaps = statistics.pooled_differences(pair.scores(), 0, 1)
        counts = f"{np.sum(gaps < 0)} / {np.sum(gaps == 0)} / {np.sum(gaps > 0)}"
        rows.append([view.label(method), *cells, str(len(pair.problems)), counts])
    header = [f"{view.label(view.reference)} against", *(f"after {name}" for name in SHARES)]
    note = (
        "Wilcoxon's signed-rank test, two-sided, paired over (problem, seed); differences are divided by "
        "their mean size within a problem, because problems have different units."
    )
    return [Table([*header, "problems", "runs won / tied / lost"], rows), Text(note)] if rows else []


def reach(view: View) -> list[Block]:
    """Evaluations that the reference needs for the final value of another method, and the reverse."""
    own = view.label(view.reference)
    ours = {method: statistics.share_needed(pair.curves, 0, 1) for method, pair in view.others()}
    theirs = {method: statistics.share_needed(pair.curves, 1, 0) for method, pair in view.others()}
    for name, members in view.groups.items():
        best = _best_members(view, members)
        ours[name] = {problem: ours[method][problem] for problem, method in best.items()}
        theirs[name] = {problem: theirs[method][problem] for problem, method in best.items()}
    rows: list[Row] = []
    for method in ours:
        needs, reverse = list(ours[method].values()), list(theirs[method].values())
        if not needs:
            continue
        middle = statistics.censored_median(needs)
        rows.append(
            [
                view.label(method),
                Cell(_share(middle), bold=middle < 1),
                f"{_share(_quantile(needs, 0.25))} to {_share(_quantile(needs, 0.75))}",
                f"{sum(map(math.isinf, needs))} of {len(needs)}",
                _share(statistics.censored_median(reverse)),
            ]
        )
    header = ["method", f"{own} needs", "quartiles over problems", "not reached", "the reverse"]
    note = (
        f"The share of the budget that {own} needs for the value with which the method ends; the last column "
        "is the reverse. Seeds are paired. Medians are taken over seeds, then over problems. A run that "
        "never gets there counts as more than the budget (“> 1”)."
    )
    for name, members in view.groups.items():
        labels = ", ".join(map(view.label, members))
        note += f" The {name} is, on each problem, the one of {labels} with the best median."
    return [Table(header, rows), Text(note)] if rows else []


def _best_members(view: View, members: Sequence[str]) -> dict[str, str]:
    """For each problem the member of a group with the best final values, on the seeds of the reference."""
    compared = {method: pair for method, pair in view.others() if method in members}
    best: dict[str, str] = {}
    for problem in view.results.problems:
        ends = {
            m: np.median(pair.scores()[problem][1]) for m, pair in compared.items() if problem in pair.curves
        }
        if ends:
            best[problem] = min(ends, key=lambda method: ends[method])
    return best


def _share(value: float) -> str:
    return "> 1" if math.isinf(value) else f"{value:.2f}"


def _quantile(values: Sequence[float], q: float) -> float:
    ordered = np.sort(values)
    return float(ordered[min(len(ordered) - 1, int(q * len(ordered)))])


def losses(view: View) -> list[Block]:
    """Where other methods are better than the reference."""
    results, at = view.results, view.at
    if at is None or len(results.methods) < 2:
        return []
    own = view.label(view.reference)
    found = statistics.losses(results.scores(), at)
    if not found:
        return [
            Text(f"No method is better than {own} on any problem at the end of the budget (5 %, one-sided).")
        ]
    rows = [
        [
            loss.problem,
            view.label(results.methods[loss.method]),
            f"{loss.better} : {loss.worse}",
            p_text(loss.p),
            Cell(p_text(loss.corrected), bold=loss.corrected < 0.05),
        ]
        for loss in found
    ]
    seeds = min(len(results.seeds[p]) for p in results.problems)
    note = (
        f"Problems on which a method ends better than {own} (Wilcoxon over seeds, one-sided, 5 %), or is "
        f"better in every seed; the last column is corrected over {len(results.problems)} problems (Holm)."
    )
    if 2.0**-seeds * len(results.problems) > 0.05:
        note += f" With {seeds} seeds no single problem can stay significant after the correction."
    return [Table(["problem", "better method", "seeds won : lost", "p", "corrected"], rows), Text(note)]
