"""The synthetic tree functions of Jenatton et al. 2017 (section 4.1), and shifted versions of them.

``small``: two binary decisions, four leaves; leaf k = 1..4 is x² + 0.1 k with its own x in [-1, 1].
``large``: three binary decisions, eight leaves, x² + 0.1 k.
``shared`` adds a variable r in [0, 1] per side of the root to the leaves below it (linear, as in the paper).
The smallest value is 0.1, in leaf 1.

The originals put every optimum at the centre of its range (or, for r, at a corner), which flatters
Gaussian processes. ``shifted`` moves each one to a random place drawn by the seed: (x - s)² with
0.15 <= |s| <= 0.75, and (r - t)² with t in [0.15, 0.35] or [0.65, 0.85].
"""

from __future__ import annotations

from typing import Any

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem

JENATTON = ("small", "small-shared", "large", "large-shared")


def jenatton(name: str, *, shifted: bool = False, seed: int = 0) -> Problem:
    """One of ``JENATTON``; with ``shifted`` its optima are moved at random by ``seed``."""
    size, _, variant = name.partition("-")
    depth = {"small": 2, "large": 3}[size]
    shared = variant == "shared"
    leaves = 2**depth
    rng = np.random.default_rng([seed, 20170])
    sign = rng.choice([-1.0, 1.0], leaves)
    x_shift = sign * rng.uniform(0.15, 0.75, leaves) if shifted else np.zeros(leaves)
    r_shift = 0.5 + rng.choice([-1.0, 1.0], 2) * rng.uniform(0.15, 0.35, 2)

    def branch(config: Config) -> int:
        """Leaf number 0..leaves-1, by reading the decisions as binary digits."""
        node = ""
        for _ in range(depth):
            node += config[f"d{node}"]
        return int(node, 2)

    def function(config: Config) -> float:
        leaf = branch(config)
        value = (config[f"x{leaf}"] - x_shift[leaf]) ** 2 + 0.1 * (leaf + 1)
        if shared:
            side = leaf * 2 // leaves
            r = config[f"r{side}"]
            value += (r - r_shift[side]) ** 2 if shifted else r
        return float(value)

    return Problem(
        name=name + ("-shifted" if shifted else ""),
        space=bough.Space(_decision("", depth, shared)),
        function=function,
        optimum=0.1,
        branch=branch,
        best_branch=0,
    )


def _decision(node: str, depth: int, shared: bool) -> dict[str, Any]:
    """The sub-space below ``node``, a string of the decisions taken so far."""
    if len(node) == depth:
        return {f"x{int(node, 2)}": bough.Float(-1, 1)}
    inside: dict[str, Any] = {
        f"d{node}": bough.Choice({digit: _decision(node + digit, depth, shared) for digit in "01"})
    }
    if shared and len(node) == 1:
        inside[f"r{node}"] = bough.Float(0, 1)
    return inside
