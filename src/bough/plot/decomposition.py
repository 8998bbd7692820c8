r"""How much of a function's variance each parameter explains, in a space with inactive parameters.

Let u be uniform on the unit cube, one independent coordinate per parameter, and f(u) the value of the
configuration that u snaps to: switches first, then the parameters that they switch on; coordinates of
inactive parameters have no effect. C(S) = Var(E[f | u_S]) / Var(f) is the share that the coordinates S
explain together; above(i) are the parameters that decide whether i is active, below(i) those whose
activity i decides (directly or through others). Then

    main(i)  = C(above(i) + i) - C(above(i))    the share of i by itself, where it is active
    total(i) = C(rest(i) + i) - C(rest(i))      with its interactions; rest(i) = all but i and below(i)

Without conditions these are the first-order and total indices of Sobol' (1993). The switches together
explain the differences *between* branches, C(switches); the remainder lies *within* branches.
Forbidden clauses are ignored: f is averaged over the whole cube.

Each C is a covariance of two evaluations that share u_S and are independent otherwise ("pick and
freeze"; Saltelli et al. 2010). Both terms of a difference use the same draws, so a parameter that is
inactive in a draw adds exactly zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bough.points import BoolArray, FloatArray, Points
from bough.space import Space
from bough.space.binding import columns_read

__all__ = ["Decomposition", "Share", "decompose", "dependencies"]


@dataclass(frozen=True)
class Share:
    """Shares of the variance that one parameter explains; switch: whether it decides a branch."""

    path: str
    main: float
    total: float
    switch: bool


@dataclass(frozen=True)
class Decomposition:
    """The shares of a function's variance; between: the share that the switches explain together."""

    between: float
    shares: tuple[Share, ...]


def decompose(
    function: Callable[[Points], FloatArray],
    space: Space,
    rng: np.random.Generator,
    *,
    samples: int = 4096,
    restrict: Callable[[FloatArray], FloatArray] = lambda u: u,
) -> Decomposition:
    """Estimate the decomposition of ``function`` (Points -> (n,) values) with ``samples`` draws.

    restrict: maps draws u (n, columns) of the cube into the part of it that is of interest.
    """
    from scipy.stats import qmc

    columns = len(space)
    draws = qmc.Sobol(2 * columns, rng=rng).random(samples)
    ours, theirs = restrict(draws[:, :columns]), restrict(draws[:, columns:])

    value = function(space.snap(ours))
    exponent = -int(np.frexp(np.abs(value).max())[1])
    value = np.ldexp(value, exponent)  # at most 1, so no square overflows
    centre = float(value.mean())
    f = value - centre
    variance = float(np.mean(f**2))
    if variance <= 1e-24 * centre**2:
        flat = tuple(Share(p.path, 0.0, 0.0, bool(s)) for p, s in zip(space.parameters, space.layout.switch))
        return Decomposition(0.0, flat)
    seen: dict[bytes, FloatArray] = {}

    def frozen(kept: BoolArray) -> FloatArray:
        """f at points with the coordinates ``kept`` of the first sample and all others of the second."""
        key = kept.tobytes()
        if key not in seen:
            sample = space.snap(np.where(kept, ours, theirs))
            seen[key] = np.ldexp(function(sample), exponent) - centre
        return seen[key]

    def explained(kept: BoolArray, beyond: BoolArray) -> float:
        """C(kept) - C(beyond), between 0 and 1."""
        return float(np.clip(np.mean(f * (frozen(kept) - frozen(beyond))) / variance, 0.0, 1.0))

    above = dependencies(space)
    shares = []
    for i, parameter in enumerate(space.parameters):
        itself = np.arange(columns) == i
        rest = ~above[:, i] & ~itself
        shares.append(
            Share(
                parameter.path,
                main=explained(above[i] | itself, above[i]),
                total=explained(rest | itself, rest),
                switch=bool(space.layout.switch[i]),
            )
        )
    between = explained(space.layout.switch, np.zeros(columns, dtype=bool))
    return Decomposition(between, tuple(shares))


def dependencies(space: Space) -> BoolArray:
    """(columns, columns) whether row's activity depends on column, directly or through others."""
    above = np.zeros((len(space), len(space)), dtype=bool)
    for i, group in enumerate(space.rules.group):
        above[i, list(columns_read(space.rules.conditions[group]))] = True
    while True:  # transitive closure
        closed = above | (above @ above)
        if np.array_equal(closed, above):
            return above
        above = closed
