"""Sampling, encoding and decoding of large branching spaces, compared with ConfigSpace in one run.

    python -m benchmarks.space_sampling [--configs 10000] [--repeats 5]

ConfigSpace's ``sample_configuration`` returns vectors that are converted to values when read; bough's
``sample`` returns finished dicts. The time that ConfigSpace takes to convert its vectors is shown as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ConfigSpace import ConfigurationSpace

import bough

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "configspaces"
FILES = ("auto-sklearn_2017_11.json", "autoweka.json")


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """The duration of the call in milliseconds, and its result."""
    start = time.perf_counter()
    result = call(*arguments)
    return 1e3 * (time.perf_counter() - start), result


def one_round(
    ours: bough.Space, theirs: ConfigurationSpace, n: int, rng: np.random.Generator
) -> dict[str, float]:
    """Milliseconds of each task for ``n`` configs."""
    times: dict[str, float] = {}
    times["ConfigSpace sample (vectors)"], _ = timed(theirs.sample_configuration, n)
    times["bough sample (dicts)"], configs = timed(ours.sample, n, rng)
    times["bough encode"], points = timed(ours.encode, configs)
    times["bough decode"], again = timed(ours.decode, points)
    assert [config.keys() for config in again] == [config.keys() for config in configs]
    return times


def measure(path: Path, n: int, repeats: int) -> dict[str, float]:
    """The shortest time of each task; tasks are interleaved, so other load affects all of them."""
    ours, theirs = bough.Space.load(path), ConfigurationSpace.from_json(path)
    rng = np.random.default_rng(0)
    rounds = [one_round(ours, theirs, n, rng) for _ in range(repeats)]
    best = {task: min(times[task] for times in rounds) for task in rounds[0]}
    vectors = theirs.sample_configuration(n)
    best["ConfigSpace vectors to dicts"], _ = timed(lambda: [dict(vector) for vector in vectors])
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Sampling 10,000 configs, beside ConfigSpace.")
    parser.add_argument("--configs", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if not FOLDER.is_dir():
        raise SystemExit(f"needs the ConfigSpace files in {FOLDER}, which is not there")
    for name in FILES:
        print(f"{name}: {options.configs} configs, best of {options.repeats}")
        for task, milliseconds in measure(FOLDER / name, options.configs, options.repeats).items():
            print(f"  {task:<30}{milliseconds:>10.1f} ms")


if __name__ == "__main__":
    main()
