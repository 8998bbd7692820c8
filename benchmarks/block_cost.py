"""Time saved by inference in blocks (Jenatton et al. 2017, table 1; Ma & Blaschko 2020, App. B; Lévesque et
al. 2017, eq. 9-10).

    python -m benchmarks.block_cost

Prints CPU milliseconds, the minimum of several calls, of the log posterior with its gradient and of the
prediction of 500 points: once with one factorisation per block, once with a single dense one. ``tree``
couples its blocks by the V weights of shared nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks import problems
from bough.gp import likelihood
from bough.gp.likelihood import Data, GPModel, log_posterior
from bough.gp.posterior import posterior
from bough.papers.jenatton2017.block_model import block_log_posterior
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.papers.levesque2017.surrogates import conditional
from bough.papers.ma2020.additive_tree import additive_tree
from bough.space.sampling import sample_points

SIZES = (50, 100, 200, 400, 1000)
CALLS, PREDICTED = 5, 500


def least(call: Callable[[], object]) -> float:
    """CPU milliseconds."""
    spent = []
    for _ in range(CALLS):
        begin = time.process_time()
        call()
        spent.append(1e3 * (time.process_time() - begin))
    return min(spent)


def cost(model: GPModel, data: Data, points) -> str:
    theta = np.clip(model.prior.median, -3, 1)
    known = posterior(model, theta, data)
    fit, predict = least(lambda: log_posterior(model, theta, data)), least(lambda: known.predict(points))
    return f"{fit:.1f} / {predict:.1f}"


def tree_cost(surrogate: SemiParametric, data: Data, points) -> str:
    """As ``cost``, with eq. (3) of Jenatton et al. or, if not structured, the dense eq. (4)."""
    model, dense = surrogate.model, surrogate.model.dense
    theta = np.clip(dense.prior.median, -3, 1)
    (known,) = surrogate.posterior(theta, data)
    fit = least(
        lambda: (
            block_log_posterior(model, theta, data)
            if surrogate.structured
            else log_posterior(dense, theta, data)
        )
    )
    return f"{fit:.1f} / {least(lambda: known.predict(points)):.1f}"


def main() -> None:
    likelihood.BLOCKS_FROM_ROWS = 0
    print("| space | method | n | blocks: fit / predict | dense: fit / predict |\n|---|---|---:|---:|---:|")
    for name in ("small-shared", "cash-artificial"):
        space = problems.build(name, 0).space
        for label, surrogate in (
            ("add-tree", additive_tree(space.layout, space.tree)),
            ("conditional", conditional(space.layout)),
        ):
            for n in SIZES:
                rng = np.random.default_rng(0)
                data = Data(sample_points(space, n, rng), rng.normal(size=n), np.full(n, np.nan)).sorted()
                points = sample_points(space, PREDICTED, rng)
                by_blocks = cost(surrogate.model, data, points)
                dense = cost(replace(surrogate.model, blocks=None), data, points)
                print(f"| {name} | `{label}` | {n} | {by_blocks} | {dense} |", flush=True)
    for name in ("small-shared", "large-shared"):
        space = problems.build(name, 0).space
        tree = SemiParametric(space.layout, space.tree)
        for n in SIZES:
            rng = np.random.default_rng(0)
            data = Data(sample_points(space, n, rng), rng.normal(size=n), np.full(n, np.nan)).sorted()
            points = sample_points(space, PREDICTED, rng)
            by_blocks = tree_cost(tree, data, points)
            dense = tree_cost(replace(tree, structured=False), data, points)
            size = tree.features.size
            print(f"| {name} (V = {size}) | `tree` | {n} | {by_blocks} | {dense} |", flush=True)


if __name__ == "__main__":
    main()
