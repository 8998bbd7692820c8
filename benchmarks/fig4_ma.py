"""Ma & Blaschko 2020, figure 4: how well surrogates predict from few points of a branching function.

    python -m benchmarks.fig4_ma [--quick] [--seeds 40] [--original]

Computes the test error over the number of training points on Jenatton's small function with shared variables,
for the additive tree, the semi-parametric tree and independent processes. As in the paper, decisions and
numbers are drawn uniformly, and there are 50 test points. As in its released code, the kernel is the squared
exponential, targets are centred but not scaled, and the terms of the leaves are a quarter of Jenatton's,
(x/2)² instead of x². ``--original`` uses Jenatton's function.

The claim: the additive tree needs 24 points for the error that independent processes reach with 44. Errors
are medians over seeds, because in a few designs a leaf has only one or two points, too few for any model.
They are kept in ``results/ma-fig4.json``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import bough
from benchmarks.problems import jenatton
from benchmarks.statistics import bootstrap
from bough.gp.kernels import SE
from bough.gp.likelihood import Data
from bough.papers.jenatton2017.independent import Independent
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.papers.ma2020.additive_tree import additive_tree
from bough.points import FloatArray
from bough.surrogates.base import Surrogate

RESULTS = Path(__file__).parent / "results" / "ma-fig4.json"
RESULTS_ORIGINAL = RESULTS.with_name("ma-fig4-original.json")
TEST_POINTS, MOST = 50, 60
FEW, MANY = 24, 44
"""Numbers of training points that the paper compares: of the additive tree, of independent processes."""


def surrogates(space: bough.Space) -> dict[str, Surrogate]:
    return {
        "add-tree": additive_tree(space.layout, space.tree, base=SE),
        "tree": SemiParametric(space.layout, space.tree, base=SE),
        "independent": Independent(space.layout, space.tree, base=SE),
    }


def test_error(name: str, n: int, seed: int, original: bool) -> float:
    """Mean squared error on the test points after fitting to the first n of a seed's training points."""
    problem = jenatton("small-shared")
    rng = np.random.default_rng([seed, 4])
    configs = problem.space.sample(TEST_POINTS, rng) + problem.space.sample(MOST, rng)[:n]
    points = problem.space.encode(configs)
    y = np.array([problem.function(config) for config in configs])
    if not original:
        y -= 0.75 * np.array([config[f"x{problem.branch(config)}"] ** 2 for config in configs])
    train, test = slice(TEST_POINTS, None), slice(0, TEST_POINTS)
    centre = y[train].mean()
    surrogate = surrogates(problem.space)[name]
    data = Data(points.take(train), y[train] - centre, np.full(n, np.nan))
    theta = surrogate.fit(data, np.random.default_rng(seed))
    mean, _ = surrogate.posterior(theta, data)[0].predict(points.take(test))
    return float(np.mean((centre + mean - y[test]) ** 2))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="three seeds, three sizes; keeps nothing")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--original", action="store_true", help="Jenatton's function, with steeper leaves")
    options = parser.parse_args()
    seeds = range(3 if options.quick else options.seeds)
    sizes = (12, FEW, MANY) if options.quick else (8, 12, 16, 20, FEW, 28, 32, 36, 40, MANY, 52, MOST)
    names = ("add-tree", "tree", "independent")
    print(f"log10 of the test MSE over {len(seeds)} seeds: median (lower and upper quartile)")
    print("   n" + "".join(f"{name:>24}" for name in names))
    errors = {name: np.empty((len(sizes), len(seeds))) for name in names}
    with threadpool_limits(1):
        for i, n in enumerate(sizes):
            line = f"{n:4d}"
            for name in names:
                errors[name][i] = [test_error(name, n, seed, options.original) for seed in seeds]
                low, middle, high = np.quantile(np.log10(errors[name][i]), [0.25, 0.5, 0.75])
                line += f"{middle:8.2f} ({low:5.2f}, {high:5.2f})"
            print(line, flush=True)
    few, many = (
        np.log10(errors["add-tree"][sizes.index(FEW)]),
        np.log10(errors["independent"][sizes.index(MANY)]),
    )
    low, high = bootstrap(
        np.stack([few, many], axis=1),
        lambda pair: float(np.median(pair[:, 0]) - np.median(pair[:, 1])),
        np.random.default_rng(0),
    )
    print(
        f"add-tree at {FEW} points {np.median(few):.2f}, independent at {MANY} points {np.median(many):.2f}: "
        f"difference {np.median(few) - np.median(many):+.2f} (90 % bootstrap: {low:+.2f} to {high:+.2f})"
    )
    if not options.quick:
        save(RESULTS_ORIGINAL if options.original else RESULTS, sizes, errors)


def save(path: Path, sizes: Sequence[int], errors: dict[str, FloatArray]) -> None:
    """log10 of the errors, by method and size, a number for each seed."""
    kept = {name: np.log10(error).round(3).tolist() for name, error in errors.items()}
    lines = [f'"sizes": {json.dumps(list(sizes))}']
    lines += [f'"{name}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in kept.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"kept in {path}")


if __name__ == "__main__":
    main()
