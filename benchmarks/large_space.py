"""Can every method handle a large space? CPU seconds of 20 trials on auto-sklearn's 138 parameters.

    python -m benchmarks.large_space [--methods auto,tree] [--trials 20]

The space is the published ``auto-sklearn_2017_11.json``: 138 parameters, nearly all conditional, dozens of
branches in several independent choices. The objective is artificial and takes no time: each active parameter
adds its squared distance from its optimum.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import bough
from benchmarks.problems.base import Config

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "configspaces" / "auto-sklearn_2017_11.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=",".join(bough.methods()))
    parser.add_argument("--trials", type=int, default=20)
    options = parser.parse_args()
    space = bough.Space.load(FILE)
    target = np.random.default_rng(0).random(len(space))

    def objective(config: Config) -> float:
        point = space.encode([config])
        active = space.layout.active(point.on)[0]
        return float(np.sum((point.x[0] - target)[active] ** 2))

    print(f"{len(space)} parameters, {options.trials} trials\n\n{'method':24s} {'seconds':>8s} {'best':>8s}")
    for name in options.methods.split(","):
        study = bough.Study(space, method=name, seed=0)
        begin = time.process_time()
        study.run(objective, trials=options.trials, progress=False)
        print(f"{name:24s} {time.process_time() - begin:8.1f} {study.best.value:8.3f}", flush=True)


if __name__ == "__main__":
    main()
