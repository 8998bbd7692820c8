"""The surrogate protocol, and the surrogate that most methods use: a Gaussian process with some kernel.

``flat`` is the simplest one: one stationary kernel over all columns. Categories are compared by Hamming
distance: one-hot coding with one length-scale per parameter.

A surrogate is a frozen value. ``fit`` learns hyperparameters from data and returns them as ``theta``;
``posterior`` conditions on data at given hyperparameters. It returns one posterior for each sample of the
hyperparameters, and a single one for a point estimate. Neither keeps any state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bough.gp.fit import fit_map
from bough.gp.kernels import Kernel, Matern52, Scale
from bough.gp.likelihood import Data, GPModel, log_density
from bough.gp.params import JointPrior, LogNormal, Prior
from bough.gp.posterior import GPPosterior, Posterior, posterior
from bough.gp.slice import slice_sample
from bough.points import FloatArray, Layout

__all__ = [
    "VARIANCE",
    "Base",
    "KernelGP",
    "Surrogate",
    "all_columns",
    "fit_samples",
    "flat",
    "split_columns",
]

VARIANCE = LogNormal(0.0, 1.5)
"""Prior of the variance of a kernel that has only one: loose, because every observation informs it."""

BURN_IN_SWEEPS, WARM_BURN_IN_SWEEPS = 10, 3
"""Sweeps to discard if the chain starts at the mode, or where an earlier chain ended."""


class Surrogate(Protocol):
    """A model of the objective. ``data.y`` is standardised."""

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        """The hyperparameters theta, learned from data. start: theta of an earlier fit."""
        ...

    def posterior(self, theta: FloatArray, data: Data) -> Sequence[Posterior]:
        """The posteriors at given hyperparameters. Nothing is learned."""
        ...


@dataclass(frozen=True, eq=False)
class KernelGP:
    """A Gaussian process with the kernel of ``model``.

    samples: 0 for the mode of the hyperparameters, else how many to draw by slice sampling.
    find_mode: finds the mode; ``fit_map`` or ``fit_warm``.
    theta is (samples, p) for samples. For the mode it is what ``find_mode`` returns, with the mode first.
    """

    model: GPModel
    samples: int = 0
    find_mode: Callable[[GPModel, Data, np.random.Generator, FloatArray | None], FloatArray] = fit_map

    def fit(self, data: Data, rng: np.random.Generator, start: FloatArray | None = None) -> FloatArray:
        if not self.samples:
            return self.find_mode(self.model, data, rng, start)
        ordered = data.sorted()
        return fit_samples(
            lambda theta: log_density(self.model, theta, ordered),
            lambda: fit_map(self.model, data, rng),
            self.model.prior,
            rng,
            self.samples,
            start,
        )

    def posterior(self, theta: FloatArray, data: Data) -> tuple[GPPosterior, ...]:
        rows = np.atleast_2d(theta)
        return tuple(posterior(self.model, row, data) for row in (rows if self.samples else rows[:1]))


def fit_samples(
    log_target: Callable[[FloatArray], float],
    find_mode: Callable[[], FloatArray],
    prior: JointPrior,
    rng: np.random.Generator,
    samples: int,
    start: FloatArray | None = None,
) -> FloatArray:
    """(samples, p) slice samples of theta inside its bounds.

    start: the samples of an earlier fit. The chain starts from the last of them, or else from the mode.
    """
    low, high = prior.bounds

    def bounded(theta: FloatArray) -> float:
        inside = bool(np.all(theta >= low) and np.all(theta <= high))
        return log_target(theta) if inside else -np.inf

    first, burn = (
        (find_mode(), BURN_IN_SWEEPS) if start is None else (np.atleast_2d(start)[-1], WARM_BURN_IN_SWEEPS)
    )
    return slice_sample(bounded, np.clip(first, low, high), rng, samples=samples, burn=burn)


class Base(Protocol):
    """Builds a stationary kernel over numeric and nominal columns."""

    def __call__(
        self, columns: tuple[int, ...], nominal: tuple[int, ...] = (), prior: Prior | None = None, /
    ) -> Kernel: ...


def flat(layout: Layout, *, base: Base = Matern52, samples: int = 0) -> KernelGP:
    """The structure-blind process of GPyOpt and Spearmint: it reads every column."""
    return KernelGP(GPModel(Scale(base(*all_columns(layout)), VARIANCE)), samples)


def split_columns(layout: Layout, columns: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numeric and the nominal columns among ``columns``."""
    numeric = tuple(c for c in columns if not layout.nominal[c])
    return numeric, tuple(c for c in columns if layout.nominal[c])


def all_columns(layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numeric and the nominal columns of a space."""
    return split_columns(layout, list(range(layout.columns)))
