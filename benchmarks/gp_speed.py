"""CPU time of Gaussian-process inference: additive tree, flat process and scikit-learn, blocks and dense.

    python -m benchmarks.gp_speed [--quick] [--html blocks.html]

All numbers are CPU milliseconds of a log likelihood with its gradient by all hyperparameters, the fastest of
several runs, with one BLAS thread.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from threadpoolctl import threadpool_limits

import bough
from bough.gp.kernels import Matern52, Scale
from bough.gp.likelihood import Data, GPModel, log_likelihood
from bough.gp.params import total_size
from bough.papers.jenatton2017.block_model import block_log_likelihood
from bough.papers.jenatton2017.semi_parametric import SemiParametric
from bough.papers.ma2020.additive_tree import additive_tree
from bough.points import FloatArray, Points

TARGETS = {200: 5.0, 500: 30.0}
"""The target for the additive tree: milliseconds by number of observations."""


def binary_tree(depth: int, columns: int, node: str = "") -> dict[str, bough.Float | bough.Choice]:
    """A perfect binary tree of choices, with ``columns`` numbers at each of its 2^(depth + 1) - 1 nodes."""
    inside: dict[str, bough.Float | bough.Choice] = {
        f"x{node}_{i}": bough.Float(0, 1) for i in range(columns)
    }
    if depth:
        options = {digit: binary_tree(depth - 1, columns, node + digit) for digit in "01"}
        inside[f"d{node}"] = bough.Choice(options)
    return inside


def observations(space: bough.Space, n: int) -> Data:
    """``n`` random points with random targets, in the order that fitting uses."""
    rng = np.random.default_rng(n)
    points = space.encode(space.sample(n, rng))
    return Data(points, rng.standard_normal(n), np.full(n, np.nan)).sorted()


def cpu_ms(call: Callable[[], object], seconds: float) -> float:
    """CPU milliseconds of the fastest run, repeated for about ``seconds`` and at least three times."""
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start))
    return min(times)


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The slope of log time over log size: time grows like size to this power."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def additive_tree_cost(sizes: Sequence[int], seconds: float) -> None:
    space = bough.Space(binary_tree(depth=3, columns=2))
    model = additive_tree(space.layout, space.tree).model
    theta = model.prior.median
    print(f"additive tree: 8 leaves, 15 groups, {len(theta)} hyperparameters")
    for n in sizes:
        data = observations(space, n)
        spent = cpu_ms(lambda data=data: log_likelihood(model, theta, data), seconds)
        target = f"   target {TARGETS[n]:g} ms" if n in TARGETS else ""
        print(f"  n = {n:5d}   {spent:8.2f} ms{target}")


def beside_sklearn(seconds: float, n: int = 200, columns: int = 10) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    rng = np.random.default_rng(0)
    x, y = rng.random((n, columns)), rng.standard_normal(n)
    model = GPModel(Scale(Matern52(tuple(range(columns)))))
    theta = model.prior.median
    data = Data(Points(x, np.ones((n, 1), dtype=bool)), y, np.full(n, np.nan))
    kernel = ConstantKernel(1.0) * Matern(np.exp(theta[1:-1]), nu=2.5) + WhiteKernel(float(np.exp(theta[-1])))
    regressor = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(x, y)

    def theirs() -> tuple[float, FloatArray]:
        value, gradient = regressor.log_marginal_likelihood(
            regressor.kernel_.theta, eval_gradient=True, clone_kernel=False
        )
        return float(value), gradient

    value, gradient = log_likelihood(model, theta, data)
    their_value, their_gradient = theirs()
    np.testing.assert_allclose(value, their_value, rtol=1e-9)
    np.testing.assert_allclose(gradient, their_gradient, rtol=1e-6, atol=1e-8)
    mine = cpu_ms(lambda: log_likelihood(model, theta, data), seconds)
    other = cpu_ms(theirs, seconds)
    print(f"flat process: n = {n}, {columns} dimensions, value and gradients equal")
    print(f"  bough {mine:.2f} ms   scikit-learn {other:.2f} ms   {other / mine:.1f} times faster")


def blocks_against_dense(sizes: Sequence[int], densest: int, seconds: float) -> dict[str, list[float]]:
    space = bough.Space(binary_tree(depth=4, columns=1))
    surrogate = SemiParametric(space.layout, space.tree)
    model = surrogate.model
    theta = model.prior.median
    count = total_size(model.params)
    print(f"tree: 16 leaves, {model.features.size} features, {count} hyperparameters; blocks, dense")
    times: dict[str, list[float]] = {"blocks": [], "dense": []}
    for n in sizes:
        data = observations(space, n)
        times["blocks"].append(cpu_ms(lambda data=data: block_log_likelihood(model, theta, data), seconds))
        line = f"  n = {n:5d}   {times['blocks'][-1]:8.1f} ms"
        if n <= densest:
            times["dense"].append(cpu_ms(lambda data=data: log_likelihood(model.dense, theta, data), seconds))
            line += f"   {times['dense'][-1]:8.1f} ms"
        print(line)
    for name, spent in times.items():
        power = exponent(sizes[: len(spent)][-2:], spent[-2:])
        print(f"  {name}: from n = {sizes[len(spent) - 2]} to {sizes[len(spent) - 1]} like n^{power:.2f}")
    return times


def save_plot(path: str, sizes: Sequence[int], times: dict[str, list[float]]) -> None:
    """Time over n, with the slope of n^3 through the last point of the blocks."""
    try:
        from plotly import graph_objects as go
    except ImportError:
        print("no plot: plotly is not installed", file=sys.stderr)
        return
    figure = go.Figure()
    for name, spent in times.items():
        figure.add_scatter(x=list(sizes[: len(spent)]), y=spent, name=name, mode="lines+markers")
    cubic = [times["blocks"][-1] * (n / sizes[-1]) ** 3 for n in sizes]
    figure.add_scatter(x=list(sizes), y=cubic, name="n³", mode="lines", line={"dash": "dot"})
    figure.update_xaxes(type="log", title="observations over 16 leaves")
    figure.update_yaxes(type="log", title="log likelihood with gradients, CPU ms")
    figure.write_html(path)
    print(f"plot in {path}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, a few seconds")
    parser.add_argument("--html", help="where to save the plot of blocks against dense")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seconds = 0.2 if options.quick else 3.0
    with threadpool_limits(1):
        additive_tree_cost((100, 200) if options.quick else (100, 200, 500, 1000), seconds)
        beside_sklearn(seconds)
        sizes = (250, 500, 1000) if options.quick else (250, 500, 1000, 2000, 4000, 8000, 16000)
        times = blocks_against_dense(sizes, densest=4000, seconds=seconds)
    if options.html:
        save_plot(options.html, sizes, times)


if __name__ == "__main__":
    main()
