"""After many equal values, the first other one counts at once."""

from __future__ import annotations

import math

import numpy as np

from bough.space import Float, Space
from bough.study import Study

CUBE = Space({name: Float(0, 1) for name in "abc"})


def distance(config: dict[str, float], other: dict[str, float]) -> float:
    return math.dist(config.values(), other.values())


def test_the_first_better_value_is_refined() -> None:
    equal = 127  # fits are scheduled for 126 values, all equal, and for 133
    study, place = Study(CUBE, seed=1), {"a": 0.45, "b": 0.4, "c": 0.35}
    points = CUBE.sample(2 * equal, np.random.default_rng(5))
    study.add_many([(c, 1.0) for c in points if distance(c, place) > 0.2][:equal])
    study.add(place, 0.3)
    distances = []
    for _ in range(4):
        trial = study.ask()
        distances.append(distance(trial.config, place))
        study.tell(trial, min(1.0, 0.3 + distances[-1]))
    assert np.median(distances) < 0.15  # the cube is 1.7 across
