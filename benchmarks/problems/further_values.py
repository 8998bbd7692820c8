"""Held-out problems with difficult values: ``further.py`` gives the reason for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem


def offsets(branches: int, rng: np.random.Generator, low: float, high: float) -> tuple[np.ndarray, int]:
    """The smallest value of each branch: 0 in one drawn at random, in [low, high] elsewhere."""
    best = int(rng.integers(branches))
    values = rng.uniform(low, high, branches)
    values[best] = 0.0
    return values, best


def log_unit(value: float, low: float, high: float) -> float:
    """The position of ``value`` on a log scale from ``low`` (0) to ``high`` (1)."""
    return float(np.log(value / low) / np.log(high / low))


def _path(rng: np.random.Generator) -> Problem:
    offset, best = offsets(9, rng, 0.08, 0.25)
    root = rng.uniform(0.25, 0.75)
    middle, middle_bend = rng.uniform(0.25, 0.75, 3), rng.uniform(-3, 3, 3)
    own, own_bend, own_slope = rng.uniform(0.25, 0.75, 9), rng.uniform(-4, 4, 9), rng.uniform(-1, 1, 9)

    def branch(config: Config) -> int:
        return 3 * int(config["outer"]) + int(config["inner"])

    def function(config: Config) -> float:
        k = branch(config)
        r = config["r"] - root
        m = config["m"] - middle[k // 3] - middle_bend[k // 3] * r**2
        x = config["x"] - own[k] - own_bend[k] * r * m - own_slope[k] * m
        return float(offset[k] + 0.4 * np.log1p(8 * r**2 + 12 * m**2 + 40 * x**2))

    inner = bough.Choice({str(j): {"x": bough.Float(0, 1)} for j in range(3)})
    outer = bough.Choice({str(i): {"m": bough.Float(0, 1), "inner": inner} for i in range(3)})
    return Problem("path", bough.Space({"r": bough.Float(0, 1), "outer": outer}), function, 0.0, branch, best)


def _clash(rng: np.random.Generator) -> Problem:
    branches = 5
    offset, best = offsets(branches, rng, 0.05, 0.2)
    # spread over the whole range, in random order
    rate = rng.permutation(np.linspace(0.12, 0.88, branches) + rng.uniform(-0.05, 0.05, branches))
    decay = rng.permutation(np.linspace(0.2, 0.8, branches) + rng.uniform(-0.05, 0.05, branches))
    own = rng.uniform(0.2, 0.8, branches)

    def function(config: Config) -> float:
        k = int(config["optimiser"])
        r = (log_unit(config["rate"], 1e-6, 1.0) - rate[k]) / 0.2
        d = (log_unit(config["decay"], 1e-6, 1e-1) - decay[k]) / 0.5
        x = (config["x"] - own[k]) / 0.5
        return float(offset[k] + 1 - np.exp(-(r**2) - d**2 - x**2))

    space = bough.Space(
        {
            "rate": bough.Float(1e-6, 1.0, log=True),
            "decay": bough.Float(1e-6, 1e-1, log=True),
            "optimiser": bough.Choice({str(k): {"x": bough.Float(0, 1)} for k in range(branches)}),
        }
    )
    return Problem("clash", space, function, 0.0, lambda c: int(c["optimiser"]), best)


def _noisy(rng: np.random.Generator) -> Problem:
    branches = 5
    offset, best = offsets(branches, rng, 0.1, 0.25)
    centre = rng.uniform(0.2, 0.8, (branches, 2))
    root = rng.uniform(0.2, 0.8)
    spread = rng.permutation([0.05, 0.1, 0.1, 0.1, 0.2])
    draws = np.random.default_rng(rng.integers(2**63))

    def noiseless(config: Config) -> float:
        k = int(config["model"])
        u = np.array([config["a"], config["b"]]) - centre[k]
        return float(offset[k] + 1 - np.exp(-3 * np.sum(u**2) - 2 * (config["r"] - root) ** 2))

    def function(config: Config) -> float:
        return noiseless(config) + float(spread[int(config["model"])] * draws.normal())

    model = {"a": bough.Float(0, 1), "b": bough.Float(0, 1)}
    space = bough.Space(
        {"model": bough.Choice({str(k): model for k in range(branches)}), "r": bough.Float(0, 1)}
    )
    return Problem("noisy", space, function, 0.0, lambda c: int(c["model"]), best, noiseless=noiseless)


def _failing(rng: np.random.Generator) -> Problem:
    branches = 6
    offset, best = offsets(branches, rng, 0.05, 0.2)
    absent = int(rng.choice([k for k in range(branches) if k != best]))
    size = np.array([round(s) for s in 2.0 ** rng.uniform(8, 11, branches)])
    size_unit = np.array([log_unit(s, 16, 4096) for s in size])
    rate = rng.uniform(0.5, 0.8, branches)
    mix = rng.uniform(0.2, 0.8, branches)
    slope = rng.uniform(0.5, 1.5, branches)
    edge = size_unit + slope * rate + 0.06  # slightly beyond the optimum, evaluations fail

    def function(config: Config) -> float:
        k = int(config["backend"])
        s, r = log_unit(config["size"], 16, 4096), log_unit(config["rate"], 1e-5, 1.0)
        if k == absent or s + slope[k] * r > edge[k]:
            return float("nan")
        gap = 3 * (s - size_unit[k]) ** 2 + 3 * (r - rate[k]) ** 2 + (config["mix"] - mix[k]) ** 2
        return float(offset[k] + 1 - np.exp(-2 * gap))

    backend: dict[str, Any] = {
        "size": bough.Int(16, 4096, log=True),
        "rate": bough.Float(1e-5, 1.0, log=True),
        "mix": bough.Float(0, 1),
    }
    space = bough.Space({"backend": bough.Choice({str(k): backend for k in range(branches)})})
    return Problem("failing", space, function, 0.0, lambda c: int(c["backend"]), best)


def _ties(rng: np.random.Generator) -> Problem:
    rows, branches = 100, 5
    offset = rng.permutation([0, 1, 2, 2, 4]) / rows
    best = int(np.argmin(offset))
    centre = rng.uniform(0.2, 0.8, (branches, 3))
    weight = np.stack([rng.permutation([1.5, 0.6, 0.0]) for _ in range(branches)])  # one parameter is idle

    def function(config: Config) -> float:
        k = int(config["model"])
        u = np.array([config["a"], config["b"], config["c"]]) - centre[k]
        error = 0.04 + offset[k] + np.sum(weight[k] * u**2)
        return float(np.round(min(error, 0.35) * rows) / rows)

    model = {name: bough.Float(0, 1) for name in "abc"}
    space = bough.Space({"model": bough.Choice({str(k): model for k in range(branches)})})
    return Problem("ties", space, function, 0.04, lambda c: int(c["model"]), best)


def _scales(rng: np.random.Generator) -> Problem:
    branches = 5
    offset, best = offsets(branches, rng, 0.5, 2.0)
    centre = rng.uniform(0.2, 0.8, (branches, 3))
    weight = rng.uniform(1.0, 4.0, (branches, 3))

    def function(config: Config) -> float:
        k = int(config["kernel"])
        at = np.array([log_unit(config[name], 1e-8, 1e4) for name in ("ridge", "width", "jitter")])
        exponent = offset[k] - 3 + 9 * (1 - np.exp(-np.sum(weight[k] * (at - centre[k]) ** 2)))
        return float(10.0**exponent)

    kernel: dict[str, Any] = {name: bough.Float(1e-8, 1e4, log=True) for name in ("ridge", "width", "jitter")}
    space = bough.Space({"kernel": bough.Choice({str(k): kernel for k in range(branches)})})
    return Problem("scales", space, function, 1e-3, lambda c: int(c["kernel"]), best)


BUILDERS: dict[str, Callable[[np.random.Generator], Problem]] = {
    "path": _path,
    "clash": _clash,
    "noisy": _noisy,
    "failing": _failing,
    "ties": _ties,
    "scales": _scales,
}
