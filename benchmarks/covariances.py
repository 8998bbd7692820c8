"""Lévesque et al. 2017, figures 2 to 4: covariances of a sample from a space with a choice of three options.

The space has four parameters: a choice (a number, as in the paper), and one number in [0, 1] for each of its
options. The matrices are: the squared exponential covariance exp(-d² / 0.75) (eq. 5) with random inactive
values and with inactive values at mid-range; the conditional kernel with it (eq. 8); the Laplace kernel
exp(-|d| / 0.75) (eq. 11); and 30 Mondrian partitions that approximate it. Rows are sorted by the choice.
"""

from __future__ import annotations

import numpy as np

import bough
from bough.gp.kernels import SE, Imputed, Kernel, Laplace, SameSignature
from bough.papers.levesque2017.mondrian import Mondrian
from bough.points import FloatArray, Points
from bough.strategies.flat import flatten

LENGTH = 0.75
COLUMNS = (0, 1, 2, 3)


def sample(each: int, seed: int) -> tuple[bough.Space, Points]:
    """``each`` random points of every option, option by option."""
    space = bough.Space(
        {"choice": bough.Choice({option: {f"x_{option}": bough.Float(0, 1)} for option in "abc"})}
    )
    numbers = np.random.default_rng(seed).uniform(size=3 * each)
    configs = [
        {"choice": option, f"x_{option}": float(numbers[k * each + i])}
        for k, option in enumerate("abc")
        for i in range(each)
    ]
    return space, space.encode(configs)


def matrices(each: int = 20, seed: int = 0) -> dict[str, FloatArray]:
    """The covariance matrices by name, (3 each, 3 each)."""
    space, points = sample(each, seed)
    group = tuple(space.layout.group.tolist())
    dense = flatten(points, space.layout, np.arange(len(points)), seed)
    se, laplace = SE(COLUMNS), Laplace(COLUMNS)
    # exp(-d² / ℓ) is exp(-d² / 2 λ²) with λ² = ℓ / 2
    width = np.full(len(COLUMNS), 0.5 * np.log(LENGTH / 2))
    length = np.full(len(COLUMNS), np.log(LENGTH))

    def matrix(kernel: Kernel, theta: FloatArray, at: Points) -> FloatArray:
        return kernel(theta, at, at)[0]

    return {
        "squared exponential, inactive at random": matrix(se, width, dense),
        "squared exponential, inactive imputed": matrix(Imputed(se, group), width, points),
        "conditional kernel": matrix(SameSignature(Imputed(se, group)), width, points),
        "Mondrian, 30 partitions": matrix(Imputed(Mondrian(COLUMNS, trees=30), group), length, points),
        "Laplace": matrix(Imputed(laplace, group), length, points),
    }


def blocks(matrix: FloatArray) -> tuple[float, float, float]:
    """Mean covariance of two different points of one option, of neighbouring options, of the outer two."""
    each = len(matrix) // 3
    part = matrix.reshape(3, each, 3, each).mean(axis=(1, 3))
    inside = (np.mean(np.diag(part)) * each - matrix.trace() / len(matrix)) / (each - 1)
    return float(inside), float((part[0, 1] + part[1, 2]) / 2), float(part[0, 2])
