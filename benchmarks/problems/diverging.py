"""Development problems of which a part diverges, as training does where a learning rate is too large.

``diverges-on-valley`` is ``valley``, but a config returns a huge value if one of its parameters is within
35 % of one end of its range. Of each config it is the first in a random order of all numeric parameters. The
value is 10^2 to 10^6, fixed by the config.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from benchmarks.problems.base import Config, Problem
from bough.space.parameters import Float, Int

SHARE = 0.35
LOG10_VALUE = (2.0, 6.0)
DIVERGES_ON = "diverges-on-"
DIVERGING = tuple(
    DIVERGES_ON + name
    for name in (
        "edges", "product", "switches", "valley", "plateaus", "modes", "rotated", "multiply", "nested",
        "uneven", "path", "clash", "ties", "scales", "deep", "either", "many",
    )
)  # fmt: skip


def diverging(problem: Problem, name: str, seed: int) -> Problem:
    """The problem with diverging trials, instance ``seed``. Its optimum may have gone, so it is unknown."""
    rng = np.random.default_rng([seed, 8802])
    numeric = {p.name: p.domain for p in problem.space.parameters if isinstance(p.domain, Float | Int)}
    order = rng.permutation(sorted(numeric)).tolist()
    at_upper_end = dict(zip(order, rng.integers(2, size=len(order)).tolist(), strict=True))

    def function(config: Config) -> float:
        decisive = next((each for each in order if each in config), None)
        if decisive is not None:
            unit = numeric[decisive].unit(config[decisive])
            if (1.0 - unit if at_upper_end[decisive] else unit) < SHARE:
                return _huge(config)
        return problem.function(config)

    return replace(problem, name=name, function=function, optimum=None, best_branch=None)


def _huge(config: Config) -> float:
    text = repr(sorted(config.items())).encode()
    share = int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") / 2**32
    low, high = LOG10_VALUE
    return float(10.0 ** (low + (high - low) * share))
