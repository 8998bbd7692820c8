"""The plain Gaussian process: one stationary kernel over all columns.

Categories are compared by Hamming distance: one-hot coding with one length-scale per parameter.
"""

from __future__ import annotations

from typing import Protocol

from bough.gp.kernels import Kernel, Matern52, Scale
from bough.gp.likelihood import GPModel
from bough.gp.params import LogNormal, Prior
from bough.points import Layout
from bough.surrogates.base import KernelGP

__all__ = ["VARIANCE", "Base", "all_columns", "flat", "split_columns"]

VARIANCE = LogNormal(0.0, 1.5)
"""Prior of a kernel with a single variance: loose, because every observation informs it."""


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
