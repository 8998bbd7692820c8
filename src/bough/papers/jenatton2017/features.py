"""The features r_v of Jenatton et al. 2017, and the kernel of a linear model in them.

Prior variances of weights are part of the map (``Weighted``), so the inverse of a small variance is never
formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bough.gp.kernels import (
    DiagPullback,
    FeatureMap,
    FeaturePullback,
    Kernel,
    LogNormal,
    Param,
    Prior,
    Pullback,
)
from bough.gp.kernels.rows import scatter
from bough.gp.params import total_size
from bough.points import FloatArray, Points

__all__ = ["Activity", "Dot", "Fourier", "Linear", "OneHot", "Stack", "Weighted", "WhereActive"]

LENGTHSCALE_PRIOR = LogNormal(-0.7, 1.0)
WEIGHT_PRIOR = LogNormal(0.0, 1.0)


def _nothing(_: FloatArray) -> FloatArray:
    """The gradient with respect to no hyperparameter."""
    return np.empty(0)


@dataclass(frozen=True)
class Activity(FeatureMap):
    """φ(x)_v = 1 if group v is active, else 0: an offset per group (Jenatton et al. 2017, sec. 2.1).

    The root is always active, so ``Activity((0,))`` is the constant of a linear model.
    """

    groups: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.groups)

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        return a.on[:, list(self.groups)].astype(float), FeaturePullback(
            _nothing, lambda w: np.zeros(a.x.shape)
        )


@dataclass(frozen=True)
class Linear(FeatureMap):
    """φ(x) = 2x − 1 in each of ``columns``: the unit interval as [−1, 1]. Jenatton et al. 2017, sec. 2.4."""

    columns: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.columns)

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        columns = list(self.columns)

        def pull_x(w: FloatArray) -> FloatArray:
            out = np.zeros(a.x.shape)
            out[:, columns] = 2 * w
            return out

        return 2 * a.x[:, columns] - 1, FeaturePullback(_nothing, pull_x)


@dataclass(frozen=True)
class OneHot(FeatureMap):
    """One indicator per given option of a nominal column, whose option i of m is at (i + ½)/m."""

    column: int
    levels: int
    options: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.options)

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        option = np.floor(a.x[:, self.column] * self.levels)
        indicators = (option[:, None] == np.array(self.options)).astype(float)
        return indicators, FeaturePullback(_nothing, lambda w: np.zeros(a.x.shape))


@dataclass(frozen=True)
class Fourier(FeatureMap):
    """φ(x) = [cos ωᵢᵀ(x/ℓ), sin ωᵢᵀ(x/ℓ)] / √count: random Fourier features (Rahimi & Recht 2007).

    E[φ(x)ᵀφ(x')] over the frequencies ω is the stationary kernel whose spectral density they follow:
    Student's t with 5 degrees of freedom for Matérn-5/2. The seed of the draw is part of the map, so one map
    always means one covariance.
    """

    columns: tuple[int, ...]
    count: int
    seed: int = 0

    @property
    def size(self) -> int:
        return 2 * self.count

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (Param("lengthscale", len(self.columns), LENGTHSCALE_PRIOR, 1e-2, 1e2),)

    @cached_property
    def frequencies(self) -> FloatArray:
        """(columns, count) frequencies at unit length-scale."""
        rng = np.random.default_rng(self.seed)
        normal = rng.standard_normal((len(self.columns), self.count))
        return normal * np.sqrt(5 / rng.chisquare(5, self.count))

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        columns = list(self.columns)
        x = a.x[:, columns]
        frequencies = self.frequencies / np.exp(theta)[:, None]
        phase = x @ frequencies
        cos, sin = np.cos(phase) / np.sqrt(self.count), np.sin(phase) / np.sqrt(self.count)

        def pull_phase(w: FloatArray) -> FloatArray:
            return np.asarray(w[:, self.count :] * cos - w[:, : self.count] * sin)

        def pull_theta(w: FloatArray) -> FloatArray:
            # phase = Σ_d x_d ω_d / ℓ_d, so ∂phase/∂log ℓ_d = −x_d ω_d / ℓ_d.
            return np.asarray(-np.einsum("dm,dm->d", x.T @ pull_phase(w), frequencies))

        def pull_x(w: FloatArray) -> FloatArray:
            out = np.zeros(a.x.shape)
            out[:, columns] = pull_phase(w) @ frequencies.T
            return out

        return np.hstack([cos, sin]), FeaturePullback(pull_theta, pull_x)


@dataclass(frozen=True)
class Weighted(FeatureMap):
    """√s·φ(x): all weights of φ share the prior variance s, the first entry of theta."""

    inner: FeatureMap
    prior: Prior = WEIGHT_PRIOR

    @property
    def size(self) -> int:
        return self.inner.size

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (Param("weight variance", 1, self.prior, 1e-4, 1e2), *self.inner.params)

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        root = np.exp(0.5 * theta[0])
        inner, pull = self.inner(theta[1:], a)
        features = root * inner

        def pull_theta(w: FloatArray) -> FloatArray:
            return np.concatenate([[0.5 * np.einsum("nf,nf->", w, features)], root * pull.theta(w)])

        return features, FeaturePullback(pull_theta, lambda w: root * pull.x(w))


@dataclass(frozen=True)
class WhereActive(FeatureMap):
    """φ(x) where ``group`` is active, zero elsewhere; only active rows are evaluated."""

    group: int
    inner: FeatureMap

    @property
    def size(self) -> int:
        return self.inner.size

    @property
    def params(self) -> tuple[Param, ...]:
        return self.inner.params

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        rows = np.flatnonzero(a.on[:, self.group])
        inner, pull = self.inner(theta, a.take(rows))
        return scatter(inner, rows, (len(a), self.size)), FeaturePullback(
            theta=lambda w: pull.theta(w[rows]),
            x=lambda w: scatter(pull.x(w[rows]), rows, a.x.shape),
        )


@dataclass(frozen=True)
class Stack(FeatureMap):
    """The features of several maps side by side."""

    maps: tuple[FeatureMap, ...]

    @cached_property
    def size(self) -> int:
        return sum(part.size for part in self.maps)

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return tuple(param for part in self.maps for param in part.params)

    def __call__(self, theta: FloatArray, a: Points) -> tuple[FloatArray, FeaturePullback]:
        ends = np.cumsum([total_size(part.params) for part in self.maps])[:-1]
        values = [part(t, a) for part, t in zip(self.maps, np.split(theta, ends))]
        widths = np.cumsum([part.size for part in self.maps])[:-1]

        def pull_theta(w: FloatArray) -> FloatArray:
            parts = np.split(w, widths, axis=1)
            return np.concatenate([np.empty(0), *(pull.theta(p) for (_, pull), p in zip(values, parts))])

        def pull_x(w: FloatArray) -> FloatArray:
            out = np.zeros(a.x.shape)
            for (_, pull), part in zip(values, np.split(w, widths, axis=1)):
                out += pull.x(part)
            return out

        features = np.hstack([np.empty((len(a), 0)), *(value for value, _ in values)])
        return features, FeaturePullback(pull_theta, pull_x)


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
