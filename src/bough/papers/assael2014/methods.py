"""The methods of Assael et al. 2014."""

from __future__ import annotations

from functools import partial

from bough.acquisition.functions import LOG_EI
from bough.gp.kernels.base import Scale
from bough.gp.kernels.stationary import Matern52
from bough.gp.likelihood import Model
from bough.papers.assael2014.sobol_grid import best_of_sobol
from bough.papers.assael2014.treed import Treed
from bough.papers.assael2014.warp import Warp
from bough.points import Layout
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.compose import model_based
from bough.strategies.decisions import by
from bough.strategies.flat import flat_layout
from bough.strategies.initial import InitialDesign
from bough.strategies.model_based import ModelBased
from bough.surrogates.base import KernelGP
from bough.surrogates.kernel_gp import VARIANCE, all_columns


def treed(
    space: Space,
    least: int = 5,
    weight: float = 1.0,
    samples: int = 10,
    candidates: int = 20_000,
    initial: int | None = None,
) -> Strategy:
    """treed Gaussian processes with pooled hyperparameters (Assael et al. 2014)"""
    surrogate = Treed(space.layout, space.tree, least=least, weight=weight, samples=samples)
    return _over_sobol_grid(surrogate, candidates, initial)


def treed_warp(
    space: Space,
    least: int = 5,
    weight: float = 1.0,
    samples: int = 10,
    candidates: int = 20_000,
    initial: int | None = None,
) -> Strategy:
    """the same on inputs warped by Beta CDFs (Assael et al. 2014)"""
    surrogate = Treed(space.layout, space.tree, warp=True, least=least, weight=weight, samples=samples)
    return _over_sobol_grid(surrogate, candidates, initial)


def _over_sobol_grid(surrogate: Treed, candidates: int, initial: int | None) -> Strategy:
    # the tree belongs to all the data, so it is grown and its leaves are fitted anew at every trial
    decide = by(partial(best_of_sobol, points=candidates))
    return ModelBased(surrogate, decide, LOG_EI, InitialDesign(initial), growth=0.0)


def gp_warp(
    space: Space, acquisition: str = "log-ei", growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """the structure-blind process on inputs warped by Beta CDFs (rival in Assael et al. 2014)"""
    surrogate = warped_process(flat_layout(space.layout))
    return model_based(surrogate, acquisition, growth=growth, initial=initial, space=space)


def warped_process(layout: Layout) -> KernelGP:
    """The structure-blind process on inputs warped by Beta CDFs (Snoek et al. 2014)."""
    numeric, nominal = all_columns(layout)
    kernel = Matern52(numeric, nominal)
    return KernelGP(Model(Scale(Warp(numeric, layout.columns, kernel) if numeric else kernel, VARIANCE)))
