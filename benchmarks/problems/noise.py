"""Noisy versions of development problems: training twice gives two results.

``noise-on-valley`` is ``valley`` plus Gaussian noise on every evaluation. Its standard deviation is a tenth
of the interquartile range of the values of 400 random configurations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.problems.base import Config, Problem
from bough.space.sampling import sample_points

NOISE_SHARE = 0.1
RANDOM_CONFIGS = 400
NOISE_ON = "noise-on-"
NOISY = tuple(
    NOISE_ON + name
    for name in ("valley", "clash", "modes", "rotated", "multiply", "nested", "product", "deep")
)


def with_noise(problem: Problem, name: str, seed: int) -> Problem:
    """The problem with noise, instance ``seed``."""
    points = sample_points(problem.space, RANDOM_CONFIGS, np.random.default_rng([seed, 8800]))
    values = [problem.function(config) for config in problem.space.decode(points)]
    sd = NOISE_SHARE * float(np.subtract(*np.quantile(values, [0.75, 0.25])))
    draws = np.random.default_rng([seed, 8801])

    def function(config: Config) -> float:
        return problem.function(config) + sd * float(draws.standard_normal())

    return replace(problem, name=name, function=function, noiseless=problem.function)
