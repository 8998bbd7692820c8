"""Additive tree covariance: Ma & Blaschko 2020, Algorithm 1, Algorithm 2 (its model), Appendix E.

    f(x) = Σ_{v active} [o_v + f_v(x_v)],   k(x, x') = Σ_v δ_v(x) δ_v(x') [o_v + s_v k_v(x_v, x'_v)]

A vertex v is a group of parameters; δ_v says whether it is active (eq. 5). Points on different paths share
the vertices on both. Differences from the paper:

* Offsets o_v: the level of a branch. The paper's covariance has none for a vertex without
  parameters; its code gives it 1. The root has none, as targets are standardised.
* Variances s_v and o_v are learned under tight priors, log N(0, 0.5²): loose ones lose at n < 30. Few
  observations cannot identify differences between vertices, but they can identify a common size and
  smoothness. So the s_v share a loose common factor, and so do the length-scales.
* A switch is seen through activity and an offset per value: the group of its option where each
  option has one, else a covariance over its values alone.
* ``products``: interactions of App. E, of smaller prior variance. ``pairs`` adds k_u·k_v for every two
  vertices on a path, ``paths`` also the product over all vertices of a path (the highest order of Duvenaud et
  al. 2011). Each product has its own length-scales. ``joint`` is one covariance over all columns between
  points of equal signature. The module ``evidence`` chooses between no products, pairs and paths.
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import combinations
from operator import mul

import numpy as np

from bough.gp.kernels import (
    Constant,
    Hamming,
    Imputed,
    Kernel,
    Matern52,
    SameSignature,
    Scale,
    Sum,
    WhereActive,
)
from bough.gp.likelihood import GPModel
from bough.gp.params import LogNormal, Pooled
from bough.papers.ma2020.blocks import independent_rows
from bough.points import Layout
from bough.space.roles import ROLE_PATHS
from bough.space.tree import Tree
from bough.surrogates.base import Base, KernelGP, split_columns

__all__ = ["PRODUCTS", "additive_tree", "interacting"]


VERTEX_VARIANCE = Pooled("variance", 0.0, 0.5, 1.5)
OFFSET_VARIANCE = LogNormal(0.0, 0.5)
INTERACTION_VARIANCE = LogNormal(-1.4, 0.5)


PRODUCTS = ("pairs", "paths", "joint")


def additive_tree(
    layout: Layout,
    tree: Tree,
    *,
    base: Base = Matern52,
    products: str | None = None,
    samples: int = 0,
) -> KernelGP:
    """The surrogate of ``add-tree``, ``add-tree-ucb`` and, with one of PRODUCTS, of its interactions."""
    by_group = tree.roles.implied
    terms: list[Kernel] = []
    coupled = np.ones(layout.groups, dtype=bool)
    for group in range(layout.groups):
        offset = [Constant(OFFSET_VARIANCE)] if group else []
        functions = _vertex_functions(layout, group, by_group, base)
        terms.append(WhereActive(group, Sum((*offset, *functions))))
        coupled[group] = bool(offset or functions)
    if products == "joint":
        seen = [c for c in range(layout.columns) if c not in by_group]
        joint = Imputed(base(*split_columns(layout, seen)), tuple(layout.group.tolist()))
        terms.append(SameSignature(Scale(joint, INTERACTION_VARIANCE)))
    elif products is not None:
        terms += [_product(layout, groups, base) for groups in interacting(layout, tree, products)]
    return KernelGP(GPModel(Sum(tuple(terms)), blocks=independent_rows(tree, coupled)), samples)


def interacting(layout: Layout, tree: Tree, products: str) -> list[tuple[int, ...]]:
    """The vertices of each product: pairs on a common path; with ``paths`` also all vertices of a path."""
    own = np.bincount(layout.group[~layout.switch], minlength=layout.groups) > 0
    paths = [
        tuple(np.flatnonzero(path.on & own).tolist()) for path in tree.all_paths(ROLE_PATHS)[:ROLE_PATHS]
    ]
    found: list[tuple[int, ...]] = [pair for path in paths for pair in combinations(path, 2)]
    if products == "paths":
        found += [path for path in paths if len(path) > 2]
    return list(dict.fromkeys(found))


def _product(layout: Layout, groups: tuple[int, ...], base: Base) -> Kernel:
    """s·Π_v k_v where all of the vertices are active: App. E, eq. (12) and (13)."""
    factors = []
    for group in groups:
        plain = [int(c) for c in layout.columns_of(group) if not layout.switch[c]]
        factors.append(base(*split_columns(layout, plain), _alike(len(plain))))
    kernel: Kernel = Scale(reduce(mul, factors), INTERACTION_VARIANCE)
    for group in groups:
        kernel = WhereActive(group, kernel)
    return kernel


def _vertex_functions(layout: Layout, group: int, by_group: frozenset[int], base: Base) -> list[Kernel]:
    """s_v k_v over the group's own columns, and one term for each switch that groups do not represent."""
    columns = layout.columns_of(group)
    plain = [int(c) for c in columns if not layout.switch[c]]
    switches = [int(c) for c in columns if layout.switch[c] and c not in by_group]
    kernels = [base(*split_columns(layout, plain), _alike(len(plain)))] if plain else []
    kernels += [Hamming((c,)) if layout.nominal[c] else base((c,), (), _alike(1)) for c in switches]
    return [Scale(kernel, VERTEX_VARIANCE) for kernel in kernels]


def _alike(dimension: int) -> Pooled:
    """Length-scales with a loose common factor and small differences."""
    return Pooled("lengthscale", math.log(0.5) + 0.5 * math.log(dimension), 0.3, 1.5)
