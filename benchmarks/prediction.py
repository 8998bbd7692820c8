"""How well the model of ``auto`` predicts from a few trials, with other terms or length-scale priors.

    python -m benchmarks.prediction            # about a minute of CPU
    python -m benchmarks.prediction --seeds 10

A model is fitted to the initial design and two random trials, or to 24 trials. It predicts 150 random points
of the space. The loss of a point is −log N(z; mean, sd²), up to a constant, on the model's scale, and at most
20. Lower is better. Such predictions decide whether a branch with one or two trials is abandoned or tried
again. ``beyond`` is the share of points more than two standard deviations better than
predicted: 0.023 if the model is calibrated. One problem is one observation; its seeds are averaged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.problems import build
from bough.gp.likelihood import Data
from bough.gp.output_transform import OutputTransform
from bough.gp.params import LogNormal
from bough.points import FloatArray, Points
from bough.space import Space
from bough.space.sampling import sample_points
from bough.strategies.initial import InitialDesign
from bough.surrogates.base import KernelGP
from bough.surrogates.nested import LENGTHSCALE, TERMS, nested

PROBLEMS = (
    "edges", "product", "switches", "valley", "plateaus", "modes", "rotated", "multiply", "nested", "uneven",
    "path", "clash", "ties", "scales", "deep", "either", "many",
    "yahpo-xgboost-3", "yahpo-xgboost-54", "yahpo-xgboost-334", "yahpo-lcbench-3945",
)  # fmt: skip
FIRST_SEED = 300
TRIALS = 24
POINTS = 150
LARGEST_LOSS = 20.0

Model = Callable[[Space], KernelGP]


def with_lengthscale(factor: float, sd: float) -> Model:
    """The model of ``auto`` with another prior: the median times ``factor``."""
    prior = LogNormal(LENGTHSCALE.mean + float(np.log(factor)), sd)
    return lambda space: nested(space.layout, space.tree, lengthscale=prior)


def without(term: str) -> Model:
    return lambda space: nested(space.layout, space.tree, without=term)


MODELS: Mapping[str, Model] = {
    "auto": lambda space: nested(space.layout, space.tree),
    **{f"without {term}": without(term) for term in TERMS},
    "length-scales half as long, sd 0.7": with_lengthscale(0.5, 0.7),
    "length-scales half as long": with_lengthscale(0.5, LENGTHSCALE.sd),
    "length-scales twice as long": with_lengthscale(2.0, LENGTHSCALE.sd),
}


def losses(surrogate: KernelGP, tried: Points, y: FloatArray, test: Points, truth: FloatArray) -> FloatArray:
    """Mean loss, and the share of points beyond two standard deviations on the good side."""
    transform = OutputTransform.fit(y)
    data = Data(tried, transform.forward(y), np.full(len(y), np.nan))
    theta = surrogate.fit(data, np.random.default_rng(0))
    mean, sd = surrogate.posterior(theta, data)[0].predict(test)
    sd = np.maximum(sd, 1e-3)
    error = (transform.forward(truth) - mean) / sd
    loss = np.minimum(0.5 * error**2 + np.log(sd), LARGEST_LOSS)
    return np.array([loss.mean(), np.mean(error < -2)])


def study(name: str, seed: int) -> dict[tuple[str, bool], FloatArray]:
    """The losses of every model on one instance, by model and by few trials (False) or TRIALS (True)."""
    problem, rng = build(name, seed), np.random.default_rng(seed)
    space = problem.space
    design = InitialDesign().points(space, seed)
    tried = Points.concat([design, sample_points(space, TRIALS, rng)])
    test = sample_points(space, POINTS, rng)
    y, truth = (np.array([problem.function(c) for c in space.decode(p)]) for p in (tried, test))
    return {
        (label, many): losses(model(space), tried.take(slice(0, count)), y[:count], test, truth)
        for label, model in MODELS.items()
        for many, count in {False: len(design) + 2, True: TRIALS}.items()
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prediction",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args(arguments).seeds
    runs = [[study(name, FIRST_SEED + seed) for seed in range(seeds)] for name in PROBLEMS]
    for many, title in {False: "initial design and two trials", True: f"{TRIALS} trials"}.items():
        print(f"{title}: loss, beyond, problems on which it predicts better and worse than auto")
        table = {
            label: np.array([np.mean([run[label, many] for run in found], axis=0) for found in runs])
            for label in MODELS
        }
        for label, rows in table.items():
            gap = rows[:, 0] - table["auto"][:, 0]
            loss, beyond = rows.mean(axis=0)
            print(f"  {label:48} {loss:6.3f} {beyond:6.3f}  {np.sum(gap < 0):2} {np.sum(gap > 0):2}")


if __name__ == "__main__":
    main()
