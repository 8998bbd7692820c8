"""The particle swarm: a replay is the swarm itself, and it converges on a smooth function."""

from __future__ import annotations

import numpy as np
import pytest
from tests.strategies.histories import history

import bough
from bough.strategies import streams
from bough.strategies.base import finished_in_order

INERTIA, PULL = 0.7298, 1.4962  # Clerc & Kennedy 2002

SPACE = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})


def value(x: np.ndarray) -> float:
    return float((x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2)


def test_a_replay_is_a_swarm_that_was_never_dropped() -> None:
    """The textbook loop with the same random numbers, particle by particle."""
    study = bough.Study(SPACE, method=bough.method("pso", population=4), seed=9)
    rng = np.random.default_rng([9, streams.SWARM])
    x, v = rng.random((4, 2)), rng.uniform(-0.25, 0.25, (4, 2))
    p, p_value = x.copy(), np.full(4, np.inf)
    for _ in range(6):
        for i in range(4):
            trial = study.ask()
            assert np.allclose([trial.config["x"], trial.config["y"]], x[i], atol=1e-9)
            study.tell(trial, value(x[i]))
            if value(x[i]) < p_value[i]:
                p[i], p_value[i] = x[i], value(x[i])
        own, common = rng.random((2, 4, 2))
        g = p[p_value.argmin()]
        for i in range(4):
            for d in range(2):
                v[i, d] = INERTIA * v[i, d] + PULL * own[i, d] * (p[i, d] - x[i, d])
                v[i, d] += PULL * common[i, d] * (g[d] - x[i, d])
                x[i, d] += v[i, d]
                if not 0 <= x[i, d] <= 1:
                    x[i, d], v[i, d] = min(max(x[i, d], 0.0), 1.0), 0.0


def test_it_converges() -> None:
    def objective(config: dict[str, float]) -> float:
        return value(np.array([config["x"], config["y"]]))

    study = bough.minimize(objective, SPACE, 120, method="pso", seed=1)
    assert study.best.value < 1e-3


@pytest.mark.parametrize("largest", [-5.0, 1.0, 1e17, float(np.finfo(float).max)])
def test_a_failed_trial_comes_after_all_others_whatever_the_values(largest: float) -> None:
    done = [({"x": 0.1, "y": 0.1}, largest - 1.0), ({"x": 0.2, "y": 0.2}, largest)]
    _, values = finished_in_order(history(SPACE, done, failed=[{"x": 0.3, "y": 0.3}]))
    assert values[2] > values[:2].max()
