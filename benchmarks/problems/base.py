"""What every benchmark problem is: a space, a function to minimise, and what is known about its optimum."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

import bough

Config = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """A function over a branching space.

    optimum: the smallest possible value, or None where it is not known.
    branch:  which branch a config lies in (what "the right branch" is judged by).
    best_branch: the branch of the optimum, or None.
    """

    name: str
    space: bough.Space
    function: Callable[[Config], float]
    optimum: float | None
    branch: Callable[[Config], Hashable]
    best_branch: Hashable | None = None

    def log10_gap(self, value: float) -> float:
        """log10 of the distance to the optimum, with a floor at 1e-16."""
        assert self.optimum is not None
        return float(np.log10(max(value - self.optimum, 1e-16)))
