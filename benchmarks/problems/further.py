"""Further synthetic problems, each with a difficulty that users face and the papers' functions lack.

They are held out: no method was tuned on them. The seed draws the instance: which branch is best, where
optima lie (off centres and corners), how strong each effect is. All but ``pipeline`` have a known
optimum, because every branch is a constant plus a term that is zero at one place.

values (``further_values.py``)
- ``path``:     interactions: the best value of a parameter depends on those above it on its path, as a
                learning rate depends on batch size and momentum.
- ``clash``:    a parameter that all branches share, but with a different best value in each: SGD needs
                another learning rate than Adam. Sharing information between branches misleads.
- ``noisy``:    training twice gives two results; in some branches they differ more than the branches do.
- ``failing``:  out of memory, diverged, not installed: a third of the space fails, the optimum lies near
                the edge of what works, and one branch never works.
- ``ties``:     error rates on 100 rows: plateaus, ties, the error of the majority class, and parameters
                without effect.
- ``scales``:   a loss over nine orders of magnitude, and rates and penalties over twelve.

structure (``further_trees.py``)
- ``deep``:     seven decisions in a chain, each with a parameter that affects all below it; any leaf but
                the first two may be best.
- ``either``:   parameters that one of several parents activates (OR-conditions): a graph, not a tree.
- ``many``:     32 branches, three of them good: a long list of models.
- ``discrete``: integers and categories only, as compilers and solvers have.
- ``wide``:     41 parameters, 15 to 16 active, few of which matter.
- ``layers``:   the number of layers, then the units of each; layer i is the same parameter in all stacks.

real (``pipeline.py``)
- ``pipeline``: choose and tune scaling, features and model of a regression on generated data.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.problems import further_trees, further_values
from benchmarks.problems.base import Problem
from benchmarks.problems.pipeline import pipeline

FURTHER = (
    "path", "clash", "noisy", "failing", "ties", "scales",
    "deep", "either", "many", "discrete", "wide", "layers",
    "pipeline",
)  # fmt: skip

_BUILDERS: dict[str, Callable[[np.random.Generator], Problem]] = {
    **further_values.BUILDERS,
    **further_trees.BUILDERS,
}


def further(name: str, seed: int = 0) -> Problem:
    """One of ``FURTHER``, instance ``seed``."""
    if name == "pipeline":
        return pipeline(seed)
    return _BUILDERS[name](np.random.default_rng([seed, 9000 + FURTHER.index(name)]))
