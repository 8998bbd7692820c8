"""Our numbers beside those in the papers, in the papers' form."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np

from benchmarks import algorithm2, covariances, fig4_ma, spec, statistics
from benchmarks.report import figures
from benchmarks.report.blocks import Block, Cell, Figure, Row, Table, Text
from benchmarks.report.charts import Series, chart
from benchmarks.report.data import Results, facts
from benchmarks.report.sections import p_text
from benchmarks.report.style import looks
from benchmarks.report.view import View


def distances(view: View) -> list[Block]:
    """log10 of the distance to the optimum over the trials, a table per problem (Jenatton et al., fig. 2)."""
    results = view.results
    blocks: list[Block] = []
    for problem in results.problems:
        methods = results.all_methods(problem)
        marks = [at for at in (20, 40, 60, 80) if at <= results.records[problem, methods[0]][0].trials]
        gaps = {(m, at): _log_gap(results, problem, m, at) for m in methods for at in marks}
        lowest = {at: min(gaps[m, at][0] for m in methods) for at in marks}
        rows = [
            [
                view.row_name(m),
                *(Cell("{:.2f} ± {:.2f}".format(*gaps[m, at]), gaps[m, at][0] == lowest[at]) for at in marks),
            ]
            for m in sorted(methods, key=lambda m: gaps[m, marks[-1]][0])
        ]
        caption = f"`{problem}`: log10 of the distance to the optimum, mean ± two standard errors over seeds."
        blocks.append(Table(["method", *(f"after {at} trials" for at in marks)], rows, caption))
    return blocks


def _log_gap(results: Results, problem: str, method: str, at: int) -> tuple[float, float]:
    gaps = []
    for record in results.records[problem, method]:
        optimum = facts(problem, record.seed)[0]
        if optimum is None:
            raise spec.SpecError(f"{problem} has no known optimum")
        gaps.append(math.log10(max(record.best(at) - optimum, 10**figures.FLOOR)))
    return float(np.mean(gaps)), 2 * float(np.std(gaps, ddof=1)) / math.sqrt(len(gaps)) if len(
        gaps
    ) > 1 else 0.0


def one_sided(view: View) -> list[Block]:
    """Ma & Blaschko, table 1: one-sided Wilcoxon tests at 40, 60 and 80 trials, ours and printed."""
    results, printed = view.results, spec.load("ma-table1")
    methods = printed.blocks[0].methods
    rows: list[Row] = []
    for problem in results.problems:
        own = results.records[problem, methods[0]]
        for at in (40, 60, 80):
            cells: list[Cell | str] = []
            for method, theirs in zip(methods[1:], printed.paper[problem][str(at)]):
                if (problem, method) not in results.records:
                    cells.append(f"– / {theirs:.3f}")
                    continue
                seen = {r.seed: r.best(at) for r in results.records[problem, method]}
                pairs = [(seen[r.seed], r.best(at)) for r in own if r.seed in seen]
                p = statistics.wilcoxon(statistics.differences(*np.array(pairs).T), "greater")
                cells.append(Cell(f"{p:.3f} / {theirs:.3f}", bold=p < 0.05))
            rows.append([f"{problem}, {at} trials", *cells])
    caption = "p that the method is not worse than the additive tree: ours / printed; bold: ours below 0.05."
    return [Table(["", *(view.label(m) for m in methods[1:])], rows, caption)]


def test_errors(view: View) -> list[Block]:
    """Lévesque et al., table I: test errors in per cent, ours and printed, and average ranks of both."""
    results, printed = view.results, spec.load(view.name)
    table = _test_table(results)
    means = {problem: 100 * errors.mean(axis=1) for problem, errors in table.items()}
    paper, order = printed.paper, printed.blocks[0].methods
    rows: list[Row] = []
    for i, method in enumerate(results.methods):
        place = order.index(method)
        rank = statistics.ranks(np.stack(list(means.values()), axis=1))[i].mean()
        cells: list[Cell | str] = [
            Cell(
                f"{means[p][i]:.1f}\u00a0/\u00a0{paper['errors'][p][place]:.1f}",
                bold=means[p][i] <= means[p].min() + 1e-9,
            )
            for p in results.problems
        ]
        rows.append([view.row_name(method), *cells, f"{rank:.2f}\u00a0/\u00a0{paper['ranks'][place]:.2f}"])
    friedman = statistics.friedman({p: m[:, None] for p, m in means.items()})
    caption = "Test error in per cent, and its average rank (printed: over all 24 data sets): ours / printed."
    header = ["method", *(p.removeprefix("cash-") for p in results.problems), "average rank"]
    theirs = p_text(paper["friedman"])
    note = f"Friedman's test on the mean test errors: p = {p_text(friedman)} (printed: {theirs})."
    average = statistics.ranks(np.stack(list(means.values()), axis=1)).mean(axis=1)
    diagram = figures.critical_difference(
        average,
        statistics.critical_difference(len(results.methods), len(results.problems)),
        results.methods,
        view.looks,
        f"Average rank of the test error, {len(results.problems)} data sets",
    )
    figure = Figure(
        f"{view.name}-test-ranks", diagram, "Figure 5 of the paper: Nemenyi's test at 5 %.", wide=True
    )
    return [Table(header, rows, caption), Text(note), figure]


def _test_table(results: Results) -> dict[str, np.ndarray]:
    """problem -> (methods, seeds) test errors."""
    table = {}
    for problem in results.problems:
        kept = set(results.seeds[problem])
        table[problem] = np.array(
            [
                [
                    r.test if r.test is not None else math.nan
                    for r in results.records[problem, m]
                    if r.seed in kept
                ]
                for m in results.methods
            ]
        )
    return table


def pairwise(view: View) -> list[Block]:
    """Lévesque et al., table II: Wilcoxon tests of the test errors, paired over data set and seed."""
    results = view.results
    table = _test_table(results)
    count = len(results.methods)
    rows: list[Row] = []
    for i in range(count):
        cells: list[Cell | str] = []
        for j in range(count):
            if i == j:
                cells.append("–")
                continue
            gaps = statistics.pooled_differences(table, i, j)
            p = statistics.wilcoxon(gaps)
            worse = np.sum(gaps > 0) > np.sum(gaps < 0)
            cells.append(Cell(f"({p:.2f})" if worse else f"{p:.2f}", bold=p < 0.05 and not worse))
        rows.append([f"{i + 1} {view.label(results.methods[i])}", *cells])
    caption = (
        "Wilcoxon's p, paired over data set and repetition; in brackets where the row's method is the worse, "
        "bold where it is significantly better."
    )
    return [Table(["", *(str(i + 1) for i in range(count))], rows, caption)]


def classifiers(view: View) -> list[Block]:
    """Lévesque et al., figures 6 and 7: which classifier each run of the reference ends with."""
    results = view.results
    ends = {
        problem.removeprefix("cash-"): Counter(
            str(r.best_branch(r.trials)) for r in results.records[problem, view.reference]
        )
        for problem in results.problems
    }
    total = sum(ends.values(), Counter())
    rows = {"all data sets": total, **ends}
    shares = {name: {kind: n / found.total() for kind, n in found.items()} for name, found in rows.items()}
    svg = figures.choices(shares, f"What {view.label(view.reference)} chooses")
    return [Figure(f"{view.name}-choices", svg, "Figures 6 (first row) and 7 of the paper.", wide=True)]


def regression() -> list[Block]:
    """Ma & Blaschko, figure 4: test error over the number of training points."""
    blocks: list[Block] = []
    for path, title in (
        (fig4_ma.RESULTS, "As in the released code: leaf terms (x/2)²"),
        (fig4_ma.RESULTS_ORIGINAL, "Jenatton's function: leaf terms x²"),
    ):
        if not path.exists():
            continue
        stored = json.loads(path.read_text())
        sizes = np.array(stored.pop("sizes"))
        look = looks(list(stored), "add-tree", {})
        series = []
        for name, errors in stored.items():
            low, middle, high = np.quantile(np.array(errors), [0.25, 0.5, 0.75], axis=1)
            series.append(Series(name, look[name], sizes, middle, low, high, name == "add-tree"))
        y_range = (min(s.low.min() for s in series) - 0.1, max(s.high.max() for s in series) + 0.1)
        svg = chart(series, title, "training points", "test MSE", y_range=y_range, decades=True)
        blocks.append(Figure(path.stem, svg))
    return blocks


def leaves() -> list[Block]:
    """Ma & Blaschko, appendix C: the cost of Algorithm 2 and of searching every leaf."""
    rows = json.loads(algorithm2.RESULTS.read_text())
    table = [
        [
            f"{row['leaves']} leaves",
            f"{row['algorithm2']:.0f} ms",
            f"{row['every_leaf']:.0f} ms",
            f"{row['every_leaf'] / row['algorithm2']:.1f}",
        ]
        for row in rows
    ]
    return [Table(["CPU time of a proposal", "Algorithm 2", "every leaf", "ratio"], table)]


def kernels() -> list[Block]:
    """Lévesque et al., figures 2 to 4: covariance matrices of one sample."""
    shown = covariances.matrices()
    names, size = list(shown), len(next(iter(shown.values())))
    bounds = [size // 3, 2 * size // 3]
    first = figures.matrices({name: shown[name] for name in names[:3]}, bounds, "Figures 2 and 3")
    second = figures.matrices({name: shown[name] for name in names[3:]}, bounds, "Figure 4")
    rows = [
        [name, *(f"{value:.2f}" for value in covariances.blocks(matrix))] for name, matrix in shown.items()
    ]
    header = ["mean covariance of two points", "same choice", "neighbouring choices", "outer choices"]
    caption = "Three blocks, one per choice; white is 0, dark is 1."
    return [
        Figure("levesque-fig2-3", first, caption, wide=True),
        Figure("levesque-fig4", second, wide=True),
        Table(header, rows),
    ]


def rank_progress(view: View) -> list[Block]:
    """Jenatton et al., figure 4: average rank over the budget."""
    svg = figures.rank_progress(view.results, view.looks, view.reference, view.title, 700)
    return [
        Figure(f"{view.name}-rank-progress", svg, "Bands: two standard errors over data sets.", wide=True)
    ]
