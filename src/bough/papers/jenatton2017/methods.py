"""The methods of Jenatton et al. 2017 and the baselines they compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.gp.kernels import Scale
from bough.gp.likelihood import GPModel
from bough.papers.jenatton2017.anchor_search import anchor_search
from bough.papers.jenatton2017.arc import Arc
from bough.papers.jenatton2017.independent import Independent
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.papers.jenatton2017.two_step import path_ei, two_step
from bough.points import Layout
from bough.space import Space
from bough.strategies import streams
from bough.strategies.base import Strategy
from bough.strategies.composition import ACQUISITION, KERNEL, KERNELS, model_based
from bough.strategies.context import Choice, Decision, ProposalContext
from bough.strategies.options import PaperOptions, at_least, one_of, option
from bough.surrogates.base import VARIANCE, KernelGP


@dataclass(frozen=True)
class TreeOptions(PaperOptions):
    """Options of the two-step methods.

    search: ``anchors`` as in sec. 3; ``refined``: the leaf's variables are refined from the best anchors;
    ``exact``: both steps maximised exactly, as version 0.1 did with keep=4.
    keep: how many of the best paths by eq. (6) are searched in step two; the paper keeps one.
    anchors: points per path, the same throughout a study.
    """

    kernel: str = option("matern52", KERNEL)
    search: str = option("anchors", one_of(("anchors", "refined", "exact")))
    keep: int = option(1, at_least(1))
    anchors: int = option(1000, at_least(1))


@dataclass(frozen=True)
class SemiParametricTree(TreeOptions):
    """``tree``: leaf processes with linear weights at inner nodes, two-step path EI (sec. 2-3)."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = SemiParametric(space.layout, space.tree, base=KERNELS[self.kernel], samples=self.samples)
        return model_based(surrogate, self, decide=two_step_decision(self, linear=True))


@dataclass(frozen=True)
class NonlinearTree(TreeOptions):
    """``tree-nonlinear``: the same with random Fourier features at inner nodes (sec. 4.3)."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = SemiParametric(
            space.layout, space.tree, nonlinear=True, base=KERNELS[self.kernel], samples=self.samples
        )
        return model_based(surrogate, self, decide=two_step_decision(self, linear=False))


@dataclass(frozen=True)
class MarginalTree(PaperOptions):
    """``marginal``: the model of ``tree`` with the weights integrated out, EI on every path (eq. 4)."""

    kernel: str = option("matern52", KERNEL)
    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        surrogate = SemiParametric(
            space.layout, space.tree, structured=False, base=KERNELS[self.kernel], samples=self.samples
        )
        return model_based(surrogate, self, self.acquisition)


@dataclass(frozen=True)
class IndependentPaths(PaperOptions):
    """``independent``: one Gaussian process per path, nothing shared (table 1)."""

    kernel: str = option("matern52", KERNEL)
    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        surrogate = Independent(space.layout, space.tree, KERNELS[self.kernel], self.samples)
        return model_based(surrogate, self, self.acquisition)


@dataclass(frozen=True)
class ArcGP(PaperOptions):
    """``arc``: a Gaussian process with the arc kernel over all parameters (Swersky et al. 2014)."""

    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        return model_based(arc_process(space.layout, self.samples), self, self.acquisition)


def arc_process(layout: Layout, samples: int = 0) -> KernelGP:
    """A Gaussian process with the arc kernel."""
    return KernelGP(GPModel(Scale(Arc(layout), VARIANCE)), samples)


def two_step_decision(options: TreeOptions, linear: bool) -> Decision:
    """Choose a path by the EI of its shared weights, eq. (6), then the best point on it, eq. (5).

    linear: shared variables enter linearly, so an exact first step checks only the corners of their ranges.
    """

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        rank = path_ei(context.model.posteriors, context.model.best)  # type: ignore[arg-type]
        parts = context.space, context.criterion, rank
        if options.search != "exact":
            fixed = np.random.default_rng([context.seed, streams.ANCHORS])
            return Choice(
                anchor_search(
                    *parts,
                    avoid=context.avoid,
                    rotation=fixed.random(context.space.layout.columns),
                    rng=rng,
                    keep=options.keep,
                    anchors=options.anchors,
                    refine=options.search == "refined",
                )
            )
        return Choice(
            two_step(
                *parts, near=context.near, avoid=context.avoid, rng=rng, keep=options.keep, linear=linear
            )
        )

    return decide
