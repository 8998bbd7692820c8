"""Further synthetic problems, each for a difficulty that users meet and the papers' functions do not have.

They are held out: no method was tuned on them. The seed draws the instance: which branch is best, where
optima lie (off centres and corners), how strong each effect is. All but ``pipeline`` have a known
optimum, because every branch is a constant plus a term that is zero at one place.

values (``further_values.py``)
- ``path``:     interactions: the best value of a parameter bends with those above it on its path, as a
                learning rate's does with batch size and momentum.
- ``clash``:    a parameter that all branches share, and whose best value is elsewhere in each: SGD wants
                another learning rate than Adam. Sharing what was learned misleads.
- ``noisy``:    training twice gives two results; in some branches they differ more than the branches do.
- ``failing``:  out of memory, diverged, not installed: a third of the space fails, the optimum lies near
                the edge of what works, and one branch never works.
- ``ties``:     error rates on 100 rows: plateaus, ties, a majority class below which nothing gets, and
                parameters without effect.
- ``scales``:   a loss over nine orders of magnitude, and rates and penalties over twelve.

structure (``further_trees.py``)
- ``deep``:     seven decisions in a chain, each with a parameter for all below it; any leaf but the first
                two may be best.
- ``either``:   parameters that one of several parents activates (OR-conditions): a graph, not a tree.
- ``many``:     32 branches, three of them good: a long list of models.
- ``discrete``: integers and categories only, as compilers and solvers have.
- ``wide``:     41 parameters, 15 to 16 active, few of which matter.
- ``layers``:   how many layers, then the units of each; layer i is the same parameter in every deeper stack.

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
