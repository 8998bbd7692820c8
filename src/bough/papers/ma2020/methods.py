"""The methods of Ma & Blaschko 2020."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bough.acquisition.maximise.paths import search_paths
from bough.errors import MethodError
from bough.papers.ma2020.additive_tree import PRODUCTS, additive_tree
from bough.papers.ma2020.changes import AdditiveGP
from bough.papers.ma2020.evidence import BestByEvidence
from bough.papers.ma2020.separable_ucb import additive_ucb
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import ACQUISITION, KERNEL, KERNELS, model_based
from bough.strategies.context import Choice, ProposalContext
from bough.strategies.decisions import exploit, maximise_with
from bough.strategies.options import PaperOptions, at_least, one_of, option

EXPLOIT_SD_SHARE = 0.3
"""As in ``auto`` at first."""


@dataclass(frozen=True)
class AddTree(PaperOptions):
    """``add-tree``: the additive tree covariance, EI searched on every path (Algorithm 1)."""

    kernel: str = option("matern52", KERNEL)
    acquisition: str = option("log-ei", ACQUISITION)
    exploit_every: int = option(
        0, at_least(0, "a whole number n (every n-th trial exploits), or 0 for never")
    )

    def strategy(self, space: Space) -> Strategy:
        surrogate = additive_tree(space.layout, space.tree, base=KERNELS[self.kernel], samples=self.samples)
        decide = maximise_with(search_paths)
        if self.exploit_every:
            decide = exploit(decide, self.exploit_every, lambda _: EXPLOIT_SD_SHARE)
        return model_based(surrogate, self, self.acquisition, decide)


@dataclass(frozen=True)
class AddTreeInteractions(PaperOptions):
    """``add-tree-interactions``: with products along a path (Appendix E).

    products: ``pairs`` of vertices; ``paths``: pairs and all vertices of a path; ``joint``: one covariance
    per signature; ``evidence``: none, pairs or paths, whichever has the largest evidence at each refit.
    """

    kernel: str = option("matern52", KERNEL)
    acquisition: str = option("log-ei", ACQUISITION)
    products: str = option("pairs", one_of([*PRODUCTS, "evidence"]))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples and self.products == "evidence":
            raise MethodError("products='evidence' compares modes: leave out samples, or name the products")

    def strategy(self, space: Space) -> Strategy:
        make = partial(additive_tree, space.layout, space.tree, base=KERNELS[self.kernel])
        if self.products == "evidence":
            candidates = [make(), make(products="pairs"), make(products="paths")]
            return model_based(BestByEvidence(candidates), self, self.acquisition)
        surrogate = make(products=self.products, samples=self.samples)
        return model_based(surrogate, self, self.acquisition)


@dataclass(frozen=True)
class AddTreeUcb(PaperOptions):
    """``add-tree-ucb``: a confidence bound per vertex (Algorithm 2).

    bound: ``anchored`` bounds the changes from tried points and the level of a path; ``literal`` bounds each
    vertex's own term, as Algorithm 2 is printed.
    """

    kernel: str = option("matern52", KERNEL)
    bound: str = option("anchored", one_of(("anchored", "literal")))

    def strategy(self, space: Space) -> Strategy:
        surrogate = additive_tree(space.layout, space.tree, base=KERNELS[self.kernel], samples=self.samples)
        decide = partial(vertex_bounds, anchored=self.bound == "anchored")
        return replace(model_based(surrogate, self, "lcb", decide), uses_criterion=False)


def vertex_bounds(context: ProposalContext, rng: np.random.Generator, *, anchored: bool = True) -> Choice:
    """Algorithm 2: every vertex optimises its own confidence bound."""
    posteriors = [AdditiveGP.of(posterior) for posterior in context.model.posteriors]
    trial = context.number + 1
    found = additive_ucb(
        context.space,
        posteriors,
        trial,
        near=context.near,
        avoid=context.avoid,
        rng=rng,
        anchored=anchored,
    )
    return Choice(found, "the lowest confidence bound, added up vertex by vertex along each path")
