"""Answers for define-by-run trials: complete a partial config, at random or by expected improvement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bough.acquisition.functions import log_ei
from bough.history import History
from bough.points import Points
from bough.space import Space
from bough.strategies.base import Predicts, Strategy

__all__ = ["best_answer", "completions"]

COMPLETIONS = 256
"""Random configurations from which the value of a parameter is chosen."""


def completions(space: Space, given: Mapping[str, Any], n: int, rng: np.random.Generator) -> Points:
    """Up to ``n`` random legal points with the given values; names that the space lacks are ignored."""
    x = rng.random((n, len(space)))
    for column, parameter in enumerate(space.parameters):
        if parameter.name in given:
            rank = parameter.domain.ranks([given[parameter.name]])
            x[:, column] = parameter.domain.position(rank)[0]
    points = space.snap(x)
    return points.take(space.legal(points))


def best_answer(
    strategy: Strategy,
    space: Space,
    history: History,
    given: Mapping[str, Any],
    name: str,
    rng: np.random.Generator,
) -> Any:
    """The value of ``name`` with the largest expected improvement, given the answers so far.

    The answers are filled into random configurations of the space. Where ``name`` is then active, its value
    is a candidate. Returns None without a candidate, and if the method has no model of a single objective or
    the space lacks the parameter, because only running trials have asked for it.
    """
    if not isinstance(strategy, Predicts) or not len(history.done) or history.outcomes is not None:
        return None
    names = [parameter.name for parameter in space.parameters]
    if name not in names:
        return None
    points, column = completions(space, given, COMPLETIONS, rng), names.index(name)
    points = points.take(space.layout.active(points.on)[:, column])
    if not len(points):
        return None
    mean, sd = strategy.predict(history, points)
    power = -np.frexp(sd.max())[1]  # a power of two changes no digit, and no sd is negligible
    gain, _, _ = log_ei(np.ldexp(mean, power), np.ldexp(sd, power), np.ldexp(history.y.min(), power))
    best = int(np.argmax(gain))
    return space.decode(points.take([best]))[0][name]
