"""The methods of Lévesque et al. 2017."""

from __future__ import annotations

from dataclasses import dataclass

from bough.acquisition.maximise.local import local_search
from bough.acquisition.maximise.sample import best_of_samples
from bough.papers.levesque2017 import surrogates
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import model_based
from bough.strategies.decisions import maximise_with
from bough.strategies.flat import flat_layout
from bough.strategies.options import ModelOptions, at_least, option


@dataclass(frozen=True)
class SampledOptions(ModelOptions):
    """samples: slice samples of the hyperparameters to average over; 0 uses the mode."""

    samples: int = option(10, at_least(0, "a number of slice samples, 0 for the mode"))


@dataclass(frozen=True)
class Conditional(SampledOptions):
    """``conditional``: covariance only between equal signatures, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.conditional(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(best_of_samples))


@dataclass(frozen=True)
class ConditionalLocal(SampledOptions):
    """``conditional-ls``: covariance only between equal signatures, local search."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.conditional(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(local_search))


@dataclass(frozen=True)
class LaplaceGP(SampledOptions):
    """``laplace``: Laplace kernel over imputed values, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(space.layout, base="laplace", samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(best_of_samples))


@dataclass(frozen=True)
class LaplaceLocal(SampledOptions):
    """``laplace-ls``: Laplace kernel over imputed values, local search."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(space.layout, base="laplace", samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(local_search))


@dataclass(frozen=True)
class MaternGP(SampledOptions):
    """``matern``: Matérn-5/2 over imputed values, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(best_of_samples))


@dataclass(frozen=True)
class MaternLocal(SampledOptions):
    """``matern-ls``: Matérn-5/2 over imputed values, local search."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(local_search))


@dataclass(frozen=True)
class MondrianGP(SampledOptions):
    """``mondrian``: Mondrian features over imputed values, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.mondrian(space.layout, samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(best_of_samples))


@dataclass(frozen=True)
class MaternNoImpute(SampledOptions):
    """``matern-noimpute``: Matérn-5/2, inactive values drawn at random, best of 1000 samples."""

    def strategy(self, space: Space) -> Strategy:
        surrogate = surrogates.joint(flat_layout(space.layout), impute=False, samples=self.samples)
        return model_based(surrogate, self, decide=maximise_with(best_of_samples), flat=space.layout)
