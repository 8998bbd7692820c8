"""Records arranged for a report: for each problem an array (methods, seeds, trials) of the best so far."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import problems
from benchmarks.runner import Record

REAL = ("cash-", "mlp-", "compress")
"""Prefixes of the names of problems on real data."""

MOST = 0.6


@dataclass(frozen=True)
class Results:
    """Studies of some methods on some problems, each method with the same seeds of a problem.

    methods: those with studies on every problem and most seeds; ``partial`` methods lack more: they are drawn
        and compared one by one, but not ranked.
    curves:  problem -> (methods, seeds, trials) best value so far.
    records: (problem, method) -> its records in the order of seeds, partial methods too.
    """

    problems: tuple[str, ...]
    methods: tuple[str, ...]
    partial: tuple[str, ...]
    seeds: Mapping[str, tuple[int, ...]]
    curves: Mapping[str, np.ndarray]
    records: Mapping[tuple[str, str], list[Record]] = field(repr=False)

    def scores(self, share: float = 1.0) -> dict[str, np.ndarray]:
        """problem -> (methods, seeds) best value after a share of the budget."""
        return {
            name: curve[:, :, max(1, round(share * curve.shape[2])) - 1]
            for name, curve in self.curves.items()
        }

    def trials(self, problem: str) -> int:
        return int(self.curves[problem].shape[2])

    def only(self, chosen: Callable[[str], bool]) -> Results | None:
        """The results on some of the problems."""
        return arrange(
            record for (problem, _), found in self.records.items() if chosen(problem) for record in found
        )

    def pair(self, first: str, second: str) -> Results | None:
        """The results of two methods on the problems that both have; None if there are none."""
        both = [p for p in self.problems if {(p, first), (p, second)} <= self.records.keys()]
        kept = []
        for problem in both:
            seeds = set.intersection(*({r.seed for r in self.records[problem, m]} for m in (first, second)))
            kept += [r for m in (first, second) for r in self.records[problem, m] if r.seed in seeds]
        return arrange(kept, (first, second))

    def all_methods(self, problem: str) -> tuple[str, ...]:
        """Every method that has studies on a problem, partial ones last."""
        return tuple(m for m in (*self.methods, *self.partial) if (problem, m) in self.records)


def arrange(records: Iterable[Record], order: Sequence[str] = ()) -> Results | None:
    """Results of records, or None if there are none; order: of the methods, by default that of the records.

    A method is complete if it has at least ``MOST`` of the seeds on every problem. For each problem only the
    seeds that all complete methods have count, so an interrupted run still gives a fair comparison.
    """
    found: dict[tuple[str, str], dict[int, Record]] = {}
    for record in records:
        found.setdefault((record.problem, record.method), {})[record.seed] = record
    if not found:
        return None
    names = tuple(dict.fromkeys(problem for problem, _ in found))
    every = tuple(
        dict.fromkeys((*(m for m in order if any(m == k[1] for k in found)), *(m for _, m in found)))
    )
    seen = {p: max(len(by_seed) for (problem, _), by_seed in found.items() if problem == p) for p in names}
    complete = tuple(m for m in every if all(len(found.get((p, m), ())) >= MOST * seen[p] for p in names))
    seeds = {
        p: tuple(sorted(set.intersection(*(set(found[p, m]) for m in complete or every if (p, m) in found))))
        for p in names
    }
    names = tuple(p for p in names if seeds[p])
    curves = {
        p: np.stack([[found[p, m][seed].curve() for seed in seeds[p]] for m in complete])
        for p in names
        if complete
    }
    return Results(
        problems=names,
        methods=complete,
        partial=tuple(m for m in every if m not in complete),
        seeds=seeds,
        curves=curves,
        records={key: [by_seed[s] for s in sorted(by_seed)] for key, by_seed in found.items()},
    )


def is_real(problem: str) -> bool:
    """Whether a problem is one on real data."""
    return problem.startswith(REAL) and problem != "cash-artificial"


@functools.cache
def facts(problem: str, seed: int) -> tuple[float | None, str | None]:
    """The optimum and the best branch of an instance; None if unknown, or if its data are missing."""
    if is_real(problem):
        return None, None
    try:
        built: Any = problems.build(problem, seed)
    except (FileNotFoundError, ValueError):
        return None, None
    return built.optimum, None if built.best_branch is None else str(built.best_branch)


def best_branches(results: Results, problem: str, seed: int) -> set[str]:
    """The best branch of an instance; if unknown, the branches in which any study found the best value."""
    known = facts(problem, seed)[1]
    if known is not None:
        return {known}
    ends = [r for m in results.all_methods(problem) for r in results.records[problem, m] if r.seed == seed]
    lowest = min(record.best(record.trials) for record in ends)
    return {
        branch
        for record in ends
        for branch, value in zip(record.branches, record.values)
        if value == lowest
    }  # fmt: skip
