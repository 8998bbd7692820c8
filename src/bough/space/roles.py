"""Roles of groups and switches, which follow from the paths of a space.

A group on several paths is *shared*: an inner node in the words of Jenatton et al. 2017. The groups on
one path alone are that path's *leaf*. Both definitions hold on trees and on directed acyclic graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bough.points import BoolArray, FloatArray, IntArray

__all__ = ["ROLE_PATHS", "Roles", "find_roles"]

ROLE_PATHS = 256
"""The number of paths to look at. In a space with more, every group counts as shared."""


@dataclass(frozen=True)
class Roles:
    """Roles of groups and of options.

    leaves:  for each path that has groups which no other path has, those groups.
    shared:  all other groups.
    named:   (column, option) of each option of a nominal switch that is chosen exactly where some group is
             active, so that group represents it.
    implied: the nominal switches whose options are all named, so activity determines their value.
    """

    leaves: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]
    named: frozenset[tuple[int, int]]
    implied: frozenset[int]


def find_roles(on: BoolArray, low: FloatArray, group: IntArray, nominal: Mapping[int, int]) -> Roles:
    """The roles that paths show: all paths of a space, or ``ROLE_PATHS + 1`` of them.

    on, low: (paths, groups) and (paths, columns), the signature and the lower corner of each path.
    group: (columns,) the group of each column. nominal: each nominal switch and its number of options.
    """
    alone = (on.sum(axis=0) == 1) & (len(on) <= ROLE_PATHS)
    leaves = [tuple(np.flatnonzero(row & alone).tolist()) for row in on]
    patterns = {row.tobytes() for row in on.T}
    named = set()
    for column, levels in nominal.items():
        option = np.floor(low[:, column] * levels)
        chosen = (on[:, group[column]] & (option == i) for i in range(levels))
        named |= {(column, i) for i, rows in enumerate(chosen) if rows.tobytes() in patterns}
    return Roles(
        leaves=tuple(leaf for leaf in leaves if leaf),
        shared=tuple(np.flatnonzero(~alone).tolist()),
        named=frozenset(named),
        implied=frozenset(c for c, n in nominal.items() if all((c, i) in named for i in range(n))),
    )
