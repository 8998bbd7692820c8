"""What a suggestion costs on the CASH space (14 hyperparameters, 9 algorithms): CPU ms, one BLAS thread.

    python -m benchmarks.suggestion_cost [--methods auto,tpe,optuna,optuna-gp] [--seeds 3] [--sizes 500,2000]

First the mean over trials 70 to 80 of a study, refits included, side by side in one run (optuna: its TPE on
the conditional space; optuna-gp: its Gaussian process on the flattened one; both need `make bench-peers`).
Then `auto` in studies that hold many results already: the mean over the next 40 trials, and peak memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import bough
from benchmarks.peers import PEERS, run_peer
from benchmarks.problems import artificial_cash
from benchmarks.runner import run_study

MORE = 40


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default="auto,tpe,optuna,optuna-gp")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", default="500,2000")
    options = parser.parse_args()
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

    print("CPU ms of a suggestion, trials 70-80: mean over seeds (each seed); whole study of 80")
    for method in options.methods.split(","):
        late, total = [], []
        for seed in range(options.seeds):
            run = run_peer if method in PEERS else run_study
            ask_ms = in_a_process(run, artificial_cash(seed), method, seed, 80).ask_ms
            late.append(float(np.mean(ask_ms[70:])))
            total.append(sum(ask_ms) / 1e3)
        each = " ".join(f"{ms:.1f}" for ms in late)
        print(f"  {method:12s} {np.mean(late):8.1f}  ({each})   {np.mean(total):7.2f} s", flush=True)
    print(f"`auto` with many results: mean over {MORE} suggestions, the slowest, peak memory")
    for size in (int(text) for text in options.sizes.split(",") if text):
        mean, worst, megabytes = in_a_process(with_results, size)
        print(f"  n = {size:5d} {mean:8.1f} ms   slowest {worst:7.0f} ms   {megabytes:5.0f} MB", flush=True)


def in_a_process(function, *arguments):
    """The result of a call in a new process: nothing is cached there, and its memory is its own."""
    if function is run_peer:
        return run_peer(*arguments)
    import multiprocessing

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        # a problem holds closures, which do not travel: build it there
        if function is run_study:
            return pool.submit(_study, arguments[1], arguments[2], arguments[3]).result()
        return pool.submit(function, *arguments).result()


def _study(method: str, seed: int, trials: int):
    return run_study(artificial_cash(seed), method, seed, trials)


def with_results(size: int) -> tuple[float, float, float]:
    """Mean and largest CPU ms of the next suggestions after ``size`` results, and peak memory in MB."""
    problem = artificial_cash(0)
    study = bough.Study(problem.space, seed=0)
    for config in problem.space.sample(size, np.random.default_rng(0)):
        study.add(config, problem.function(config))
    study.tell(first := study.ask(), problem.function(first.config))  # opens the study: fits from scratch
    spent = []
    for _ in range(MORE):
        begin = time.process_time()
        trial = study.ask()
        spent.append(1e3 * (time.process_time() - begin))
        study.tell(trial, problem.function(trial.config))
    return float(np.mean(spent)), max(spent), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
