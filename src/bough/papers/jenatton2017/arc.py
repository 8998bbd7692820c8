"""The arc kernel: a joint covariance that knows when a parameter is inactive.

Swersky et al. 2014 (after Hutter & Osborne 2013) embed every conditional column in a plane:

    active:    ω (sin πρx, cos πρx)         inactive:   (0, 0).

Two points that are both inactive in the column do not differ in it. An inactive point has the same
distance ω from every active one. Two active points differ by at most 2ω sin(πρ/2). A stationary
kernel is then applied to all coordinates. Columns that are always active keep one coordinate ω·x;
categories become one-hot vectors of length ω/√2, so that two different ones are ω apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bough.gp.kernels import FeatureMap, FeaturePullback, Fixed, Kernel, Mapped, Matern52, Stationary
from bough.gp.kernels.stationary import LONGEST, SHORTEST, default_lengthscale
from bough.gp.params import LogNormal, Param
from bough.points import FloatArray, Layout, Points

__all__ = ["Arc", "ArcMap"]


@dataclass(frozen=True)
class ArcMap(FeatureMap):
    """The embedding. theta: log ℓ = −log ω of plain, arc and nominal columns, then log ρ of the arcs.

    plain: numeric columns of the root; arcs: (column, group) of conditional numeric columns;
    nominal: (column, group, levels) of categories.
    """

    plain: tuple[int, ...]
    arcs: tuple[tuple[int, int], ...]
    nominal: tuple[tuple[int, int, int], ...]

    @cached_property
    def size(self) -> int:
        return len(self.plain) + 2 * len(self.arcs) + sum(levels for *_, levels in self.nominal)

    @cached_property
    def params(self) -> tuple[Param, ...]:
        count = len(self.plain) + len(self.arcs) + len(self.nominal)
        return (
            Param("lengthscale", count, default_lengthscale(count), SHORTEST, LONGEST),
            Param("arc", len(self.arcs), LogNormal(float(np.log(0.5)), 0.5), 0.05, 1.0),
        )

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        p, c, m = len(self.plain), len(self.arcs), len(self.nominal)
        radius, opening = np.exp(-theta[: p + c + m]), np.pi * np.exp(theta[p + c + m :])
        plain, arcs = list(self.plain), [column for column, _ in self.arcs]
        active = a.on[:, [group for _, group in self.arcs]]
        angle = opening * np.where(active, a.x[:, arcs], 0.0)
        reach = radius[p : p + c] * active
        sin, cos = reach * np.sin(angle), reach * np.cos(angle)
        line = radius[:p] * a.x[:, plain]
        corners = [
            radius[p + c + i] * np.sqrt(0.5) * _one_hot(a, column, group, levels)
            for i, (column, group, levels) in enumerate(self.nominal)
        ]
        features = np.hstack([line, sin, cos, *corners])

        def pull_angle(w: FloatArray) -> FloatArray:
            return np.asarray(w[:, p : p + c] * cos - w[:, p + c : p + 2 * c] * sin)

        def pull_theta(w: FloatArray) -> FloatArray:
            # ω = 1/ℓ multiplies every coordinate of its column: ∂φ/∂log ℓ = −φ.
            pull = (w * features).sum(axis=0)
            ends = np.cumsum([p + 2 * c, *(levels for *_, levels in self.nominal)])
            by_nominal = [pull[i:j].sum() for i, j in pairwise(ends.tolist())]
            by_length = np.concatenate([pull[:p], pull[p : p + c] + pull[p + c : p + 2 * c], by_nominal])
            return np.concatenate([-by_length, (pull_angle(w) * angle).sum(axis=0)])

        def pull_x(w: FloatArray) -> FloatArray:
            out = np.zeros(a.x.shape)
            out[:, plain] = radius[:p] * w[:, :p]
            out[:, arcs] = opening * pull_angle(w)
            return out

        return features, FeaturePullback(pull_theta, pull_x)


def _one_hot(a: Points, column: int, group: int, levels: int) -> FloatArray:
    """(n, levels) indicators of the option; all zero where the group is inactive."""
    option = np.floor(np.where(a.on[:, group], a.x[:, column], -1.0) * levels)
    return np.asarray(option[:, None] == np.arange(levels), dtype=float)


def Arc(layout: Layout, base: Callable[[tuple[int, ...]], Stationary] = Matern52) -> Kernel:
    """The arc kernel over all columns of ``layout``, with the stationary kernel ``base``."""
    numeric = np.flatnonzero(~layout.nominal).tolist()
    group = layout.group.tolist()
    embedding = ArcMap(
        plain=tuple(c for c in numeric if group[c] == 0),
        arcs=tuple((c, group[c]) for c in numeric if group[c] != 0),
        nominal=tuple((c, group[c], int(layout.levels[c])) for c in np.flatnonzero(layout.nominal).tolist()),
    )
    return Mapped(embedding, Fixed(base(tuple(range(embedding.size)))))
