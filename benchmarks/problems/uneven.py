"""Objectives that are rough in one place and smooth in another: the experiments of Assael et al. 2014.

- ``rkhs``: the 1-D function of Wang, Assael & de Freitas, smooth on the left, jagged on the right.
- ``exp``: x1 exp(-x1² - x2²) on Gramacy's [-2, 6]², flat but for one corner.
- ``lda``, ``svm``: recorded grids of online LDA (6 x 6 x 8) and a structured SVM (25 x 14 x 4).
- ``walker``, ``babbitt``: where is the ore? They replace the paper's Agromet and Brenda Mines, which were
  not available. Walker Lake is a grid of 260 x 300 cells; Babbitt's drill holes are scattered, and a
  proposal is evaluated at the nearest recorded interval.

All are minimised, as in the paper's experiments.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bough
from benchmarks.problems.base import Config, Problem

UNEVEN = ("rkhs", "exp", "lda", "svm", "walker", "babbitt")
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def uneven(name: str) -> Problem:
    """One of ``UNEVEN``."""
    return _BUILDERS[name]()


def _problem(name: str, space: bough.Space, function: Callable[[Config], float], optimum: float) -> Problem:
    return Problem(name, space, function, optimum, lambda config: None)


def _rkhs() -> Problem:
    stored = json.loads((DATA / "functions" / "rkhs_1d.json").read_text())
    kernels = [
        (np.array(k["support"]), np.array(k["weight"]), float(k["lengthscale"])) for k in stored["kernels"]
    ]

    def function(config: Config) -> float:
        x = config["x"]
        return -float(sum(w @ np.exp(-0.5 * ((x - s) / length) ** 2) for s, w, length in kernels))

    best = -float(stored["optimum_computed"]["f"])
    return _problem("rkhs", bough.Space({"x": bough.Float(0, 1)}), function, best)


def _exp() -> Problem:
    def function(config: Config) -> float:
        a, b = config["x1"], config["x2"]
        return float(a * np.exp(-(a**2) - b**2))

    space = bough.Space({"x1": bough.Float(-2, 6), "x2": bough.Float(-2, 6)})
    return _problem("exp", space, function, -float(np.exp(-0.5) / np.sqrt(2)))


def _grid(name: str, file: str, inputs: tuple[str, ...], output: str) -> Problem:
    with (DATA / "grids" / file).open() as lines:
        rows = list(csv.DictReader(lines))
    table = {tuple(float(row[key]) for key in inputs): float(row[output]) for row in rows}
    options = {key: sorted({point[i] for point in table}) for i, key in enumerate(inputs)}
    space = bough.Space({key: bough.Categorical(values, ordered=True) for key, values in options.items()})
    return _problem(name, space, lambda c: table[tuple(c[key] for key in inputs)], min(table.values()))


def _walker() -> Problem:
    grade = np.load(DATA / "geostat" / "walker_lake_exhaustive.npz")["V"]
    rows, columns = grade.shape
    space = bough.Space({"x": bough.Int(1, columns), "y": bough.Int(1, rows)})
    return _problem("walker", space, lambda c: -float(grade[c["y"] - 1, c["x"] - 1]), -float(grade.max()))


def _babbitt() -> Problem:
    from scipy.spatial import cKDTree

    stored = np.load(DATA / "geostat" / "babbitt_cu_drillholes.npz")
    places, copper = stored["xyz"], stored["Cu"]
    low, high = places.min(axis=0), places.max(axis=0)
    nearest = cKDTree((places - low) / (high - low))
    space = bough.Space({axis: bough.Float(0, 1) for axis in "xyz"})

    def function(config: Config) -> float:
        return -float(copper[nearest.query([config["x"], config["y"], config["z"]])[1]])

    return _problem("babbitt", space, function, -float(copper.max()))


_BUILDERS: dict[str, Callable[[], Problem]] = {
    "rkhs": _rkhs,
    "exp": _exp,
    "lda": lambda: _grid("lda", "lda_grid.csv", ("kappa", "tau", "s"), "perplexity"),
    "svm": lambda: _grid("svm", "svm_grid.csv", ("C", "alpha", "epsilon"), "error"),
    "walker": _walker,
    "babbitt": _babbitt,
}
