"""The surrogate of ``auto``: offsets, additive groups and one joint term under a single set of length-scales.

The covariance is ``gp.kernels.nested``. Its priors say what is plausible before data speak: levels of
branches and functions of groups of about the size of the spread of all results, interactions a
quarter of that. They are tight (a factor of e^±1 is two deviations), because with a handful of results
per branch a free variance explains anything; a hundred results still move them where they must.
"""

from __future__ import annotations

from dataclasses import replace

from bough.gp.kernels.nested import Nested
from bough.gp.likelihood import NOISE, Model
from bough.gp.priors import LogNormal
from bough.points import Layout
from bough.space.tree import Tree
from bough.surrogates.base import KernelGP
from bough.surrogates.paths import roles

__all__ = ["nested"]

LEVEL = LogNormal(0.0, 0.5)
FUNCTION = LogNormal(0.0, 0.5)
INTERACTION = LogNormal(-1.4, 0.5)
SPREAD = LogNormal(0.35, 0.5)
"""Length-scales of the joint term are those of the groups times about √2: a path has two groups or so."""

SMALL_NOISE = replace(NOISE, low=1e-8)
"""Objectives without noise are common, and their optimum is pinned down only as far as noise allows."""


def nested(layout: Layout, tree: Tree) -> KernelGP:
    """The process of ``auto`` on a space."""
    implied = roles(layout, tree).implied
    kernel = Nested(layout, implied, offset=LEVEL, additive=FUNCTION, joint=INTERACTION, spread=SPREAD)
    return KernelGP(Model(kernel, SMALL_NOISE))
