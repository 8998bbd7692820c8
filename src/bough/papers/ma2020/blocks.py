"""Which observations never covary under the additive tree (Ma & Blaschko 2020, eq. 10 and App. B).

Two points covary if they share a vertex that has a term. If the root has none, as in the paper's synthetic
function, the branches below it do not covary. Each block is then factorised alone, in O(Σ n_l³) instead of
O(n³), and a prediction reads only the rows that share a vertex with it: the paper's X'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bough.points import BoolArray, IntArray, Points, rows_by_signature
from bough.space.roles import ROLE_PATHS
from bough.space.tree import Tree

__all__ = ["independent_rows"]


def independent_rows(tree: Tree, coupled: BoolArray) -> Callable[[Points], Sequence[IntArray]] | None:
    """A function that splits points into blocks without covariance; None if all of them may covary.

    coupled: (groups,) whether a group has a term in the covariance.
    """
    paths = tree.all_paths(ROLE_PATHS)
    if len(paths) > ROLE_PATHS:
        return None
    on = np.stack([path.on for path in paths]) & coupled
    label = np.arange(len(coupled))
    for row in on:  # all groups of a path are in one part, and so are all parts that a path joins
        joined = np.unique(label[row])
        label[np.isin(label, joined)] = joined.min(initial=len(label))
    parts = np.unique(label[on.any(axis=0)])
    if len(parts) < 2:
        return None
    return partial(_split, (label[:, None] == parts) & coupled[:, None])


def _split(member: BoolArray, points: Points) -> list[IntArray]:
    """Rows by the part (groups, parts) in which their groups are."""
    return list(rows_by_signature((points.on.astype(int) @ member.astype(int)) > 0).values())
