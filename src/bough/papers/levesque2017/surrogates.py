"""The surrogates of Lévesque et al. 2017: one kernel over all columns, hyperparameters by slice sampling.

Log-normal priors on length-scales and amplitude, a horseshoe prior on the noise standard deviation, and
an average over slice samples (sec. 5). Categories are compared by Hamming distance: one-hot coding
with one length-scale per parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from bough.gp.kernels import Imputed, Kernel, Laplace, Matern52, SameSignature, Scale
from bough.gp.likelihood import NOISE, GPModel
from bough.gp.params import Horseshoe, LogNormal, SquareOf
from bough.papers.levesque2017.mondrian import Mondrian
from bough.papers.levesque2017.sampled import SampledGP
from bough.points import IntArray, Layout, Points, rows_by_signature
from bough.surrogates.base import KernelGP, all_columns

__all__ = ["conditional", "joint", "mondrian"]

LENGTHSCALE = LogNormal(0.0, 1.0)
AMPLITUDE = SquareOf(LogNormal(0.0, 1.0))
"""Sec. 5: σ_f ~ LogNormal(0, 1), as a variance."""

SAMPLED_NOISE = replace(NOISE, prior=SquareOf(Horseshoe(1.0)))
SAMPLES = 10


def conditional(layout: Layout, *, samples: int = SAMPLES) -> KernelGP:
    """Lévesque's conditional kernel: Matérn-5/2 between points that activate the same parameters."""
    inner = _imputed(layout, Matern52(*all_columns(layout), LENGTHSCALE))
    model = _model(SameSignature(inner), blocks=same_signature_rows)
    return SampledGP(model, samples, layout=layout, conditional=True)


def same_signature_rows(points: Points) -> list[IntArray]:
    """The rows of each activation signature: the blocks of eq. (9)."""
    return list(rows_by_signature(points.on).values())


def joint(
    layout: Layout,
    *,
    base: Literal["matern", "laplace"] = "matern",
    impute: bool = True,
    samples: int = SAMPLES,
) -> KernelGP:
    """One kernel over all columns, inactive ones at mid-range, or (not impute) as filled in upstream."""
    numeric, nominal = all_columns(layout)
    kind = Matern52 if base == "matern" else Laplace
    inner: Kernel = kind(numeric, nominal, LENGTHSCALE)
    model = _model(_imputed(layout, inner) if impute else inner)
    return SampledGP(model, samples, layout=layout, absolute=base == "laplace")


def mondrian(layout: Layout, *, trees: int = 50, samples: int = SAMPLES) -> KernelGP:
    """Mondrian features over all columns, inactive ones at mid-range."""
    numeric, nominal = all_columns(layout)
    levels = tuple((c, int(layout.levels[c])) for c in nominal)
    return KernelGP(_model(_imputed(layout, Mondrian(numeric, levels, trees, prior=LENGTHSCALE))), samples)


def _model(kernel: Kernel, blocks: Callable[[Points], Sequence[IntArray]] | None = None) -> GPModel:
    """A process with the priors of Lévesque et al. 2017."""
    return GPModel(Scale(kernel, AMPLITUDE), SAMPLED_NOISE, blocks)


def _imputed(layout: Layout, inner: Kernel) -> Kernel:
    """The kernel with inactive numbers in the middle of their range, and inactive categories as no option."""
    return Imputed(inner, tuple(layout.group.tolist()), all_columns(layout)[1])
