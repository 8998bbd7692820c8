"""``auto`` against a variant on noisy problems, judged by what the study recommends.

    python -m benchmarks.recommended blind           # five minutes on two cores

Under noise the best of many results is lucky rather than good. So a study is judged by the true value of the
configuration that ``study.recommend()`` names after 60, 100 and 150 trials. A line counts the pairs that
``auto`` won and lost, then those whose difference matters (1 % of the interquartile range of the true values
of the first quarter), then the runs of each that recommend the best branch.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import bough
from benchmarks.pool import Failure, in_processes
from benchmarks.problems import build
from benchmarks.problems.noise import NOISY
from benchmarks.variants import VARIANTS
from bough.auto import Auto

PROBLEMS = ("noisy", "noise-on-edges", *NOISY)
FIRST_SEED = 200
AT = (60, 100, 150)
TOLERANCE = 0.01


@dataclass(frozen=True)
class Run:
    """One study to run. variant: None for ``auto`` itself."""

    problem: str
    seed: int
    variant: str | None = None


@dataclass(frozen=True)
class Recommended:
    """The true values of what a study recommends, whether it is in the best branch, and the early spread."""

    values: Sequence[float]
    right: Sequence[bool]
    spread: float


def run(task: Run) -> Recommended:
    problem = build(task.problem, task.seed)
    make = Auto().strategy if task.variant is None else VARIANTS[task.variant]
    study = bough.Study(problem.space, method=make(problem.space), seed=task.seed)
    true = problem.noiseless or problem.function
    values, right = [], []
    for trials in AT:
        study.run(problem.function, trials, progress=False)  # trials in all
        config = study.recommend().trial.config
        values.append(true(config))
        right.append(problem.branch(config) == problem.best_branch)
    early = [true(trial.config) for trial in study.trials[: AT[-1] // 4]]
    return Recommended(values, right, float(np.subtract(*np.quantile(early, [0.75, 0.25]))))


def line(pairs: Sequence[tuple[Recommended, Recommended]]) -> str:
    """What ``auto`` won and lost against the variant, given both results of each pair."""
    parts = []
    for place, trials in enumerate(AT):
        ahead = np.array([(two.values[place] - one.values[place]) / one.spread for one, two in pairs])
        matter = ahead[np.abs(ahead) > TOLERANCE]
        right = [sum(each[side].right[place] for each in pairs) for side in (0, 1)]
        parts.append(
            f"{trials}: {np.sum(ahead > 0)}:{np.sum(ahead < 0)}, that matter "
            f"{np.sum(matter > 0)}:{np.sum(matter < 0)}, best branch {right[0]}, {right[1]}"
        )
    return " | ".join(parts)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recommended",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    todo = [
        Run(problem, FIRST_SEED + place, variant)
        for place in range(options.seeds)
        for problem in options.problems
        for variant in (None, options.variant)
    ]
    found: dict[Run, Recommended] = {}
    for task, answer in in_processes(run, todo, workers=options.workers):
        if isinstance(answer, Failure):
            print(f"{task.problem}, seed {task.seed}: {answer.reason}")
        else:
            found[task] = answer
    pairs = {
        task: (found[task], found[other])
        for task in found
        if task.variant is None and (other := replace(task, variant=options.variant)) in found
    }
    for problem in options.problems:
        print(f"{problem:18} {line([both for task, both in pairs.items() if task.problem == problem])}")
    print(f"{'all':18} {line(list(pairs.values()))}")


if __name__ == "__main__":
    main()
