"""The methods of Lévesque et al. 2017."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bough.acquisition.maximise.local import local_search
from bough.acquisition.maximise.sample import best_of_samples
from bough.papers.levesque2017 import surrogates
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import model_based
from bough.strategies.context import Decision
from bough.strategies.decisions import maximise_with
from bough.strategies.flat import flat_layout
from bough.strategies.options import SAMPLES, SHARE, Check, PaperOptions, option


@dataclass(frozen=True)
class SampledOptions(PaperOptions):
    """samples: slice samples of the hyperparameters to average over; 0 uses the mode."""

    samples: int = option(10, SAMPLES)

    @property
    def search(self) -> Decision:
        return maximise_with(best_of_samples)


@dataclass(frozen=True)
class LocalOptions(SampledOptions):
    """fixed_step: steps of this share of a range, integers by one, as printed (eq. 6-7).

    None: Gaussian steps and walks over plateaus, as in SMAC. The paper does not give its step.
    """

    fixed_step: float | None = option(
        None, Check(lambda v: v is None or SHARE.holds(v), "a share of the range between 0 and 1, or None")
    )

    @property
    def search(self) -> Decision:
        return maximise_with(partial(local_search, fixed_step=self.fixed_step))


@dataclass(frozen=True)
class Conditional(SampledOptions):
    """``conditional``: covariance only between equal signatures, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.conditional(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=self.search)


@dataclass(frozen=True)
class ConditionalLocal(LocalOptions, Conditional):
    """``conditional-ls``: covariance only between equal signatures, local search."""


@dataclass(frozen=True)
class LaplaceGP(SampledOptions):
    """``laplace``: Laplace kernel over imputed values, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(space.layout, base="laplace", samples=self.samples)
        return model_based(surrogate, self, decide=self.search)


@dataclass(frozen=True)
class LaplaceLocal(LocalOptions, LaplaceGP):
    """``laplace-ls``: Laplace kernel over imputed values, local search."""


@dataclass(frozen=True)
class MaternGP(SampledOptions):
    """``matern``: Matérn-5/2 over imputed values, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=self.search)


@dataclass(frozen=True)
class MaternLocal(LocalOptions, MaternGP):
    """``matern-ls``: Matérn-5/2 over imputed values, local search."""


@dataclass(frozen=True)
class MondrianGP(SampledOptions):
    """``mondrian``: Mondrian features over imputed values, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.mondrian(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=self.search)


@dataclass(frozen=True)
class MaternNoImpute(SampledOptions):
    """``matern-noimpute``: Matérn-5/2, inactive values drawn at random, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(flat_layout(space.layout), impute=False, samples=self.samples)
        return model_based(surrogate, self, decide=self.search, flat=space.layout)
