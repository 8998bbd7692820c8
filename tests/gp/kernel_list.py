"""Every kernel, once: each entry builds it for the columns of any space. ``test_kernels`` checks them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bough.gp.kernels import (
    SE,
    Centred,
    Constant,
    Fixed,
    Hamming,
    Imputed,
    Kernel,
    Laplace,
    Mapped,
    Matern32,
    Matern52,
    Nested,
    SameSignature,
    Scale,
    Stationary,
    Sum,
    Tied,
    WhereActive,
)
from bough.gp.params import LogNormal, Param
from bough.papers.assael2014.warp import Warp
from bough.papers.jenatton2017 import features as maps
from bough.papers.jenatton2017.arc import Arc
from bough.papers.levesque2017.mondrian import Mondrian
from bough.points import FloatArray, Layout

Columns = tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """A kernel over any layout; ``smooth``: whether its gradients are those of finite differences."""

    name: str
    build: Callable[[Layout], Kernel]
    smooth: bool = True


def root(layout: Layout) -> tuple[Columns, Columns]:
    """Numeric and nominal columns that are always active."""
    return of_group(layout, 0)


def of_group(layout: Layout, group: int) -> tuple[Columns, Columns]:
    columns = layout.columns_of(group)
    nominal = layout.nominal[columns]
    return tuple(columns[~nominal].tolist()), tuple(columns[nominal].tolist())


def everything(layout: Layout) -> tuple[Columns, Columns]:
    return tuple(np.flatnonzero(~layout.nominal).tolist()), tuple(np.flatnonzero(layout.nominal).tolist())


def groups(layout: Layout) -> tuple[int, ...]:
    return tuple(layout.group.tolist())


def additive(layout: Layout) -> Kernel:
    return Sum(
        tuple(
            WhereActive(group, Constant() + Scale(Matern52(*of_group(layout, group))))
            for group in range(layout.groups)
        )
    )


def features(layout: Layout) -> Kernel:
    numeric, nominal = root(layout)
    linear = maps.Weighted(maps.Stack((maps.Activity((0,)), maps.Linear(numeric))))
    all_maps = [linear, maps.Fourier(numeric, 5), maps.Activity((0, 1))]
    all_maps += [maps.OneHot(c, int(layout.levels[c]), (0, 1)) for c in nominal]
    return maps.Dot(maps.Stack((*all_maps, maps.WhereActive(1, maps.Activity((1,))))))


def shared_nodes(layout: Layout) -> Kernel:
    """The features of a semi-parametric tree: offsets, and Fourier features and indicators per group."""
    all_maps = [maps.Weighted(maps.Activity(tuple(range(layout.groups))))]
    for group in range(layout.groups):
        numeric, nominal = of_group(layout, group)
        fourier = maps.Fourier(numeric, 3, seed=group)
        all_maps.append(maps.Weighted(maps.WhereActive(group, fourier)))
        options = (maps.OneHot(c, int(layout.levels[c]), (0, 2)) for c in nominal)
        all_maps += [maps.WhereActive(group, option) for option in options]
    return maps.Dot(maps.Stack(tuple(all_maps)))


def mondrian(layout: Layout) -> Kernel:
    numeric, nominal = root(layout)
    return Mondrian(numeric, tuple((c, int(layout.levels[c])) for c in nominal), trees=10)


class RationalQuadratic(Stationary):
    """(1 + r²/2α)^−α with a learned α: a profile with a hyperparameter besides the length-scales."""

    shape = (Param("alpha", 1, LogNormal(0.0, 1.0), 0.05, 50.0),)

    def profile(self, s2: FloatArray, values: FloatArray):
        (alpha,) = values
        base = 1 + s2 / (2 * alpha)
        k = base**-alpha
        return k, lambda: -0.5 * k / base, lambda: k * (1 - 1 / base - np.log(base))


def tied(layout: Layout) -> Kernel:
    """Two terms that share their length-scales, with one variance for both."""
    numeric, nominal = root(layout)
    d = len(numeric) + len(nominal)
    lengths = Param("lengthscale", d, LogNormal(0.0, 1.0), 0.1, 10.0)
    variance = Param("variance", 1, LogNormal(0.0, 1.0), 0.1, 10.0)
    terms = Scale(SE(numeric, nominal)) + Scale(Laplace(numeric, nominal))
    return Tied(terms, 2 * (0, *range(1, d + 1)), (variance, lengths))


def nested(layout: Layout) -> Nested:
    implied = frozenset(np.flatnonzero(layout.nominal & layout.switch).tolist())
    return Nested(layout, implied, *(LogNormal(0.0, 0.5) for _ in range(5)))


KERNELS = [
    Entry("se", lambda layout: SE(*root(layout))),
    Entry("matern32", lambda layout: Matern32(*root(layout))),
    Entry("matern52", lambda layout: Matern52(*root(layout))),
    Entry("laplace", lambda layout: Laplace(*root(layout))),
    Entry("hamming", lambda layout: Hamming(root(layout)[1])),
    Entry("constant", lambda layout: Constant()),
    Entry("scale", lambda layout: Scale(SE(root(layout)[0]))),
    Entry("no columns", lambda layout: Matern52(())),
    Entry("sum", lambda layout: Constant() + Matern52(root(layout)[0]) + Hamming(root(layout)[1])),
    Entry("empty sum", lambda layout: Sum(())),
    Entry("product", lambda layout: Scale(Matern52(root(layout)[0])) * Hamming(root(layout)[1])),
    Entry(
        "on", lambda layout: WhereActive(layout.groups - 1, Matern52(*of_group(layout, layout.groups - 1)))
    ),
    Entry("additive", additive),
    Entry("imputed matern52", lambda layout: Imputed(Matern52(*everything(layout)), groups(layout))),
    Entry("imputed laplace", lambda layout: Imputed(Laplace(*everything(layout)), groups(layout))),
    Entry(
        "conditional",
        lambda layout: SameSignature(Scale(Imputed(Matern52(*everything(layout)), groups(layout)))),
    ),
    Entry("fixed", lambda layout: Fixed(Scale(Matern52(*root(layout))), 0.3)),
    Entry("tied", tied),
    Entry("rational quadratic", lambda layout: RationalQuadratic(*root(layout))),
    Entry("centred", lambda layout: Mapped(Centred(layout), Scale(SE(tuple(range(layout.columns)))))),
    Entry("nested", nested),
    Entry("nested expression", lambda layout: nested(layout).expression),
    Entry("arc", lambda layout: Arc(layout)),
    Entry("features", features),
    Entry("shared nodes", shared_nodes),
    Entry("mondrian", mondrian, smooth=False),
    Entry("beta warp", lambda layout: Warp(root(layout)[0], layout.columns, Matern52(*root(layout)))),
]
