"""Feature maps φ(x), and kernels that read features instead of the columns themselves.

A feature map is a frozen value like a kernel. Called on theta and ``Points`` it returns the features
Φ (n, size) and a pullback from ∂L/∂Φ to the gradients by theta and x. ``Mapped(φ, k)`` is k(φ(x), φ(x')).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.kernels.base import Correlation, DiagPullback, Kernel, Pullback
from bough.gp.params import Param, total_size
from bough.points import FloatArray, Points

__all__ = ["FeatureMap", "FeaturePullback", "Mapped"]


@dataclass(frozen=True, slots=True)
class FeaturePullback:
    """Gradients of a loss L from W = ∂L/∂Φ (n, size); both are linear in W.

    theta: W -> ∂L/∂theta (p,);  x: W -> ∂L/∂x (n, columns).
    """

    theta: Callable[[FloatArray], FloatArray]
    x: Callable[[FloatArray], FloatArray]


class FeatureMap(ABC):
    """A vector-valued function of a point with its hyperparameters. See the module docstring."""

    @property
    def params(self) -> tuple[Param, ...]:
        """The hyperparameters, in the order of theta; most maps have none."""
        return ()

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of features."""

    @abstractmethod
    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        """The features Φ (n, size) at hyperparameters exp(theta), and their pullback."""


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
