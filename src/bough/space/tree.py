"""The groups of a space and the paths through them: which branches there are, and which one a row is on.

A *switch* is a column that some condition reads. A *path* fixes every active switch: a nominal one to one
option, any other to a range between the thresholds that conditions compare it with. It is a box of the unit
cube with one *signature* (which groups are active). A *branch* is all configurations on one path.
Independent choices multiply, so paths are walked lazily and every function takes a limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray, Points
from bough.space.activity import Pieces, Rules, cut_columns
from bough.space.allowed import Allowed, allowed_columns
from bough.space.binding import Relation, Test, columns_read, leaf_nodes
from bough.space.desugar import Flat
from bough.space.groups import Group, single_option
from bough.space.roles import ROLE_PATHS, Roles, find_roles
from bough.space.walk import INACTIVE, Walk

__all__ = ["Group", "Path", "Tree", "bounds_of"]


KNOWN_PATHS = 4096
"""How many paths are cached: every proposal needs the paths of its starts."""


@dataclass(frozen=True, eq=False)
class Path:
    """A box with one signature.

    on: (groups,) the signature. low, high: (columns,) the box; equal for a nominal switch (its
    option's unit position) and 0.5 for an inactive column, [0, 1] for active columns that are not
    switches. If a condition compares two parameters, the box may hold points of other signatures.
    """

    on: BoolArray
    low: FloatArray
    high: FloatArray

    @property
    def key(self) -> bytes:
        """Equal for equal paths of one space."""
        return self.on.tobytes() + self.low.tobytes() + self.high.tobytes()


def bounds_of(boxes: Sequence[Path]) -> tuple[FloatArray, FloatArray]:
    """The lower and the upper ends of some boxes, each (boxes, columns)."""
    return np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])


class Tree:
    """The groups of a space and the paths through them."""

    def __init__(self, flat: Flat, rules: Rules) -> None:
        self._flat = flat
        self._rules = rules
        self.groups: tuple[Group, ...] = rules.groups
        self._listed: dict[int, tuple[Path, ...]] = {}
        self._known: dict[tuple[bytes, bytes], Path] = {}

    @cached_property
    def is_tree(self) -> bool:
        """Whether every group is one option of one categorical, so that each has a single parent."""
        return all(
            isinstance(group.bound, Test) and single_option(group.bound, self._flat) is not None
            for group in self.groups[1:]
        )

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """Columns that some condition reads, each after those that decide its activity."""
        read = set[int]().union(*map(columns_read, self._rules.conditions))
        return tuple(column for group in self.groups for column in group.columns if column in read)

    @cached_property
    def has_relations(self) -> bool:
        """Whether some condition compares two parameters, so that boxes may hold other signatures."""
        conditions = self._rules.conditions
        return any(isinstance(leaf, Relation) for bound in conditions for leaf in leaf_nodes(bound))

    @cached_property
    def allowed(self) -> dict[int, Allowed]:
        """By column, the values that are left by clauses which read only that column."""
        return allowed_columns(self._rules)

    def is_open(self, path: Path) -> bool:
        """Whether clauses that read only one column leave any point of a path."""
        for column, allowed in self.allowed.items():
            if not path.on[self._rules.group[column]]:
                continue
            if path.low[column] > allowed.high or path.high[column] < allowed.low:
                return False
            if allowed.options is not None and path.low[column] == path.high[column]:
                option = self._rules.domains[column].rank_at(path.low[[column]])
                if not allowed.options[int(option[0])]:
                    return False
        return True

    def _open_paths(self) -> Iterator[Path]:
        paths = (self._path(on, pieces) for on, pieces in self._walk)
        return (path for path in paths if self.is_open(path)) if self.allowed else paths

    def paths(self, limit: int) -> list[Path]:
        """The first ``limit`` paths (or all, where there are fewer)."""
        return list(islice(self._open_paths(), limit))

    def all_paths(self, limit: int) -> tuple[Path, ...]:
        """All paths, if there are at most ``limit``; otherwise the first ``limit + 1`` of them.

        The result is cached, because every proposal asks for it.
        """
        if limit not in self._listed:
            self._listed[limit] = tuple(self.paths(limit + 1))
        return self._listed[limit]

    def never_active(self, limit: int) -> list[int]:
        """Columns that are active on no path; an empty list where there are more than ``limit`` paths."""
        paths = self.all_paths(limit)
        if len(paths) > limit:
            return []
        on = np.any([path.on for path in paths], axis=0)
        return [column for group in self.groups if not on[group.index] for column in group.columns]

    def path_of(self, points: Points) -> list[Path]:
        """The path of each row; rows on the same path share one object."""
        pieces = self._pieces_of(points)
        if len(self._known) > KNOWN_PATHS:
            self._known.clear()
        found = []
        for on, own in zip(points.on, pieces):
            key = (on.tobytes(), own.tobytes())
            if (path := self._known.get(key)) is None:
                path = self._known[key] = self._path(on, dict(zip(self.switches, own.tolist())))
            found.append(path)
        return found

    def branch_ids(self, points: Points) -> IntArray:
        """(n,) the branch of each row: rows on the same path have the same number, the first row has 0."""
        pieces, count = self._pieces_of(points), len(points)
        if self._piece_weights is not None:
            codes = (pieces - INACTIVE) @ self._piece_weights
            if codes.max(initial=0) >= count:
                codes = np.unique(codes, return_inverse=True)[1]
        else:
            keys = np.ascontiguousarray(np.hstack([points.on, pieces]).astype(np.int64))
            whole = keys.view(np.dtype((np.void, keys.shape[1] * keys.itemsize))).ravel()
            codes = np.unique(whole, return_inverse=True)[1]
        # Codes are below n now. Their first rows number them, without sorting n of them.
        first = np.full(int(codes.max(initial=-1)) + 1, count)
        first[codes[::-1]] = np.arange(count)[::-1]  # backwards, so the first row of each code stays
        number = np.empty_like(first)
        number[np.argsort(first, kind="stable")] = np.arange(len(first))
        return np.asarray(number[codes], dtype=np.intp)

    def rows_by_path(self, points: Points) -> dict[bytes, IntArray]:
        """The rows on each path that occurs in ``points``, in order of occurrence, by ``Path.key``."""
        rows: dict[bytes, list[int]] = {}
        for row, path in enumerate(self.path_of(points)):
            rows.setdefault(path.key, []).append(row)
        return {key: np.array(found) for key, found in rows.items()}

    @cached_property
    def depths(self) -> IntArray:
        """(groups,) length of the longest chain of groups above each group; the root has depth 0."""
        depths: list[int] = []
        for group in self.groups:  # every group follows its parents
            depths.append(1 + max(depths[parent] for parent in group.parents) if group.parents else 0)
        return np.array(depths, dtype=np.intp)

    @cached_property
    def roles(self) -> Roles:
        """Which groups several paths share, and which switches activity implies: ``bough.space.roles``."""
        nominal = {c: self._rules.domains[c].levels for c in self.switches if self._is_nominal(c)}
        paths = [self._path(on, pieces) for on, pieces in islice(self._walk, ROLE_PATHS + 1)]
        on, low = np.array([path.on for path in paths]), np.array([path.low for path in paths])
        return find_roles(on, low, self._rules.group, nominal)

    # ---- how paths are found -----------------------------------------------------------------

    def _is_nominal(self, column: int) -> bool:
        return self._rules.domains[column].kind == "nominal"

    def _pieces_of(self, points: Points) -> IntArray:
        """(n, switches) the piece of each switch that each row lies in."""
        pieces = np.full((len(points), len(self.switches)), INACTIVE)
        for i, column in enumerate(self.switches):
            rows = points.on[:, self._rules.group[column]].nonzero()[0]
            pieces[rows, i] = self._pieces[column].index(points.x[rows, column])
        return pieces

    @cached_property
    def _piece_weights(self) -> IntArray | None:
        """(switches,) the place values of pieces in a number that tells paths apart.

        None if a relation also decides activity, or if such numbers would be too large.
        """
        counts = [len(self._pieces[column]) + 1 for column in self.switches]
        if self.has_relations or math.prod(counts) >= 2**62:
            return None
        return np.array([math.prod(counts[:i]) for i in range(len(counts))], dtype=np.intp)

    @cached_property
    def _pieces(self) -> dict[int, Pieces]:
        """The pieces of each switch, cut only where conditions (not forbidden clauses) cut it."""
        pieces = {}
        for column, coarse in cut_columns(self._rules.domains, self._rules.conditions).items():
            fine = self._rules.pieces[column]
            pieces[column] = Pieces(coarse.ranks, fine.units[np.isin(fine.ranks, coarse.ranks)])
        return pieces

    @cached_property
    def _walk(self) -> Walk:
        return Walk(self._rules, self._pieces)

    def _path(self, on: BoolArray, pieces: Mapping[int, int]) -> Path:
        active = on[self._rules.group]
        low, high = np.where(active, 0.0, 0.5), np.where(active, 1.0, 0.5)
        for column, piece in pieces.items():
            if piece != INACTIVE:
                low[column], high[column] = self._box(column, piece)
        for column, allowed in self.allowed.items():
            overlap = max(low[column], allowed.low), min(high[column], allowed.high)
            if active[column] and allowed.options is None and overlap[0] <= overlap[1]:
                low[column], high[column] = overlap
        return Path(on.copy(), low, high)

    def _box(self, column: int, piece: int) -> tuple[float, float]:
        """First and last unit position of a piece."""
        domain, pieces = self._rules.domains[column], self._pieces[column]
        if domain.kind == "real":
            return float(pieces.unit_bounds[0][piece]), float(pieces.unit_bounds[1][piece])
        first, last = domain.position(np.array(pieces.rank_range(piece, domain)))
        return float(first), float(last)
