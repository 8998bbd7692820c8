"""Cheap problems for development, one per kind of difficulty that real spaces have.

The seed draws the instance: which branch is best, where optima lie, how strong each effect is. Every branch
is a constant plus a term that is zero at one place, so the optimum is 0 (``plateaus``: the lowest step).

- ``edges``:          most optima lie on a face or in a corner of their branch's box.
- ``product``:        three independent choices (scaler, reducer, model), as in a pipeline.
- ``switches``:       eight on/off switches with one or two parameters each, some active under either of two.
- ``valley``:         the best branch is a narrow valley; a broad basin in another one looks better at first.
- ``plateaus``:       values are steps, and two thirds of the space is one flat step.
- ``noise-on-edges``: ``edges`` with a standard deviation of 0.05 on every evaluation.
- ``fails-by-branch``: two of six branches never work.
- ``fails-by-shared``: one shared parameter beyond a threshold fails on every branch.
- ``fails-by-region``: a corner of two shared parameters fails, and the optimum lies beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem

NOISE_SD = 0.05


def kind(name: str, seed: int = 0) -> Problem:
    """One of ``KINDS``, instance ``seed``."""
    return replace(_BUILDERS[name](np.random.default_rng([seed, 7000 + KINDS.index(name)])), name=name)


def _gaps(count: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """The offset of each branch; 0 for the best one, whose index is returned too."""
    best = int(rng.integers(count))
    gap = rng.uniform(0.05, 0.4, count)
    gap[best] = 0.0
    return gap, best


def _bowl(x: np.ndarray, centre: np.ndarray, weight: np.ndarray) -> float:
    return float(np.sum(weight * (x - centre) ** 2))


def _edges(rng: np.random.Generator) -> Problem:
    sizes = [1, 2, 3, 4]
    gap, best = _gaps(len(sizes), rng)
    centres = [np.where(rng.random(d) < 0.7, rng.integers(0, 2, d), rng.uniform(0.1, 0.9, d)) for d in sizes]
    weights = [rng.uniform(0.3, 1.5, d) for d in sizes]
    shared = float(rng.integers(0, 2))
    space = bough.Space(
        {
            "arm": bough.Choice(
                {f"a{i}": {f"x{i}{j}": bough.Float(0, 1) for j in range(d)} for i, d in enumerate(sizes)}
            ),
            "shared": bough.Float(0, 1),
        }
    )

    def value(config: Config) -> float:
        i = int(config["arm"][1:])
        x = np.array([config[f"x{i}{j}"] for j in range(sizes[i])])
        return gap[i] + _bowl(x, centres[i], weights[i]) + 0.5 * (config["shared"] - shared) ** 2

    return Problem("", space, value, 0.0, lambda config: config["arm"], f"a{best}")


def _product(rng: np.random.Generator) -> Problem:
    options = {"scaler": 4, "reducer": 3, "model": 5}
    gaps = {name: _gaps(count, rng) for name, count in options.items()}
    sizes = {name: rng.integers(0, 3, count) for name, count in options.items()}
    sizes["model"] = sizes["model"] + 1
    centre = {
        (n, i, j): rng.uniform(0.05, 0.95) for n, c in options.items() for i in range(c) for j in range(3)
    }
    clash = rng.uniform(0, 0.3, (4, 5))
    clash[gaps["scaler"][1], gaps["model"][1]] = 0.0
    space = bough.Space(
        {
            name: bough.Choice(
                {
                    f"{name}{i}": {f"{name}{i}x{j}": bough.Float(0, 1) for j in range(sizes[name][i])}
                    for i in range(count)
                }
            )
            for name, count in options.items()
        }
    )

    def value(config: Config) -> float:
        chosen = {name: int(config[name].removeprefix(name)) for name in options}
        total = clash[chosen["scaler"], chosen["model"]]
        for name, i in chosen.items():
            total += gaps[name][0][i]
            total += sum((config[f"{name}{i}x{j}"] - centre[name, i, j]) ** 2 for j in range(sizes[name][i]))
        return float(total)

    def branch(config: Config) -> tuple[str, ...]:
        return tuple(config[name] for name in options)

    best = tuple(f"{name}{gaps[name][1]}" for name in options)
    return Problem("", space, value, 0.0, branch, best)


def _switches(rng: np.random.Generator) -> Problem:
    count = 8
    wanted = rng.integers(0, 2, count)
    price = rng.uniform(0.05, 0.3, count)
    centre = rng.uniform(0.05, 0.95, 2 * count)
    parameters: dict[str, object] = {f"s{i}": bough.Categorical([False, True]) for i in range(count)}
    for i in range(count):
        parameters[f"x{i}"] = bough.Float(0, 1, when=f"s{i} == True")
    for i in range(0, count, 2):
        parameters[f"y{i}"] = bough.Float(0, 1, when=f"s{i} == True or s{i + 1} == True")
    space = bough.Space(parameters)

    def value(config: Config) -> float:
        total = sum(price[i] for i in range(count) if config[f"s{i}"] != bool(wanted[i]))
        total += sum((config[f"x{i}"] - centre[i]) ** 2 for i in range(count) if f"x{i}" in config)
        total += sum(
            0.5 * (config[f"y{i}"] - centre[count + i]) ** 2 for i in range(count) if f"y{i}" in config
        )
        return float(total)

    def branch(config: Config) -> tuple[bool, ...]:
        return tuple(config[f"s{i}"] for i in range(count))

    return Problem("", space, value, 0.0, branch, tuple(bool(w) for w in wanted))


def _valley(rng: np.random.Generator) -> Problem:
    names = ["narrow", "broad", "other", "flat"]
    order = rng.permutation(len(names))
    labels = {names[k]: f"b{i}" for i, k in enumerate(order)}
    centre = rng.uniform(0.1, 0.9, (len(names), 3))
    slope = rng.uniform(-1, 1)
    space = bough.Space(
        {"arm": bough.Choice({f"b{i}": {f"u{i}{j}": bough.Float(0, 1) for j in range(3)} for i in range(4)})}
    )

    def value(config: Config) -> float:
        label = config["arm"]
        i = int(label[1:])
        x = np.array([config[f"u{i}{j}"] for j in range(3)])
        which = next(k for k, name in enumerate(names) if labels[name] == label)
        d = x - centre[which]
        if names[which] == "narrow":
            across = d[0] + slope * d[1]
            return float(0.8 * min(1.0, 30 * across**2) + 0.3 * (d[1] ** 2 + d[2] ** 2))
        return float({"broad": 0.25, "other": 0.35, "flat": 0.3}[names[which]] + 0.5 * np.sum(d**2))

    return Problem("", space, value, 0.0, lambda config: config["arm"], labels["narrow"])


def _plateaus(rng: np.random.Generator) -> Problem:
    problem = _edges(rng)

    def value(config: Config) -> float:
        return float(np.ceil(min(problem.function(config), 0.5) * 20) / 20)

    return replace(problem, function=value)


def _noise_on_edges(rng: np.random.Generator) -> Problem:
    problem = _edges(rng)
    noise = np.random.default_rng(rng.integers(2**62))

    def value(config: Config) -> float:
        return problem.function(config) + NOISE_SD * float(noise.standard_normal())

    return replace(problem, function=value, noiseless=problem.function)


def _six(rng: np.random.Generator) -> tuple[Problem, dict[str, float]]:
    """Six branches of two parameters, with two shared ones; returns also the optimum of the shared ones."""
    gap, best = _gaps(6, rng)
    centre = rng.uniform(0.1, 0.9, (6, 2))
    shared = {"batch": rng.uniform(0.3, 0.6), "rate": rng.uniform(0.3, 0.6)}
    space = bough.Space(
        {
            "arm": bough.Choice(
                {f"m{i}": {f"p{i}": bough.Float(0, 1), f"q{i}": bough.Float(0, 1)} for i in range(6)}
            ),
            **{name: bough.Float(0, 1) for name in shared},
        }
    )

    def value(config: Config) -> float:
        i = int(config["arm"][1:])
        x = np.array([config[f"p{i}"], config[f"q{i}"]])
        return float(
            gap[i] + np.sum((x - centre[i]) ** 2) + sum((config[n] - c) ** 2 for n, c in shared.items())
        )

    return Problem("", space, value, 0.0, lambda config: config["arm"], f"m{best}"), shared


def _failing(fails: Callable[[Config], bool], problem: Problem) -> Problem:
    return replace(
        problem, function=lambda config: float("nan") if fails(config) else problem.function(config)
    )


def _fails_by_branch(rng: np.random.Generator) -> Problem:
    problem, _ = _six(rng)
    broken = rng.choice([f"m{i}" for i in range(6) if f"m{i}" != problem.best_branch], 2, replace=False)
    return _failing(lambda config: config["arm"] in broken, problem)


def _fails_by_shared(rng: np.random.Generator) -> Problem:
    problem, shared = _six(rng)
    limit = shared["batch"] + 0.05
    return _failing(lambda config: config["batch"] > limit, problem)


def _fails_by_region(rng: np.random.Generator) -> Problem:
    problem, shared = _six(rng)
    limit = shared["batch"] + shared["rate"] + 0.08
    return _failing(lambda config: config["batch"] + config["rate"] > limit, problem)


_BUILDERS: dict[str, Callable[[np.random.Generator], Problem]] = {
    "edges": _edges,
    "product": _product,
    "switches": _switches,
    "valley": _valley,
    "plateaus": _plateaus,
    "noise-on-edges": _noise_on_edges,
    "fails-by-branch": _fails_by_branch,
    "fails-by-shared": _fails_by_shared,
    "fails-by-region": _fails_by_region,
}
KINDS = tuple(_BUILDERS)
