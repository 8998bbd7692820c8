"""Surrogates: models of the objective. ``KernelGP(GPModel(kernel))`` is a GP with any kernel."""

from bough.gp.likelihood import Data, GPModel
from bough.gp.posterior import GPPosterior, Posterior
from bough.surrogates.base import KernelGP, Surrogate, all_columns, flat
from bough.surrogates.nested import nested

__all__ = [
    "Data",
    "GPModel",
    "GPPosterior",
    "KernelGP",
    "Posterior",
    "Surrogate",
    "all_columns",
    "flat",
    "nested",
]
