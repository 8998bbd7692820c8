"""The values of a column that are left by forbidden clauses which read only that column.

``forbid=["rate > 0.1"]`` is such a clause: it narrows the range of ``rate`` wherever it is active. Searches
and samplers use the rest of the range, so they do not depend on luck to find legal values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray
from bough.space.activity import Rules
from bough.space.binding import Test
from bough.space.parameters import Domain

__all__ = ["Allowed", "allowed_columns"]


@dataclass(frozen=True, eq=False)
class Allowed:
    """The allowed range of a column, in unit positions.

    low, high: the positions of its first and last value. options: (levels,) which options of a nominal column
    are allowed; None for other columns. edges: the ends of the cells of the first and last value.
    """

    low: float
    high: float
    edges: tuple[float, float]
    options: BoolArray | None = None

    def stretch(self, unit: FloatArray) -> FloatArray:
        """Positions anywhere in the unit interval, mapped linearly to the allowed values."""
        if self.options is None:
            first, last = self.edges
            return first + unit * (last - first)
        left = np.flatnonzero(self.options)
        chosen = left[np.minimum((unit * len(left)).astype(np.intp), len(left) - 1)]
        return (chosen + 0.5) / len(self.options)


def allowed_columns(rules: Rules) -> dict[int, Allowed]:
    """The columns of which such clauses exclude a part, but not everything."""
    tests: dict[int, list[Test]] = {}
    for clause in rules.clauses:
        if isinstance(clause, Test):
            tests.setdefault(clause.column, []).append(clause)
    found = {}
    for column, clauses in tests.items():
        pieces = rules.pieces[column]
        left = ~np.any([pieces.table(clause.intervals) for clause in clauses], axis=0)
        if left.any() and not left.all():
            found[column] = _allowed(rules.domains[column], rules, column, np.flatnonzero(left))
    return found


def _allowed(domain: Domain, rules: Rules, column: int, left: IntArray) -> Allowed:
    pieces, first, last = rules.pieces[column], int(left[0]), int(left[-1])
    if domain.kind == "real":
        low, high = float(pieces.unit_bounds[0][first]), float(pieces.unit_bounds[1][last])
        return Allowed(low, high, (low, high))
    ranks = np.array([pieces.rank_range(first, domain)[0], pieces.rank_range(last, domain)[1]])
    low, high = (float(position) for position in domain.position(ranks))
    edges = domain.position(ranks + np.array([-0.5, 0.5]))
    options = None
    if domain.kind == "nominal":
        options = np.isin(np.arange(domain.levels), left)
    return Allowed(low, high, (float(edges[0]), float(edges[1]) - 1e-12), options)
