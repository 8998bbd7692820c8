"""What the paths of a space say about its groups: which are shared, and which are some path's own.

Groups on several paths are the inner nodes of Jenatton et al. 2017; groups on one path only make up
its leaf. This reads the same on a tree and on a directed acyclic graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bough.points import Layout
from bough.space.tree import Tree

__all__ = ["MOST_PATHS", "Roles", "roles"]

MOST_PATHS = 256
"""Paths looked at. Where a space has more, its groups count as shared unless shown not to be."""


@dataclass(frozen=True)
class Roles:
    """leaves: for each path with groups of its own, those groups;  shared: all other groups;
    depth: (groups,) how many groups must be on before;
    named: (column, option) of nominal switches whose option has a group of its own to stand for it;
    implied: the nominal switches each of whose options has one.
    """

    leaves: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]
    depth: tuple[int, ...]
    named: frozenset[tuple[int, int]]
    implied: frozenset[int]


@lru_cache(maxsize=8)
def roles(layout: Layout, tree: Tree) -> Roles:
    """The roles of all groups of a space. Both arguments are immutable, so the answer may be kept."""
    paths = tree.paths(MOST_PATHS + 1)
    complete = len(paths) <= MOST_PATHS
    on = np.array([path.on for path in paths]).reshape(len(paths), layout.groups)
    alone = (on.sum(axis=0) == 1) & complete
    leaves = [tuple(np.flatnonzero(row & alone).tolist()) for row in on]
    patterns = {row.tobytes() for row in on.T}
    low = np.array([path.low for path in paths]).reshape(len(paths), layout.columns)
    named, implied = set(), set()
    for column in np.flatnonzero(layout.switch & layout.nominal).tolist():
        levels = int(layout.levels[column])
        option = np.floor(low[:, column] * levels)
        for i in range(levels):
            if (on[:, layout.group[column]] & (option == i)).tobytes() in patterns:
                named.add((column, i))
        if all((column, i) in named for i in range(levels)):
            implied.add(column)
    return Roles(
        leaves=tuple(leaf for leaf in leaves if leaf),
        shared=tuple(np.flatnonzero(~alone).tolist()),
        depth=_depths(tree),
        named=frozenset(named),
        implied=frozenset(implied),
    )


def _depths(tree: Tree) -> tuple[int, ...]:
    """Length of the longest chain of groups above each group; parents come before their children."""
    depths = [0]
    for group in tree.groups[1:]:
        depths.append(1 + max((depths[parent] for parent in group.parents), default=0))
    return tuple(depths)
