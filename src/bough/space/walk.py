"""Walk through all combinations of active groups and of ranges of the columns that decide them.

A column that conditions read is cut into *pieces* (``bough.space.activity``). The walk is a depth-first
search that decides one group or one column at a time. A path of ``bough.space.tree`` is one combination;
``bough.space.size`` counts configurations with the same search.

The search visits only groups that can be active. A choice of 5,000 options has 5,001 groups, but after
the choice is made the walk goes straight to the group of that option. So a combination costs about as
much as it has active groups, and nothing is stored but the current one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from bough.points import BoolArray
from bough.space.activity import COMPARE, Pieces, Rules, decide
from bough.space.binding import Bound, Relation, Test, columns_read

__all__ = ["INACTIVE", "Walk"]

INACTIVE = -1
"""Stands for the piece of an inactive column."""

Step = tuple[int, int | None]
"""A decision: (group, None) whether the group is active, (group, column) the piece of one of its columns."""


class Walk:
    """All combinations of active groups and pieces.

    pieces: the pieces of each column that some condition reads, and of any other column to enumerate.
    """

    def __init__(self, rules: Rules, pieces: Mapping[int, Pieces]) -> None:
        self.rules = rules
        self.pieces = pieces
        self._bounds = rules.conditions

    def __iter__(self) -> Iterator[tuple[BoolArray, dict[int, int]]]:
        """Each combination as (groups,) activity and the piece of each active column in ``pieces``.

        Both objects change as the walk goes on; copy what you keep.
        """
        steps = self._steps
        on = np.zeros(len(self._bounds), dtype=bool)
        pieces: dict[int, int] = {}
        trail: list[tuple[int, Iterator[int]]] = []
        at = 0
        while True:
            if at == len(steps):
                yield on, pieces
            else:
                trail.append((at, iter(self._options(steps[at], on, pieces))))
            while trail:
                step, options = trail[-1]
                group, column = steps[step]
                value = next(options, None)
                if value is not None:
                    break
                trail.pop()
                if column is None:
                    on[group] = False
                else:
                    pieces.pop(column, None)
            if not trail:
                return
            if column is None:
                on[group] = bool(value)
            elif value is not None and value != INACTIVE:
                pieces[column] = value
            at = self._following(step, pieces)

    def truth(self, leaf: Test | Relation, pieces: Mapping[int, int]) -> bool | None:
        """Whether a comparison holds; None if the pieces do not decide it: a relation between ranges."""
        if isinstance(leaf, Test):
            piece = pieces.get(leaf.column, INACTIVE)
            return piece != INACTIVE and self._tables[leaf][piece]
        left, right = pieces.get(leaf.left, INACTIVE), pieces.get(leaf.right, INACTIVE)
        if INACTIVE in (left, right):
            return False
        a, b = self._number(leaf, 0, left), self._number(leaf, 1, right)
        return None if a is None or b is None else bool(COMPARE[leaf.op](a, b))

    def holds(self, bound: Bound, pieces: Mapping[int, int]) -> bool | None:
        """Whether a condition holds; None if the pieces do not decide it."""
        return decide(bound, lambda leaf: self.truth(leaf, pieces))

    def _number(self, leaf: Relation, side: int, piece: int) -> float | None:
        """The number that a relation compares; None if a piece holds several values."""
        column = (leaf.left, leaf.right)[side]
        domain, cuts = self.rules.domains[column], self.pieces[column]
        if domain.kind == "real":
            return None
        first, last = cuts.rank_range(piece, domain)
        if first != last:
            return None
        codes = leaf.codes[side]
        return float(domain.values(np.array([first]))[0]) if codes is None else codes[int(first)]

    def _options(self, step: Step, on: BoolArray, pieces: Mapping[int, int]) -> list[int] | range:
        group, column = step
        if column is not None:
            return range(len(self.pieces[column])) if on[group] else [INACTIVE]
        truth = self.holds(self._bounds[group], pieces)
        return [1, 0] if truth is None else [int(truth)]

    # ---- the order of decisions --------------------------------------------------------------

    @cached_property
    def _tables(self) -> dict[Test, list[bool]]:
        """Lists, because single entries of them are read far more often than whole rows."""
        return {test: table.tolist() for test, table in self.rules.tables(self.pieces).items()}

    @cached_property
    def _plan(self) -> tuple[list[Step], list[int]]:
        """All decisions in order, and for each the end of the decisions below it.

        A group follows as soon as the columns it reads are decided, so a change of one column does not
        affect most others.
        """
        groups = self.rules.groups
        undecided = list(map(columns_read, self._bounds))
        readers: dict[int, list[int]] = {column: [] for column in self.pieces}
        for group in reversed(groups):
            for column in undecided[group.index]:
                readers[column].append(group.index)
        steps: list[Step] = []
        heights: list[int] = []
        stack: list[Step] = [(0, None)]
        while stack:
            heights.append(len(stack))
            index, decided = stack.pop()
            steps.append((index, decided))
            if decided is None:
                columns = reversed(groups[index].columns)
                stack += [(index, column) for column in columns if column in self.pieces]
                continue
            for reader in readers[decided]:
                undecided[reader].discard(decided)
                if not undecided[reader]:
                    stack.append((reader, None))
        ends = [len(steps)] * len(steps)
        waiting: list[int] = []
        for step, height in enumerate(heights):
            while waiting and heights[waiting[-1]] > height:
                ends[waiting.pop()] = step
            waiting.append(step)
        return steps, ends

    @property
    def _steps(self) -> list[Step]:
        return self._plan[0]

    @cached_property
    def _choices(self) -> dict[int, list[list[int]]]:
        """The columns whose value alone decides every group directly below them, by step of the column:
        for each piece, the steps of the groups that it activates."""
        steps, ends = self._plan
        compound = [not isinstance(bound, Test) for bound in self._bounds]
        before = np.append(0, np.cumsum([column is None and compound[group] for group, column in steps]))
        found: dict[int, list[list[int]]] = {}
        for step, (_, column) in enumerate(steps):
            if column is None or before[ends[step]] > before[step + 1] or ends[step] == step + 1:
                continue
            found[step] = [[] for _ in range(len(self.pieces[column]))]
            child = step + 1
            while child < ends[step]:
                bound = self._bounds[steps[child][0]]
                assert isinstance(bound, Test)
                for piece in np.flatnonzero(self._tables[bound]).tolist():
                    found[step][piece].append(child)
                child = ends[child]
        return found

    @cached_property
    def _above(self) -> dict[int, int]:
        """For each step of a group below a column of ``_choices``, the step of that column."""
        ends = self._plan[1]
        above: dict[int, int] = {}
        for step in self._choices:
            child = step + 1
            while child < ends[step]:
                above[child] = step
                child = ends[child]
        return above

    def _following(self, step: int, pieces: Mapping[int, int]) -> int:
        """The next decision after ``step``: the next one in order, except groups that cannot be active."""
        steps, ends = self._plan
        following = step + 1
        while following in self._above:
            above = self._above[following]
            column = steps[above][1]
            piece = INACTIVE if column is None else pieces.get(column, INACTIVE)
            active = self._choices[above][piece] if piece != INACTIVE else []
            index = bisect_left(active, following)
            if index < len(active):
                return active[index]
            following = ends[above]
        return following
