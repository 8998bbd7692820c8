"""Method ``gp``: a plain Gaussian process that does not know about branches."""

from __future__ import annotations

from dataclasses import dataclass

from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import ACQUISITION, KERNEL, KERNELS, model_based
from bough.strategies.flat import flat_layout
from bough.strategies.options import ModelOptions, option
from bough.surrogates.kernel_gp import flat

__all__ = ["PlainGP"]


@dataclass(frozen=True)
class PlainGP(ModelOptions):
    """One stationary kernel over all columns; inactive values are drawn at random."""

    kernel: str = option("matern52", KERNEL)
    acquisition: str = option("log-ei", ACQUISITION)

    def strategy(self, space: Space) -> Strategy:
        surrogate = flat(flat_layout(space.layout), base=KERNELS[self.kernel])
        return model_based(surrogate, self, self.acquisition, flat=space.layout)
