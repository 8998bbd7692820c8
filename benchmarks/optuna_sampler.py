"""bough inside Optuna against bough itself and Optuna's own samplers, on define-by-run objectives.

    python -m benchmarks.optuna_sampler [--problems small-shifted nested] [--seeds 3] [--trials 40]

Every problem becomes a function that asks for a parameter when its conditions hold. ``native`` is
``bough.Study`` on the declared space, ``given`` the sampler with that space, ``learned`` the sampler that
learns it, ``asked`` is ``bough.minimize`` without a space. Each prints the best value after a half and all of
the trials, and the share of pairs (problem, seed) in which it beats ``native``, ties counted as half.
``optuna gp``, Optuna's GPSampler, needs PyTorch: name it with ``--methods`` in an environment that has it.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import optuna
from optuna.samplers import GPSampler, TPESampler

import bough
from benchmarks.problems import Problem, build
from bough.integrations.optuna import BoughSampler
from bough.integrations.optuna_trials import distribution_of
from bough.space.asking import AskingTrial

PROBLEMS = ("small-shifted", "large-shared-shifted", "unbalanced-3-shifted", "nested", "deep", "layers")
PROBLEMS += ("cash-artificial", "yahpo-xgboost-12", "yahpo-xgboost-1485")

Ask = Callable[[str, Any], Any]
"""Answers a parameter, by name and domain."""


def config_asked(space: bough.Space, ask: Ask, *, by_path: bool) -> dict[str, Any]:
    """Ask for every parameter as soon as it is active; by its path where two parameters share a name."""
    names = [parameter.name for parameter in space]
    x = np.full((1, len(space)), 0.5)
    answers: dict[int, Any] = {}
    while True:
        active = space.layout.active(space.snap(x).on)[0]
        column = next((c for c in range(len(space)) if active[c] and c not in answers), None)
        if column is None:
            return {space.parameters[c].name: value for c, value in answers.items()}
        parameter = space.parameters[column]
        shared = by_path and names.count(parameter.name) > 1
        domain = parameter.domain
        answers[column] = ask(parameter.path if shared else parameter.name, domain)
        x[0, column] = domain.position(domain.ranks([answers[column]]))[0]


def _of_optuna(trial: optuna.Trial) -> Ask:
    return lambda name, domain: trial._suggest(name, distribution_of(domain))


def _of_bough(trial: AskingTrial) -> Ask:
    def ask(name: str, domain: Any) -> Any:
        match domain:
            case bough.Float():
                return trial.float(name, domain.low, domain.high, log=domain.log, step=domain.step)
            case bough.Int():
                return trial.int(name, domain.low, domain.high, log=domain.log, step=domain.step)
        return trial.categorical(name, domain.options, ordered=domain.ordered)

    return ask


def evaluated(problem: Problem, config: dict[str, Any], seen: list[float]) -> float:
    value = problem.function(problem.space.validate(config))
    seen.append(problem.score(config, value) if math.isfinite(value) else math.inf)
    return value


def run(method: str, problem: Problem, seed: int, trials: int) -> list[float]:
    """The values that the method found, in order; inf for a failure."""
    seen: list[float] = []
    space = problem.space
    if method == "native":
        study = bough.Study(space, seed=seed)
        study.run(lambda config: evaluated(problem, config, seen), trials, progress=False)
        return seen
    if method == "asked":
        bough.minimize(
            lambda trial: evaluated(problem, config_asked(space, _of_bough(trial), by_path=True), seen),
            trials=trials,
            seed=seed,
            progress=False,
        )
        return seen
    samplers: dict[str, Callable[[], Any]] = {
        "given": lambda: BoughSampler(space, seed=seed),
        "learned": lambda: BoughSampler(seed=seed),
        "optuna tpe": lambda: TPESampler(seed=seed),
        "optuna group": lambda: TPESampler(seed=seed, multivariate=True, group=True),
        "optuna gp": lambda: GPSampler(seed=seed),
    }
    study = optuna.create_study(sampler=samplers[method]())
    study.optimize(
        lambda trial: evaluated(
            problem, config_asked(space, _of_optuna(trial), by_path=method != "given"), seen
        ),
        n_trials=trials,
        catch=Exception,
    )
    return seen


METHODS = ("native", "given", "learned", "asked", "optuna tpe", "optuna group")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=40)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    points = (options.trials // 2, options.trials)
    best: dict[tuple[str, str, int, int], float] = {}
    for problem in options.problems:
        for seed in range(options.seeds):
            for method in options.methods:
                began = time.process_time()
                values = run(method, build(problem, seed), seed, options.trials)
                for n in points:
                    best[problem, method, seed, n] = min(values[:n], default=math.inf)
                cpu = 1000 * (time.process_time() - began) / options.trials
                shown = " ".join(f"{best[problem, method, seed, n]:.4g}" for n in points)
                print(f"{problem} seed {seed} {method}: {shown} ({cpu:.0f} ms CPU a trial)", flush=True)
        report(best, [problem], options.methods, options.seeds, points)
    report(best, options.problems, options.methods, options.seeds, points)


def report(best: dict[Any, float], problems: Any, methods: Any, seeds: int, points: tuple[int, int]) -> None:
    """Medians over seeds for one problem, and for all of them how often a method beats ``native``."""
    for method in methods:
        parts = []
        for n in points:
            pairs = [
                (best[p, method, s, n], best[p, methods[0], s, n]) for p in problems for s in range(seeds)
            ]
            wins = np.mean([(a < b) + 0.5 * (a == b) for a, b in pairs])
            parts.append(f"at {n}: median {np.median([a for a, _ in pairs]):.4g}, wins {wins:.2f}")
        print(f"  {', '.join(problems)} | {method} | {' | '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
