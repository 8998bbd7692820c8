"""The surrogate of ``auto``: offsets, additive groups and one joint term under a single set of length-scales.

The covariance is ``gp.kernels.nested``. Its priors say what is plausible before data speak: levels of
branches and functions of groups of about the size of the spread of all results, interactions a
quarter of that. They are tight (a factor of e^±1 is two deviations), because with a handful of results
per branch a free variance explains anything; a hundred results still move them where they must.
"""

from __future__ import annotations

import math
from dataclasses import replace

from bough.gp.kernels.nested import Nested
from bough.gp.likelihood import NOISE, Model
from bough.gp.priors import LogNormal
from bough.points import Layout
from bough.space.tree import Tree
from bough.surrogates.base import KernelGP
from bough.surrogates.paths import roles

__all__ = ["TERMS", "nested"]

LEVEL = LogNormal(0.0, 0.5)
FUNCTION = LogNormal(0.0, 0.5)
INTERACTION = LogNormal(-1.4, 0.5)
SPREAD = LogNormal(0.35, 0.5)
"""Length-scales of the joint term are those of the groups times about √2: a path has two groups or so."""

SMALL_NOISE = replace(NOISE, low=1e-8)
"""Objectives without noise are common, and their optimum is pinned down only as far as noise allows."""


ABSENT = LogNormal(math.log(1e-4), 0.1)
"""A term with this variance says nothing."""

TERMS = {"levels": LEVEL, "groups": FUNCTION, "interactions": INTERACTION}


def nested(layout: Layout, tree: Tree, *, without: str | None = None, samples: int = 0) -> KernelGP:
    """The process of ``auto`` on a space; ``without``: one of TERMS to leave out, to see what it is for."""
    implied = roles(layout, tree).implied
    level, function, interaction = (ABSENT if name == without else TERMS[name] for name in TERMS)
    kernel = Nested(layout, implied, offset=level, additive=function, joint=interaction, spread=SPREAD)
    return KernelGP(Model(kernel, SMALL_NOISE), samples)
