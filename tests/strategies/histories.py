"""Histories for strategies that are driven without a study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bough import Space
from bough.history import History
from bough.points import Points
from bough.strategies.base import Strategy


def history(
    space: Space,
    done: list[tuple[dict[str, Any], float]],
    *,
    failed: list[dict[str, Any]] = (),  # type: ignore[assignment]
    pending: list[dict[str, Any]] = (),  # type: ignore[assignment]
    seed: int = 0,
) -> History:
    """Trials numbered in the order done, failed, pending; inactive values are poisoned."""
    a, b, c = len(done), len(failed), len(pending)
    return History(
        seed=seed,
        number=a + b + c,
        done=poisoned(space, [config for config, _ in done]),
        y=np.array([value for _, value in done]),
        noise=np.full(a, np.nan),
        done_numbers=np.arange(a),
        failed=poisoned(space, list(failed)),
        failed_numbers=np.arange(a, a + b),
        pending=poisoned(space, list(pending)),
        pending_numbers=np.arange(a + b, a + b + c),
    )


def poisoned(space: Space, configs: list[dict[str, Any]]) -> Points:
    """Encoded configs with NaN under every inactive column: nobody may read there."""
    points = space.encode(configs)
    return Points(np.where(space.layout.active(points.on), points.x, np.nan), points.on)


def drive(
    strategy: Strategy, space: Space, function: Callable[[dict[str, Any]], float], n: int, seed: int = 0
) -> list[tuple[dict[str, Any], float]]:
    """n trials, told one after another."""
    told: list[tuple[dict[str, Any], float]] = []
    for number in range(n):
        point = strategy.propose(
            space, history(space, told, seed=seed), np.random.default_rng([seed, number])
        )
        (config,) = space.decode(point)
        told.append((config, function(config)))
    return told
