"""When a surprising observation causes a refit before the scheduled one."""

from __future__ import annotations

import numpy as np

import bough
from bough.auto import Auto
from bough.history import History
from bough.space.sampling import sample_points
from bough.strategies.hyperparameters import following, scheduled
from bough.strategies.model_based import SURPRISE_GROWTH
from bough.strategies.model_data import working_rows

from .histories import history

SPACE = bough.Space({"x": bough.Float(0, 1), "y": bough.Float(0, 1)})


def results(rows: int) -> History:
    points = sample_points(SPACE, 90, np.random.default_rng(0)).take(slice(0, rows))
    y = np.sin(3 * points.x).sum(axis=1) + 0.5 * np.random.default_rng(1).standard_normal(90)[:rows]
    return history(SPACE, list(zip(SPACE.decode(points), y.tolist())))


def test_a_surprise_refits_at_the_next_step_of_the_finer_schedule() -> None:
    """The oracle looks at the residuals of all observations at every trial."""
    method, refits = Auto(refit_surprise_sds=0.7), 0
    strategy = method.strategy(SPACE)
    for rows in (64, 65, 69, 73, 76, 77, 80, 81, 86):
        seen = results(rows)
        length = scheduled(rows, strategy.refit_growth)
        residuals = strategy._model(seen, working_rows(seen.y), length).posteriors[0]
        surprised = np.flatnonzero(np.abs(residuals.standardised_residuals()) > strategy.surprise_sds)
        due = [following(int(row) + 1, SURPRISE_GROWTH) for row in surprised if row >= length]
        expected = [refit for refit in due if refit <= rows]
        assert strategy._fitted_length(seen) == (expected[-1] if expected else length)
        assert method.strategy(SPACE)._fitted_length(seen) == strategy._fitted_length(seen)
        refits += bool(expected)
    assert refits > 1
