"""The methods of Assael et al. 2014."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bough.acquisition.functions import LOG_EI
from bough.acquisition.maximise.sample import best_of_sobol
from bough.gp.kernels import Matern52, Scale
from bough.gp.likelihood import GPModel
from bough.papers.assael2014.treed import LEAF_KERNELS, Treed
from bough.papers.assael2014.warp import Warp
from bough.points import Layout
from bough.space import Space
from bough.strategies.base import PAPER_WORKING_SET_SIZE, Strategy
from bough.strategies.composition import model_based
from bough.strategies.decisions import maximise_with
from bough.strategies.flat import flat_layout
from bough.strategies.gp import PlainOptions
from bough.strategies.initial import initial_design
from bough.strategies.model_based import ModelBased
from bough.strategies.options import INITIAL, POSITIVE, WORKING_SET, Options, at_least, one_of, option
from bough.surrogates.base import VARIANCE, KernelGP, all_columns


@dataclass(frozen=True)
class TreedGP(Options):
    """``treed``: treed Gaussian processes with pooled hyperparameters, EI on a Sobol grid.

    min_leaf_size: fewest observations of a leaf. leaf_weight: w_0 of eq. 9, 2 in the paper.
    samples: slice samples of the hyperparameters (eq. 10), 0 for the maximum of eq. 8. candidates: points of
    the Sobol grid.
    """

    min_leaf_size: int = option(5, at_least(2, "a number of observations, at least 2"))
    leaf_weight: float = option(1.0, POSITIVE)
    kernel: str = option("matern52", one_of(LEAF_KERNELS))
    samples: int = option(10, at_least(0, "a number of slice samples, 0 for the maximum of eq. 8"))
    candidates: int = option(20_000, at_least(1))
    initial: int | str | tuple[str, int] | None = option(None, INITIAL)
    working_set: int = option(PAPER_WORKING_SET_SIZE, WORKING_SET)
    warp: ClassVar[bool] = False

    def strategy(self, space: Space) -> Strategy:
        surrogate = Treed(
            space.layout,
            space.tree,
            warp=self.warp,
            least=self.min_leaf_size,
            weight=self.leaf_weight,
            samples=self.samples,
            leaf_kernel=self.kernel,
        )
        decide = maximise_with(partial(best_of_sobol, points=self.candidates))
        # The tree depends on all the data, so it is grown and its leaves are fitted at every trial.
        return ModelBased(
            surrogate,
            decide,
            LOG_EI,
            initial_design(self.initial),
            refit_growth=0.0,
            working_set=self.working_set,
        )


@dataclass(frozen=True)
class WarpedTreedGP(TreedGP):
    """``treed-warp``: the same on inputs warped by Beta CDFs."""

    warp: ClassVar[bool] = True


@dataclass(frozen=True)
class WarpedGP(PlainOptions):
    """``gp-warp``: a plain Gaussian process on inputs warped by Beta CDFs (Snoek et al. 2014)."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = warped_process(flat_layout(space.layout), self.samples)
        return model_based(surrogate, self, self.acquisition, self.decision, flat=space.layout)


def warped_process(layout: Layout, samples: int = 0) -> KernelGP:
    """A Gaussian process that reads every column, the numeric ones through Beta CDFs."""
    numeric, nominal = all_columns(layout)
    kernel = Matern52(numeric, nominal)
    warped = Warp(numeric, layout.columns, kernel) if numeric else kernel
    return KernelGP(GPModel(Scale(warped, VARIANCE)), samples)
