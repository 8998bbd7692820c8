"""The surrogate of ``auto``: offsets, additive groups and one joint term under a single set of length-scales.

The covariance is ``gp.kernels.nested``. Its priors say what is plausible before data speak: functions of
groups of about the size of the spread of all results, levels of branches a third of that, interactions a
quarter. Each variance is one number for all branches, which a dozen results can speak to; only how large
functions are is held tight, because with a handful of results per branch their size and their smoothness
explain the same. Levels above all must be free to vanish: where the parameters of a branch matter more
than the branch, two bad results say little about the rest of it.
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

LEVEL = LogNormal(-1.2, 1.0)
FUNCTION = LogNormal(0.0, 0.5)
INTERACTION = LogNormal(-1.4, 1.0)
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
