"""Kernels made from feature maps.

``Dot(φ)`` is the covariance φ(x)·φ(x') of a linear model φ(x)ᵀw with w ~ N(0, I). ``Mapped(φ, k)`` is
k(φ(x), φ(x')): input warping and the arc embedding are such kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.kernels.base import Correlation, DiagPullback, Kernel, Pullback
from bough.gp.kernels.features import FeatureMap
from bough.gp.params import Param, total_size
from bough.points import FloatArray, Points

__all__ = ["Dot", "Mapped"]


@dataclass(frozen=True)
class Dot(Kernel):
    """k(x, x') = φ(x)·φ(x'): the covariance of a linear model in the features."""

    features: FeatureMap

    @property
    def params(self) -> tuple[Param, ...]:
        return self.features.params

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        left, pull_left = self.features(theta, a)
        right, pull_right = (left, pull_left) if b is a else self.features(theta, b)
        return left @ right.T, Pullback(
            theta=lambda w: pull_left.theta(w @ right) + pull_right.theta(w.T @ left),
            a=lambda w: pull_left.x(w @ right),
            b=lambda w: pull_right.x(w.T @ left),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        features, pull = self.features(theta, a)
        return np.einsum("nf,nf->n", features, features), DiagPullback(
            theta=lambda w: pull.theta(2 * w[:, None] * features),
            a=lambda w: pull.x(2 * w[:, None] * features),
        )


@dataclass(frozen=True)
class Mapped(Kernel):
    """k(x, x') = k_inner(φ(x), φ(x')): the inner kernel reads features where it would read columns."""

    features: FeatureMap
    inner: Kernel

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return self.features.params + self.inner.params

    @cached_property
    def _split(self) -> int:
        return total_size(self.features.params)

    def __call__(self, theta: FloatArray, a: Points, b: Points) -> tuple[FloatArray, Pullback]:
        outer, rest = theta[: self._split], theta[self._split :]
        left, pull_left = self.features(outer, a)
        mapped_a = Points(left, a.on)
        if b is a:
            mapped_b, pull_right = mapped_a, pull_left
        else:
            right, pull_right = self.features(outer, b)
            mapped_b = Points(right, b.on)
        k, pull = self.inner(rest, mapped_a, mapped_b)
        return k, Pullback(
            theta=lambda w: np.concatenate(
                [pull_left.theta(pull.a(w)) + pull_right.theta(pull.b(w)), pull.theta(w)]
            ),
            a=lambda w: pull_left.x(pull.a(w)),
            b=lambda w: pull_right.x(pull.b(w)),
        )

    def diag(self, theta: FloatArray, a: Points) -> tuple[FloatArray, DiagPullback]:
        if isinstance(self.inner, Correlation):  # 1 whatever the features are, so skip them
            return self.inner.diag(theta, a)
        mapped, pull_map = self.features(theta[: self._split], a)
        k, pull = self.inner.diag(theta[self._split :], Points(mapped, a.on))
        return k, DiagPullback(
            theta=lambda w: np.concatenate([pull_map.theta(pull.a(w)), pull.theta(w)]),
            a=lambda w: pull_map.x(pull.a(w)),
        )
