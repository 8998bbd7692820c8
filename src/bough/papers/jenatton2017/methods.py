"""The methods of Jenatton et al. 2017 and those they compare with."""

from __future__ import annotations

import numpy as np

from bough.gp.kernels.base import Scale
from bough.gp.likelihood import Model
from bough.papers.jenatton2017.arc import Arc
from bough.papers.jenatton2017.independent import Independent
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.papers.jenatton2017.two_step import path_ei, two_step
from bough.points import Layout, Points
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.compose import model_based
from bough.strategies.decisions import Decision, Situation
from bough.surrogates.base import KernelGP
from bough.surrogates.kernel_gp import VARIANCE


def tree(space: Space, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """leaf processes with linear weights at inner nodes, two-step path EI (Jenatton et al. 2017, sec. 2-3)"""
    surrogate = SemiParametric(space.layout, space.tree)
    return model_based(surrogate, decide=two_steps(linear=True), growth=growth, initial=initial)


def tree_nonlinear(space: Space, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """the same with random Fourier features at inner nodes (Jenatton et al. 2017, sec. 4.3)"""
    surrogate = SemiParametric(space.layout, space.tree, nonlinear=True)
    return model_based(surrogate, decide=two_steps(linear=False), growth=growth, initial=initial)


def marginal(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """the same model with the weights integrated out, EI on every path (Jenatton et al. 2017, eq. 4)"""
    surrogate = SemiParametric(space.layout, space.tree, structured=False)
    return model_based(surrogate, acquisition, growth=growth, initial=initial)


def independent(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """one Gaussian process per path, nothing shared (rival in Jenatton et al. 2017)"""
    return model_based(Independent(space.layout, space.tree), acquisition, growth=growth, initial=initial)


def arc(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """the arc kernel over all parameters (Swersky et al. 2014; rival in Jenatton et al. 2017)"""
    return model_based(arc_process(space.layout), acquisition, growth=growth, initial=initial)


def two_steps(linear: bool) -> Decision:
    """First the paths by what their shared weights promise, then the best point on the best of them.

    Jenatton et al. 2017, eq. (6) and (5). linear: shared variables enter linearly, so the first
    step need look only at the corners of their ranges.
    """

    def decide(now: Situation, rng: np.random.Generator) -> Points:
        rank = path_ei(now.model.posteriors, now.model.best)  # type: ignore[arg-type]
        return two_step(
            now.space, now.criterion, rank, near=now.near, avoid=now.avoid, rng=rng, linear=linear
        )

    return decide


def arc_process(layout: Layout) -> KernelGP:
    """A Gaussian process with the arc kernel (Swersky et al. 2014)."""
    return KernelGP(Model(Scale(Arc(layout), VARIANCE)))
