"""Hyperparameters of leaves by maximum likelihood of type II: the maximum of eq. (8) of Assael et al. 2014.

The alternative to sampling (eq. 10). No prior is used: the pseudo-likelihood is maximised over all
hyperparameters of a leaf inside their bounds, and over its mean in closed form. Gradients are central
differences, whose points are all evaluated together (``pooled_density``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize

from bough.gp.likelihood import Data
from bough.gp.params import JointPrior
from bough.papers.assael2014.pooled_density import Columns, Densities
from bough.papers.assael2014.pooling import Target
from bough.points import FloatArray

__all__ = ["most_likely_theta"]

STEP = 1e-4
"""Half the distance of a central difference, on the logarithms of the hyperparameters."""

MAX_ITERATIONS = 50


def most_likely_theta(columns: Columns, targets: Sequence[Target], data: Data) -> list[FloatArray]:
    """theta (p,) of each target, with the mean first: the maximum of its pseudo-likelihood."""
    return [_of_one(columns, target, data) for target in targets]


def _of_one(columns: Columns, target: Target, data: Data) -> FloatArray:
    start = target.hyper.start[1:]
    moves = STEP * np.concatenate([np.zeros((1, len(start))), np.eye(len(start)), -np.eye(len(start))])
    densities = Densities(columns, [target] * len(moves), data, prior=False)

    def loss(logs: FloatArray) -> tuple[float, FloatArray]:
        value = densities(logs + moves).profile()
        ahead, behind = value[1 : 1 + len(logs)], value[1 + len(logs) :]
        return -float(value[0]), (behind - ahead) / (2 * STEP)

    box = optimize.Bounds(*JointPrior(target.hyper.params).bounds)
    options = {"maxiter": MAX_ITERATIONS}
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=box, options=options)
    logs = np.asarray(found.x)
    mean = Densities(columns, [target], data, prior=False)(logs[None]).most_likely_mean()
    return np.concatenate([mean, logs])
