"""Model-based strategies from names: which kernels and acquisition functions a method's options may name."""

from __future__ import annotations

from functools import partial

from bough.acquisition.functions import EI, LOG_EI, LOG_PI, PI, Acquisition, lcb
from bough.acquisition.maximise.paths import search_paths
from bough.gp.kernels.stationary import SE, Laplace, Matern32, Matern52
from bough.gp.targets import Targets
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.decisions import Decision, by, joint_draw
from bough.strategies.initial import InitialDesign
from bough.strategies.model_based import ModelBased
from bough.surrogates.base import Surrogate

__all__ = ["ACQUISITIONS", "KERNELS", "THOMPSON", "model_based"]

KERNELS = {"matern52": Matern52, "matern32": Matern32, "se": SE, "laplace": Laplace}
ACQUISITIONS = {"log-ei": LOG_EI, "ei": EI, "log-pi": LOG_PI, "pi": PI, "lcb": lcb()}
THOMPSON = "thompson"


def model_based(
    surrogate: Surrogate,
    acquisition: str = "log-ei",
    decide: Decision | None = None,
    *,
    growth: float,
    initial: int | None,
    space: Space | None = None,
    power: bool = False,
    inward: bool = False,
) -> Strategy:
    """A model-based strategy; ``space``: given where the surrogate is to see it flattened."""
    thompson = acquisition == THOMPSON
    chosen: Acquisition = LOG_EI if thompson else ACQUISITIONS[acquisition]
    decision = joint_draw if thompson else decide or by(search_paths)
    flat = space.layout if space else None
    targets = partial(Targets.fit, power=power)
    return ModelBased(surrogate, decision, chosen, InitialDesign(initial), growth, flat, targets, inward)
