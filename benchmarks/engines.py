"""``auto`` with its compiled core against ``auto`` in NumPy: are the results of studies equally good?

    python -m benchmarks.engines [--seeds 10] [--workers 2]

Both compute the same formulas, but they round differently. If rounding leads a search to another local
optimum, the rest of the study differs. So the tests compare single proposals, and this benchmark compares
whole studies: 22 synthetic problems and 20 development tasks of YAHPO Gym. The interval is that of
``benchmarks.compare``: the probability of superiority, ties counting half, with its 90 % bootstrap interval
over problems. Inside 0.45 to 0.55 the two are equivalent. Rows are kept; an interrupted benchmark continues.
"""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import NamedTuple

from benchmarks.compare import table
from benchmarks.kept_rows import RESULTS, KeptRows
from benchmarks.pool import Failure, in_processes
from benchmarks.problems import build
from benchmarks.problems.yahpo import DEVELOPMENT
from benchmarks.runner import Record, run_study
from benchmarks.spec import expand
from bough.gp.core import compiled_core

ENGINES = ("compiled", "numpy")
SYNTHETIC = ("small*-shifted", "large*-shifted", "branches", "further")
SURROGATES = 20
TRIALS = 60
FIRST_SEED = 700


class Run(NamedTuple):
    """One study. Tasks of the same space have different seeds, so they have different initial designs."""

    engine: str
    problem: str
    seed: int


def runs(seeds: int) -> list[Run]:
    synthetic = [name for entry in SYNTHETIC for name in expand(entry)]
    surrogates = DEVELOPMENT[:: len(DEVELOPMENT) // SURROGATES][:SURROGATES]
    return [
        Run(engine, problem, FIRST_SEED + 100 * repetition + place)
        for repetition in range(seeds)
        for place, problem in enumerate((*synthetic, *surrogates))
        for engine in ENGINES
    ]


def values_of(run: Run) -> list[float | None]:
    """The value of each trial; None where it failed."""
    os.environ["BOUGH_CORE"] = run.engine
    compiled_core.cache_clear()
    problem = build(run.problem, run.seed)
    record = run_study(problem, "auto", run.seed, TRIALS)
    return [value if math.isfinite(value) else None for value in record.values]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows", type=Path, default=RESULTS / "engines.jsonl")
    given = parser.parse_args()
    kept = KeptRows(given.rows)
    wanted = {" ".join(map(str, run)): run for run in runs(given.seeds)}
    missing = [run for key, run in wanted.items() if key not in kept]
    for run, found in in_processes(values_of, missing, workers=given.workers):
        if isinstance(found, Failure):
            print(f"{' '.join(map(str, run))}: {found.reason}", flush=True)
        else:
            kept.once(" ".join(map(str, run)), lambda found=found: found)
    records = []
    for key, run in wanted.items():
        if key in kept:
            found = kept.once(key, list)
            told = [math.nan if value is None else value for value in found]
            records.append(Record(run.problem, run.engine, run.seed, TRIALS, told, [], []))
    for tolerance in (0.0, 0.01):
        print(f"differences below {tolerance:.0%} of the early spread are ties")
        print("\n".join(table(records, "compiled", tolerance)[2:]))


if __name__ == "__main__":
    main()
