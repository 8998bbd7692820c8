"""The synthetic tree functions of Jenatton et al. 2017 (section 4.1), and shifted versions of them.

``small``: two binary decisions, four leaves; leaf k = 1..4 is x² + 0.1 k with its own x in [-1, 1].
``large``: three binary decisions, eight leaves, x² + 0.1 k.
``-shared`` adds a variable r in [0, 1] per side of the root to the leaves below it (linear, as in the
paper); ``-quadratic`` adds (r - 1/2)² in its place. The smallest value is 0.1, in leaf 1.

``unbalanced-n``: n decisions, each of which ends in a leaf or leads to the next one. The last two leaves
are the deepest; the best leaf, x² + 0.1, is the last one, so depth matters, and every level above it adds
0.1. The paper's supplement has such trees and quadratic shared variables, but it was not available: we
chose the forms here.

In the originals every optimum is at the centre of its range (or, for a linear r, at a corner), which
favours Gaussian processes. ``-shifted`` moves each one to a random place drawn by the seed: (x - s)² with
0.15 <= |s| <= 0.75, and (r - t)² with t in [0.15, 0.35] or [0.65, 0.85].
"""

from __future__ import annotations

from typing import Any

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem

JENATTON = ("small", "small-shared", "large", "large-shared")
QUADRATIC = ("small-quadratic", "large-quadratic")
UNBALANCED = tuple(f"unbalanced-{depth}" for depth in range(2, 9))


def jenatton(name: str, *, shifted: bool = False, seed: int = 0) -> Problem:
    """One of ``JENATTON`` or ``QUADRATIC``; with ``shifted`` its optima are moved at random by ``seed``."""
    size, _, variant = name.partition("-")
    depth = {"small": 2, "large": 3}[size]
    quadratic = variant == "quadratic" or shifted
    leaves = 2**depth
    rng = np.random.default_rng([seed, 20170])
    x_shift = _x_shifts(leaves, rng) if shifted else np.zeros(leaves)
    r_shift = 0.5 + rng.choice([-1.0, 1.0], 2) * rng.uniform(0.15, 0.35, 2) if shifted else np.full(2, 0.5)

    def branch(config: Config) -> int:
        """Leaf number 0..leaves-1, by reading the decisions as binary digits."""
        node = ""
        for _ in range(depth):
            node += config[f"d{node}"]
        return int(node, 2)

    def function(config: Config) -> float:
        leaf = branch(config)
        value = (config[f"x{leaf}"] - x_shift[leaf]) ** 2 + 0.1 * (leaf + 1)
        if variant:
            side = leaf * 2 // leaves
            r = config[f"r{side}"]
            value += (r - r_shift[side]) ** 2 if quadratic else r
        return float(value)

    return Problem(
        name=name + ("-shifted" if shifted else ""),
        space=bough.Space(_decision("", depth, bool(variant))),
        function=function,
        optimum=0.1,
        branch=branch,
        best_branch=0,
    )


def unbalanced(depth: int, *, shifted: bool = False, seed: int = 0) -> Problem:
    """A tree of ``depth`` decisions and ``depth + 1`` leaves; leaf k has the constant 0.1 (depth + 1 - k)."""
    shift = _x_shifts(depth + 1, np.random.default_rng([seed, 20171])) if shifted else np.zeros(depth + 1)

    def branch(config: Config) -> int:
        return next((level for level in range(depth) if config[f"d{level}"] == "0"), depth)

    def function(config: Config) -> float:
        leaf = branch(config)
        return float((config[f"x{leaf}"] - shift[leaf]) ** 2 + 0.1 * (depth + 1 - leaf))

    inside: dict[str, Any] = {f"x{depth}": bough.Float(-1, 1)}
    for level in reversed(range(depth)):
        inside = {f"d{level}": bough.Choice({"0": {f"x{level}": bough.Float(-1, 1)}, "1": inside})}
    name = f"unbalanced-{depth}" + ("-shifted" if shifted else "")
    return Problem(name, bough.Space(inside), function, 0.1, branch, depth)


def _x_shifts(leaves: int, rng: np.random.Generator) -> np.ndarray:
    return rng.choice([-1.0, 1.0], leaves) * rng.uniform(0.15, 0.75, leaves)


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
