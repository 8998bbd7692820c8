"""Groups: sets of parameters that are active together.

A group holds all parameters with the same condition. It is the papers' vertex of a tree, or of a directed
acyclic graph if conditions read several switches. Group 0 is the root and always active; every group has
a larger number than the groups it depends on. If some condition says ``p == v`` about a categorical, each
option of it has a group, even if empty. So a ``Choice`` and its desugared spelling have the same groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bough.space.binding import ALWAYS, Bound, Conjunction, Test, columns_read
from bough.space.conditions import Compare, Condition
from bough.space.desugar import Flat
from bough.space.parameters import Categorical

__all__ = ["Group", "make_groups", "single_option"]


@dataclass(frozen=True)
class Group:
    """Parameters with one condition.

    condition: as text over unique names; None for the root.   bound: the same over columns.
    columns:   the parameters of the group (none for an empty option of a choice).
    parents:   the groups that hold the switches the condition reads.
    """

    index: int
    condition: Condition | None
    bound: Bound
    columns: tuple[int, ...]
    parents: tuple[int, ...]


def make_groups(flat: Flat) -> tuple[Group, ...]:
    """All groups of a space; each has a larger index than its parents."""
    members: dict[Bound, list[int]] = {ALWAYS: []}
    texts: dict[Bound, Condition | None] = {ALWAYS: None}
    branching: set[int] = set()
    for column in flat.order:
        bound = flat.bound[column]
        for test in _conjuncts(bound):
            if single_option(test, flat) is not None and test.column not in branching:
                branching.add(test.column)
                for option, text in _options(flat, test.column):
                    members.setdefault(option, [])
                    texts.setdefault(option, text)
        members.setdefault(bound, []).append(column)
        texts.setdefault(bound, flat.parameters[column].condition)
    holder = {column: i for i, columns in enumerate(members.values()) for column in columns}
    return tuple(
        Group(
            index=i,
            condition=texts[bound],
            bound=bound,
            columns=tuple(sorted(columns)),
            parents=tuple(sorted({holder[c] for c in columns_read(bound)})),
        )
        for i, (bound, columns) in enumerate(members.items())
    )


def single_option(test: Test, flat: Flat) -> int | None:
    """The option of a categorical that ``test`` requires, if it is a single one; otherwise None."""
    domain = flat.parameters[test.column].domain
    if not isinstance(domain, Categorical) or domain.levels == 1 or len(test.intervals) != 1:
        return None
    low, high = test.intervals[0]
    first = 0 if low == -math.inf else int(low) + 1
    last = domain.levels - 1 if high == math.inf else int(high)
    return first if first == last else None


def _conjuncts(bound: Bound) -> list[Test]:
    parts = bound.parts if isinstance(bound, Conjunction) else (bound,)
    return sorted((part for part in parts if isinstance(part, Test)), key=lambda test: test.column)


def _options(flat: Flat, column: int) -> list[tuple[Test, Condition]]:
    """For each option of a categorical the test and the text of ``column == option``."""
    domain = flat.parameters[column].domain
    assert isinstance(domain, Categorical)
    last = domain.levels - 1
    options: list[tuple[Test, Condition]] = []
    for i, option in enumerate(domain.options):
        interval = (-math.inf if i == 0 else i - 1.0, math.inf if i == last else float(i))
        options.append((Test(column, (interval,)), Compare(flat.unique[column], "==", option)))
    return options
