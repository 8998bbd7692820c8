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
* ``interactions``: one covariance over all columns between points of equal signature (App. E sets
  the interaction terms of different leaves independent), of smaller prior variance.
"""

from __future__ import annotations

import math

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
from bough.gp.priors import LogNormal, Pooled
from bough.points import Layout
from bough.space.tree import Tree
from bough.surrogates.base import KernelGP
from bough.surrogates.kernel_gp import Base, split_columns

__all__ = ["additive_tree"]


VERTEX_VARIANCE = Pooled("variance", 0.0, 0.5, 1.5)
OFFSET_VARIANCE = LogNormal(0.0, 0.5)
INTERACTION_VARIANCE = LogNormal(-1.4, 0.5)


def additive_tree(
    layout: Layout,
    tree: Tree,
    *,
    base: Base = Matern52,
    interactions: bool = False,
) -> KernelGP:
    """The surrogate of ``add-tree``, ``add-tree-ucb`` and ``add-tree-interactions``."""
    by_group = tree.roles.implied
    terms: list[Kernel] = []
    for group in range(layout.groups):
        offset = [Constant(OFFSET_VARIANCE)] if group else []
        functions = _vertex_functions(layout, group, by_group, base)
        terms.append(WhereActive(group, Sum((*offset, *functions))))
    if interactions:
        seen = [c for c in range(layout.columns) if c not in by_group]
        joint = Imputed(base(*split_columns(layout, seen)), tuple(layout.group.tolist()))
        terms.append(SameSignature(Scale(joint, INTERACTION_VARIANCE)))
    return KernelGP(GPModel(Sum(tuple(terms))))


def _vertex_functions(layout: Layout, group: int, by_group: frozenset[int], base: Base) -> list[Kernel]:
    """s_v k_v over the group's own columns, and one term for each switch that groups do not stand for."""
    columns = layout.columns_of(group)
    plain = [int(c) for c in columns if not layout.switch[c]]
    switches = [int(c) for c in columns if layout.switch[c] and c not in by_group]
    kernels = [base(*split_columns(layout, plain), _alike(len(plain)))] if plain else []
    kernels += [Hamming((c,)) if layout.nominal[c] else base((c,), (), _alike(1)) for c in switches]
    return [Scale(kernel, VERTEX_VARIANCE) for kernel in kernels]


def _alike(dimension: int) -> Pooled:
    """Length-scales with a loose common factor and small differences."""
    return Pooled("lengthscale", math.log(0.5) + 0.5 * math.log(dimension), 0.3, 1.5)
