"""The methods of Jenatton et al. 2017 and the baselines they compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bough.gp.kernels import Scale
from bough.gp.likelihood import GPModel
from bough.papers.jenatton2017.arc import Arc
from bough.papers.jenatton2017.independent import Independent
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.papers.jenatton2017.two_step import path_ei, two_step
from bough.points import Layout
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import ACQUISITION, model_based
from bough.strategies.decisions import Choice, Decision, ProposalContext
from bough.strategies.options import ModelOptions, option
from bough.surrogates.base import KernelGP
from bough.surrogates.kernel_gp import VARIANCE


@dataclass(frozen=True)
class SemiParametricTree(ModelOptions):
    """``tree``: leaf processes with linear weights at inner nodes, two-step path EI (sec. 2-3)."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = SemiParametric(space.layout, space.tree)
        return model_based(surrogate, self, decide=two_step_decision(linear=True))


@dataclass(frozen=True)
class NonlinearTree(ModelOptions):
    """``tree-nonlinear``: the same with random Fourier features at inner nodes (sec. 4.3)."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = SemiParametric(space.layout, space.tree, nonlinear=True)
        return model_based(surrogate, self, decide=two_step_decision(linear=False))


@dataclass(frozen=True)
class MarginalTree(ModelOptions):
    """``marginal``: the model of ``tree`` with the weights integrated out, EI on every path (eq. 4)."""

    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        surrogate = SemiParametric(space.layout, space.tree, structured=False)
        return model_based(surrogate, self, self.acquisition)


@dataclass(frozen=True)
class IndependentPaths(ModelOptions):
    """``independent``: one Gaussian process per path, nothing shared (table 1)."""

    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        return model_based(Independent(space.layout, space.tree), self, self.acquisition)


@dataclass(frozen=True)
class ArcGP(ModelOptions):
    """``arc``: a Gaussian process with the arc kernel over all parameters (Swersky et al. 2014)."""

    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        return model_based(arc_process(space.layout), self, self.acquisition)


def arc_process(layout: Layout) -> KernelGP:
    """A Gaussian process with the arc kernel."""
    return KernelGP(GPModel(Scale(Arc(layout), VARIANCE)))


def two_step_decision(linear: bool) -> Decision:
    """Rank the paths by the EI of their shared weights, then find the best point on the best paths.

    Eq. (6) and (5). linear: shared variables enter linearly, so the first step checks only the corners
    of their ranges.
    """

    def decide(context: ProposalContext, rng: np.random.Generator) -> Choice:
        rank = path_ei(context.model.posteriors, context.model.best)  # type: ignore[arg-type]
        found = two_step(
            context.space,
            context.criterion,
            rank,
            near=context.near,
            avoid=context.avoid,
            rng=rng,
            linear=linear,
        )
        return Choice(found)

    return decide
