"""The methods of Assael et al. 2014."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bough.acquisition.functions import LOG_EI
from bough.gp.kernels import Matern52, Scale
from bough.gp.likelihood import GPModel
from bough.papers.assael2014.sobol_grid import best_of_sobol
from bough.papers.assael2014.treed import Treed
from bough.papers.assael2014.warp import Warp
from bough.points import Layout
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import ACQUISITION, model_based
from bough.strategies.decisions import maximise_with
from bough.strategies.flat import flat_layout
from bough.strategies.initial import InitialDesign
from bough.strategies.model_based import ModelBased
from bough.strategies.options import INITIAL, POSITIVE, ModelOptions, Options, at_least, option
from bough.surrogates.base import KernelGP
from bough.surrogates.kernel_gp import VARIANCE, all_columns


@dataclass(frozen=True)
class TreedGP(Options):
    """``treed``: treed Gaussian processes with pooled hyperparameters, EI on a Sobol grid.

    min_leaf_size: fewest observations of a leaf. leaf_weight: w_0 of eq. 9, 2 in the paper.
    candidates: points of the Sobol grid.
    """

    min_leaf_size: int = option(5, at_least(2, "a number of observations, at least 2"))
    leaf_weight: float = option(1.0, POSITIVE)
    samples: int = option(10, at_least(1))
    candidates: int = option(20_000, at_least(1))
    initial: int | None = option(None, INITIAL)
    warp: ClassVar[bool] = False

    def strategy(self, space: Space) -> Strategy:
        surrogate = Treed(
            space.layout,
            space.tree,
            warp=self.warp,
            least=self.min_leaf_size,
            weight=self.leaf_weight,
            samples=self.samples,
        )
        decide = maximise_with(partial(best_of_sobol, points=self.candidates))
        # The tree depends on all the data, so it is grown and its leaves are fitted at every trial.
        return ModelBased(surrogate, decide, LOG_EI, InitialDesign(self.initial), refit_growth=0.0)


@dataclass(frozen=True)
class WarpedTreedGP(TreedGP):
    """``treed-warp``: the same on inputs warped by Beta CDFs."""

    warp: ClassVar[bool] = True


@dataclass(frozen=True)
class WarpedGP(ModelOptions):
    """``gp-warp``: a plain Gaussian process on inputs warped by Beta CDFs (Snoek et al. 2014)."""

    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        surrogate = warped_process(flat_layout(space.layout))
        return model_based(surrogate, self, self.acquisition, flat=space.layout)


def warped_process(layout: Layout) -> KernelGP:
    """A Gaussian process that reads every column, the numeric ones through Beta CDFs."""
    numeric, nominal = all_columns(layout)
    kernel = Matern52(numeric, nominal)
    return KernelGP(GPModel(Scale(Warp(numeric, layout.columns, kernel) if numeric else kernel, VARIANCE)))
