"""Surrogates that are one kernel over all columns: Lévesque et al. 2017, their rivals, and the plain GP.

Categories are compared by Hamming distance, which is one-hot coding with one length-scale per
parameter. Lévesque et al. put log-normal priors on length-scales and amplitude, a horseshoe on the noise
deviation, and average over slice samples (sec. 5); the plain processes here use the mode.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from bough.gp.kernels.arc import Arc
from bough.gp.kernels.base import Kernel, Scale
from bough.gp.kernels.conditional import Imputed, SameSignature
from bough.gp.kernels.mondrian import Mondrian
from bough.gp.kernels.stationary import Laplace, Matern52
from bough.gp.kernels.warp import Warp
from bough.gp.likelihood import NOISE, Model
from bough.gp.priors import Horseshoe, LogNormal, SquareOf
from bough.points import Layout
from bough.surrogates.additive_tree import Base, split_columns
from bough.surrogates.base import KernelGP

__all__ = ["arc", "conditional", "flat", "joint", "mondrian", "warped"]

LENGTHSCALE = LogNormal(0.0, 1.0)
AMPLITUDE = SquareOf(LogNormal(0.0, 1.0))
"""Lévesque 2017, sec. 5: σ_f ~ LogNormal(0, 1), as a variance."""

SAMPLED_NOISE = replace(NOISE, prior=SquareOf(Horseshoe(1.0)))
VARIANCE = LogNormal(0.0, 1.5)
"""Of a kernel with a single variance: loose, as all data speak to it."""

SAMPLES = 10


def _all_columns(layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return split_columns(layout, list(range(layout.columns)))


def _groups(layout: Layout) -> tuple[int, ...]:
    return tuple(layout.group.tolist())


def conditional(layout: Layout, *, samples: int = SAMPLES) -> KernelGP:
    """Lévesque's conditional kernel: Matérn-5/2 between points that activate the same parameters."""
    inner = Imputed(Matern52(*_all_columns(layout), LENGTHSCALE), _groups(layout))
    return _sampled(SameSignature(inner), samples)


def joint(
    layout: Layout,
    *,
    base: Literal["matern", "laplace"] = "matern",
    impute: bool = True,
    samples: int = SAMPLES,
) -> KernelGP:
    """One kernel over all columns, inactive ones at mid-range, or (not impute) as filled in upstream."""
    numeric, nominal = _all_columns(layout)
    kind = Matern52 if base == "matern" else Laplace
    inner: Kernel = kind(numeric, nominal, LENGTHSCALE)
    return _sampled(Imputed(inner, _groups(layout)) if impute else inner, samples)


def mondrian(layout: Layout, *, trees: int = 50, samples: int = SAMPLES) -> KernelGP:
    """Mondrian features over all columns, inactive ones at mid-range."""
    numeric, nominal = _all_columns(layout)
    levels = tuple((c, int(layout.levels[c])) for c in nominal)
    return _sampled(Imputed(Mondrian(numeric, levels, trees, prior=LENGTHSCALE), _groups(layout)), samples)


def arc(layout: Layout) -> KernelGP:
    """The arc kernel (Swersky et al. 2014), as Jenatton et al. 2017 compare with."""
    return KernelGP(Model(Scale(Arc(layout), VARIANCE)))


def flat(layout: Layout, *, base: Base = Matern52) -> KernelGP:
    """The structure-blind process of GPyOpt and Spearmint: every column read, whatever stands in it."""
    return KernelGP(Model(Scale(base(*_all_columns(layout)), VARIANCE)))


def warped(layout: Layout, *, base: Base = Matern52) -> KernelGP:
    """The structure-blind process on inputs warped by Beta CDFs (Snoek et al. 2014; Assael et al. 2014)."""
    numeric, nominal = _all_columns(layout)
    kernel = base(numeric, nominal)
    warp = Warp(numeric, layout.columns, kernel) if numeric else kernel
    return KernelGP(Model(Scale(warp, VARIANCE)))


def _sampled(kernel: Kernel, samples: int) -> KernelGP:
    """A process with the priors and the slice sampling of Lévesque et al. 2017; samples = 0: the mode."""
    return KernelGP(Model(Scale(kernel, AMPLITUDE), SAMPLED_NOISE), samples)
