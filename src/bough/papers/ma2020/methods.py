"""The methods of Ma & Blaschko 2020."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.acquisition.maximise.paths import search_paths
from bough.papers.ma2020.additive_tree import additive_tree
from bough.papers.ma2020.changes import AdditiveGP
from bough.papers.ma2020.separable_ucb import additive_ucb
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import ACQUISITION, KERNEL, KERNELS, model_based
from bough.strategies.decisions import Choice, ProposalContext, exploit, maximise_with
from bough.strategies.options import ModelOptions, at_least, option

EXPLOIT_SD_SHARE = 0.3
"""As in ``auto``."""


@dataclass(frozen=True)
class AddTree(ModelOptions):
    """``add-tree``: the additive tree covariance, EI searched on every path (Algorithm 1)."""

    kernel: str = option("matern52", KERNEL)
    acquisition: str = option("log-ei", ACQUISITION)
    exploit_every: int = option(0, at_least(0, "every how many trials one exploits, 0 for never"))

    def strategy(self, space: Space) -> Strategy:
        surrogate = additive_tree(space.layout, space.tree, base=KERNELS[self.kernel])
        decide = maximise_with(search_paths)
        if self.exploit_every:
            decide = exploit(decide, self.exploit_every, EXPLOIT_SD_SHARE)
        return model_based(surrogate, self, self.acquisition, decide)


@dataclass(frozen=True)
class AddTreeInteractions(ModelOptions):
    """``add-tree-interactions``: with products along a path (Appendix E)."""

    kernel: str = option("matern52", KERNEL)
    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        surrogate = additive_tree(space.layout, space.tree, base=KERNELS[self.kernel], interactions=True)
        return model_based(surrogate, self, self.acquisition)


@dataclass(frozen=True)
class AddTreeUcb(ModelOptions):
    """``add-tree-ucb``: a confidence bound per vertex (Algorithm 2)."""

    kernel: str = option("matern52", KERNEL)

    def strategy(self, space: Space) -> Strategy:
        surrogate = additive_tree(space.layout, space.tree, base=KERNELS[self.kernel])
        return model_based(surrogate, self, decide=vertex_bounds)


def vertex_bounds(context: ProposalContext, rng: np.random.Generator) -> Choice:
    """Algorithm 2: every vertex optimises its own confidence bound."""
    posteriors = [AdditiveGP.of(posterior) for posterior in context.model.posteriors]
    trial = context.number + 1
    found = additive_ucb(context.space, posteriors, trial, near=context.near, avoid=context.avoid, rng=rng)
    return Choice(found, "the lowest confidence bound, added up vertex by vertex along each path")
