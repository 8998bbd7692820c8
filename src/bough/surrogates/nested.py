"""The surrogate of ``auto``: offsets, additive groups, a joint and a rough term, one set of length-scales.

The covariance is ``gp.kernels.nested``. Its priors say what is plausible before data speak: functions of
groups of about the size of the spread of all results, levels of branches a third of that, interactions a
quarter. Each variance is one number for all branches, which a dozen results can speak to; only how large
functions are is held tight, because with a handful of results per branch their size and their smoothness
explain the same. Levels above all must be free to vanish: where the parameters of a branch matter more
than the branch, two bad results say little about the rest of it.

What smooth functions leave unexplained is taken for roughness of the function first (about a tenth of the
variance, within a factor of a hundred), and for noise only once trials side by side disagree.
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

__all__ = ["TERMS", "nested"]

LEVEL = LogNormal(-1.2, 1.0)
FUNCTION = LogNormal(0.0, 0.5)
INTERACTION = LogNormal(-1.4, 1.0)
SPREAD = LogNormal(0.35, 0.5)
"""Length-scales of the joint term are those of the groups times about √2: a path has two groups or so."""

ROUGHNESS = LogNormal(math.log(0.1), 2.0)

LOW_NOISE = replace(NOISE, low=1e-8)
"""Objectives without noise are common, and their optimum is pinned down only as far as noise allows."""

LITTLE_NOISE = replace(LOW_NOISE, prior=LogNormal(math.log(1e-6), 2.0))
"""Where roughness explains what noise would."""

ABSENT = LogNormal(math.log(1e-4), 0.1)
"""A term with this variance says nothing."""

TERMS = {"levels": LEVEL, "groups": FUNCTION, "interactions": INTERACTION, "roughness": ROUGHNESS}


def nested(layout: Layout, tree: Tree, *, without: str | None = None, samples: int = 0) -> KernelGP:
    """The process of ``auto`` on a space; ``without``: one of TERMS to leave out, to see what it is for."""
    implied = tree.roles.implied
    level, function, interaction, rough = (ABSENT if name == without else TERMS[name] for name in TERMS)
    kernel = Nested(layout, implied, level, function, interaction, SPREAD, rough)
    return KernelGP(Model(kernel, LOW_NOISE if without == "roughness" else LITTLE_NOISE), samples)
