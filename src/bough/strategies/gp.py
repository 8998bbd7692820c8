"""Method ``gp``: a plain Gaussian process that does not know about branches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bough.acquisition.maximise.sample import best_of_sobol
from bough.space import Space
from bough.strategies.base import Strategy
from bough.strategies.composition import ACQUISITION, KERNEL, KERNELS, model_based
from bough.strategies.context import Decision
from bough.strategies.decisions import maximise_with
from bough.strategies.flat import flat_layout
from bough.strategies.options import PaperOptions, at_least, option
from bough.surrogates.base import flat

__all__ = ["PlainGP", "PlainOptions"]


@dataclass(frozen=True)
class PlainOptions(PaperOptions):
    """Options of the processes that do not know about branches.

    candidates: choose from a Sobol grid of this many points, as Spearmint does; None uses gradients.
    """

    acquisition: str = option("log-ei", ACQUISITION)
    candidates: int | None = option(None, at_least(1, or_none=True))

    @property
    def decision(self) -> Decision | None:
        if self.candidates is None:
            return None
        return maximise_with(partial(best_of_sobol, points=self.candidates))


@dataclass(frozen=True)
class PlainGP(PlainOptions):
    """One stationary kernel over all columns; inactive values are drawn at random."""

    kernel: str = option("matern52", KERNEL)

    def strategy(self, space: Space) -> Strategy:
        surrogate = flat(flat_layout(space.layout), base=KERNELS[self.kernel], samples=self.samples)
        return model_based(surrogate, self, self.acquisition, self.decision, flat=space.layout)
