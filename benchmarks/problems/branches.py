"""Trees in which the best branch is hard to find: the optima of all branches are within a tenth of the range.

Each leaf's function ranges over about [v, v + 1], with v = 0 in one branch and v = 0.1 in all others.
Instances (which branch is best, where each optimum lies, how dimensions turn) are drawn by the seed.

- ``modes``:    8 leaves of 2 dimensions, several local minima each.
- ``rotated``:  6 leaves of 3 dimensions, a narrow valley with a random rotation: its parameters interact.
- ``multiply``: 6 leaves with two variables each, multiplied by a variable that all leaves share.
- ``nested``:   a choice of 3, each with a choice of 3; variables of all levels interact.
- ``uneven``:   branches of 1 to 5 dimensions, including integers and categories.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem

BRANCH_PROBLEMS = ("modes", "rotated", "multiply", "nested", "uneven")
GAP = 0.1


def branch_problem(name: str, seed: int = 0) -> Problem:
    """One of ``BRANCH_PROBLEMS``, instance ``seed``."""
    return _BUILDERS[name](np.random.default_rng([seed, 4711]))


def _offsets(leaves: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    best = int(rng.integers(leaves))
    return np.where(np.arange(leaves) == best, 0.0, GAP), best


def _modes(rng: np.random.Generator) -> Problem:
    leaves, dims = 8, 2
    offset, best = _offsets(leaves, rng)
    centre = rng.uniform(0.15, 0.85, (leaves, dims))
    waves = rng.uniform(1.5, 3.0, (leaves, dims))

    def function(config: Config) -> float:
        k = int(config["leaf"])
        u = np.array([config["a"], config["b"]]) - centre[k]
        bowl = np.mean(u**2) / 0.4
        ripple = np.mean(1 - np.cos(2 * np.pi * waves[k] * u)) / 2
        return float(offset[k] + 0.6 * bowl + 0.4 * ripple)

    leaf = {"a": bough.Float(0, 1), "b": bough.Float(0, 1)}
    space = bough.Space({"leaf": bough.Choice({str(k): leaf for k in range(leaves)})})
    return Problem("modes", space, function, 0.0, lambda c: int(c["leaf"]), best)


def _rotated(rng: np.random.Generator) -> Problem:
    leaves, dims = 6, 3
    offset, best = _offsets(leaves, rng)
    centre = rng.uniform(0.2, 0.8, (leaves, dims))
    turn = np.stack([np.linalg.qr(rng.normal(size=(dims, dims)))[0] for _ in range(leaves)])
    stretch = np.array([1.0, 4.0, 16.0])

    def function(config: Config) -> float:
        k = int(config["leaf"])
        v = turn[k] @ (np.array([config["a"], config["b"], config["c"]]) - centre[k])
        return float(offset[k] + 1 - np.exp(-np.sum(stretch * v**2)))

    leaf = {name: bough.Float(0, 1) for name in "abc"}
    space = bough.Space({"leaf": bough.Choice({str(k): leaf for k in range(leaves)})})
    return Problem("rotated", space, function, 0.0, lambda c: int(c["leaf"]), best)


def _multiply(rng: np.random.Generator) -> Problem:
    leaves = 6
    offset, best = _offsets(leaves, rng)
    slope = rng.choice([-1, 1], (leaves, 2)) * rng.uniform(0.5, 1.0, (leaves, 2))
    centre = rng.uniform(0.3, 0.7, (leaves, 2))
    shared_best = rng.uniform(0.2, 0.8)

    def function(config: Config) -> float:
        k, r = int(config["leaf"]), config["r"] - shared_best
        u = np.array([config["a"], config["b"]]) - centre[k]
        return float(offset[k] + np.tanh(np.sum((u - slope[k] * r) ** 2) * 2 + r**2))

    leaf = {"a": bough.Float(0, 1), "b": bough.Float(0, 1)}
    space = bough.Space({"leaf": bough.Choice({str(k): leaf for k in range(leaves)}), "r": bough.Float(0, 1)})
    return Problem("multiply", space, function, 0.0, lambda c: int(c["leaf"]), best)


def _nested(rng: np.random.Generator) -> Problem:
    offset, best = _offsets(9, rng)
    centre = rng.uniform(0.2, 0.8, 9)
    inner_centre = rng.uniform(0.2, 0.8, 3)
    root_centre = rng.uniform(0.2, 0.8)
    coupling = rng.uniform(-1, 1, (9, 2))

    def branch(config: Config) -> int:
        return 3 * int(config["outer"]) + int(config["inner"])

    def function(config: Config) -> float:
        k = branch(config)
        root, middle = config["r"] - root_centre, config["m"] - inner_centre[k // 3]
        own = config["x"] - centre[k] - coupling[k] @ np.array([root, middle])
        return float(offset[k] + 1 - np.exp(-(2 * root**2 + 3 * middle**2 + 6 * own**2)))

    inner = bough.Choice({str(j): {"x": bough.Float(0, 1)} for j in range(3)})
    space = bough.Space(
        {
            "r": bough.Float(0, 1),
            "outer": bough.Choice({str(i): {"inner": inner, "m": bough.Float(0, 1)} for i in range(3)}),
        }
    )
    return Problem("nested", space, function, 0.0, branch, best)


def _uneven(rng: np.random.Generator) -> Problem:
    leaves = 6
    offset, best = _offsets(leaves, rng)
    centre = rng.uniform(0.2, 0.8, (leaves, 5))
    kinds = rng.permutation(4)

    def function(config: Config) -> float:
        k = int(config["leaf"])
        reals = [config[f"x{i}"] for i in range(k % 3 + 1)]
        u = np.array(reals) - centre[k, : len(reals)]
        value = np.mean(u**2) * 3 + 0.3 * abs(np.prod(u))
        if k >= 2:
            value += ((config["depth"] / 12 - centre[k, 3]) ** 2) * 2
        if k >= 4:
            value += 0.1 * kinds[int(config["kind"])]
        return float(offset[k] + 1 - np.exp(-2 * value))

    def leaf(k: int) -> dict[str, Any]:
        inside: dict[str, Any] = {f"x{i}": bough.Float(0, 1) for i in range(k % 3 + 1)}
        if k >= 2:
            inside["depth"] = bough.Int(1, 12)
        if k >= 4:
            inside["kind"] = bough.Categorical(["0", "1", "2", "3"])
        return inside

    space = bough.Space({"leaf": bough.Choice({str(k): leaf(k) for k in range(leaves)})})
    # the integer grid keeps the true optimum of a leaf within 0.01 of its offset, an order below GAP
    return Problem("uneven", space, function, None, lambda c: int(c["leaf"]), best)


_BUILDERS: dict[str, Callable[[np.random.Generator], Problem]] = {
    "modes": _modes,
    "rotated": _rotated,
    "multiply": _multiply,
    "nested": _nested,
    "uneven": _uneven,
}
