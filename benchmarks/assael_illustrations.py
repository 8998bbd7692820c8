"""Figures 1 and 2 of Assael et al. 2014, with our methods.

    python -m benchmarks.assael_illustrations docs/pictures

Figure 1: one process (``gp``) and a treed one (``treed-warp``) on the RKHS function after 16 trials. Figure
2: the standard deviation of two leaves around a threshold, once between two observations as in ordinary CART,
once at an observation that belongs to both leaves.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bough
from benchmarks.problems.uneven import uneven
from benchmarks.report.svg import FAINT, INK, Canvas, scale
from bough.gp.kernels import Matern52
from bough.gp.likelihood import Data, GPModel
from bough.gp.posterior import posterior
from bough.points import Points

TRIALS, SEED = 26, 10
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 700, 210, 40, 26, 24
COLOURS = {"gp": "#0072b2", "treed-warp": "#d55e00"}


def panel(
    canvas: Canvas,
    top: float,
    title: str,
    x: np.ndarray,
    mean: np.ndarray,
    sd: np.ndarray,
    colour: str,
    limits: tuple[float, float],
) -> tuple:
    """Mean and two standard deviations over x; returns the two scales. limits: of the values shown."""
    low, high = limits
    across = scale(float(x[0]), float(x[-1]), LEFT, WIDTH - 10)
    up = scale(low, high, top + HEIGHT - BOTTOM, top + TOP)
    canvas.text(LEFT, top + 14, title, size=11, bold=True)
    edge = [(across(a), up(b)) for a, b in zip(x, mean + 2 * sd)]
    edge += [(across(a), up(b)) for a, b in zip(x[::-1], (mean - 2 * sd)[::-1])]
    canvas.area(edge, colour, 0.2)
    canvas.path([(across(a), up(b)) for a, b in zip(x, mean)], colour, 1.6)
    canvas.line(LEFT, top + HEIGHT - BOTTOM, WIDTH - 10, top + HEIGHT - BOTTOM, INK)
    return across, up


def dots(canvas: Canvas, across, up, x: np.ndarray, y: np.ndarray) -> None:
    for a, b in zip(x, y):
        canvas.add(f'<circle cx="{across(a):.1f}" cy="{up(b):.1f}" r="3" fill="{INK}"/>')


def figure_1() -> str:
    """BO and HTBO (the paper's treed method) on the same function, with the same number of trials."""
    problem = uneven("rkhs")
    (name,) = [parameter.path for parameter in problem.space.parameters]
    domain = problem.space[name].domain
    x = np.linspace(domain.low, domain.high, 400)
    configs = [{name: float(value)} for value in x]
    truth = np.array([problem.function(config) for config in configs])
    canvas = Canvas(WIDTH, 2 * HEIGHT, "Figure 1 of Assael et al. 2014, with our methods")
    for row, method in enumerate(COLOURS):
        study = bough.minimize(problem.function, problem.space, TRIALS, method=method, seed=SEED)
        mean, sd = study.predict(configs)
        title = f"{method} after {TRIALS} trials: best {study.best.value:.2f} (optimum {problem.optimum:.2f})"
        across, up = panel(canvas, row * HEIGHT, title, x, mean, sd, COLOURS[method], (-8.0, 4.0))
        canvas.path([(across(a), up(b)) for a, b in zip(x, truth)], FAINT, 1.0, "3 2")
        tried = [trial for trial in study.trials if trial.value is not None]
        at, values = np.array([t.config[name] for t in tried]), np.array([t.value for t in tried])
        dots(canvas, across, up, at, values)
    return str(canvas)


def leaf_sd(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The posterior of one leaf of a step function, from the observations at ``rows``."""
    points, grid = (Points(values[:, None], np.ones((len(values), 1), dtype=bool)) for values in (rows, x))
    theta = np.log([0.15, 1e-4])
    y = np.where(rows < 0.5, -0.5, 0.5) + 0.3 * np.sin(9 * rows)
    return posterior(GPModel(Matern52((0,))), theta, Data(points, y, np.full(len(y), np.nan))).predict(grid)


def figure_2() -> str:
    """The gap between two leaves, and how a shared observation closes it."""
    seen = np.array([0.03, 0.12, 0.2, 0.28, 0.36, 0.62, 0.7, 0.79, 0.88, 0.97])
    x = np.linspace(0, 1, 300)
    canvas = Canvas(WIDTH, 2 * HEIGHT, "Figure 2 of Assael et al. 2014: the two kinds of split")
    for row, (title, threshold, upper) in enumerate(
        (
            ("a threshold between two observations (ordinary CART)", 0.49, seen[5:]),
            ("a threshold at an observation, which belongs to both leaves", 0.36, seen[4:]),
        )
    ):
        (mean, sd), (mean_2, sd_2) = leaf_sd(x, seen[:5]), leaf_sd(x, upper)
        mean, sd = np.where(x <= threshold, mean, mean_2), np.where(x <= threshold, sd, sd_2)
        widest = float(sd[np.abs(x - threshold) < 0.05].max())
        across, up = panel(
            canvas,
            row * HEIGHT,
            f"{title}: sd near it up to {widest:.2f}",
            x,
            mean,
            sd,
            COLOURS["treed-warp"],
            (-1.8, 1.8),
        )
        dots(canvas, across, up, seen, np.where(seen < 0.5, -0.5, 0.5) + 0.3 * np.sin(9 * seen))
        canvas.line(
            across(threshold), row * HEIGHT + TOP, across(threshold), (row + 1) * HEIGHT - BOTTOM, INK
        )
    return str(canvas)


def main() -> None:
    folder = Path(sys.argv[1])
    (folder / "assael-fig1.svg").write_text(figure_1() + "\n", encoding="utf-8")
    (folder / "assael-fig2.svg").write_text(figure_2() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
