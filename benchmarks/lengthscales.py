"""The prior of ``auto``'s length-scales against the shorter one that predicts best, in whole studies.

    python -m benchmarks.lengthscales              # ten minutes on two cores
    python -m benchmarks.lengthscales --seeds 10

Development problems have other seeds than those the shorter prior was found by. On tasks of one space, each
has its own seed: a shared seed would give all of them the same initial design.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks import spec
from benchmarks.compare import table
from benchmarks.pool import Failure, in_processes
from benchmarks.problems import build
from benchmarks.runner import Record, run_study
from bough.auto import Auto
from bough.gp.priors import LogNormal
from bough.space import Space
from bough.strategies.model_based import ModelBased
from bough.surrogates.nested import LENGTHSCALE, nested

SYNTHETIC = (
    "edges", "product", "switches", "valley", "plateaus", "modes", "rotated", "multiply", "nested", "uneven",
    "path", "clash", "ties", "scales", "deep", "either", "many", "fails-by-shared",
)  # fmt: skip
SURROGATES = (
    "yahpo-xgboost-3", "yahpo-xgboost-12", "yahpo-xgboost-23", "yahpo-xgboost-54", "yahpo-xgboost-181",
    "yahpo-xgboost-334", "yahpo-xgboost-1063", "yahpo-xgboost-1468", "yahpo-lcbench-3945",
    "yahpo-lcbench-167152", "yahpo-rpart-1485",
)  # fmt: skip
PRIORS = {"auto": LENGTHSCALE, "a shorter prior": LogNormal(math.log(0.25), 0.7)}
FIRST_SEED = 400
TRIALS = 60


@dataclass(frozen=True)
class Pair:
    """One instance of a problem, on which both priors run."""

    group: str
    problem: str
    seed: int


def pairs(seeds: int) -> Iterator[Pair]:
    groups = {
        "synthetic": SYNTHETIC,
        "surrogates": SURROGATES,
        "published": tuple(spec.load("published").problems),
    }
    for repetition in range(seeds):
        for group, problems in groups.items():
            for place, problem in enumerate(problems):
                own = 0 if group == "synthetic" else place
                yield Pair(group, problem, FIRST_SEED + 100 * repetition + own)


def strategy(space: Space, label: str) -> ModelBased:
    """``auto`` with another prior."""
    return replace(
        Auto().strategy(space), surrogate=nested(space.layout, space.tree, lengthscale=PRIORS[label])
    )


def run(pair: Pair) -> tuple[list[Record], dict[str, bool] | None]:
    """A record per prior, and whether each found the best branch, where that is known."""
    records, found = [], {}
    for label in PRIORS:
        problem = build(pair.problem, pair.seed)
        record = run_study(problem, strategy(problem.space, label), pair.seed, TRIALS)
        records.append(replace(record, problem=pair.problem, method=label))
        told = [value if value == value else float("inf") for value in record.values]
        if problem.best_branch is not None:
            found[label] = record.branches[told.index(min(told))] == str(problem.best_branch)
    return records, found or None


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lengthscales",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    records: dict[str, list[Record]] = {}
    found: list[dict[str, bool]] = []
    for pair, answer in in_processes(run, pairs(options.seeds), workers=options.workers):
        if isinstance(answer, Failure):
            print(f"{pair.problem}, seed {pair.seed}: {answer.reason}")
            continue
        records.setdefault(pair.group, []).extend(answer[0])
        if answer[1] is not None:
            found.append(answer[1])
    for group, some in records.items():
        for tolerance in (0.0, 0.01):
            print(f"\n{group}, differences below {tolerance:.0%} of the early spread are ties")
            print("\n".join(table(some, "auto", tolerance)[2:]))
    for label in PRIORS:
        print(f"{label}: the best branch in {sum(each[label] for each in found)} of {len(found)}")


if __name__ == "__main__":
    main()
