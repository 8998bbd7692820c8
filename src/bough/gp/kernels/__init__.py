"""The kernel algebra: kernels to combine by +, * and the wrappers below. ``base`` says how to write one."""

from bough.gp.kernels.base import Correlation, DiagPullback, Kernel, Product, Pullback, Sum
from bough.gp.kernels.centred import Centred
from bough.gp.kernels.conditional import Imputed, SameSignature
from bough.gp.kernels.mapped import FeatureMap, FeaturePullback, Mapped
from bough.gp.kernels.nested import Nested
from bough.gp.kernels.stationary import (
    SE,
    Constant,
    Hamming,
    Laplace,
    Matern32,
    Matern52,
    Stationary,
)
from bough.gp.kernels.wrappers import Fixed, Scale, Tied, WhereActive
from bough.gp.params import LogNormal, Param, Prior

__all__ = [
    "SE",
    "Centred",
    "Constant",
    "Correlation",
    "DiagPullback",
    "FeatureMap",
    "FeaturePullback",
    "Fixed",
    "Hamming",
    "Imputed",
    "Kernel",
    "Laplace",
    "LogNormal",
    "Mapped",
    "Matern32",
    "Matern52",
    "Nested",
    "Param",
    "Prior",
    "Product",
    "Pullback",
    "SameSignature",
    "Scale",
    "Stationary",
    "Sum",
    "Tied",
    "WhereActive",
]
