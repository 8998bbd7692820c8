"""Held-out problems with difficult spaces: ``further.py`` gives the reason for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem
from benchmarks.problems.further_values import log_unit, offsets

SOLVERS = ("sgd", "rms", "adam", "lion", "newton")
SCHEDULES = ("constant", "linear", "cosine", "cyclic")


def _deep(rng: np.random.Generator) -> Problem:
    depth = 7
    # not the first two leaves, which contain three quarters of all random configs
    later, best = offsets(depth - 1, rng, 0.08, 0.3)
    offset, best = np.concatenate([rng.uniform(0.08, 0.3, 2), later]), best + 2
    way = rng.uniform(0.2, 0.8, depth)
    own = rng.uniform(0.2, 0.8, (depth + 1, 2))
    strength = rng.uniform(0.3, 1.0, depth)

    def branch(config: Config) -> int:
        return next((i for i in range(depth) if config[f"step{i}"] == "stop"), depth)

    def function(config: Config) -> float:
        leaf = branch(config)
        passed = sum(strength[i] * (config[f"t{i}"] - way[i]) ** 2 for i in range(leaf))
        ends = abs(config["y"] - own[leaf, 0]) ** 1.5
        if leaf % 2:
            ends += (config["z"] - own[leaf, 1] - 0.5 * (config["y"] - own[leaf, 0])) ** 2
        return float(offset[leaf] + np.tanh(ends + passed))

    def end(leaf: int) -> dict[str, Any]:
        return {name: bough.Float(0, 1) for name in ("yz" if leaf % 2 else "y")}

    inside = end(depth)
    for level in reversed(range(depth)):
        below = {f"t{level}": bough.Float(0, 1), **inside}
        inside = {f"step{level}": bough.Choice({"stop": end(level), "go": below})}
    return Problem("deep", bough.Space(inside), function, 0.0, branch, best)


def _either(rng: np.random.Generator) -> Problem:
    shape = (len(SOLVERS), len(SCHEDULES), 2)
    parts = [rng.uniform(0, 0.2, size) for size in ((5, 1, 1), (1, 4, 1), (1, 1, 2), (5, 4, 1))]
    total = np.broadcast_to(sum(parts), shape)
    winner = np.unravel_index(np.argmin(total), shape)
    offset = 0.05 + total - total.min()
    offset[winner] = 0.0
    # the best value of each parameter depends only on the solver, so its several parents share it
    place = {name: rng.uniform(0.2, 0.8, 5) for name in ("rate", "momentum", "floor", "norm", "damping")}
    warmup = rng.integers(3, 18, 5)

    def indices(config: Config) -> tuple[int, int, int]:
        return (
            SOLVERS.index(config["solver"]),
            SCHEDULES.index(config["schedule"]),
            int(config["clip"] == "yes"),
        )

    def function(config: Config) -> float:
        which = indices(config)
        solver = which[0]
        unit = {
            "rate": lambda v: log_unit(v, 1e-5, 1.0),
            "momentum": float,
            "floor": lambda v: log_unit(v, 1e-4, 1.0),
            "norm": lambda v: log_unit(v, 0.1, 10.0),
            "damping": float,
        }
        gap = {name: to(config[name]) - place[name][solver] for name, to in unit.items() if name in config}
        if "warmup" in config:
            gap["warmup"] = (config["warmup"] - warmup[solver]) / 20
        gap["rate"] -= 0.6 * gap.get("momentum", 0.0)
        return float(offset[which] + 1 - np.exp(-2 * sum(g**2 for g in gap.values())))

    space = bough.Space(
        {
            "solver": bough.Categorical(SOLVERS),
            "schedule": bough.Categorical(SCHEDULES),
            "clip": bough.Categorical(["no", "yes"]),
            "rate": bough.Float(1e-5, 1.0, log=True),
            "momentum": bough.Float(0, 1, when="solver in ('sgd', 'rms') or schedule == 'cyclic'"),
            "warmup": bough.Int(0, 20, when="schedule in ('cosine', 'cyclic') or solver == 'adam'"),
            "floor": bough.Float(1e-4, 1.0, log=True, when="schedule in ('linear', 'cosine')"),
            "norm": bough.Float(0.1, 10.0, log=True, when="clip == 'yes'"),
            "damping": bough.Float(
                0, 1, when="solver == 'newton' or (clip == 'yes' and schedule != 'constant')"
            ),
        }
    )
    best = (SOLVERS[winner[0]], SCHEDULES[winner[1]], ("no", "yes")[winner[2]])
    return Problem("either", space, function, 0.0, lambda c: (c["solver"], c["schedule"], c["clip"]), best)


def _many(rng: np.random.Generator) -> Problem:
    branches, good = 32, 3
    offset = rng.uniform(0.3, 0.8, branches)
    chosen = rng.permutation(branches)[:good]
    offset[chosen] = [0.0, 0.05, 0.1]
    centre = rng.uniform(0.2, 0.8, (branches, 2))
    shared = rng.uniform(0.2, 0.8)

    def function(config: Config) -> float:
        k = int(config["model"])
        u = np.array([config["a"], config["b"]]) - centre[k]
        return float(offset[k] + 0.5 * (1 - np.exp(-4 * np.sum(u**2))) + 0.3 * (config["r"] - shared) ** 2)

    model = {"a": bough.Float(0, 1), "b": bough.Float(0, 1)}
    space = bough.Space(
        {"model": bough.Choice({str(k): model for k in range(branches)}), "r": bough.Float(0, 1)}
    )
    return Problem("many", space, function, 0.0, lambda c: int(c["model"]), int(chosen[0]))


def _discrete(rng: np.random.Generator) -> Problem:
    branches = 4
    offset, best = offsets(branches, rng, 0.05, 0.15)
    block, unroll, level = (
        rng.integers(4, 14, branches),
        rng.integers(2, 7, branches),
        rng.integers(2, 6, branches),
    )
    order, vector = rng.integers(5, size=branches), rng.integers(2, size=branches)
    order_cost = rng.uniform(0.1, 0.4, (branches, 5))
    pull = rng.uniform(-4, 4, (branches, 5))  # each order of loops has another best block size
    for k in range(branches):
        order_cost[k, order[k]] = pull[k, order[k]] = 0.0

    def function(config: Config) -> float:
        k, o = int(config["algorithm"]), "ijklm".index(config["order"])
        on = config["vector"] == "on"
        cost = order_cost[k, o] + 0.05 * abs(config["block"] - block[k] - pull[k, o])
        cost += 0.02 * (config["unroll"] - unroll[k]) ** 2 + 0.15 * (on != vector[k])
        if on:
            cost += 0.08 * abs(config["level"] - level[k])
        return float(offset[k] + cost / (1 + cost))

    algorithm: dict[str, Any] = {
        "block": bough.Int(1, 16),
        "unroll": bough.Int(0, 8),
        "order": bough.Categorical(list("ijklm")),
        "vector": bough.Choice({"off": {}, "on": {"level": bough.Int(1, 6)}}),
    }
    space = bough.Space({"algorithm": bough.Choice({str(k): algorithm for k in range(branches)})})
    return Problem("discrete", space, function, 0.0, lambda c: int(c["algorithm"]), best)


def _wide(rng: np.random.Generator) -> Problem:
    branches, shared, own = 4, 8, 5
    offset, best = offsets(branches, rng, 0.1, 0.25)
    shared_weight = rng.permutation([4.0, 1.5, 0.1, 0.1, 0.05, 0.0, 0.0, 0.0])
    weight = np.stack([rng.permutation([4.0, 2.0, 0.1, 0.05, 0.0]) for _ in range(branches)])
    shared_at, own_at = rng.uniform(0.2, 0.8, shared), rng.uniform(0.2, 0.8, (branches, own))
    mode, count = rng.integers(3, size=branches), rng.integers(3, 18, branches)
    share = rng.uniform(0.2, 0.8, branches)

    def function(config: Config) -> float:
        k = int(config["model"])
        cost = sum(w * (config[f"s{i}"] - at) ** 2 for i, (w, at) in enumerate(zip(shared_weight, shared_at)))
        cost += sum(w * (config[f"p{i}"] - at) ** 2 for i, (w, at) in enumerate(zip(weight[k], own_at[k])))
        cost += 0.3 * ((config["mode"] - mode[k]) % 3 > 0) + abs(config["count"] - count[k]) / 40
        if config["mode"] > 0:
            cost += 0.5 * (config["share"] - share[k]) ** 2
        return float(offset[k] + 1 - np.exp(-cost))

    model: dict[str, Any] = {f"p{i}": bough.Float(0, 1) for i in range(own)}
    model["mode"] = bough.Categorical([0, 1, 2])
    model["count"] = bough.Int(1, 20)
    model["share"] = bough.Float(0, 1, when="mode in (1, 2)")
    space = bough.Space(
        {
            **{f"s{i}": bough.Float(0, 1) for i in range(shared)},
            "model": bough.Choice({str(k): model for k in range(branches)}),
        }
    )
    return Problem("wide", space, function, 0.0, lambda c: int(c["model"]), best)


def _layers(rng: np.random.Generator) -> Problem:
    deepest = 6
    offset, best = offsets(deepest, rng, 0.06, 0.2)
    # (layers, position): the best size of a layer is similar in all stacks, with a small individual part
    common = rng.uniform(4.5, 8.0, deepest)
    units = np.round(2.0 ** (common + rng.uniform(-0.6, 0.6, (deepest, deepest))))
    rate = 0.75 - 0.08 * np.arange(deepest) + rng.uniform(-0.05, 0.05)  # deeper stacks learn slower
    weight = rng.uniform(0.5, 1.5, deepest)

    def function(config: Config) -> float:
        n = config["layers"]
        excess = np.array([np.log2(config[f"units{i}"] / units[n - 1, i - 1]) for i in range(1, n + 1)]) / 6
        r = log_unit(config["rate"], 1e-5, 1.0) - rate[n - 1] + 0.5 * np.mean(excess)
        cost = 2 * np.sum(weight[:n] * excess**2) / np.sqrt(n) + 3 * r**2
        return float(offset[n - 1] + 1 - np.exp(-cost))

    space = bough.Space(
        {
            "layers": bough.Int(1, deepest),
            "rate": bough.Float(1e-5, 1.0, log=True),
            "units1": bough.Int(8, 512, log=True),
            **{
                f"units{i}": bough.Int(8, 512, log=True, when=f"layers >= {i}") for i in range(2, deepest + 1)
            },
        }
    )
    return Problem("layers", space, function, 0.0, lambda c: c["layers"], best + 1)


BUILDERS: dict[str, Callable[[np.random.Generator], Problem]] = {
    "deep": _deep,
    "either": _either,
    "many": _many,
    "discrete": _discrete,
    "wide": _wide,
    "layers": _layers,
}
