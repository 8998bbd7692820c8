"""bough inside Optuna against bough itself and Optuna's samplers, on define-by-run objectives.

    python -m benchmarks.optuna_sampler [--problems small-shifted nested] [--seeds 5] [--trials 40]

Every problem becomes a function that asks for a parameter when its conditions hold. ``native`` is
``bough.Study`` on the declared space; ``native again`` has another seed and shows the effect of chance.
``given`` is the sampler with that space, ``learned`` the sampler that learns it, ``asked`` is
``bough.minimize`` without a space. The output is the share of pairs (problem, seed) in which each is ahead of
``native`` after a quarter, half and all of the trials, ties counted as half, with its 95 % interval; and the
number of trials until it reaches the value of ``native`` at half of the budget, relative to the number that
``native`` needs (median). Runs are kept with ``--rows``; an interrupted benchmark continues. ``optuna gp``,
Optuna's GPSampler, needs PyTorch: name it with ``--methods`` in an environment that has it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.samplers import GPSampler, TPESampler

import bough
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.objectives import interval
from benchmarks.problems import Problem, build
from bough.integrations.optuna import BoughSampler
from bough.integrations.optuna_trials import distribution_of
from bough.points import FloatArray
from bough.space.asking import AskingTrial

PROBLEMS = ("small-shifted", "large-shared-shifted", "unbalanced-3-shifted", "nested", "deep", "layers")
PROBLEMS += ("cash-artificial", "yahpo-xgboost-12", "yahpo-xgboost-1485")
PROBLEMS += ("compress", "cash-car", "mlp-b-diabetes", "mlp-sonar")  # real data

AGAIN = 1000
"""Added to the seed of ``native again``, which shows the effect of chance."""

Ask = Callable[[str, Any], Any]
"""Returns the value of a parameter, given its name and domain."""


def config_asked(space: bough.Space, ask: Ask, *, by_path: bool) -> dict[str, Any]:
    """Ask for every parameter as soon as it is active; by its path if two parameters share a name."""
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
    if method in ("native", "native again"):
        study = bough.Study(space, seed=seed if method == "native" else seed + AGAIN)
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
        "optuna gp": lambda: GPSampler(seed=seed, warn_independent_sampling=False),
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


METHODS = ("native", "native again", "given", "learned", "asked", "optuna tpe", "optuna group")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--methods", nargs="+", default=METHODS, help="others are compared with the first")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--rows", type=Path, default=RESULTS / "optuna-sampler.jsonl")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kept = KeptRows(options.rows)
    curves: dict[str, list[FloatArray]] = {method: [] for method in options.methods}
    for problem in options.problems:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            for method in options.methods:
                key = f"{problem} {seed} {method} {options.trials}"
                task = partial(values_of, method, problem, seed, options.trials)
                values = np.nan_to_num(np.array(kept.once(key, task)), nan=np.inf)
                curves[method].append(np.minimum.accumulate(values))
        report({method: each[-options.seeds :] for method, each in curves.items()}, problem)
    report(curves, f"all {len(options.problems)} problems, {options.seeds} seeds")


def values_of(method: str, problem: str, seed: int, trials: int) -> list[float | None]:
    """The value of each trial; None for a failure, as JSON has no infinity."""
    found = run(method, build(problem, seed), seed, trials)
    found += [found[-1]] * (trials - len(found))  # a finite space may be exhausted
    return [value if math.isfinite(value) else None for value in found]


def report(curves: dict[str, list[FloatArray]], what: str) -> None:
    """How often each method is ahead of the first one, and how many trials it needs for the same value."""
    print(what)
    first = np.array(next(iter(curves.values())))
    trials = first.shape[1]
    for method, found in curves.items():
        ours, parts = np.array(found), []
        for n in (trials // 4, trials // 2, trials):
            wins = (ours[:, n - 1] < first[:, n - 1]) + 0.5 * (ours[:, n - 1] == first[:, n - 1])
            parts.append(f"{interval(wins)} at {n}")
        target = first[:, trials // 2 - 1 : trials // 2]
        ratio = needed(ours, target) / needed(first, target)
        parts.append(f"needs {np.median(ratio):.2f} of the trials, never {np.mean(np.isinf(ratio)):.0%}")
        print(f"  {method}: ahead in {', '.join(parts)}", flush=True)


def needed(curves: FloatArray, target: FloatArray) -> FloatArray:
    """(runs,) the trials until each curve reaches its target (runs, 1); infinite if it never does."""
    reached = curves <= target
    return np.where(reached.any(axis=1), reached.argmax(axis=1) + 1.0, np.inf)


if __name__ == "__main__":
    main()
