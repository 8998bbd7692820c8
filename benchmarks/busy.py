"""What a proposal of ``auto`` takes while other processes keep every core busy, and on an idle machine.

    python -m benchmarks.busy --sizes 100 1000

A study computes its proposals with one BLAS thread. ``threads`` lets BLAS use as many as there are cores, as
NumPy does by default. Numbers are wall-clock milliseconds of 30 proposals in a new process; repetitions of
both are interleaved, and the smallest of each is shown. Start it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numpy as np

import bough
from benchmarks.cost import problem
from bough.study import stored_study

PROPOSALS = 30


def proposals(size: int, threads: bool) -> dict[str, float]:
    """Milliseconds of proposals in a study with ``size`` results."""
    if threads:
        stored_study.one_blas_thread = nullcontext()  # type: ignore[assignment]
    space, objective = problem("cash")
    study = bough.Study(space, seed=1)
    study.add_many((config, objective(config)) for config in space.sample(size, np.random.default_rng(0)))
    took = []
    for _ in range(PROPOSALS):
        begin = time.perf_counter()
        trial = study.ask()
        took.append(1e3 * (time.perf_counter() - begin))
        study.tell(trial, objective(trial.config))
    return {"median": float(np.median(took)), "mean": float(np.mean(took)), "longest": max(took)}


def burn() -> None:
    while True:
        pass


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Processes that compute all the time."""
    running = [multiprocessing.Process(target=burn, daemon=True) for _ in range(processes)]
    for process in running:
        process.start()
    try:
        yield
    finally:
        for process in running:
            process.kill()


def measure(size: int, threads: bool) -> dict[str, float]:
    """The same in a new process, whose libraries choose the number of threads by themselves."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, "-m", "benchmarks.busy", "--inside", str(size), str(int(threads))]
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.busy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--inside", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(proposals(options.inside[0], bool(options.inside[1]))))
        return
    cores = os.cpu_count() or 1
    print(f"ms of a proposal of auto, smallest of {options.repeat} runs, {cores} cores")
    for load in (0, cores):
        for size in options.sizes:
            runs: dict[bool, list[dict[str, float]]] = {False: [], True: []}
            with busy(load):
                for _ in range(options.repeat):
                    for threads, found in runs.items():
                        found.append(measure(size, threads))
            for threads, found in runs.items():
                least = {key: min(run[key] for run in found) for key in found[0]}
                cells = "  ".join(f"{key} {value:7.1f}" for key, value in least.items())
                label = "threads" if threads else "one thread"
                print(f"  {load} busy processes  {size:5} results  {label:10}  {cells}", flush=True)


if __name__ == "__main__":
    main()
