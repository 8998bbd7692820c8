"""The surrogate of ``auto``: a Gaussian process with the covariance of ``gp.kernels.nested`` and its priors.

The priors say what is plausible before any data. Functions of groups vary about as much as all observations.
Branch levels have a third of that variance, and interactions a quarter. Each variance is one
number for all branches, so a dozen observations can identify it. Only the variance of the functions has a
tight prior: with a handful of observations per branch, the size of a function and its smoothness explain the
same data. The prior must let branch levels shrink to zero: if the parameters of a branch matter more than
the branch, two bad observations say little about the rest of it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from bough.gp.fit import fit_warm
from bough.gp.kernels import Nested
from bough.gp.likelihood import NOISE, GPModel
from bough.gp.params import LogNormal
from bough.points import Layout
from bough.space.tree import Tree
from bough.surrogates.base import KernelGP

__all__ = ["LENGTHSCALE", "TERMS", "nested"]

LEVELS = LogNormal(-1.2, 1.0)
GROUPS = LogNormal(0.0, 0.5)
INTERACTIONS = LogNormal(-1.4, 1.0)
STRETCH = LogNormal(0.35, 0.5)
"""Prior of φ, near √2: a path has about two groups, so distances over all columns are √2 times as long."""

LENGTHSCALE = LogNormal(math.log(0.5), 1.0)
"""For a parameter alone in its group, in units of its range; √d times as long in a group of d."""

LOW_NOISE = replace(NOISE, prior=LogNormal(math.log(1e-4), 3.0), low=1e-8)
"""Prior of the noise variance. It is wide, because many objectives have no noise, and the model locates an
optimum only as precisely as its noise allows; others have steps that a smooth function cannot follow."""

ABSENT = LogNormal(math.log(1e-4), 0.1)
"""Prior of a variance so small that its term vanishes."""

TERMS = {"levels": LEVELS, "groups": GROUPS, "interactions": INTERACTIONS}


def nested(
    layout: Layout,
    tree: Tree,
    *,
    without: str | None = None,
    lengthscale: LogNormal = LENGTHSCALE,
) -> KernelGP:
    """The Gaussian process of ``auto`` on a space.

    without: one of TERMS to leave out; lengthscale: another prior. Both are for comparisons.
    """
    implied = tree.roles.implied
    terms = {name: ABSENT if name == without else prior for name, prior in TERMS.items()}
    kernel = Nested(layout, implied, **terms, stretch=STRETCH, lengthscale=lengthscale)
    return KernelGP(GPModel(kernel, LOW_NOISE), find_mode=fit_warm)
