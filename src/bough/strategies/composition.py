"""Builds the usual model-based strategy; maps the names in options to kernels and acquisition functions."""

from __future__ import annotations

from dataclasses import replace

from bough.acquisition.functions import LOG_EI, LOG_PI, lcb
from bough.acquisition.maximise.paths import search_paths
from bough.gp.kernels import SE, Laplace, Matern32, Matern52
from bough.points import Layout
from bough.strategies.context import Decision
from bough.strategies.decisions import maximise_with, thompson_sampling
from bough.strategies.flat import FlatModelBased
from bough.strategies.initial import initial_design
from bough.strategies.model_based import ModelBased
from bough.strategies.options import ModelOptions, one_of
from bough.surrogates.base import Surrogate

__all__ = ["ACQUISITION", "ACQUISITIONS", "KERNEL", "KERNELS", "THOMPSON", "model_based"]

KERNELS = {"matern52": Matern52, "matern32": Matern32, "se": SE, "laplace": Laplace}
ACQUISITIONS = {"log-ei": LOG_EI, "log-pi": LOG_PI, "lcb": lcb()}
THOMPSON = "thompson"

KERNEL = one_of(KERNELS)
ACQUISITION = one_of([*ACQUISITIONS, THOMPSON])


def model_based(
    surrogate: Surrogate,
    options: ModelOptions,
    acquisition: str = "log-ei",
    decide: Decision | None = None,
    flat: Layout | None = None,
) -> ModelBased:
    """A surrogate with an acquisition searched on every path, or with another decision.

    flat: the layout of the space if the surrogate sees it flattened.
    """
    if acquisition == THOMPSON:
        found = model_based(surrogate, options, decide=thompson_sampling, flat=flat)
        return replace(found, uses_criterion=False)
    chosen = decide or maximise_with(search_paths)
    parts = surrogate, chosen, ACQUISITIONS[acquisition], initial_design(options.initial)
    growth, rows = options.refit_growth, options.working_set
    if flat is None:
        return ModelBased(*parts, refit_growth=growth, working_set=rows)
    return FlatModelBased(*parts, refit_growth=growth, working_set=rows, layout=flat)
