"""Sampling, encoding and decoding of large branching spaces, beside ConfigSpace, in one run.

    python -m benchmarks.space_sampling [--configs 10000] [--repeats 5]

ConfigSpace's ``sample_configuration`` returns vectors that turn into values when they are read; bough's
``sample`` returns finished dicts. The time that ConfigSpace takes to read its vectors out is shown as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bough

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "configspaces"
FILES = ("auto-sklearn_2017_11.json", "autoweka.json")


def best_time(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The shortest of ``repeats`` runs in milliseconds, and what the last run returned."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times), result


def measure(path: Path, n: int, repeats: int) -> dict[str, float]:
    """Milliseconds per task for ``n`` configs of the space in ``path``."""
    from ConfigSpace import ConfigurationSpace

    ours, theirs = bough.Space.load(path), ConfigurationSpace.from_json(path)
    rng = np.random.default_rng(0)
    rows: dict[str, float] = {}
    rows["ConfigSpace sample (vectors)"], vectors = best_time(lambda: theirs.sample_configuration(n), repeats)
    rows["bough sample (dicts)"], configs = best_time(lambda: ours.sample(n, rng), repeats)
    rows["bough encode"], points = best_time(lambda: ours.encode(configs), repeats)
    rows["bough decode"], again = best_time(lambda: ours.decode(points), repeats)
    rows["ConfigSpace vectors to dicts"], _ = best_time(lambda: [dict(vector) for vector in vectors], 1)
    assert [config.keys() for config in again] == [config.keys() for config in configs]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
