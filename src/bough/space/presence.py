"""When a parameter exists: a condition over earlier answers that is exact on all runs.

A condition on one earlier answer is preferred, then one on two of them, then a decision tree that splits by
the most informative answer. If several answers would do, a categorical one is taken, then the number with the
fewest values: where one run of many has the parameter, a threshold of a number often fits by chance. Of the
rest, the shortest text is taken. Few conditions are tried, even if most answers are irrelevant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bough.space.conditions import quote
from bough.space.parameters import Categorical, Domain, Int
from bough.space.scalars import scalar_key

__all__ = ["Run", "condition_of_presence"]

Run = Mapping[str, Any]

MAX_LISTED = 32
"""An integer with at most this many values may be compared with a list of them."""


def condition_of_presence(
    name: str, earlier: Sequence[str], domains: Mapping[str, Domain], runs: Sequence[Run]
) -> str | None:
    """A condition on ``earlier`` answers that holds exactly in the runs with ``name``; None if none is found.

    earlier: parameters that every run with ``name`` asked before it.
    """
    search = _Search(name, domains, runs)
    rows = list(range(len(runs)))
    for depth in (1, 2):
        found = search.likeliest(rows, earlier, depth)
        if found is not None:
            return found
    return search.greedy(rows, earlier)


class _Search:
    """The runs and the parameter in question; every method is about a subset of the runs."""

    def __init__(self, name: str, domains: Mapping[str, Domain], runs: Sequence[Run]) -> None:
        self._domains, self._runs = domains, runs
        self._here = [name in run for run in runs]

    def likeliest(self, rows: list[int], earlier: Sequence[str], depth: int) -> str | None:
        """The likeliest condition that reads at most ``depth`` answers in a row."""
        found = [(other, self._split(other, rows, earlier, depth)) for other in earlier]
        fitting = [(self._values(other), len(text), text) for other, text in found if text is not None]
        return min(fitting, key=lambda each: each[:2])[2] if fitting else None

    def _values(self, other: str) -> float:
        """The number of values among which a threshold may lie; 0 for a categorical answer."""
        domain = self._domains[other]
        return 0 if isinstance(domain, Categorical) else domain.levels or math.inf

    def greedy(self, rows: list[int], earlier: Sequence[str]) -> str | None:
        """A condition that first reads the most informative answer."""
        if (found := self.likeliest(rows, earlier, 1)) is not None:
            return found
        left = {other: self._entropy_after(other, rows) for other in earlier}
        if min(left.values(), default=math.inf) == math.inf:
            return None
        return self._split(min(left, key=left.__getitem__), rows, earlier, None)

    def _split(self, other: str, rows: list[int], earlier: Sequence[str], depth: int | None) -> str | None:
        asked = [row for row in rows if other in self._runs[row]]
        if len({self._here[row] for row in asked}) < 2:
            return None  # it is not informative
        domain = self._domains[other]
        if not isinstance(domain, Categorical):
            threshold = self._by_threshold(other, asked)
            if threshold is not None or not isinstance(domain, Int) or domain.levels > MAX_LISTED:
                return threshold
        return self._by_option(other, asked, [each for each in earlier if each != other], depth)

    def _by_option(self, other: str, rows: list[int], rest: Sequence[str], depth: int | None) -> str | None:
        """Some options bring the parameter, some do not, and under some a further condition decides."""
        bringing, terms = [], []
        for option, those in self._options(other, rows):
            present = {self._here[row] for row in those}
            if present == {True}:
                bringing.append(option)
            elif len(present) == 2:
                if depth == 1:
                    return None
                further = (
                    self.greedy(those, rest) if depth is None else self.likeliest(those, rest, depth - 1)
                )
                if further is None:
                    return None
                terms.append(f"({quote(other)} == {option!r} and {further})")
        if bringing:
            values = ", ".join(map(repr, bringing))
            one = len(bringing) == 1
            terms.insert(0, f"{quote(other)} == {values}" if one else f"{quote(other)} in ({values})")
        return terms[0] if len(terms) == 1 else f"({' or '.join(terms)})"

    def _options(self, other: str, rows: list[int]) -> list[tuple[Any, list[int]]]:
        groups: dict[object, tuple[Any, list[int]]] = {}
        for row in rows:
            answer = self._runs[row][other]
            groups.setdefault(scalar_key(answer), (answer, []))[1].append(row)
        return list(groups.values())

    def _by_threshold(self, other: str, rows: list[int]) -> str | None:
        """The parameter exists above, or below, some value of a number."""
        having = [self._runs[row][other] for row in rows if self._here[row]]
        lacking = [self._runs[row][other] for row in rows if not self._here[row]]
        whole = isinstance(self._domains[other], Int)
        if max(lacking) < min(having):
            sign, value = _between(max(lacking), min(having), whole)
            return f"{quote(other)} {'>=' if sign else '>'} {value!r}"
        if max(having) < min(lacking):
            sign, value = _between(max(having), min(lacking), whole)
            return f"{quote(other)} {'<' if sign else '<='} {value!r}"
        return None

    def _entropy_after(self, other: str, rows: list[int]) -> float:
        """Entropy of the presence, in bits per run, once the answer is known; infinite if it cannot help."""
        asked = [row for row in rows if other in self._runs[row]]
        if len({self._here[row] for row in asked}) < 2 or not isinstance(self._domains[other], Categorical):
            return math.inf
        total = 0.0
        for _, those in self._options(other, asked):
            share = sum(self._here[row] for row in those) / len(those)
            total -= len(those) * sum(p * math.log2(p) for p in (share, 1 - share) if p > 0)
        return total / len(asked)


def _between(low: Any, high: Any, whole: bool) -> tuple[bool, Any]:
    """The number with the fewest digits that separates ``low`` from ``high``.

    The flag says whether it belongs to the upper side; if not, it is ``low`` itself.
    """
    if whole:
        return True, -(-(low + high) // 2)
    middle = (low + high) / 2
    for digits in range(1, 18):
        value = float(f"{middle:.{digits}g}")
        if low < value <= high:
            return True, value
        if value == low:
            return False, value
    return True, high
