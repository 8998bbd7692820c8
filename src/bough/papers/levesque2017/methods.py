"""The methods of Lévesque et al. 2017."""

from __future__ import annotations

from bough.acquisition.maximise.local import local_search
from bough.acquisition.maximise.sample import best_of_samples
from bough.papers.levesque2017 import surrogates
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.compose import model_based
from bough.strategies.decisions import by
from bough.strategies.flat import flat_layout
from bough.surrogates.base import Surrogate


def _sampled(surrogate: Surrogate, local: bool, growth: float, initial: int | None) -> Strategy:
    decide = by(local_search if local else best_of_samples)
    return model_based(surrogate, "ei", decide, growth=growth, initial=initial)


def conditional(
    space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """covariance only between equal branches, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = surrogates.conditional(space.layout, samples=samples)
    return _sampled(surrogate, False, growth, initial)


def conditional_ls(
    space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """covariance only between equal branches, local search (Lévesque et al. 2017)"""
    surrogate = surrogates.conditional(space.layout, samples=samples)
    return _sampled(surrogate, True, growth, initial)


def laplace(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Laplace kernel over imputed values, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = surrogates.joint(space.layout, base="laplace", samples=samples)
    return _sampled(surrogate, False, growth, initial)


def laplace_ls(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Laplace kernel over imputed values, local search (Lévesque et al. 2017)"""
    surrogate = surrogates.joint(space.layout, base="laplace", samples=samples)
    return _sampled(surrogate, True, growth, initial)


def matern(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Matérn-5/2 over imputed values, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = surrogates.joint(space.layout, samples=samples)
    return _sampled(surrogate, False, growth, initial)


def matern_ls(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Matérn-5/2 over imputed values, local search (Lévesque et al. 2017)"""
    surrogate = surrogates.joint(space.layout, samples=samples)
    return _sampled(surrogate, True, growth, initial)


def matern_noimpute(
    space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None
) -> Strategy:
    """Matérn-5/2, inactive values drawn at random, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = surrogates.joint(flat_layout(space.layout), impute=False, samples=samples)
    return model_based(surrogate, "ei", by(best_of_samples), growth=growth, initial=initial, space=space)


def mondrian(space: Space, samples: int = 10, growth: float = 0.05, initial: int | None = None) -> Strategy:
    """Mondrian features over imputed values, best of 1000 samples (Lévesque et al. 2017)"""
    surrogate = surrogates.mondrian(space.layout, samples=samples)
    return _sampled(surrogate, False, growth, initial)
