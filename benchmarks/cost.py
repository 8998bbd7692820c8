"""CPU time of a suggestion: `auto` with and without the compiled core, and Optuna's TPE, one thread.

    python -m benchmarks.cost                   # every part: ten minutes on an idle machine
    python -m benchmarks.cost spaces --repeat 5
    python -m benchmarks.cost long batch

- spaces: a study of n trials on each space; the mean over its last ten suggestions, refits included.
- long:   a study that already holds n results: the first suggestion (reopening), the mean of the next 20.
- batch:  `ask(64)` at n = 500.
- objectives: two objectives at n = 60, beside one.
- surprising: 1,000 results with heavy tails, so the model is often wrong; the mean of the last 100
  suggestions, and the longest.

Every number is CPU time, and the minimum over repetitions in new processes. Repetitions of all engines are
interleaved, so a busy moment of the machine affects all of them. Timings on a busy machine are worthless.
A ratio in brackets is relative to Optuna's TPE on the same space and history.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bough
from benchmarks.problems import build
from benchmarks.problems.base import Config

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ENGINES = {"compiled": {"BOUGH_CORE": "compiled"}, "numpy": {"BOUGH_CORE": "numpy"}, "optuna": {}}
SPACES = {"cash": 100, "large-shared": 100, "rbv2_super": 100, "pipeline": 50}
SIZES = (1_000, 10_000, 100_000)
LATE_TRIALS, NEXT_TRIALS, BATCH = 10, 20, 64
GOAL_TRIALS, SURPRISING_TRIALS = 60, 1_000
OPTUNA_SIZE = 10_000
"""The size at which Optuna's TPE is compared with long studies of auto; more would take minutes."""
LONG_REPEATS = 2

Objective = Callable[[Config], float]


def smooth(space: bough.Space) -> Objective:
    """A cheap function of any space: bowls in its numbers, levels for its options, fixed by their names."""

    def fixed(*words: object) -> float:
        return int.from_bytes(hashlib.blake2b(repr(words).encode(), digest_size=4).digest()) / 2**32

    def value(config: Config) -> float:
        points = space.encode([config])
        total = 0.0
        for column in np.flatnonzero(space.layout.active(points.on)[0]):
            parameter = space.parameters[column]
            if space.layout.nominal[column]:
                total += 0.3 * fixed(parameter.path, config[parameter.name])
            else:
                total += float((points.x[0, column] - fixed(parameter.path)) ** 2)
        return total

    return value


def surprising(objective: Objective) -> Objective:
    """An objective plus a fixed draw from a Cauchy distribution for each config."""

    def value(config: Config) -> float:
        digest = hashlib.blake2b(repr(sorted(config.items())).encode(), digest_size=4).digest()
        unit = (int.from_bytes(digest) + 0.5) / 2**32
        return objective(config) + 0.05 * math.tan(math.pi * (unit - 0.5))

    return value


def problem(name: str) -> tuple[bough.Space, Objective]:
    if name == "rbv2_super":
        space = bough.Space.load(SHARED / "configspaces" / "yahpo_rbv2_super.json")
    elif name == "pipeline":
        space = _pipeline()
    else:
        chosen = build("cash-artificial" if name == "cash" else name, 0)
        return chosen.space, chosen.function
    return space, smooth(space)


def _pipeline() -> bough.Space:
    """Three independent choices, nested kernels: hundreds of paths."""
    unit = bough.Float(0, 1)
    kernels = bough.Choice(
        {"linear": {}, "rbf": {"gamma": unit}, "poly": {"degree": bough.Int(2, 5), "coef": unit}}
    )
    return bough.Space(
        {
            "scaler": bough.Choice({"none": {}, "standard": {}, "quantile": {"bins": bough.Int(10, 100)}}),
            "reducer": bough.Choice(
                {
                    "none": {},
                    "pca": {"keep": unit, "whiten": bough.Categorical([False, True])},
                    "best": {"k": unit},
                }
            ),
            "model": bough.Choice(
                {
                    "svm": {"C": unit, "kernel": kernels},
                    "logistic": {"penalty": unit, "ratio": unit},
                    "forest": {
                        "trees": bough.Int(10, 200),
                        "depth": bough.Int(1, 20),
                        "leaf": bough.Int(1, 20),
                    },
                    "boosting": {"stages": bough.Int(10, 200), "rate": unit, "subsample": unit},
                    "neighbours": {
                        "count": bough.Int(1, 40),
                        "weights": bough.Categorical(["uniform", "distance"]),
                    },
                    "bayes": {"smoothing": unit},
                }
            ),
        }
    )


def bough_study(name: str, trials: int) -> list[float]:
    space, objective = problem(name)
    study = bough.Study(space, seed=1)
    return [_ask(study, objective) for _ in range(trials)]


def _ask(study: bough.Study, objective: Objective) -> float:
    begin = time.process_time()
    trial = study.ask()
    spent = time.process_time() - begin
    study.tell(trial, objective(trial.config))
    return 1e3 * spent


def optuna_study(name: str, trials: int) -> list[float]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space, objective = problem(name)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    return [_optuna_ask(study, space, objective) for _ in range(trials)]


def _optuna_ask(study: Any, space: bough.Space, objective: Objective) -> float:
    """Suggest each parameter once its condition holds; evaluating conditions is not part of the time."""
    spent, begin = 0.0, time.process_time()
    trial = study.ask()
    spent += time.process_time() - begin
    x = np.full((1, len(space)), 0.5)
    for column, parameter in enumerate(space.parameters):
        if not space.layout.active(space.snap(x).on)[0, column]:
            continue
        domain, path = parameter.domain, parameter.path
        begin = time.process_time()
        if isinstance(domain, bough.Categorical):
            value = domain.options[trial.suggest_categorical(path, list(range(len(domain.options))))]
        elif isinstance(domain, bough.Int):
            value = trial.suggest_int(path, domain.low, domain.high, log=domain.log)
        else:
            value = trial.suggest_float(path, domain.low, domain.high, log=domain.log)
        spent += time.process_time() - begin
        x[0, column] = domain.position(domain.ranks([value]))[0]
    study.tell(trial, objective(space.decode(space.snap(x))[0]))
    return 1e3 * spent


def long_study(size: int) -> dict[str, float]:
    """A study with ``size`` added results: the first suggestion, the mean of the next ones, peak memory."""
    space, objective = problem("cash")
    study = bough.Study(space, seed=0)
    study.add_many((config, objective(config)) for config in space.sample(size, np.random.default_rng(0)))
    return _first_and_next(lambda: _ask(study, objective))


def optuna_long_study(size: int) -> dict[str, float]:
    """The same for Optuna's TPE."""
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space, objective = problem("cash")
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    configs = space.sample(size, np.random.default_rng(0))
    for config, active in zip(configs, space.layout.active(space.encode(configs).on)):
        params, distributions = {}, {}
        for column in np.flatnonzero(active):
            name, path, domain = (
                getattr(space.parameters[column], key) for key in ("name", "path", "domain")
            )
            if isinstance(domain, bough.Categorical):
                params[path] = int(domain.ranks([config[name]])[0])
                distributions[path] = CategoricalDistribution(list(range(len(domain.options))))
            else:
                params[path] = config[name]
                make = IntDistribution if isinstance(domain, bough.Int) else FloatDistribution
                distributions[path] = make(domain.low, domain.high, log=domain.log)
        study.add_trial(
            optuna.trial.create_trial(value=objective(config), params=params, distributions=distributions)
        )
    return _first_and_next(lambda: _optuna_ask(study, space, objective))


def _first_and_next(ask: Callable[[], float]) -> dict[str, float]:
    first = ask()
    after = float(np.mean([ask() for _ in range(NEXT_TRIALS)]))
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"first": first, "next": after, "MB": megabytes}


def batch() -> float:
    """Seconds of CPU for ``ask(64)`` at 500 results."""
    space, objective = problem("cash")
    study = bough.Study(space, seed=0)
    study.add_many((config, objective(config)) for config in space.sample(500, np.random.default_rng(0)))
    _ask(study, objective)
    begin = time.process_time()
    study.ask(BATCH)
    return time.process_time() - begin


def objectives(name: str) -> dict[str, float]:
    """CPU ms of a suggestion for one objective and for two: the mean of the last ones."""
    space, objective = problem(name)
    found = {}
    for number in ("one", "two"):
        study = bough.Study(
            space, seed=1, objectives={"a": "minimize", "b": "minimize"} if number == "two" else None
        )
        times = []
        for _ in range(GOAL_TRIALS):
            begin = time.process_time()
            trial = study.ask()
            times.append(1e3 * (time.process_time() - begin))
            value = objective(trial.config)
            other = float(np.sum((space.encode([trial.config]).x - 0.8) ** 2))
            study.tell(trial, {"a": value, "b": other} if number == "two" else value)
        found[number] = float(np.mean(times[-LATE_TRIALS:]))
    return found


def surprising_study(engine: str) -> dict[str, float]:
    """CPU ms of suggestions if results are often far from the model's predictions."""
    if engine == "optuna":
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        peer = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
        ask = functools.partial(_optuna_ask, peer)
    else:
        ask = None
    space, objective = problem("cash")
    objective = surprising(objective)
    study = bough.Study(space, seed=1)
    times = [ask(space, objective) if ask else _ask(study, objective) for _ in range(SURPRISING_TRIALS)]
    return {"late": float(np.mean(times[-100:])), "longest": float(np.max(times))}


def measure(engine: str, part: str, argument: str) -> dict[str, float] | None:
    """Run one part in a new process, with one thread."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cost", "--inside", engine, part, argument],
        env={**os.environ, **threads, **ENGINES[engine]},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"  {engine}: {(done.stderr.splitlines() or ['no answer'])[-1]}", flush=True)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def least(part: str, argument: str, repeat: int, engines: Sequence[str]) -> dict[str, dict[str, float]]:
    """The numbers of each engine that ran, each the minimum over interleaved repetitions."""
    found: dict[str, dict[str, float]] = {}
    for _ in range(repeat):
        for engine in engines:
            if (run := measure(engine, part, argument)) is not None:
                known = found.setdefault(engine, run)
                found[engine] = {key: min(known[key], value) for key, value in run.items()}
    return found


def _inside(engine: str, part: str, argument: str) -> dict[str, float]:
    if part == "spaces":
        run = optuna_study if engine == "optuna" else bough_study
        return {"ms": float(np.mean(run(argument, SPACES[argument])[-LATE_TRIALS:]))}
    if part == "objectives":
        return objectives(argument)
    if part == "surprising":
        return surprising_study(engine)
    if part == "long":
        return (optuna_long_study if engine == "optuna" else long_study)(int(argument))
    return {"seconds": batch()}


def _ratio(found: dict[str, dict[str, float]], engine: str, key: str) -> str:
    known = found.get("optuna")
    return f" ({found[engine][key] / known[key]:4.1f} x)" if known and engine != "optuna" else ""


def report_spaces(repeat: int) -> None:
    print(f"CPU ms of a suggestion: minimum of {repeat} runs (ratio to Optuna's TPE)")
    for name, trials in SPACES.items():
        found = least("spaces", name, repeat, list(ENGINES))
        cells = "  ".join(f"{e} {run['ms']:7.1f}{_ratio(found, e, 'ms')}" for e, run in found.items())
        print(f"  {name:13} n = {trials:3}  {cells}", flush=True)


def report_long(repeat: int) -> None:
    print("long studies: first suggestion, mean of the next (ratio to Optuna's TPE), peak memory")
    for size in SIZES:
        engines = list(ENGINES) if size == OPTUNA_SIZE else ["compiled", "numpy"]
        found = least("long", str(size), min(repeat, LONG_REPEATS), engines)
        for engine, run in found.items():
            times = f"first {run['first']:7.0f} ms  next {run['next']:6.1f} ms{_ratio(found, engine, 'next')}"
            print(f"  n = {size:6}  {engine:8}  {times}  {run['MB']:4.0f} MB", flush=True)


def report_batch(repeat: int) -> None:
    for engine, run in least("batch", "", repeat, ["compiled", "numpy"]).items():
        print(f"ask({BATCH}) at n = 500  {engine:8}  {run['seconds']:.2f} s", flush=True)


def report_objectives(repeat: int) -> None:
    print(f"CPU ms of a suggestion at n = {GOAL_TRIALS} for two objectives and for one")
    for name in ("cash", "yahpo-xgboost-3", "rbv2_super"):
        for engine, run in least("objectives", name, repeat, ["compiled", "numpy"]).items():
            two, one = run["two"], run["one"]
            print(f"  {name:15} {engine:8}  {two:6.1f}  {one:6.1f}  ({two / one:.1f} x)", flush=True)


def report_surprising(repeat: int) -> None:
    print(f"surprising results, n = {SURPRISING_TRIALS}: mean of the last 100 suggestions, and the longest")
    found = least("surprising", "", min(repeat, LONG_REPEATS), list(ENGINES))
    for engine, run in found.items():
        late = f"{run['late']:6.1f} ms{_ratio(found, engine, 'late')}"
        print(f"  {engine:8}  {late}  {run['longest']:6.0f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cost",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "parts", nargs="*", help="spaces, long, batch, objectives, surprising; by default all"
    )
    parser.add_argument("--repeat", type=int, default=3, help="processes per number")
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(_inside(*options.inside)))
        return
    reports = {
        "spaces": report_spaces,
        "long": report_long,
        "batch": report_batch,
        "objectives": report_objectives,
        "surprising": report_surprising,
    }
    for part in options.parts or reports:
        reports[part](options.repeat)


if __name__ == "__main__":
    main()
