"""The rivals by name: what the papers compare with, each a composition with its options.

As in the table of methods, a docstring's first line says what the method is, and keyword arguments
are its options.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module

from bough.acquisition.functions import LOG_EI
from bough.acquisition.maximise.local import local_search
from bough.errors import MissingExtraError
from bough.gp.targets import Targets
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.cma import CmaSearch
from bough.strategies.decisions import by
from bough.strategies.designs import LatinHypercube, SobolSearch
from bough.strategies.grid import GridSearch
from bough.strategies.initial import InitialDesign
from bough.strategies.interleave import Interleaved
from bough.strategies.model_based import ModelBased
from bough.strategies.parzen import ParzenSearch
from bough.surrogates.forest import Forest

__all__ = ["cma", "forest", "grid", "lhs", "sobol", "tpe"]


def forest(space: Space, trees: int = 10, random: float = 0.2, initial: int | None = None) -> Strategy:
    """random forest, local search, some random trials (SMAC: Hutter, Hoos & Leyton-Brown 2011)"""
    _need("sklearn.tree", "method 'forest' needs the scikit-learn package: pip install 'bough-opt[sklearn]'")
    model = ModelBased(
        Forest(space.layout, trees),
        by(partial(local_search, starts=5)),
        LOG_EI,
        InitialDesign(initial),
        targets=Targets.logarithm,
    )
    return Interleaved(model, random)


def tpe(
    space: Space, startup: int = 10, candidates: int = 24, quantile: float = 0.1, prior: float = 1.0
) -> Strategy:
    """tree-structured Parzen estimators, joint within a group (Bergstra et al. 2011)"""
    return ParzenSearch(startup, candidates, quantile, prior=prior)


def cma(space: Space, sigma: float = 0.25, population: int | None = None) -> Strategy:
    """CMA-ES on the flattened space (Hansen 2016)"""
    _need("cmaes", "method 'cma' needs the cmaes package: pip install 'bough-opt[cma]'")
    return CmaSearch(sigma, population)


def sobol(space: Space) -> Strategy:
    """a scrambled Sobol sequence (baseline)"""
    return SobolSearch()


def lhs(space: Space, rows: int = 10) -> Strategy:
    """a Latin hypercube on every path (baseline)"""
    return LatinHypercube(rows)


def grid(space: Space, resolution: int = 5) -> Strategy:
    """a grid, in an order that covers the space early (baseline)"""
    return GridSearch(resolution)


def _need(module: str, otherwise: str) -> None:
    """Raise MissingExtraError where an optional dependency cannot be imported."""
    try:
        import_module(module)
    except ImportError:
        raise MissingExtraError(otherwise) from None
