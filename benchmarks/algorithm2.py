"""Ma & Blaschko 2020, appendix C: the cost of Algorithm 2 and of searching every leaf, as trees grow.

    python -m benchmarks.algorithm2 [--depths 1 2 3 4 5 6]

The spaces are perfect binary trees with two numbers at every vertex; an additive tree is fitted to 60 points.
Measured is the CPU time of the next proposal by the confidence bound: vertex by vertex (Algorithm 2), and by
maximising the bound of the sum from two starts in every leaf. One BLAS thread; the median of five runs.
Results: ``results/ma-appendix-c.json``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import bough
from bough.acquisition.criterion import Expected
from bough.acquisition.functions import lcb
from bough.acquisition.maximise.paths import search_paths
from bough.gp.kernels import SE
from bough.gp.likelihood import Data
from bough.papers.ma2020.additive_tree import additive_tree
from bough.papers.ma2020.changes import AdditiveGP
from bough.papers.ma2020.separable_ucb import additive_ucb

RESULTS = Path(__file__).parent / "results" / "ma-appendix-c.json"
COLUMNS, TRIALS, REPEATS = 2, 60, 5


def binary_tree(depth: int, node: str = "") -> dict[str, bough.Float | bough.Choice]:
    """A perfect binary tree of choices with ``COLUMNS`` numbers at each of its 2^(depth + 1) - 1 vertices."""
    inside: dict[str, bough.Float | bough.Choice] = {
        f"x{node}_{i}": bough.Float(0, 1) for i in range(COLUMNS)
    }
    if depth:
        options = {digit: binary_tree(depth - 1, node + digit) for digit in "01"}
        inside[f"d{node}"] = bough.Choice(options)
    return inside


def compare(depth: int) -> dict[str, float]:
    """CPU milliseconds of both searches, and how much worse the bound of Algorithm 2's point is."""
    space = bough.Space(binary_tree(depth))
    leaves = 2**depth
    rng = np.random.default_rng(depth)
    points = space.encode(space.sample(TRIALS, rng))
    y = rng.standard_normal(TRIALS)
    surrogate = additive_tree(space.layout, space.tree, base=SE)
    theta = surrogate.model.prior.median
    data = Data(points, y, np.full(TRIALS, np.nan))
    posteriors = [AdditiveGP.of(known) for known in surrogate.posterior(theta, data)]
    bound = Expected(posteriors, [float(y.min())] * len(posteriors), lcb())
    near = points.take(np.argsort(y))
    spent: dict[str, list[float]] = {"algorithm2": [], "every_leaf": []}
    for seed in range(REPEATS):
        begin = time.process_time()
        additive_ucb(space, posteriors, TRIALS + 1, near=near, avoid=points, rng=np.random.default_rng(seed))
        middle = time.process_time()
        search_paths(
            space, bound, near=near, avoid=points, rng=np.random.default_rng(seed),
            branches=leaves, starts=2 * leaves,
        )  # fmt: skip
        end = time.process_time()
        spent["algorithm2"].append(1e3 * (middle - begin))
        spent["every_leaf"].append(1e3 * (end - middle))
    return {"leaves": leaves, **{name: round(float(np.median(ms)), 2) for name, ms in spent.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--depths", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6])
    options = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        for depth in options.depths:
            row = compare(depth)
            rows.append(row)
            print(
                f"{row['leaves']:4.0f} leaves: Algorithm 2 {row['algorithm2']:8.1f} ms, "
                f"every leaf {row['every_leaf']:8.1f} ms",
                flush=True,
            )
    RESULTS.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
